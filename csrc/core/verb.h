/* What the verbs share: refusals, and the road from "a result of this dtype" to memory and back. */
#ifndef FC_VERB_H
#define FC_VERB_H

#include "ops.h"
#include "promote.h"
#include "tensor.h"

/* Two loads: the counter lies in the storage header, in cache since the operand's data was touched. Every verb asks this of every
 * operand, so a storage that a resize moved is noticed here too. */
#define FC_EPOCH_STALE(x) ((x)->epoch != (x)->counter->epoch && (x)->epoch != FC_ALONE) /* conjugate and negative views are found here as well */
#define FC_IS_STALE(x) (FC_EPOCH_STALE(x) || ((x)->storage->moved && fc_rebind(x)))
#define FC_VIEW_STALE(x) (FC_EPOCH_STALE(x) && fc_epoch_stale(x)) /* for views: they touch no bytes, and a lazy tensor's are lazy */

/* Fails with FC_STALE for operand k, or with FC_LAZY where that is all that is the matter with it. */
int fc_fail_stale(fc_tensor *x, int k);

/* FC_STALE, FC_DEVICE or FC_OK for the operands of one call; NULL ones are skipped. Answers the common device. */
int fc_check_operands(int n, fc_tensor *const *x, int *device);

/* May `result` (a dtype) be written to out, which has this shape? FC_DEVICE, FC_CAST, FC_OUT_SHAPE, FC_OVERLAP, FC_READONLY. */
int fc_check_out(fc_tensor *out, int result, int device, int ndim, const int64_t *shape);

/* x itself (retained) when it is contiguous and of this dtype, else a copy that is. */
fc_tensor *fc_dense(fc_tensor *x, int dtype);

/* Hands over a fresh result, or copies it into the caller's out (checked) and hands that over. Takes the reference. */
fc_tensor *fc_deliver(fc_tensor *out, fc_tensor *fresh);

/* Results beyond the first of this thread's last verb, fetched by fc_result(k). Takes the reference. */
void fc_leave_result(int k, fc_tensor *t);

#define FC_GRAIN 32768 /* elements of work below which a second thread costs more than it brings: 8-12 us against ~5 us of waking */

#endif

/* What the verbs share; see verb.h. */
#include "facula.h"
#include "atomic.h"
#include "nest.h"
#include "verb.h"

int fc_fail_stale(fc_tensor *x, int k)
{
    return fc_fail(x->lazy && !fc_epoch_stale(x) ? FC_LAZY : FC_STALE, k, 0, 0, 0);
}

int fc_check_operands(int n, fc_tensor *const *x, int *device)
{
    int at = -1;
    for (int k = 0; k < n; ++k) {
        if (!x[k])
            continue;
        if (FC_IS_STALE(x[k]))
            return fc_fail_stale(x[k], k);
        if (at < 0)
            at = x[k]->device;
        else if (at != x[k]->device)
            return fc_fail(FC_DEVICE, at, x[k]->device, k, 0);
    }
    *device = at < 0 ? FC_CPU : at;
    return FC_OK;
}

static FC_TLS int fc_exactly_tls;

void fc_exactly(int on) { fc_exactly_tls = on; }

int fc_check_out(fc_tensor *out, int result, int device, int ndim, const int64_t *shape)
{
    if (out->device != device)
        return fc_fail(FC_DEVICE, out->device, device, 0, 0);
    if (result != out->dtype && (fc_exactly_tls || !fc_can_cast(result, out->dtype)))
        return fc_fail(FC_CAST, result, out->dtype, 0, 0);
    if (out->ndim != ndim)
        return fc_fail(FC_OUT_SHAPE, -1, out->ndim, ndim, 0);
    for (int d = 0; d < ndim; ++d)
        if (out->shape[d] != shape[d])
            return fc_fail(FC_OUT_SHAPE, d, out->shape[d], shape[d], 0);
    if (!fc_may_write(out))
        return fc_fail(FC_READONLY, 0, 0, 0, 0);
    if (fc_overlaps_itself(out))
        return fc_fail(FC_OVERLAP, 0, 0, 0, 0);
    return FC_OK;
}

fc_tensor *fc_dense(fc_tensor *x, int dtype)
{
    if (x->contiguous && x->dtype == dtype) {
        fc_retain(x);
        return x;
    }
    return fc_to(x, dtype, 0, 1);
}

fc_tensor *fc_deliver(fc_tensor *out, fc_tensor *fresh)
{
    if (!out || !fresh)
        return fresh;
    int bad = FC_IS_STALE(out) && !(out->lazy && !fc_epoch_stale(out)) ? fc_fail(FC_STALE, -1, 0, 0, 0) : fc_check_out(out, fresh->dtype, fresh->device, fresh->ndim, fresh->shape);
    bad = bad || fc_copy(out, fresh);
    fc_free(fresh);
    if (bad)
        return NULL;
    fc_retain(out);
    return out;
}

enum { FC_RESULTS = 8 };
static FC_TLS fc_tensor *fc_results_tls[FC_RESULTS];

void fc_leave_result(int k, fc_tensor *t)
{
    if (fc_results_tls[k])
        fc_free(fc_results_tls[k]);
    fc_results_tls[k] = t;
}

fc_tensor *fc_result(int k)
{
    if (k < 0 || k >= FC_RESULTS || !fc_results_tls[k]) {
        fc_fail(FC_ARG, 0, k, FC_RESULTS, 0);
        return NULL;
    }
    fc_tensor *t = fc_results_tls[k];
    fc_results_tls[k] = NULL;
    return t;
}

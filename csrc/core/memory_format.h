/* Memory formats: 0 contiguous, 1 preserve (the strides of a dense tensor are kept), 2 channels_last, 3 channels_last_3d. */
#ifndef FC_MEMORY_FORMAT_H
#define FC_MEMORY_FORMAT_H

#include "tensor.h"

int fc_is_contiguous(fc_tensor *x, int memory_format);

/* Does t fill its block of memory, each element once, in some order of dims? Dims of size 1 do not matter. */
int fc_is_dense(const fc_tensor *t);

/* A new tensor; formats 2 and 3 need 4 and 5 dims. */
fc_tensor *fc_new_formed(int dtype, int device, int ndim, const int64_t *shape, int memory_format);

#endif

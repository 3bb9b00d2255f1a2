/* Memory formats: 0 contiguous, 1 preserve (the strides of a dense tensor are kept), 2 channels_last, 3 channels_last_3d, and
 * 4 the same of three dims, which has no name in Python: how PyTorch's pools of lines, which are pools of planes one line high, leave their results. */
#ifndef FC_MEMORY_FORMAT_H
#define FC_MEMORY_FORMAT_H

#include "tensor.h"

#define FC_LINES_LAST 4

/* The dims of a format from 2 on. */
static inline int fc_format_dims(int memory_format) { return memory_format == FC_LINES_LAST ? 3 : memory_format + 2; }

int fc_is_contiguous(fc_tensor *x, int memory_format);

/* Do strides speak for channels last, as PyTorch reads them: channels are the fastest and the batch is the slowest, gaps or not? */
int fc_lies_last(const fc_tensor *x);

/* Does t fill its block of memory, each element once, in some order of dims? Dims of size 1 do not matter. */
int fc_is_dense(const fc_tensor *t);

/* A new tensor; formats from 2 on need fc_format_dims. */
fc_tensor *fc_new_formed(int dtype, int device, int ndim, const int64_t *shape, int memory_format);

#endif

/* The memory format that results of sliding windows keep: PyTorch's channels_last where an operand has it. */
#ifndef FC_FORMAT_H
#define FC_FORMAT_H

#include "../../core/call.h"
#include "../../core/memory_format.h"
#include "../../core/promote.h"

/* fc_to's memory_format: 2 for channels_last of four dims, 3 of five where `deep` (each row says which of its volumes keep it); 0 */
static inline int fc_format_of(const fc_tensor *t, int deep)
{
    return t && (t->ndim == 4 || (t->ndim == 5 && deep)) && fc_lies_last(t) ? t->ndim - 2 : 0;
}

/* The same, for tensors that have no gaps, nor lie contiguously too, of dtypes whose kernels read channels_last where it lies, halves being widened on their way. */
static inline int fc_reads_last(fc_tensor *t, int deep)
{
    const int dtype = fc_compute_dtype(t->dtype);
    if (t->contiguous || (dtype != FC_F32 && dtype != FC_F64))
        return 0;
    const int format = fc_format_of(t, deep);
    return format && fc_is_contiguous(t, format) ? format : 0;
}

/* Result k, declared already, comes out in the format of the first operand that has one. */
static inline int fc_keep_format(fc_call *c, int k, const fc_tensor *x, const fc_tensor *y, int deep)
{
    const int format = fc_format_of(x, deep);
    c->spec[k].format = format ? format : fc_format_of(y, deep);
    return FC_OK;
}

#endif

/* Tensors whose elements are still to be conjugated or negated: what reads and writes through the bit. For others: FC_LAZY. */
#ifndef FC_LAZY_H
#define FC_LAZY_H

#include "tensor.h"

/* fc_to, fc_copy and fc_fill where an operand is lazy. */
fc_tensor *fc_lazy_to(fc_tensor *x, int dtype, int memory_format);
int fc_lazy_copy(fc_tensor *out, fc_tensor *x);
int fc_lazy_fill(fc_tensor *out, int kind, int64_t i, double re, double im);

#endif

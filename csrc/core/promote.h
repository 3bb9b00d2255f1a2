/* Type promotion as PyTorch's: by category (bool < integer < float < complex), then by priority of the operand
 * (tensor with dims, 0-d tensor, Python number). */
#ifndef FC_PROMOTE_H
#define FC_PROMOTE_H

#include "tensor.h"

/* The running result over operands; start from FC_PROMOTION_START. dtype fields are -1 while undefined. */
typedef struct { int dims, zero, number; } fc_promotion;
#define FC_PROMOTION_START { -1, -1, -1 }

void fc_promotion_add(fc_promotion *p, const fc_tensor *x);
void fc_promotion_add_number(fc_promotion *p, int kind);
/* Negative where they have no common type: unsigned ones, float8. */
int fc_promotion_result(const fc_promotion *p);

/* float16, bfloat16 and what takes float8 compute in float32; every other type in itself. */
static inline int fc_compute_dtype(int dt) { return fc_is_half(dt) || fc_is_float8(dt) ? FC_F32 : dt; }
static inline int fc_real_dtype(int dt) { return dt == FC_C64 ? FC_F32 : dt == FC_C128 ? FC_F64 : dt; }

/* A real number as a tensor that is made of it holds it, in the default dtype. */
double fc_as_default(double x);

#endif

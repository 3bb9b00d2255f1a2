/* Powers by the numbers that have a formula of their own, as in PyTorch: x**2 = x x, x**3 = x x x, x**0.5 = sqrt(x), x**-1 = 1 / x.
 * All but the cube are the cells of other rows. No step of it may be contracted or reordered, so one ISA level gives every level's bits. */
#include <stddef.h>

#include "facula.h"
#include "../core/ops.h"
#include "map.h"

#define CUBE(name, T)                                                                                                 \
static void name(void *out_, const void *x_, const void *y, const void *z, const fc_scalar *s, int *fault, int64_t n)  \
{                                                                                                                     \
    T *out = out_;                                                                                                    \
    const T *x = x_;                                                                                                  \
    (void)y, (void)z, (void)s, (void)fault;                                                                           \
    _Pragma("GCC ivdep")                                                                                              \
    for (int64_t i = 0; i < n; ++i)                                                                                   \
        out[i] = x[i] * x[i] * x[i];                                                                                  \
}
CUBE(cube_f32, float)
CUBE(cube_f64, double)
#undef CUBE

fc_map_cell fc_cpu_pow_cell(int dtype, double exponent)
{
    if (exponent == 2 && !fc_is_complex(dtype) && dtype != FC_BOOL)
        return fc_cpu_map_cell(FC_OP_square, dtype);
    if (dtype != FC_F32 && dtype != FC_F64)
        return NULL;
    return exponent == 3 ? (dtype == FC_F64 ? cube_f64 : cube_f32) : exponent == 0.5 ? fc_cpu_map_cell(FC_OP_sqrt, dtype)
         : exponent == -1 ? fc_cpu_map_cell(FC_OP_reciprocal, dtype) : NULL;
}

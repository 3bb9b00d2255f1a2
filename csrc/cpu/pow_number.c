/* Powers by the numbers that have a formula of their own, as in PyTorch: x**2 = x x, x**3 = x x x, x**0.5 = sqrt(x), x**-1 = 1 / x.
 * No step of them may be contracted or reordered, so one ISA level gives every level's bits. */
#include <math.h>
#include <stddef.h>

#include "map.h"

#define CELL(name, T, body)                                                                                           \
static void name(void *out_, const void *x_, const void *y, const void *z, const fc_scalar *s, int *fault, int64_t n)  \
{                                                                                                                     \
    T *out = out_;                                                                                                    \
    const T *xs = x_;                                                                                                 \
    (void)y, (void)z, (void)s, (void)fault;                                                                           \
    _Pragma("GCC ivdep")                                                                                              \
    for (int64_t i = 0; i < n; ++i) {                                                                                 \
        const T x = xs[i];                                                                                            \
        out[i] = body;                                                                                                \
    }                                                                                                                 \
}
CELL(square_f32, float, x * x)    CELL(square_f64, double, x * x)
CELL(cube_f32, float, x * x * x)  CELL(cube_f64, double, x * x * x)
CELL(root_f32, float, sqrtf(x))   CELL(root_f64, double, sqrt(x))
CELL(inverse_f32, float, 1 / x)   CELL(inverse_f64, double, 1 / x)
#undef CELL

fc_map_cell fc_cpu_pow_cell(int dtype, double exponent)
{
    if (dtype != FC_F32 && dtype != FC_F64)
        return NULL;
    const int wide = dtype == FC_F64;
    return exponent == 2 ? (wide ? square_f64 : square_f32) : exponent == 3 ? (wide ? cube_f64 : cube_f32)
         : exponent == 0.5 ? (wide ? root_f64 : root_f32) : exponent == -1 ? (wide ? inverse_f64 : inverse_f32) : NULL;
}

/* Powers by the numbers that have a formula of their own, as in PyTorch: x**2 = x x, x**3 = x x x, x**0.5 = sqrt(x), x**-1 = 1 / x,
 * x**-2 = 1 / (x x), x**-0.5 = 1 / sqrt(x), x**0 = 1 and x**1 = x.
 * Most are the cells of other rows. No step here may be contracted or reordered, so one ISA level gives every level's bits. */
#include <stddef.h>

#include "../core/mathfn.h"
#include "../core/ops.h"
#include "map.h"

#define EACH(name, T, value)                                                                                          \
static void name(void *out_, const void *x_, const void *y, const void *z, const fc_scalar *s, int *fault, int64_t n)  \
{                                                                                                                     \
    T *out = out_;                                                                                                    \
    const T *x = x_;                                                                                                  \
    (void)x, (void)y, (void)z, (void)s, (void)fault;                                                                  \
    _Pragma("GCC ivdep")                                                                                              \
    for (int64_t i = 0; i < n; ++i)                                                                                   \
        out[i] = value;                                                                                               \
}
EACH(cube_f32, f32, x[i] * x[i] * x[i])
EACH(cube_f64, f64, x[i] * x[i] * x[i])
EACH(one_f32, f32, 1)
EACH(one_f64, f64, 1)
EACH(same_f32, f32, x[i])
EACH(same_f64, f64, x[i])
EACH(one_c64, c64, 1)
EACH(one_c128, c128, 1)
EACH(same_c64, c64, x[i])
EACH(same_c128, c128, x[i])
#undef EACH

/* One after the other in place; a cell of complex division is one of its level. */
#define OVER_SQUARE(name, dtype)                                                                                      \
static void name(void *out, const void *x, const void *y, const void *z, const fc_scalar *s, int *fault, int64_t n)    \
{                                                                                                                     \
    fc_cpu_map_cell(FC_OP_square, dtype)(out, x, y, z, s, fault, n);                                                  \
    fc_cpu_map_cell(FC_OP_reciprocal, dtype)(out, out, y, z, s, fault, n);                                                   \
}
OVER_SQUARE(over_square_f32, FC_F32)
OVER_SQUARE(over_square_f64, FC_F64)
OVER_SQUARE(over_square_c64, FC_C64)
OVER_SQUARE(over_square_c128, FC_C128)
#undef OVER_SQUARE

/* The same with the square kept apart: out may be x. */
#define CUBE(name, T, dtype)                                                                                           \
static void name(void *out, const void *x, const void *y, const void *z, const fc_scalar *s, int *fault, int64_t n)    \
{                                                                                                                     \
    enum { SOME = 128 };                                                                                              \
    T square[SOME];                                                                                                   \
    for (int64_t i = 0; i < n; i += SOME) {                                                                           \
        const int64_t some = n - i < SOME ? n - i : SOME;                                                             \
        fc_cpu_map_cell(FC_OP_square, dtype)(square, (const T *)x + i, y, z, s, fault, some);                         \
        fc_cpu_map_cell(FC_OP_mul, dtype)((T *)out + i, square, (const T *)x + i, z, s, fault, some);                 \
    }                                                                                                                 \
}
CUBE(cube_c64, c64, FC_C64)
CUBE(cube_c128, c128, FC_C128)
#undef CUBE

#define BY_DTYPE(name) (dtype == FC_F64 ? name##_f64 : dtype == FC_F32 ? name##_f32 : dtype == FC_C64 ? name##_c64 : name##_c128)

fc_map_cell fc_cpu_pow_cell(int dtype, double exponent)
{
    if (exponent == 2 && dtype != FC_BOOL)
        return fc_cpu_map_cell(FC_OP_square, dtype);
    if (!fc_is_int(dtype) && (exponent == 0.5 || exponent == -1))
        return fc_cpu_map_cell(exponent == -1 ? FC_OP_reciprocal : FC_OP_sqrt, dtype);
    if (dtype != FC_F32 && dtype != FC_F64 && !fc_is_complex(dtype))
        return NULL;
    if (exponent == 0 || exponent == 1)
        return exponent == 0 ? BY_DTYPE(one) : BY_DTYPE(same);
    return exponent == 3 ? BY_DTYPE(cube) : exponent == -2 ? BY_DTYPE(over_square) : exponent == -0.5 ? fc_cpu_map_cell(FC_OP_rsqrt, dtype) : NULL;
}

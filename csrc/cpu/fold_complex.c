/* Fold cells of complex numbers where they are not two columns of reals, compiled for two ISA levels: a v4 machine takes v3's but for products. */
#include "../core/isa.h"

#if FC_ISA_NUM > 2 && !defined __clang__
#pragma GCC target("no-fma") /* gcc would contract their products, whatever -ffp-contract says */
#endif

#include <math.h>

#include "fold_cell_type.h"

#define FOLD_PASTE_(a, b) a##_##b
#define FOLD_PASTE(a, b) FOLD_PASTE_(a, b)
#define FOLD_T(name) FOLD_PASTE(name, T_NAME)
#define LOAD(s) (s)
#if FC_ISA_NUM > 2
#define NO_SUM /* nor prod: fold_complex_simd.c */
#define PROD(T) FC_ISA_NAME(FOLD_PASTE(fc_fold_prod, T))
#else
#define PROD(T) FOLD_PASTE(FOLD_PASTE(prod, T), cell)
#endif

#define T_NAME c64
#define FOLD_PARTS 2
#define S c64
#define R f32
#define RE(z) crealf(z)
#define IM(z) cimagf(z)
#define ABS(z) hypotf(RE(z), IM(z))
#define POW(v, p) powf(v, p)
#include "fold_complex_ops.h"

#define T_NAME c128
#define FOLD_PARTS 4
#define S c128
#define R f64
#define RE(z) creal(z)
#define IM(z) cimag(z)
#define ABS(z) hypot(RE(z), IM(z))
#define POW(v, p) pow(v, p)
#include "fold_complex_ops.h"

#define COMPLEX_ROW(T)                                                                                               \
    {.prod = &PROD(T), .any = &any_##T##_cell, .all = &all_##T##_cell, .count = &count_##T##_cell,           \
     .sumabs = &sumabs_##T##_cell, .sumsq = &sumsq_##T##_cell, .maxabs = &maxabs_##T##_cell,                         \
     .minabs = &minabs_##T##_cell, .raise = raise_##T}

const fc_fold_cells FC_ISA_NAME(fc_fold_complex)[2] = {COMPLEX_ROW(c64), COMPLEX_ROW(c128)};

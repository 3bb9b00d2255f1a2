/* Fold cells of integers (order does not matter) and of complex numbers where they are not two columns of reals. One level. */
#include <math.h>

#include "fold_cell_type.h"

#define ISNAN(v) 0
#define FOLD_PASTE_(a, b) a##_##b
#define FOLD_PASTE(a, b) FOLD_PASTE_(a, b)
#define FOLD_T(name) FOLD_PASTE(name, T_NAME)
#define LOAD(s) (s)

/* nansum of integers is their sum; bool is stored as 0 or 1, so its extremes are those of bytes. */
#define INT_ROW(T)                                                                                                   \
    {.sum = &sum_##T##_cell, .nansum = &sum_##T##_cell, .prod = &prod_##T##_cell, .amax = &amax_##T##_cell,          \
     .amin = &amin_##T##_cell, .any = &any_##T##_cell, .all = &all_##T##_cell, .count = &count_##T##_cell, .find = find_##T}

#define T_NAME u8
#define S uint8_t
#define LOWEST 0
#define HIGHEST UINT8_MAX
#include "fold_int_ops.h"

#define T_NAME i8
#define S int8_t
#define LOWEST INT8_MIN
#define HIGHEST INT8_MAX
#include "fold_int_ops.h"

#define T_NAME i16
#define S int16_t
#define LOWEST INT16_MIN
#define HIGHEST INT16_MAX
#include "fold_int_ops.h"

#define T_NAME i32
#define S int32_t
#define LOWEST INT32_MIN
#define HIGHEST INT32_MAX
#include "fold_int_ops.h"

#define T_NAME i64
#define S int64_t
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#include "fold_int_ops.h"

#define T_NAME u16
#define S uint16_t
#define LOWEST 0
#define HIGHEST UINT16_MAX
#include "fold_int_ops.h"

#define T_NAME u32
#define S uint32_t
#define LOWEST 0
#define HIGHEST UINT32_MAX
#include "fold_int_ops.h"

#define T_NAME u64
#define S uint64_t
#define LOWEST 0
#define HIGHEST UINT64_MAX
#include "fold_int_ops.h"

#define T_NAME c64
#define S c64
#define R f32
#define RE(z) crealf(z)
#define IM(z) cimagf(z)
#define ABS(z) hypotf(RE(z), IM(z))
#define POW(v, p) powf(v, p)
#include "fold_complex_ops.h"

#define T_NAME c128
#define S c128
#define R f64
#define RE(z) creal(z)
#define IM(z) cimag(z)
#define ABS(z) hypot(RE(z), IM(z))
#define POW(v, p) pow(v, p)
#include "fold_complex_ops.h"

#define COMPLEX_ROW(T)                                                                                               \
    {.prod = &prod_##T##_cell, .any = &any_##T##_cell, .all = &all_##T##_cell, .count = &count_##T##_cell,           \
     .sumabs = &sumabs_##T##_cell, .sumsq = &sumsq_##T##_cell, .maxabs = &maxabs_##T##_cell,                         \
     .minabs = &minabs_##T##_cell, .sumpow = &sumpow_##T##_cell}

const fc_fold_cells fc_fold_exact[FC_NDTYPES] = {
    [FC_BOOL] = INT_ROW(u8), [FC_U8] = INT_ROW(u8), [FC_I8] = INT_ROW(i8), [FC_I16] = INT_ROW(i16), [FC_I32] = INT_ROW(i32),
    [FC_I64] = INT_ROW(i64), [FC_U16] = INT_ROW(u16), [FC_U32] = INT_ROW(u32), [FC_U64] = INT_ROW(u64),
    [FC_C64] = COMPLEX_ROW(c64), [FC_C128] = COMPLEX_ROW(c128),
};

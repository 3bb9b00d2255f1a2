/* Fold cells of integers, compiled per ISA level: order does not matter. */
#include "fold_cell_type.h"

#define ISNAN(v) 0
#define FOLD_PASTE_(a, b) a##_##b
#define FOLD_PASTE(a, b) FOLD_PASTE_(a, b)
#define FOLD_T(name) FOLD_PASTE(name, T_NAME)
#define LOAD(s) (s)

/* Zero or not, equal or not: signed integers use the cells of unsigned ones. nansum of integers is their sum. Truth values have cells of
 * their own: a byte that is neither 0 nor 1 is true, and counts as one. */
#define INT_ROW(T, U, W)                                                                                             \
    {.sum = &sum_##W##_cell, .nansum = &sum_##W##_cell, .prod = &prod_##W##_cell, .amax = &amax_##T##_cell,          \
     .amin = &amin_##T##_cell, .any = &any_##U##_cell, .all = &all_##U##_cell, .count = &count_##U##_cell, .find = find_##U,       \
     .extremes = extremes_##T}

#if FC_ISA_NUM == 4 /* for these v3 has no instruction; a v4 machine takes v3's other cells */
#define NO_TRUTH
#define FOLD_PARTS 2
#define FOLD_APART_FROM FC_FOLD_LANES
#define ONLY_PROD
#define T_NAME i64
#define S int64_t
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#include "fold_int_ops.h"
#undef ONLY_PROD
#undef FOLD_APART_FROM
#undef FOLD_PARTS
#undef NO_TRUTH

const fc_fold_cells FC_ISA_NAME(fc_fold_exact)[FC_U64 + 1] = {
    [FC_I64] = {.prod = &prod_i64_cell, .amax = &amax_i64_cell, .amin = &amin_i64_cell, .extremes = extremes_i64}, [FC_U64] = {.prod = &prod_i64_cell},
};
#else
#undef LOAD
#define LOAD(s) ((uint8_t)((s) != 0))
#define T_NAME truth
#define S uint8_t
#define LOWEST 0
#define HIGHEST 1
#include "fold_int_ops.h"
#undef LOAD
#define LOAD(s) (s)

#define T_NAME u8
#define S uint8_t
#define LOWEST 0
#define HIGHEST UINT8_MAX
#include "fold_int_ops.h"

#define T_NAME u16
#define S uint16_t
#define LOWEST 0
#define HIGHEST UINT16_MAX
#include "fold_int_ops.h"

/* lanes of their own, where an instruction takes longer than the next is away; of 64 bits it is a comparison and a choice */
#define FOLD_PARTS 2
#define FOLD_APART_FROM 512 /* elements that repay joining them */
#define T_NAME u32
#define S uint32_t
#define LOWEST 0
#define HIGHEST UINT32_MAX
#include "fold_int_ops.h"
#undef FOLD_APART_FROM

#define FOLD_APART_FROM FC_FOLD_LANES
#define T_NAME u64
#define S uint64_t
#define LOWEST 0
#define HIGHEST UINT64_MAX
#include "fold_int_ops.h"
#undef FOLD_APART_FROM
#undef FOLD_PARTS

#define NO_TRUTH
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

#define FOLD_PARTS 2
#define FOLD_APART_FROM 512
#define T_NAME i32
#define S int32_t
#define LOWEST INT32_MIN
#define HIGHEST INT32_MAX
#include "fold_int_ops.h"
#undef FOLD_APART_FROM

#define FOLD_APART_FROM FC_FOLD_LANES
#define NO_SUM
#define T_NAME i64
#define S int64_t
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#include "fold_int_ops.h"
#undef FOLD_APART_FROM
#undef FOLD_PARTS
#undef NO_SUM
#undef NO_TRUTH

const fc_fold_cells FC_ISA_NAME(fc_fold_exact)[FC_U64 + 1] = {
    [FC_BOOL] = INT_ROW(truth, truth, truth), [FC_U8] = INT_ROW(u8, u8, u8), [FC_I8] = INT_ROW(i8, u8, i8),
    [FC_I16] = INT_ROW(i16, u16, i16), [FC_I32] = INT_ROW(i32, u32, i32), [FC_I64] = INT_ROW(i64, u64, u64),
    [FC_U16] = INT_ROW(u16, u16, u16), [FC_U32] = INT_ROW(u32, u32, u32), [FC_U64] = INT_ROW(u64, u64, u64),
};
#endif

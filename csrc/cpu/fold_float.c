/* Fold cells of the real floats, compiled per ISA level. Halves are widened to float32 before they come here. */
#include <math.h>

#include "../core/isa.h"
#include "../core/mathfn.h"
#include "fold_cell_type.h"

#define ISNAN(v) ((v) != (v))
#define FOLD_PASTE_(a, b) a##_##b
#define FOLD_PASTE(a, b) FOLD_PASTE_(a, b)
#define FOLD_T(name) FOLD_PASTE(name, T_NAME)
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY

#if FC_ISA_NUM == 4
#define FOLD_WIDE /* only where wider registers pay, 1.2 to 2.7 times: a v4 machine takes v3's other cells */
#endif

#define S f32
#define T_NAME f32
#define FOLD_PARTS 1
#define LOAD(s) (s)
#include "fold_float_ops.h"

#define FOLD_F64
#define S f64
#define T_NAME f64
#define FOLD_PARTS 2
#define LOAD(s) (s)
#include "fold_float_ops.h"

#define ROW(T)                                                                                                       \
    {.sum = &sum_##T##_cell, .nansum = &nansum_##T##_cell, .prod = &prod_##T##_cell, .amax = &amax_##T##_cell,       \
     .amin = &amin_##T##_cell, .any = &any_##T##_cell, .all = &all_##T##_cell, .count = &count_##T##_cell,           \
     .sumabs = &sumabs_##T##_cell, .sumsq = &sumsq_##T##_cell, .maxabs = &maxabs_##T##_cell,                         \
     .minabs = &minabs_##T##_cell, .raise = raise_##T, .devsq = &devsq_##T##_cell,                               \
     .sumexp = &sumexp_##T##_cell, .find = find_##T, .extremes = extremes_##T}

#ifdef FOLD_WIDE
#undef ROW
#define ROW(T, ...)                                                                                                  \
    {.sum = &sum_##T##_cell, .nansum = &nansum_##T##_cell, .prod = &prod_##T##_cell, .amax = &amax_##T##_cell, .amin = &amin_##T##_cell, .sumsq = &sumsq_##T##_cell, \
     .devsq = &devsq_##T##_cell, .sumexp = &sumexp_##T##_cell, .raise = raise_##T, __VA_ARGS__}
const fc_fold_cells FC_ISA_NAME(fc_fold_float)[2] = {ROW(f32, .find = NULL), ROW(f64, .extremes = extremes_f64)};
#else
const fc_fold_cells FC_ISA_NAME(fc_fold_float)[2] = {ROW(f32), ROW(f64)};
#endif

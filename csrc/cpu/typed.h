/* For code that is written once and stamped for f32 and f64: a file defines T, includes itself, and here are the names it then
 * uses. No guard on purpose; typed_done.h takes the names back.
 *
 *   N(row)    row_f32              the function's name for this type
 *   M(exp)    fc_exp_f32           a math function of core/mathfn.h, or a row fold of fold_rows.h
 *   K(0.5)    (f32)(0.5)           a constant */
#include "../core/isa.h"

#define N(name) FC_ISA_PASTE(name, T)
#define M(name) FC_ISA_PASTE(FC_ISA_PASTE(fc, name), T)
#define K(c) ((T)(c))

/*
 * The math functions that op bodies are written in: `static inline T fc_<fn>_<t>(T)` (FC_MATH where a loop of it must vectorise), t one of f32 f64 c64 c128 (integers:
 * mathfn_int.h). Results are C99's at special values, PyTorch's where C99 is silent.
 *
 *   mathfn_base.h     bit casts, fused multiply-add
 *   mathfn_f32.h      float, vectorising: exponentials, logarithms, hyperbolics; _trig _erf _gelu _pow: the rest
 *   mathfn_f64.h      the same, double; mathfn_pair.h: error-free sums and products
 *   mathfn_select.h   rounding, min/max, division family: comparisons and selects, stamped for both
 *   mathfn_arcs.h     inverses of the circular functions, stamped for both
 *   mathfn_f32_special.h  lgamma, digamma, erfinv, ... of a float, vectorising
 *   mathfn_special.h  erfinv, digamma, Bessel, ... : double, float rounds once
 *   mathfn_bessel.h   Bessel functions and Airy's; mathfn_gamma.h incomplete gamma; mathfn_polynomial.h orthogonal polynomials: likewise
 *   mathfn_compose.h  what is one formula over the others (sigmoid, gelu, xlogy, ...), stamped for both
 *   mathfn_activation.h  activations with parameters, and gradients of activations, stamped for both
 *   mathfn_complex.h  complex, stamped for both
 *   mathfn_int.h      integers
 *
 * Accuracy and order are written in docs/numerics.md; its table is measured by tools/ulp_table.py.
 */
#ifndef FC_MATHFN_H
#define FC_MATHFN_H

#include "mathfn_base.h"

#include "mathfn_f32.h"
#include "mathfn_f32_trig.h"
#include "mathfn_f32_erf.h"
#include "mathfn_f32_gelu.h"
#include "mathfn_f32_pow.h"
#include "mathfn_pair.h"
#include "mathfn_f64.h"
#include "mathfn_f64_trig.h"
#include "mathfn_f64_erf.h"
#include "mathfn_f64_pow.h"

#define T f32
#define K(c) c##f
#define FN(name) fc_##name##_f32
#define FC_LIBC(name) name##f
#include "mathfn_select.h"
#include "mathfn_arcs.h"
#undef FC_LIBC
#undef T
#undef K
#undef FN
#define T f64
#define K(c) c
#define FN(name) fc_##name##_f64
#define FC_LIBC(name) name
#include "mathfn_select.h"
#include "mathfn_arcs.h"
#undef FC_LIBC
#undef T
#undef K
#undef FN

#include "mathfn_f32_special.h"
#include "mathfn_special.h"
#include "mathfn_bessel.h"
#include "mathfn_gamma.h"
#include "mathfn_polynomial.h"

#define T f32
#define FC_LOG_PARTS fc_log_parts_f32
#define K(c) c##f
#define FN(name) fc_##name##_f32
#define FC_LIBC(name) name##f
#include "mathfn_compose.h"
#include "mathfn_activation.h"
#undef T
#undef K
#undef FC_LOG_PARTS
#undef FN
#undef FC_LIBC
#define T f64
#define FC_LOG_PARTS fc_log_parts_f64
#define K(c) c
#define FN(name) fc_##name##_f64
#define FC_LIBC(name) name
#include "mathfn_compose.h"
#include "mathfn_activation.h"
#undef T
#undef K
#undef FC_LOG_PARTS
#undef FN
#undef FC_LIBC

#include "mathfn_complex.h"
#include "mathfn_int.h"

#endif

/* double: the C library's for now. */
#ifndef FC_MATHFN_F64_H
#define FC_MATHFN_F64_H

static inline f64 fc_exp_f64(f64 x) { return exp(x); }
static inline f64 fc_exp2_f64(f64 x) { return exp2(x); }
static inline f64 fc_expm1_f64(f64 x) { return expm1(x); }
static inline f64 fc_log_f64(f64 x) { return log(x); }
static inline f64 fc_log2_f64(f64 x) { return log2(x); }
static inline f64 fc_log10_f64(f64 x) { return log10(x); }
static inline f64 fc_log1p_f64(f64 x) { return log1p(x); }
static inline f64 fc_sin_f64(f64 x) { return sin(x); }
static inline f64 fc_cos_f64(f64 x) { return cos(x); }
static inline f64 fc_tan_f64(f64 x) { return tan(x); }
static inline f64 fc_asin_f64(f64 x) { return asin(x); }
static inline f64 fc_acos_f64(f64 x) { return acos(x); }
static inline f64 fc_atan_f64(f64 x) { return atan(x); }
static inline f64 fc_sinh_f64(f64 x) { return sinh(x); }
static inline f64 fc_cosh_f64(f64 x) { return cosh(x); }
static inline f64 fc_tanh_f64(f64 x) { return tanh(x); }
static inline f64 fc_asinh_f64(f64 x) { return asinh(x); }
static inline f64 fc_acosh_f64(f64 x) { return acosh(x); }
static inline f64 fc_atanh_f64(f64 x) { return atanh(x); }
static inline f64 fc_erf_f64(f64 x) { return erf(x); }
static inline f64 fc_erfc_f64(f64 x) { return erfc(x); }
static inline f64 fc_cbrt_f64(f64 x) { return cbrt(x); }
static inline f64 fc_lgamma_f64(f64 x) { return lgamma(x); }
static inline f64 fc_pow_f64(f64 x, f64 y) { return pow(x, y); }
static inline f64 fc_atan2_f64(f64 x, f64 y) { return atan2(x, y); }
static inline f64 fc_hypot_f64(f64 x, f64 y) { return hypot(x, y); }

#endif

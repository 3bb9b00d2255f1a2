/* float: the C library's for now. */
#ifndef FC_MATHFN_F32_H
#define FC_MATHFN_F32_H

static inline f32 fc_exp_f32(f32 x) { return expf(x); }
static inline f32 fc_exp2_f32(f32 x) { return exp2f(x); }
static inline f32 fc_expm1_f32(f32 x) { return expm1f(x); }
static inline f32 fc_log_f32(f32 x) { return logf(x); }
static inline f32 fc_log2_f32(f32 x) { return log2f(x); }
static inline f32 fc_log10_f32(f32 x) { return log10f(x); }
static inline f32 fc_log1p_f32(f32 x) { return log1pf(x); }
static inline f32 fc_sin_f32(f32 x) { return sinf(x); }
static inline f32 fc_cos_f32(f32 x) { return cosf(x); }
static inline f32 fc_tan_f32(f32 x) { return tanf(x); }
static inline f32 fc_asin_f32(f32 x) { return asinf(x); }
static inline f32 fc_acos_f32(f32 x) { return acosf(x); }
static inline f32 fc_atan_f32(f32 x) { return atanf(x); }
static inline f32 fc_sinh_f32(f32 x) { return sinhf(x); }
static inline f32 fc_cosh_f32(f32 x) { return coshf(x); }
static inline f32 fc_tanh_f32(f32 x) { return tanhf(x); }
static inline f32 fc_asinh_f32(f32 x) { return asinhf(x); }
static inline f32 fc_acosh_f32(f32 x) { return acoshf(x); }
static inline f32 fc_atanh_f32(f32 x) { return atanhf(x); }
static inline f32 fc_erf_f32(f32 x) { return erff(x); }
static inline f32 fc_erfc_f32(f32 x) { return erfcf(x); }
static inline f32 fc_cbrt_f32(f32 x) { return cbrtf(x); }
static inline f32 fc_lgamma_f32(f32 x) { return lgammaf(x); }
static inline f32 fc_pow_f32(f32 x, f32 y) { return powf(x, y); }
static inline f32 fc_atan2_f32(f32 x, f32 y) { return atan2f(x, y); }
static inline f32 fc_hypot_f32(f32 x, f32 y) { return hypotf(x, y); }

#endif

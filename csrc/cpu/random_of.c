/* Random draws with a parameter per element: bernoulli of probabilities, poisson, gamma. See random.c. */
#include "../core/status.h"
#include "random.h"
#include "random_each.h"
#include "random_store.h"

static double parameter(const void *param, int dtype, int64_t k)
{
    switch (dtype) {
    case FC_F16: return fc_f32_of_f16(((const uint16_t *)param)[k]);
    case FC_BF16: return fc_f32_of_bf16(((const uint16_t *)param)[k]);
    case FC_F32: return ((const float *)param)[k];
    default: return ((const double *)param)[k];
    }
}

static int of_refused(int kind, double p)
{
    return kind == FC_R_BERNOULLI_OF ? !(p >= 0 && p <= 1) : kind == FC_R_POISSON_OF ? !(p >= 0) : 0;
}

int fc_random_fill_of(int kind, fc_generator *g, void *out, int dtype, const void *param, int param_dtype, int64_t n)
{
    if (!fc_is_float(param_dtype) || !fc_random_takes(kind == FC_R_BERNOULLI_OF ? FC_R_BERNOULLI : FC_R_EXPONENTIAL, dtype))
        return fc_fail(FC_DTYPE, fc_is_float(param_dtype) ? dtype : param_dtype, 0, 0, 0);
    for (int64_t k = 0; k < n; ++k)
        if (of_refused(kind, parameter(param, param_dtype, k)))
            return fc_fail(FC_ARG, 0, k, 0, 0);
    const double smallest = dtype == FC_F64 ? 0x1p-1022 : dtype == FC_F16 ? 0x1p-14 : 0x1p-126;
    fc_generator_lock(g);
    if (kind == FC_R_BINOMIAL_OF) {
        for (int64_t k = 0; k + 1 < n; k += 2) {
            const double x = fc_draw_binomial(g, parameter(param, param_dtype, k), parameter(param, param_dtype, k + 1));
            store_f64(out, dtype, k, &x, 1);
        }
        n = 0;
    }
    for (int64_t k = 0; k < n; ++k) {
        const double p = parameter(param, param_dtype, k);
        double x;
        switch (kind) {
        case FC_R_BERNOULLI_OF: x = (param_dtype == FC_F64 ? fc_draw_f64(g) : fc_draw_f32(g)) < p; break;
        case FC_R_POISSON_OF: x = fc_draw_poisson(g, p); break;
        default: x = fc_draw_gamma(g, p, dtype != FC_F64); x = x > smallest ? x : smallest; /* never 0: its logarithm is taken */
        }
        if (dtype == FC_BOOL)
            ((uint8_t *)out)[k] = x != 0;
        else
            store_f64(out, dtype, k, &x, 1);
    }
    fc_generator_unlock(g);
    return FC_OK;
}

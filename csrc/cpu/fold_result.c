/* Folds: dtypes of results, and the way from accumulators to them. */
#include <math.h>
#include <string.h>

#include "../core/cast.h"
#include "fold_job.h"

static int real_of(int dtype) { return dtype == FC_C64 ? FC_F32 : dtype == FC_C128 ? FC_F64 : dtype; }

int fc_fold_result(int which, int dtype)
{
    const int number = !fc_is_int(dtype);
    switch (which) {
    case FC_FOLD_sum: case FC_FOLD_nansum: case FC_FOLD_prod:
        return which == FC_FOLD_nansum && fc_is_complex(dtype) ? -1 : number ? dtype : FC_I64;
    case FC_FOLD_mean: return number ? dtype : -1;
    case FC_FOLD_amax: case FC_FOLD_amin: case FC_FOLD__aminmax: case FC_FOLD_max_index: case FC_FOLD_min_index: return fc_is_complex(dtype) ? -1 : dtype;
    case FC_FOLD_any: case FC_FOLD_all: return FC_BOOL;
    case FC_FOLD_count_nonzero: return FC_I64;
    case FC_FOLD_argmax: case FC_FOLD_argmin: return fc_is_complex(dtype) ? -1 : FC_I64;
    case FC_FOLD_logsumexp: return fc_is_float(dtype) ? dtype : -1;
    case FC_FOLD_var: case FC_FOLD_std: case FC_FOLD_norm_p: return number ? real_of(dtype) : -1;
    }
    return -1;
}

int fc_fold_has_identity(int which)
{
    switch (which) {
    case FC_FOLD_amax: case FC_FOLD_amin: case FC_FOLD__aminmax:
    case FC_FOLD_argmax: case FC_FOLD_argmin: case FC_FOLD_max_index: case FC_FOLD_min_index:
        return 0;
    }
    return 1;
}

int fc_fold_is_idempotent(int which)
{
    return which == FC_FOLD_amax || which == FC_FOLD_amin || which == FC_FOLD_any || which == FC_FOLD_all;
}

int fc_fold_is_free(int which, int dtype)
{
    switch (which) {
    case FC_FOLD_amax: case FC_FOLD_amin: case FC_FOLD_any: case FC_FOLD_all: case FC_FOLD_count_nonzero: return 1;
    case FC_FOLD_sum: case FC_FOLD_nansum: case FC_FOLD_prod: return fc_is_int(dtype);
    }
    return 0;
}

#define EACH(value)                                                                                                      \
    for (int64_t k = 0; k < n; ++k)                                                                                      \
        a[k] = (value)

/* mean_pairs: complex sums over the count, divided as PyTorch divides them: where one part is infinite, the other is NaN. */
#define FINISH(T, SQRT, LOG, POW)                                                                                        \
    static void mean_pairs_##T(T *a, int64_t n, T count)                                                                 \
    {                                                                                                                    \
        for (int64_t k = 0; k < n; k += 2) {                                                                             \
            const T re = a[k], im = a[k + 1];                                                                            \
            a[k] = (re + im * 0) * (1 / count);                                                                          \
            a[k + 1] = (im - re * 0) * (1 / count);                                                                      \
        }                                                                                                                \
    }                                                                                                                    \
    static void finish_##T(const fc_fold_job *q, T *a, int64_t n, const T *p)                                            \
    {                                                                                                                    \
        const T count = (T)q->reduce, divisor = q->reduce ? (T)fmax(0, (double)q->reduce - q->param) : 0; /* of nothing: 0 / 0 */ \
        switch (q->which) {                                                                                              \
        case FC_FOLD_mean:                                                                                               \
            if (q->pairs == 2)                                                                                           \
                mean_pairs_##T(a, n, count);                                                                             \
            else                                                                                                         \
                EACH(a[k] / count);                                                                                      \
            break;                                                                                                       \
        case FC_FOLD_var: EACH(a[k] / divisor); break;                                                                   \
        case FC_FOLD_std:                                                                                                \
            if (q->pairs == 2)                                                                                           \
                EACH(a[k] / divisor);                                                                                    \
            else                                                                                                         \
                EACH(SQRT(a[k] / divisor));                                                                              \
            break;                                                                                                       \
        case FC_FOLD_logsumexp: EACH(p[k] + LOG(a[k])); break;                                                           \
        case FC_FOLD_norm_p:                                                                                             \
            if (q->param == 2)                                                                                           \
                EACH(SQRT(a[k]));                                                                                        \
            else if (q->param != 1 && !isinf(q->param))                                                                  \
                EACH(POW(a[k], (T)(1 / q->param)));                                                                      \
            break;                                                                                                       \
        default: break;                                                                                                  \
        }                                                                                                                \
    }
FINISH(f32, sqrtf, logf, powf)
FINISH(f64, sqrt, log, pow)
#undef FINISH
#undef EACH

/* A complex variance is that of the real column plus that of the imaginary one. */
static int64_t add_pairs(const fc_fold_job *q, void *acc, int64_t n)
{
    if (q->dtype == FC_F32) {
        f32 *a = acc;
        for (int64_t k = 0; k < n / 2; ++k)
            a[k] = q->which == FC_FOLD_std ? sqrtf(a[2 * k] + a[2 * k + 1]) : a[2 * k] + a[2 * k + 1];
    } else {
        f64 *a = acc;
        for (int64_t k = 0; k < n / 2; ++k)
            a[k] = q->which == FC_FOLD_std ? sqrt(a[2 * k] + a[2 * k + 1]) : a[2 * k] + a[2 * k + 1];
    }
    return n / 2;
}

void fc_fold_finish(const fc_fold_job *q, void *acc, int64_t at, int64_t n, const void *params)
{
    f64 counted[AT_MOST];
    int64_t size = q->cell->size;
    if (q->which == FC_FOLD_norm_p && q->param == 0) { /* how many are not zero */
        const int64_t *count = acc;
        size = q->dtype == FC_F64 || q->dtype == FC_C128 ? 8 : 4;
        for (int64_t k = 0; k < n; ++k)
            if (size == 8)
                counted[k] = (f64)count[k];
            else
                ((f32 *)counted)[k] = (f32)count[k];
        acc = counted;
    } else if (fc_is_float(q->out_dtype) || q->pairs == 2) {
        if (q->cell->size == 4)
            finish_f32(q, acc, n, params);
        else
            finish_f64(q, acc, n, params);
    }
    if (q->pairs == 2 && (q->which == FC_FOLD_var || q->which == FC_FOLD_std)) {
        n = add_pairs(q, acc, n);
        at /= 2;
    }
    if (q->out_dtype == FC_F16 || q->out_dtype == FC_BF16) {
        fc_convert(q->out_dtype, q->out + at * 2, FC_F32, acc, n);
    } else
        memcpy(q->out + at * size, acc, (size_t)(n * size));
}

void fc_fold_parameters(const fc_fold_job *q, void *acc, int64_t at, int64_t n)
{
    if (q->which == FC_FOLD_logsumexp) {        /* the peak; an infinite one is not subtracted */
        for (int64_t k = 0; k < n; ++k)
            if (q->cell->size == 4)
                ((f32 *)acc)[k] = isinf(((f32 *)acc)[k]) ? 0 : ((f32 *)acc)[k];
            else
                ((f64 *)acc)[k] = isinf(((f64 *)acc)[k]) ? 0 : ((f64 *)acc)[k];
        return;
    }
    for (int64_t k = 0; k < n; ++k)             /* the mean */
        if (q->cell->size == 4)
            ((f32 *)acc)[k] /= (f32)q->reduce;
        else
            ((f64 *)acc)[k] /= (f64)q->reduce;
    if (q->out2)
        memcpy(q->out2 + at * q->cell->size, acc, (size_t)(n * q->cell->size));
}


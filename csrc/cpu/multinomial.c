/*
 * _multinomial(weights, uniforms): int64 of uniforms' shape, classes drawn with replacement by inversion.
 *
 *   out[r, k] = the first i with s[r, i] >= uniforms[r, k],   s[r, i] = sum(weights[r, 0 .. i]) / sum(weights[r, :])
 *
 * weights: (rows, classes) or (classes,), none negative, finite, not all 0 in a row; uniforms: (rows, samples) or (samples,), float64 or of weights' dtype.
 * Sums run as cumsum's do and are rounded to the dtype, so this draws what cumsum, div and searchsorted would.
 */
#include <math.h>

#include "../core/call.h"

/* weights, uniforms */
int fc_infer__multinomial(fc_call *c)
{
    const fc_tensor *w = c->t[0], *u = c->t[1];
    if (w->dtype != FC_F32 && w->dtype != FC_F64)
        return fc_fail(FC_DTYPE, w->dtype, 0, 0, 0);
    if (u->dtype != FC_F64 && u->dtype != w->dtype)
        return fc_fail(FC_MIXED, 0, w->dtype, 1, u->dtype);
    if (w->ndim < 1 || w->ndim > 2 || u->ndim != w->ndim)
        return fc_fail(FC_RANK, 1, u->ndim, w->ndim, 0);
    if (w->ndim == 2 && w->shape[0] != u->shape[0])
        return fc_fail(FC_SIZE, 0, w->shape[0], 1, u->shape[0]);
    if (!w->shape[w->ndim - 1])
        return fc_fail(FC_SIZE, 0, 0, 1, 1);
    c->scratch_bytes = (size_t)w->shape[w->ndim - 1] * sizeof(f64);
    return fc_declare(c, 0, FC_I64, u->ndim, u->shape);
}

int fc_cpu__multinomial(fc_call *c)
{
    const fc_tensor *w = c->t[0], *u = c->t[1];
    const int64_t classes = w->shape[w->ndim - 1], samples = u->shape[u->ndim - 1], rows = w->numel / classes;
    const int narrow = w->dtype == FC_F32;
    f64 *share = c->scratch;
    for (int64_t r = 0; r < rows; ++r) {
        f64 sum = 0;
        for (int64_t i = 0; i < classes; ++i) {
            const int64_t at = r * classes + i;
            const f64 x = narrow ? FC_DATA(f32, w)[at] : FC_DATA(f64, w)[at];
            if (!(x >= 0 && x < INFINITY))
                return fc_fail(FC_ARG, 0, at, 0, 0);
            sum += x;
            share[i] = narrow ? (f32)sum : sum;
        }
        const f64 total = share[classes - 1];
        if (!(total > 0))
            return fc_fail(FC_ARG, 0, r, 1, 0);
        for (int64_t i = 0; i < classes; ++i)
            share[i] = narrow ? (f32)((f32)share[i] / (f32)total) : share[i] / total;
        for (int64_t k = 0; k < samples; ++k) {
            const int64_t at = r * samples + k;
            const f64 v = u->dtype == FC_F32 ? FC_DATA(f32, u)[at] : FC_DATA(f64, u)[at];
            int64_t lo = 0;
            for (int64_t left = classes - 1, half; left > 0; left -= half) { /* the last class takes what rounding leaves */
                half = (left + 1) / 2;
                lo = share[lo + half - 1] < v ? lo + half : lo;
            }
            FC_DATA(int64_t, c->out[0])[at] = lo;
        }
    }
    return FC_OK;
}

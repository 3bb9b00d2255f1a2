/*
 * _bincount(input, weights=None, size): how often (or with what total weight) each of 0 .. size - 1 occurs in a 1-d int64 input.
 * size is the caller's: one past the greatest input. Adds in order, so a sum of weights has one value.
 * _histogram(input, bins, min, max): how many elements fall into each of `bins` equal intervals; the last one is closed.
 */
#include <string.h>

#include "../core/call.h"

/* input, weights; size */
int fc_infer__bincount(fc_call *c)
{
    const fc_tensor *x = c->t[0], *w = c->t[1];
    if (x->dtype != FC_I64)
        return fc_fail(FC_DTYPE, x->dtype, 0, 0, 0);
    if (x->ndim != 1)
        return fc_fail(FC_RANK, 0, x->ndim, 1, 0);
    if (w && (w->ndim != 1 || w->shape[0] != x->shape[0]))
        return fc_fail(FC_SIZE, 0, x->shape[0], 1, w->ndim == 1 ? w->shape[0] : -1);
    if (w && w->dtype != FC_F32 && w->dtype != FC_F64)
        return fc_fail(FC_DTYPE, w->dtype, 1, 0, 0);
    return fc_declare(c, 0, w ? w->dtype : FC_I64, 1, &c->i[0]);
}

/* Equal neighbours wait for each other's count, so every other element counts in a table of its own. */
static void count(int64_t *restrict out, const int64_t *v, int64_t n, int64_t size)
{
    enum { FEW = 1024 };
    int64_t other[FEW];
    const int64_t pairs = size <= FEW ? n / 2 : 0;
    memset(other, 0, (size_t)(pairs ? size : 0) * sizeof *other);
    for (int64_t k = 0; k < pairs; ++k) {
        ++out[v[2 * k]];
        ++other[v[2 * k + 1]];
    }
    for (int64_t k = 2 * pairs; k < n; ++k)
        ++out[v[k]];
    for (int64_t b = 0; pairs && b < size; ++b)
        out[b] += other[b];
}

int fc_cpu__bincount(fc_call *c)
{
    const fc_tensor *x = c->t[0], *w = c->t[1];
    const int64_t *v = FC_DATA(int64_t, x), size = c->i[0];
    int outside = 0;
    for (int64_t k = 0; k < x->numel; ++k) /* without a way out, which vectors have not */
        outside |= (v[k] < 0) | (v[k] >= size);
    for (int64_t k = 0; outside && k < x->numel; ++k)
        if ((uint64_t)v[k] >= (uint64_t)size)
            return fc_fail(FC_INDEX, v[k], size, 0, 0);
    memset(c->out[0]->data, 0, (size_t)size * 8 / (w && w->dtype == FC_F32 ? 2 : 1));
    if (!w)
        count(FC_DATA(int64_t, c->out[0]), v, x->numel, size);
    else if (w->dtype == FC_F32)
        for (int64_t k = 0; k < x->numel; ++k)
            FC_DATA(f32, c->out[0])[v[k]] += FC_DATA(f32, w)[k];
    else
        for (int64_t k = 0; k < x->numel; ++k)
            FC_DATA(f64, c->out[0])[v[k]] += FC_DATA(f64, w)[k];
    return FC_OK;
}

/* input; bins; min, max */
int fc_infer__histogram(fc_call *c)
{
    if (!fc_is_float(c->t[0]->dtype))
        return fc_fail(FC_DTYPE, c->t[0]->dtype, 0, 0, 0);
    if (c->i[0] < 1)
        return fc_fail(FC_ARG, 1, c->i[0], 1, 0);
    return fc_declare(c, 0, c->t[0]->dtype, 1, &c->i[0]);
}

int fc_cpu__histogram(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    const int64_t bins = c->i[0];
    const int narrow = x->dtype == FC_F32;
    const f64 min = narrow ? (f32)c->d[0] : c->d[0], max = narrow ? (f32)c->d[1] : c->d[1];
    memset(c->out[0]->data, 0, (size_t)bins * fc_dt_size[x->dtype]);
    for (int64_t k = 0; k < x->numel; ++k) {
        const f64 v = narrow ? FC_DATA(f32, x)[k] : FC_DATA(f64, x)[k];
        if (!(v >= min && v <= max))
            continue;
        int64_t b = narrow ? (int64_t)(((f32)v - (f32)min) / ((f32)max - (f32)min) * (f32)bins) : (int64_t)((v - min) / (max - min) * (f64)bins);
        b = b < bins ? b : bins - 1;
        if (narrow)
            ++FC_DATA(f32, c->out[0])[b];
        else
            ++FC_DATA(f64, c->out[0])[b];
    }
    return FC_OK;
}

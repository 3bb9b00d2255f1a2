/*
 * Evenly spaced numbers.
 *
 *   out[i] = start + i * step, i = 0 .. count - 1
 *
 * Integers count in int64 and wrap into their type; floats are computed in double and rounded once (PyTorch computes in its
 * accumulation type, double for every float on the CPU).
 */
#include "../core/call.h"
#include "../core/cast.h"
#include "parallel.h"

enum { BLOCK = 256, GRAIN = 16384 };

int fc_infer_arange_of(fc_call *c)
{
    const int64_t count = c->i[2];
    return fc_declare(c, 0, (int)c->i[3], 1, &count);
}

typedef struct {
    fc_tensor *out;
    int64_t start, step; /* of integers */
    double first, by;    /* of floats */
    int64_t low;         /* from here on a float is counted back from `last` */
    double last;
    int whole; /* are they integers? */
} job;

static void numbers(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int dtype = q->out->dtype, size = fc_dt_size[dtype], whole = q->whole;
    const int64_t n = q->out->numel;
    union { int64_t i[BLOCK]; double d[BLOCK]; } value;
    for (int64_t at = begin; at < end; at += BLOCK) {
        const int64_t m = end - at < BLOCK ? end - at : BLOCK, low = q->low - at < 0 ? 0 : q->low - at < m ? q->low - at : m;
        if (whole) {
            int64_t *to = dtype == FC_I64 ? (int64_t *)q->out->data + at : value.i, v = q->start + at * q->step;
            for (int64_t k = 0; k < m; ++k) { /* a running sum vectorises where products of 64 bits do not */
                to[k] = v;
                v += q->step;
            }
            if (dtype == FC_I64)
                continue;
        } else {
            const double from = (double)at, left = (double)(n - 1 - at); /* sums of ints of 32 bits vectorise, and are exact */
            for (int k = 0; k < (int)low; ++k)
                value.d[k] = q->first + (from + k) * q->by;
            for (int k = (int)low; k < (int)m; ++k)
                value.d[k] = q->last - (left - k) * q->by;
        }
        fc_convert(dtype, q->out->data + at * size, whole ? FC_I64 : FC_F64, &value, m);
    }
}

int fc_cpu_arange_of(fc_call *c)
{
    job q = { c->out[0], c->i[0], c->i[1], c->d[0], c->d[1], c->out[0]->numel, 0, c->d[0] != c->d[0] };
    fc_parallel(q.out->numel, GRAIN, numbers, &q);
    return FC_OK;
}

/* count, dtype; first, last */
int fc_infer_linspace_of(fc_call *c)
{
    return fc_declare(c, 0, (int)c->i[1], 1, &c->i[0]);
}

int fc_cpu_linspace_of(fc_call *c)
{
    const int64_t n = c->out[0]->numel;
    const int dtype = (int)c->i[1]; /* `out` may be float32, narrowed afterwards */
    char held[2 * sizeof(double)];
    double end[2] = { c->d[0], c->d[1] };
    /* Evenly between the ends that the result holds: from the ends as given, the first step could come out half a spacing longer. */
    if (fc_is_float(dtype)) {
        fc_convert(dtype, held, FC_F64, end, 2);
        fc_convert(FC_F64, end, dtype, held, 2);
    }
    const double first = end[0], last = end[1];
    job q = { c->out[0], 0, 0, first, n > 1 ? (last - first) / (double)(n - 1) : 0, n > 1 ? n / 2 : n, last, 0 };
    fc_parallel(n, GRAIN, numbers, &q);
    return FC_OK;
}

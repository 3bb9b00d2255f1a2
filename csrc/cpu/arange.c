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

#include <string.h>

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
    int whole; /* are they integers? */
} job;

static void numbers(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int dtype = q->out->dtype, size = fc_dt_size[dtype], whole = q->whole;
    union { int64_t i[BLOCK]; double d[BLOCK]; } value;
    for (int64_t at = begin; at < end; at += BLOCK) {
        const int64_t m = end - at < BLOCK ? end - at : BLOCK;
        if (whole) {
            int64_t *to = dtype == FC_I64 ? (int64_t *)q->out->data + at : value.i, v = q->start + at * q->step;
            for (int64_t k = 0; k < m; ++k) { /* a running sum vectorises where products of 64 bits do not */
                to[k] = v;
                v += q->step;
            }
            if (dtype == FC_I64)
                continue;
        } else {
            const double from = (double)at; /* sums of ints of 32 bits vectorise, and are exact */
            for (int k = 0; k < (int)m; ++k)
                value.d[k] = q->first + (from + k) * q->by;
        }
        fc_convert(dtype, q->out->data + at * size, whole ? FC_I64 : FC_F64, &value, m);
    }
}

int fc_cpu_arange_of(fc_call *c)
{
    job q = { c->out[0], c->i[0], c->i[1], c->d[0], c->d[1], c->d[0] != c->d[0] };
    fc_parallel(q.out->numel, GRAIN, numbers, &q);
    return FC_OK;
}

/*
 * linspace counts from the nearer end in the result's own type, as PyTorch does:
 *
 *   out[i] = first + i * step below the middle, last - (n - 1 - i) * step from there on,   step = (last - first) / (n - 1)
 *
 * A product and its sum are rounded once, as by its fma; of halves each is rounded, the counts too. Integers count in double.
 */
typedef struct {
    fc_tensor *out;
    int dtype; /* of the numbers; `out` may be float32, narrowed afterwards */
    double first, last, step;
} span;

static int half(int dtype) { return dtype == FC_F16 || dtype == FC_BF16; }

/* x[0 .. m), rounded to a dtype of two bytes */
static void rounded(int dtype, float *x, int64_t m)
{
    uint16_t held[BLOCK];
    fc_convert(dtype, held, FC_F32, x, m);
    fc_convert(FC_F32, x, dtype, held, m);
}

/* x without the last 27 of its bits */
static double first_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= ~(((uint64_t)1 << 27) - 1);
    memcpy(&x, &bits, sizeof bits);
    return x;
}

/* b + k * step, rounded once: high holds the first half of step's bits, low the others, so that both products are exact. */
static double fused(double b, double high, double low, double k)
{
    const double p = high * k, s = b + p, t = s - b;
    return s + ((b - (s - t)) + (p - t) + low * k); /* Source: Knuth, The Art of Computer Programming 2, 4.2.2 */
}

static void spaced(void *ctx, int64_t begin, int64_t end)
{
    const span *q = ctx;
    const int64_t n = q->out->numel, middle = n > 1 ? n / 2 : n;
    const float head = (float)q->step;
    const double high = first_bits(q->step), low = q->step - high;
    union { float f[BLOCK]; double d[BLOCK]; } value;
    for (int64_t at = begin; at < end; at += BLOCK) {
        const int64_t m = end - at < BLOCK ? end - at : BLOCK, cut = middle - at < 0 ? 0 : middle - at < m ? middle - at : m;
        const double from = (double)at, left = (double)(n - 1 - at);
        char *to = q->out->data + at * fc_dt_size[q->out->dtype];
        if (half(q->dtype)) {
            for (int k = 0; k < (int)m; ++k)
                value.f[k] = (float)(k < cut ? from + k : left - k);
            rounded(q->dtype, value.f, m);
            for (int k = 0; k < (int)m; ++k)
                value.f[k] *= head;
            rounded(q->dtype, value.f, m);
            for (int k = 0; k < (int)m; ++k)
                value.f[k] = k < cut ? (float)q->first + value.f[k] : (float)q->last - value.f[k];
            fc_convert(q->out->dtype, to, FC_F32, &value, m);
            continue;
        }
        if (low == 0) { /* as of float32: no product is rounded */
            for (int k = 0; k < (int)cut; ++k)
                value.d[k] = q->first + (from + k) * high;
            for (int k = (int)cut; k < (int)m; ++k)
                value.d[k] = q->last - (left - k) * high;
        } else {
            for (int k = 0; k < (int)cut; ++k)
                value.d[k] = fused(q->first, high, low, from + k);
            for (int k = (int)cut; k < (int)m; ++k)
                value.d[k] = fused(q->last, -high, -low, left - k);
        }
        fc_convert(q->out->dtype, to, FC_F64, &value, m);
    }
}

/* x as the dtype holds it */
static double as_held(int dtype, double x)
{
    char held[sizeof(double)];
    fc_convert(dtype, held, FC_F64, &x, 1);
    fc_convert(FC_F64, &x, dtype, held, 1);
    return x;
}

/* count, dtype; first, last */
int fc_infer_linspace_of(fc_call *c)
{
    return fc_declare(c, 0, (int)c->i[1], 1, &c->i[0]);
}

int fc_cpu_linspace_of(fc_call *c)
{
    const int64_t n = c->out[0]->numel;
    const int dtype = (int)c->i[1], counted = fc_is_float(dtype) ? dtype : FC_F64;
    const double first = as_held(counted, c->d[0]), last = as_held(counted, c->d[1]);
    const double gap = as_held(counted, last - first), gaps = half(dtype) ? as_held(dtype, (double)(n - 1)) : (double)(n - 1);
    span q = { c->out[0], dtype, first, last, n > 1 ? as_held(counted, gap / gaps) : 0 };
    fc_parallel(n, GRAIN, spaced, &q);
    return FC_OK;
}

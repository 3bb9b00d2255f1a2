/*
 * Evenly spaced numbers.
 *
 *   out[i] = start + i * step, i = 0 .. count - 1
 *
 * Integers count in int64 and wrap into their type; floats are computed in double (PyTorch's accumulation type of every float).
 */
#include <string.h>

#include "../core/cast.h"
#include "../core/levels.h"
#include "../core/mathfn.h"
#include "parallel.h"

enum { BLOCK = 256, GRAIN = 16384, VECTOR = 32 /* bytes */, LANES = 16 /* in one, at most */ };

#if FC_ISA_ONCE
int fc_infer_arange_of(fc_call *c)
{
    const int64_t count = c->i[2];
    return fc_declare(c, 0, (int)c->i[3], 1, &count);
}

/* count, dtype; first, last */
int fc_infer_linspace_of(fc_call *c)
{
    return fc_declare(c, 0, (int)c->i[1], 1, &c->i[0]);
}
#endif

/* x[0 .. m), rounded to a dtype of two bytes */
static void rounded(int dtype, float *x, int64_t m)
{
    uint16_t held[BLOCK];
    fc_convert(dtype, held, FC_F32, x, m);
    fc_convert(FC_F32, x, dtype, held, m);
}

/* x as the dtype holds it */
static inline double as_held(int dtype, double x)
{
    if (dtype == FC_F64 || dtype == FC_F32)
        return dtype == FC_F64 ? x : (float)x;
    char held[sizeof(double)];
    fc_convert(dtype, held, FC_F64, &x, 1);
    fc_convert(FC_F64, &x, dtype, held, 1);
    return x;
}

typedef struct {
    fc_tensor *out;
    int64_t start, step; /* of integers */
    double first, by;    /* of floats */
    int whole;           /* are they integers? */
    int dtype;           /* theirs; `out` may be float32, narrowed afterwards */
} job;

/* Number i from the start; of halves as float32. */
static inline double counted(const job *q, int dtype, int64_t i)
{
    const double x = fc_fma_f64((double)i, q->by, q->first);
    return fc_is_half(dtype) ? (float)x : x;
}

/*
 * The floats from number `at` on. PyTorch counts within a vector of 32 bytes from its first number, as its dtype holds that one, and two
 * vectors at a time; what is left over is counted from the start. A product and its sum are rounded once, as by its fma.
 */
static inline void floats(const job *q, int dtype, int lanes, int64_t at, int64_t m, double *value)
{
    const int64_t n = q->out->numel, paired = n - n % (2 * lanes) - at, whole = paired < 0 ? 0 : paired < m ? paired : m;
    float bases[BLOCK / LANES]; /* of halves: rounded together */
    for (int64_t i = 0; fc_is_half(dtype) && i < whole; i += lanes)
        bases[i / lanes] = (float)counted(q, dtype, at + i);
    if (fc_is_half(dtype))
        rounded(dtype, bases, whole / lanes);
    for (int64_t i = 0; i < whole; i += lanes) {
        const double base = fc_is_half(dtype) ? bases[i / lanes] : as_held(dtype, counted(q, dtype, at + i));
        for (int k = 0; k < lanes; ++k)
            value[i + k] = fc_fma_f64(k, q->by, base);
    }
    for (int64_t i = whole; i < m; ++i)
        value[i] = counted(q, dtype, at + i);
}

/* Numbers LANES begin to LANES end. */
static void numbers(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int dtype = q->out->dtype, size = fc_dt_size[dtype], whole = q->whole;
    const int64_t stop = LANES * end < q->out->numel ? LANES * end : q->out->numel;
    union { int64_t i[BLOCK]; double d[BLOCK]; } value;
    for (int64_t at = LANES * begin; at < stop; at += BLOCK) {
        const int64_t m = stop - at < BLOCK ? stop - at : BLOCK;
        if (whole) {
            int64_t *to = dtype == FC_I64 ? (int64_t *)q->out->data + at : value.i, v = q->start + at * q->step;
            for (int64_t k = 0; k < m; ++k) { /* a running sum vectorises where products of 64 bits do not */
                to[k] = v;
                v += q->step;
            }
            if (dtype == FC_I64)
                continue;
        } else if (q->dtype == FC_F32) {
            floats(q, FC_F32, VECTOR / 4, at, m, value.d);
        } else if (q->dtype == FC_F64) {
            floats(q, FC_F64, VECTOR / 8, at, m, value.d);
        } else if (fc_is_half(q->dtype)) {
            floats(q, q->dtype, VECTOR / 2, at, m, value.d);
        } else {
            for (int64_t k = 0; k < m; ++k)
                value.d[k] = q->first + (double)(at + k) * q->by;
        }
        fc_convert(dtype, q->out->data + at * size, whole ? FC_I64 : FC_F64, &value, m);
    }
}

int FC_ISA_NAME(fc_cpu_arange_of)(fc_call *c)
{
    job q = { c->out[0], c->i[0], c->i[1], c->d[0], c->d[1], c->d[0] != c->d[0], (int)c->i[3] };
    if (fc_is_half(q.dtype)) { /* counted in float32 */
        q.first = (float)q.first;
        q.by = (float)q.by;
    }
    fc_parallel((q.out->numel + LANES - 1) / LANES, GRAIN / LANES, numbers, &q);
    return FC_OK;
}
FC_OWN_TWO_LEVELS(arange_of)

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

static void spaced(void *ctx, int64_t begin, int64_t end)
{
    const span *q = ctx;
    const int64_t n = q->out->numel, middle = n > 1 ? n / 2 : n;
    const float head = (float)q->step;
    union { float f[BLOCK]; double d[BLOCK]; } value;
    for (int64_t at = begin; at < end; at += BLOCK) {
        const int64_t m = end - at < BLOCK ? end - at : BLOCK, cut = middle - at < 0 ? 0 : middle - at < m ? middle - at : m;
        const double from = (double)at, left = (double)(n - 1 - at);
        char *to = q->out->data + at * fc_dt_size[q->out->dtype];
        if (fc_is_half(q->dtype)) {
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
        for (int k = 0; k < (int)cut; ++k)
            value.d[k] = fc_fma_f64(from + k, q->step, q->first);
        for (int k = (int)cut; k < (int)m; ++k)
            value.d[k] = fc_fma_f64(left - k, -q->step, q->last);
        fc_convert(q->out->dtype, to, FC_F64, &value, m);
    }
}

int FC_ISA_NAME(fc_cpu_linspace_of)(fc_call *c)
{
    const int64_t n = c->out[0]->numel;
    const int dtype = (int)c->i[1], counted = fc_is_float(dtype) ? dtype : FC_F64;
    const double first = as_held(counted, c->d[0]), last = as_held(counted, c->d[1]);
    const double gap = as_held(counted, last - first), gaps = fc_is_half(dtype) ? as_held(dtype, (double)(n - 1)) : (double)(n - 1);
    span q = { c->out[0], dtype, first, last, n > 1 ? as_held(counted, gap / gaps) : 0 };
    fc_parallel(n, GRAIN, spaced, &q);
    return FC_OK;
}
FC_OWN_TWO_LEVELS(linspace_of)

/*
 * Random fills: the streams of PyTorch's CPU generator, bit for bit for integers, uniforms, bernoulli, permutations and
 * float32 normals; float64 transforms are libm's log, sin, cos, tan, exp and so within an ulp on another libm.
 *
 * Every kind is a source that makes a batch of float64, float32 or int64 values in stream order, and a store that converts
 * a batch to the dtype: two dozen dtype cases in three stores. Sources differ in how many words an element takes:
 * float32 and halves one word for a uniform, float64 and every transform two.
 * A fill is serial, because the stream is; 1 GB/s of float32 normals leaves little to gain from threads.
 */
#include "random.h"

#include <math.h>

#include "../core/dtype.h"
#include "../core/half.h"
#include "../core/status.h"
#include "random_block.h"
#include "random_each.h"
#include "random_store.h"

#define BATCH 128

/* ---- uniform ---- */

static fc_uniform_f32_fn uniform_f32(void)
{
    const int level = fc_isa_level();
    return level >= 4 ? fc_uniform_f32_v4 : level == 3 ? fc_uniform_f32_v3 : fc_uniform_f32_v2;
}

static fc_normal_f32_fn normal_f32(void)
{
    const int level = fc_isa_level();
    return level >= 4 ? fc_normal_f32_v4 : level == 3 ? fc_normal_f32_v3 : fc_normal_f32_v2;
}

static float rounded(float x, int dtype)
{
    return dtype == FC_F16 ? fc_f32_of_f16(fc_f16_of_f32(x)) : fc_f32_of_bf16(fc_bf16_of_f32(x));
}

static void draw_uniform_f32(fc_generator *g, float *out, int64_t n, float from, float to)
{
    const fc_uniform_f32_fn convert = uniform_f32();
    uint32_t room[2 * BATCH];
    for (int64_t at = 0; at < n;) {
        const int m = n - at < 2 * BATCH ? (int)(n - at) : 2 * BATCH;
        convert(out + at, fc_draw_words(g, room, m), m, from, to);
        at += m;
    }
}

static void draw_uniform_f64(fc_generator *g, double *out, int64_t n)
{
    uint32_t room[2 * BATCH];
    for (int64_t at = 0; at < n;) {
        const int m = n - at < BATCH ? (int)(n - at) : BATCH;
        const uint32_t *const w = fc_draw_words(g, room, 2 * m);
        for (int k = 0; k < m; ++k)
            out[at + k] = (double)fc_draw53(w + 2 * k) * 0x1p-53;
        at += m;
    }
}

static void fill_uniform(fc_generator *g, void *out, int dtype, int64_t n, double from, double to)
{
    if (dtype == FC_F64) {
        double *const d = out;
        draw_uniform_f64(g, d, n);
        if (from != 0 || to != 1)
            for (int64_t k = 0; k < n; ++k) {
                const double x = fma(d[k], to - from, from);
                d[k] = x >= to ? from : x; /* rounding may reach `to`, which lies outside */
            }
        return;
    }
    const float low = (float)from, high = (float)to;
    if (dtype == FC_F32) {
        draw_uniform_f32(g, out, n, low, high);
        return;
    }
    const float end = rounded(high, dtype);
    float v[BATCH];
    for (int64_t at = 0; at < n; at += BATCH) {
        const int m = n - at < BATCH ? (int)(n - at) : BATCH;
        draw_uniform_f32(g, v, m, low, high);
        for (int k = 0; k < m; ++k)
            v[k] = rounded(v[k], dtype) >= end ? low : v[k];
        store_f32(out, dtype, at, v, m);
    }
}

/* ---- normal ---- */

static void normal_blocks_f64(double *d, int64_t blocks, double mean, double std)
{
    for (; blocks > 0; --blocks, d += 16)
        for (int j = 0; j < 8; ++j) {
            const double r = sqrt(-2 * log(1 - d[j])), t = 6.283185307179586476925 * d[j + 8];
            d[j] = fma(r * cos(t), std, mean);
            d[j + 8] = fma(r * sin(t), std, mean);
        }
}

/* 16 and more: blocks of 16; a remainder redraws the last 16, those of the last whole block included. float32 and float64
 * draw for every element before that, halves only for the whole blocks. */
static void fill_normal_blocks(fc_generator *g, void *out, int dtype, int64_t n, double mean, double std)
{
    if (dtype == FC_F64) {
        double *const d = out;
        draw_uniform_f64(g, d, n);
        normal_blocks_f64(d, n / 16, mean, std);
        if (n % 16) {
            draw_uniform_f64(g, d + n - 16, 16);
            normal_blocks_f64(d + n - 16, 1, mean, std);
        }
        return;
    }
    const fc_normal_f32_fn transform = normal_f32();
    const float m = (float)mean, s = (float)std;
    if (dtype == FC_F32) {
        float *const d = out;
        draw_uniform_f32(g, d, n, 0, 1);
        transform(d, n / 16, m, s);
        if (n % 16) {
            draw_uniform_f32(g, d + n - 16, 16, 0, 1);
            transform(d + n - 16, 1, m, s);
        }
        return;
    }
    float v[16];
    for (int64_t at = 0; at < n; at += 16) {
        const int64_t begin = at + 16 <= n ? at : n - 16;
        draw_uniform_f32(g, v, 16, 0, 1);
        transform(v, 1, m, s);
        store_f32(out, dtype, begin, v, 16);
    }
}

/* ---- integers ---- */

static uint64_t largest_plus_one(int dtype) /* 0: of 2^64 */
{
    switch (dtype) {
    case FC_BOOL: return 2;
    case FC_U8: return 1 << 8;
    case FC_I8: return 1 << 7;
    case FC_I16: return 1 << 15;
    case FC_I32: return (uint64_t)1 << 31;
    case FC_F16: return (1 << 11) + 1;
    case FC_BF16: return (1 << 8) + 1;
    case FC_F32: return (1 << 24) + 1;
    case FC_F64: return ((uint64_t)1 << 53) + 1;
    default: return (uint64_t)1 << 63;
    }
}

/* from + (word % range); range 0 means 2^64. Two words from 2^28 up, and in a full fill for the 64-bit types. */
static void fill_integers(fc_generator *g, void *out, int dtype, int64_t n, int64_t from, uint64_t range, int wide)
{
    int64_t v[BATCH];
    for (int64_t at = 0; at < n; at += BATCH) {
        const int m = n - at < BATCH ? (int)(n - at) : BATCH;
        for (int k = 0; k < m; ++k) {
            const uint64_t x = wide ? fc_draw64(g) : fc_draw32(g);
            const uint64_t r = !range ? x : wide ? x % range : (uint32_t)x % (uint32_t)range;
            v[k] = (int64_t)(range ? (uint64_t)from + r : x);
        }
        store_i64(out, dtype, at, v, m);
    }
}

#define SHUFFLE(type)                                                       \
    for (int64_t k = 0; k < n - 1; ++k) {                                   \
        const int64_t z = k + (int64_t)(fc_draw32(g) % (uint64_t)(n - k));  \
        const type held = ((type *)out)[k];                                 \
        ((type *)out)[k] = ((type *)out)[z];                                \
        ((type *)out)[z] = held;                                            \
    }                                                                       \
    break;

/* Fisher and Yates, forwards. */
static void fill_permutation(fc_generator *g, void *out, int dtype, int64_t n)
{
    int64_t v[BATCH];
    for (int64_t at = 0; at < n; at += BATCH) {
        const int m = n - at < BATCH ? (int)(n - at) : BATCH;
        for (int k = 0; k < m; ++k)
            v[k] = at + k;
        store_i64(out, dtype, at, v, m);
    }
    switch (fc_dt_size[dtype]) {
    case 1: SHUFFLE(uint8_t)
    case 2: SHUFFLE(uint16_t)
    case 4: SHUFFLE(uint32_t)
    case 8: SHUFFLE(uint64_t)
    }
}

#undef SHUFFLE

/* ---- one by one, through float64 ---- */

static inline double each(int kind, fc_generator *g, double d0, double d1)
{
    switch (kind) {
    case FC_R_NORMAL:
    case FC_R_NORMAL_EACH: return fma(fc_draw_normal(g), d1, d0);
    case FC_R_LOG_NORMAL: return exp(fma(fc_draw_normal(g), d1, d0));
    case FC_R_EXPONENTIAL: return -1 / d0 * log1p(-fc_draw_f64(g));
    case FC_R_GEOMETRIC: return ceil(log(fc_draw_f64(g)) / d1); /* d1 = log(1 - p) */
    default: return fma(d1, tan(3.141592653589793238463 * (fc_draw_f64(g) - 0.5)), d0); /* FC_R_CAUCHY */
    }
}

static void fill_each(int kind, fc_generator *g, void *out, int dtype, int64_t n, double d0, double d1)
{
    double v[BATCH];
    for (int64_t at = 0; at < n; at += BATCH) {
        const int m = n - at < BATCH ? (int)(n - at) : BATCH;
        for (int k = 0; k < m; ++k)
            v[k] = each(kind, g, d0, d1);
        store_f64(out, dtype, at, v, m);
    }
}

/* u < p of u = k 2^-53 is k < p 2^53, and both products are exact: no conversion is left. */
static void fill_bernoulli(fc_generator *g, void *out, int dtype, int64_t n, double p)
{
    const int level = fc_isa_level();
    const fc_below_f32_fn below = level >= 4 ? fc_below_f32_v4 : level == 3 ? fc_below_f32_v3 : fc_below_f32_v2;
    const int64_t limit = (int64_t)ceil(p * 0x1p53);
    uint32_t room[2 * BATCH];
    int64_t v[BATCH];
    for (int64_t at = 0; at < n;) {
        const int m = n - at < BATCH ? (int)(n - at) : BATCH;
        const uint32_t *const w = fc_draw_words(g, room, 2 * m);
        if (dtype == FC_F32) {
            below((float *)out + at, w, m, limit);
        } else {
            for (int k = 0; k < m; ++k)
                v[k] = fc_draw53(w + 2 * k) < limit;
            store_i64(out, dtype, at, v, m);
        }
        at += m;
    }
}

/* ---- the door ---- */

int fc_random_takes(int kind, int dtype)
{
    const int real = fc_is_float(dtype), integer = dtype >= FC_U8 && dtype <= FC_I64;
    switch (kind) {
    case FC_R_BERNOULLI:
    case FC_R_RANGE:
    case FC_R_FULL: return real || integer || dtype == FC_BOOL;
    case FC_R_PERM:
    case FC_R_GEOMETRIC: return real || integer;
    case FC_R_UNIFORM:
    case FC_R_NORMAL:
    case FC_R_NORMAL_EACH: return real || fc_is_complex(dtype);
    default: return real;
    }
}

/* The number (from 0) of the first parameter out of range, else -1. Written so that NaN is out of range. */
static int refused(int kind, int64_t i0, int64_t i1, double d0, double d1)
{
    switch (kind) {
    case FC_R_UNIFORM: return !(d0 <= d1) ? 0 : -1;
    case FC_R_NORMAL:
    case FC_R_NORMAL_EACH: return !(d1 >= 0) ? 1 : -1;
    case FC_R_BERNOULLI: return !(d0 >= 0 && d0 <= 1) ? 0 : -1;
    case FC_R_RANGE: return !(i0 < i1 || i1 == INT64_MIN) ? 0 : -1;
    case FC_R_EXPONENTIAL: return !(d0 > 0) ? 0 : -1;
    case FC_R_GEOMETRIC: return !(d0 > 0 && d0 < 1) ? 0 : -1;
    case FC_R_CAUCHY:
    case FC_R_LOG_NORMAL: return !(d1 > 0) ? 1 : -1;
    default: return -1;
    }
}

int fc_random_fill(int kind, fc_generator *g, void *out, int dtype, int64_t n, int64_t i0, int64_t i1, double d0, double d1)
{
    if (!fc_random_takes(kind, dtype))
        return fc_fail(FC_DTYPE, dtype, 0, 0, 0);
    const int bad = refused(kind, i0, i1, d0, d1);
    if (bad >= 0)
        return fc_fail(FC_ARG, bad, 0, 0, 0);
    if (fc_is_complex(dtype)) { /* as pairs of reals: each part has half of the variance */
        dtype = dtype == FC_C64 ? FC_F32 : FC_F64;
        n *= 2;
        if (kind != FC_R_UNIFORM)
            d1 /= sqrt(2);
    }
    const uint64_t range = (uint64_t)i1 - (uint64_t)i0;
    fc_generator_lock(g);
    switch (kind) {
    case FC_R_UNIFORM: fill_uniform(g, out, dtype, n, d0, d1); break;
    case FC_R_BERNOULLI: fill_bernoulli(g, out, dtype, n, d0); break;
    case FC_R_RANGE: fill_integers(g, out, dtype, n, i0, range, !range || range >= (uint64_t)1 << 28); break;
    case FC_R_FULL: fill_integers(g, out, dtype, n, 0, largest_plus_one(dtype), dtype == FC_I64 || dtype == FC_F64); break;
    case FC_R_PERM: fill_permutation(g, out, dtype, n); break;
    case FC_R_GEOMETRIC: fill_each(kind, g, out, dtype, n, d0, log(1 - d0)); break;
    case FC_R_NORMAL:
        if (n >= 16)
            fill_normal_blocks(g, out, dtype, n, d0, d1);
        else
            fill_each(kind, g, out, dtype, n, d0, d1);
        break;
    default: fill_each(kind, g, out, dtype, n, d0, d1);
    }
    fc_generator_unlock(g);
    return FC_OK;
}

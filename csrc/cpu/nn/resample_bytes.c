/*
 * Bytes resampled along one dim, in integers: resample.c's lines, rounded once a dim as PyTorch and Pillow do.
 *
 *   out[..., k, ...] = clamp((half + sum_j weights[k, j] x[..., places[k, j], ...]) >> bits, 0, 255),   half = 2^(bits - 1)
 *
 * x: (outer, size, inner); places, weights: (out, taps); a place of -1 takes no part. bits 0 shifts nothing and adds nothing.
 */
#include <string.h>

#include "../../core/copy_nest.h"
#include "../../core/levels.h"
#include "../parallel.h"
#include "format.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

enum { LANES = 16, MOST_BITS = 22 };

typedef struct {
    int64_t outer, size, inner, out, taps;
    int bits;
    const int64_t *places;
    const int16_t *weights;
    const uint8_t *from;
    uint8_t *to;
} job;

#if FC_ISA_ONCE
/* input, places, weights; dim, bits */
int fc_infer__resample_bytes(fc_call *c)
{
    const fc_tensor *x = c->t[0], *places = c->t[1], *weights = c->t[2];
    if (x->dtype != FC_U8)
        return fc_fail(FC_DTYPE, x->dtype, 0, 0, 0);
    if (places->dtype != FC_I64 || weights->dtype != FC_I16)
        return fc_fail(FC_DTYPE, places->dtype != FC_I64 ? places->dtype : weights->dtype, places->dtype != FC_I64 ? 1 : 2, 0, 0);
    const int64_t d = fc_wrap_dim(c->i[0], x->ndim);
    if (x->ndim == 0 || d < 0 || d >= x->ndim)
        return fc_fail(FC_DIM, c->i[0], x->ndim, 0, 0);
    if (places->ndim != 2 || weights->ndim != 2)
        return fc_fail(FC_RANK, places->ndim != 2 ? 1 : 2, places->ndim != 2 ? places->ndim : weights->ndim, 2, 0);
    for (int k = 0; k < 2; ++k)
        if (places->shape[k] != weights->shape[k])
            return fc_fail(FC_SIZE, 1, places->shape[k], 2, weights->shape[k]);
    if (c->i[1] < 0 || c->i[1] > MOST_BITS)
        return fc_fail(FC_ARG, 4, c->i[1], MOST_BITS, 0);
    int64_t shape[FC_MAX_DIMS];
    for (int k = 0; k < x->ndim; ++k)
        shape[k] = k == d ? places->shape[0] : x->shape[k];
    const int bad = fc_declare(c, 0, FC_U8, x->ndim, shape);
    if (bad)
        return bad;
    const int format = fc_format_of(x, 1);
    if (!x->contiguous && format && fc_is_contiguous(c->t[0], format))
        c->as_is = 1, c->spec[0].direct = 1;
    return fc_keep_format(c, 0, x, NULL, 1);
}
#endif

/* `vecs` x LANES neighbours of one place; n: from place to place in x */
#ifdef __AVX2__
static inline __attribute__((always_inline)) void blend(uint8_t *out, const uint8_t *x, const int64_t *at, const int16_t *w, int64_t taps, int64_t n, int bits, const int vecs)
{
    __m256i sum[2 * 2]; /* of lanes 0 to 7 and 8 to 15 */
    for (int v = 0; v < 2 * vecs; ++v) sum[v] = _mm256_set1_epi32((int32_t)1 << bits >> 1);
    for (int64_t j = 0; j < taps; j += 2) { /* two taps side by side are one multiplication */
        const int64_t a = at[j] < 0 ? 0 : at[j], b = j + 1 < taps && at[j + 1] >= 0 ? at[j + 1] : -1;
        const uint16_t w_a = (uint16_t)(at[j] < 0 ? 0 : w[j]), w_b = (uint16_t)(b < 0 ? 0 : w[j + 1]);
        const uint8_t *x_a = x + a * n, *x_b = b < 0 ? x_a : x + b * n;
        const __m256i both = _mm256_set1_epi32((int32_t)((uint32_t)w_b << 16 | w_a));
        for (int v = 0; v < vecs; ++v) {
            const __m128i p = _mm_loadu_si128((const __m128i *)(x_a + v * LANES)), q = _mm_loadu_si128((const __m128i *)(x_b + v * LANES));
            sum[2 * v] = _mm256_add_epi32(sum[2 * v], _mm256_madd_epi16(_mm256_cvtepu8_epi16(_mm_unpacklo_epi8(p, q)), both));
            sum[2 * v + 1] = _mm256_add_epi32(sum[2 * v + 1], _mm256_madd_epi16(_mm256_cvtepu8_epi16(_mm_unpackhi_epi8(p, q)), both));
        }
    }
    for (int v = 0; v < vecs; ++v) {
        const __m256i words = _mm256_packs_epi32(_mm256_sra_epi32(sum[2 * v], _mm_cvtsi32_si128(bits)), _mm256_sra_epi32(sum[2 * v + 1], _mm_cvtsi32_si128(bits)));
        const __m256i order = _mm256_permute4x64_epi64(words, 0xd8);
        _mm_storeu_si128((__m128i *)(out + v * LANES), _mm_packus_epi16(_mm256_castsi256_si128(order), _mm256_extracti128_si256(order, 1)));
    }
}
#else
static inline __attribute__((always_inline)) void blend(uint8_t *out, const uint8_t *x, const int64_t *at, const int16_t *w, int64_t taps, int64_t n, int bits, const int vecs)
{
    int32_t sum[2 * LANES];
    for (int l = 0; l < vecs * LANES; ++l) sum[l] = (int32_t)1 << bits >> 1;
    for (int64_t j = 0; j < taps; ++j)
        for (int l = 0; at[j] >= 0 && l < vecs * LANES; ++l) sum[l] += w[j] * x[at[j] * n + l];
    for (int l = 0; l < vecs * LANES; ++l) {
        const int32_t v = sum[l] >> bits;
        out[l] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
}
#endif

/* n >= LANES */
static inline void line(const job *q, uint8_t *out, const uint8_t *x, int64_t k, int64_t n)
{
    const int64_t *at = q->places + k * q->taps;
    const int16_t *w = q->weights + k * q->taps;
    if (q->taps == 1 && *at >= 0 && *w == 1 && !q->bits) {
        memcpy(out, x + *at * n, (size_t)n);
        return;
    }
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) blend(out + i, x + i, at, w, q->taps, n, q->bits, 2);
    if (i + LANES <= n) blend(out + i, x + i, at, w, q->taps, n, q->bits, 1), i += LANES;
    if (i < n) blend(out + n - LANES, x + n - LANES, at, w, q->taps, n, q->bits, 1); /* with some of those before */
}

/* Task k: one place of one outer index. */
static void lines(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    for (int64_t k = begin; k < end; ++k)
        line(q, q->to + k * q->inner, q->from + k / q->out * q->size * q->inner, k % q->out, q->inner);
}

/* Task o: one outer index, for few taps. */
static void rows(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    for (int64_t o = begin; o < end; ++o) {
        const uint8_t *x = q->from + o * q->size * q->inner;
        uint8_t *out = q->to + o * q->out * q->inner;
        const int64_t *restrict at = q->places, n = q->inner;
        const int16_t *restrict w = q->weights;
        for (int64_t k = 0; k < q->out; ++k, at += q->taps, w += q->taps)
            for (int64_t i = 0; i < n; ++i) {
                int32_t sum = (int32_t)1 << q->bits >> 1;
                for (int64_t j = 0; j < q->taps; ++j) sum += at[j] < 0 ? 0 : w[j] * x[at[j] * n + i];
                sum >>= q->bits;
                *out++ = (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
            }
    }
}

/* Task b: LANES outer indices, turned to lie side by side. */
static void turned(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const int64_t from_n = q->size * q->inner, to_n = q->out * q->inner, n = LANES * q->inner;
    uint8_t *x = scratch, *out = x + from_n * LANES;
    if (end * LANES > q->outer) memset(x, 0, (size_t)(from_n * LANES)); /* lanes that do not exist */
    for (int64_t b = begin; b < end; ++b) {
        const int64_t o = b * LANES, rows = q->outer - o < LANES ? q->outer - o : LANES;
        fc_turn((char *)x, LANES, (const char *)q->from + o * from_n, from_n, rows, from_n, 1);
        for (int64_t k = 0; k < q->out; ++k)
            if (q->inner == 1) line(q, out + k * LANES, x, k, LANES);
            else line(q, out + k * n, x, k, n);
        fc_turn((char *)q->to + o * to_n, to_n, (const char *)out, LANES, to_n, rows, 1);
    }
}

int FC_ISA_NAME(fc_cpu__resample_bytes)(fc_call *c)
{
    const fc_tensor *x = c->t[0], *places = c->t[1];
    const int64_t d = fc_wrap_dim(c->i[0], x->ndim);
    job q = { .outer = 1, .inner = 1, .size = x->shape[d], .out = places->shape[0], .taps = places->shape[1], .bits = (int)c->i[1],
              .places = FC_DATA(const int64_t, places), .weights = FC_DATA(const int16_t, c->t[2]), .from = FC_DATA(const uint8_t, x), .to = FC_DATA(uint8_t, c->out[0]) };
    for (int k = 0; k < x->ndim; ++k) {
        const int before = c->as_is && (k == 1) != (d == 1) ? k != 1 : k < d; /* channels_last: every dim is before them */
        if (k != d) *(before ? &q.outer : &q.inner) *= x->shape[k];
    }
    for (int64_t k = 0; k < places->numel; ++k)
        if (q.places[k] < -1 || q.places[k] >= q.size)
            return fc_fail(FC_INDEX, q.places[k], q.size, d, 0);
    const int64_t work = q.inner * (q.taps + 2);
    if (q.inner >= LANES)
        fc_parallel(q.outer * q.out, 1 + 16384 / work, lines, &q);
    else if (q.outer < LANES / 2 || q.out * q.taps * 12 < q.size + q.out)
        fc_parallel(q.outer, 1 + 8192 / (work * q.out + 1), rows, &q);
    else
        return fc_parallel_scratch((q.outer + LANES - 1) / LANES, 1 + 16384 / (work * LANES * q.out + 1), (size_t)((q.size + q.out) * q.inner * LANES),
                                   turned, &q);
    return FC_OK;
}
FC_OWN_TWO_LEVELS(_resample_bytes)

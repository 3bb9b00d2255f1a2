/* The loops of pooling: planes are shared out among threads, windows of a plane run in order. */
#include <math.h>
#include <string.h>

#include "../../core/levels.h"
#include "../parallel.h"
#include "pool.h"

#define GRAIN (16 << 10) /* places looked at: about 10 us */
#define LANES 16
#define GATHERED 128 /* places of a window that is copied before it is summed */
#define MOST_TAPS 64

typedef struct {
    const fc_pool *p;
    char *out;
    int64_t *places;
    const char *x;
    fc_pool_line line;   /* NULL: none for this dtype, or windows that are too large */
    int64_t from, until; /* windows of a row with all their taps inside */
} pool_job;

/* Places of a row's taps relative to the first. */
static int taps_of(const fc_pool *p, fc_span d, fc_span h, int32_t *tap)
{
    int n = 0;
    for (int64_t zd = d.start; zd < d.end; zd += p->dilation[0])
        for (int64_t zh = h.start; zh < h.end; zh += p->dilation[1])
            for (int64_t k = 0; k < p->kernel[2]; ++k)
                tap[n++] = (int32_t)(((zd - d.start) * p->size[1] + zh - h.start) * p->size[2] + k * p->dilation[2]);
    return n;
}

static void choose_line(pool_job *job, const fc_pool *p, const fc_pool_line *v2, const fc_pool_line *v3)
{
    if (p->adaptive || (p->dtype != FC_F32 && p->dtype != FC_F64) || p->size_n > INT32_MAX / 2 ||
        p->kernel[0] > MOST_TAPS || p->kernel[1] > MOST_TAPS || p->kernel[0] * p->kernel[1] * p->kernel[2] > MOST_TAPS)
        return;
    const int64_t reach = p->dilation[2] * (p->kernel[2] - 1) + 1;
    int64_t from = 0, until = p->out[2];
    while (from < until && from * p->stride[2] < p->pad[2])
        ++from;
    while (until > from && (until - 1) * p->stride[2] - p->pad[2] + reach > p->size[2])
        --until;
    job->line = (fc_isa_level() >= 3 ? v3 : v2)[p->dtype == FC_F64];
    job->from = from, job->until = until;
}

static int64_t grain(const fc_pool *p)
{
    int64_t places = p->out_n;
    for (int d = 0; d < 3; ++d)
        places *= p->adaptive ? p->size[d] / (p->out[d] ? p->out[d] : 1) + 1 : p->kernel[d];
    return 1 + GRAIN / (places + p->size_n + 1);
}

/* BETTER(v, best): whether v takes best's place */
#define MAXIMUM(name, T, LOWEST, BETTER)                                                                              \
static void max_##name(void *ctx, int64_t begin, int64_t end)                                                         \
{                                                                                                                     \
    const pool_job *job = ctx;                                                                                        \
    const fc_pool *p = job->p;                                                                                        \
    const int64_t sd = p->dilation[0], sh = p->dilation[1], sw = p->dilation[2], W = p->size[2], H = p->size[1];      \
    for (int64_t i = begin; i < end; ++i) {                                                                           \
        const T *x = (const T *)job->x + i * p->size_n;                                                               \
        T *value = (T *)job->out + i * p->out_n;                                                                      \
        int64_t *place = job->places ? job->places + i * p->out_n : NULL;                                             \
        for (int64_t d = 0; d < p->out[0]; ++d)                                                                       \
            for (int64_t h = 0; h < p->out[1]; ++h) {                                                                 \
                const fc_span sz = p->span[0][d], sy = p->span[1][h];                                                 \
                for (int64_t w = 0; w < p->out[2]; ++w) {                                                             \
                    const fc_span sx = p->span[2][w];                                                                 \
                    if (job->line && w == job->from && w < job->until && sz.start < sz.end && sy.start < sy.end) {    \
                        int32_t tap[MOST_TAPS];                                                                       \
                        const int taps = taps_of(p, sz, sy, tap);                                                     \
                        const int64_t n = job->until - job->from, first = (sz.start * H + sy.start) * W + sx.start;   \
                        job->line(value, place, x, n, p->stride[2], first, tap, taps);                                \
                        value += n, place += place ? n : 0, w += n - 1;                                               \
                        continue;                                                                                     \
                    }                                                                                                 \
                    T best = LOWEST;                                                                                  \
                    int64_t at = (sz.start * H + sy.start) * W + sx.start;                                            \
                    for (int64_t zd = sz.start; zd < sz.end; zd += sd)                                                \
                        for (int64_t zh = sy.start; zh < sy.end; zh += sh) {                                          \
                            const int64_t row = (zd * H + zh) * W;                                                    \
                            for (int64_t zw = sx.start; zw < sx.end; zw += sw) {                                      \
                                const T v = x[row + zw];                                                              \
                                if (BETTER(v, best)) {                                                                \
                                    best = v;                                                                         \
                                    at = row + zw;                                                                    \
                                }                                                                                     \
                            }                                                                                         \
                        }                                                                                             \
                    *value++ = best;                                                                                  \
                    if (place) *place++ = at;                                                                         \
                }                                                                                                     \
            }                                                                                                         \
    }                                                                                                                 \
}                                                                                                                     \
static void max_grad_##name(void *ctx, int64_t begin, int64_t end)                                                    \
{                                                                                                                     \
    const pool_job *job = ctx;                                                                                        \
    const fc_pool *p = job->p;                                                                                        \
    for (int64_t i = begin; i < end; ++i) {                                                                           \
        const T *grad = (const T *)job->x + i * p->out_n;                                                             \
        const int64_t *place = job->places + i * p->out_n;                                                            \
        T *to = (T *)job->out + i * p->size_n;                                                                        \
        memset(to, 0, (size_t)p->size_n * sizeof(T));                                                                 \
        for (int64_t k = 0; k < p->out_n; ++k) to[place[k]] = (T)(to[place[k]] + grad[k]);                            \
    }                                                                                                                 \
}

#define MORE(v, best) ((v) > (best))
#define MORE_FLOAT(v, best) ((v) > (best) || (v) != (v))
MAXIMUM(u8, uint8_t, 0, MORE)             MAXIMUM(i8, int8_t, INT8_MIN, MORE)
MAXIMUM(i16, int16_t, INT16_MIN, MORE)    MAXIMUM(i32, int32_t, INT32_MIN, MORE)
MAXIMUM(i64, int64_t, INT64_MIN, MORE)    MAXIMUM(u16, uint16_t, 0, MORE)
MAXIMUM(u32, uint32_t, 0, MORE)           MAXIMUM(u64, uint64_t, 0, MORE)
MAXIMUM(f32, float, -HUGE_VALF, MORE_FLOAT)
MAXIMUM(f64, double, -HUGE_VAL, MORE_FLOAT)
#undef MAXIMUM
#undef MORE
#undef MORE_FLOAT

/* What the sum of window (d, h, w) is divided by. */
int64_t fc_pool_places(const fc_pool *p, int64_t d, int64_t h, int64_t w)
{
    if (p->divisor)
        return p->divisor;
    if (p->count_pad)
        return p->whole[0][d] * p->whole[1][h] * p->whole[2][w];
    const fc_span a = p->span[0][d], b = p->span[1][h], c = p->span[2][w];
    return (a.end - a.start) * (b.end - b.start) * (c.end - c.start);
}

int fc_pool_empty(const fc_pool *p, int64_t d, int64_t h, int64_t w)
{
    const fc_span a = p->span[0][d], b = p->span[1][h], c = p->span[2][w];
    return a.start >= a.end || b.start >= b.end || c.start >= c.end;
}

/* Sum of a window: fewer than 16 places in the order of the plane; else place i goes to lane i % 16, and lanes are added by
 * halves, as in a fold. */
#define SUM(name, T)                                                                                                  \
static T sum_##name(const fc_pool *p, const T *x, fc_span d, fc_span h, fc_span w)                                    \
{                                                                                                                     \
    const int64_t H = p->size[1], W = p->size[2], count = (d.end - d.start) * (h.end - h.start) * (w.end - w.start);  \
    if (count < LANES) {                                                                                              \
        T sum = 0;                                                                                                    \
        for (int64_t zd = d.start; zd < d.end; ++zd)                                                                  \
            for (int64_t zh = h.start; zh < h.end; ++zh)                                                              \
                for (int64_t zw = w.start; zw < w.end; ++zw) sum += x[(zd * H + zh) * W + zw];                        \
        return sum;                                                                                                   \
    }                                                                                                                 \
    const int joined = w.end - w.start == W, all = joined && h.end - h.start == H; /* rows, planes side by side */    \
    const int64_t deep = all ? 1 : d.end - d.start, high = joined ? 1 : h.end - h.start;                              \
    const int64_t stretch = (w.end - w.start) * (joined ? h.end - h.start : 1) * (all ? d.end - d.start : 1);         \
    T lane[LANES] = { 0 };                                                                                            \
    if (count <= GATHERED && stretch < LANES) { /* short rows go side by side, and zeros after them, which add nothing to a sum */ \
        T places[GATHERED + LANES];                                                                                   \
        int64_t n = 0;                                                                                                \
        for (int64_t zd = 0; zd < deep; ++zd)                                                                         \
            for (int64_t zh = 0; zh < high; ++zh) {                                                                   \
                const T *row = x + ((d.start + zd) * H + h.start + zh) * W + w.start;                                 \
                int64_t j = 0;                                                                                        \
                for (; j + 4 <= stretch; j += 4) memcpy(places + n + j, row + j, 4 * sizeof(T));                      \
                if (stretch & 2) { memcpy(places + n + j, row + j, 2 * sizeof(T)); j += 2; }                          \
                if (stretch & 1) places[n + j] = row[j];                                                              \
                n += stretch;                                                                                         \
            }                                                                                                         \
        memset(places + count, 0, LANES * sizeof(T));                                                                 \
        for (int64_t i = 0; i < count; i += LANES)                                                                    \
            for (int l = 0; l < LANES; ++l) lane[l] += places[i + l];                                                 \
    } else {                                                                                                          \
        int64_t i = 0;                                                                                                \
        for (int64_t zd = 0; zd < deep; ++zd)                                                                         \
            for (int64_t zh = 0; zh < high; ++zh) {                                                                   \
                const T *row = x + ((d.start + zd) * H + h.start + zh) * W + w.start;                                 \
                int64_t j = 0;                                                                                        \
                for (; j < stretch && i % LANES; ++j, ++i) lane[i % LANES] += row[j];                                 \
                for (; j + LANES <= stretch; j += LANES, i += LANES)                                                  \
                    for (int l = 0; l < LANES; ++l) lane[l] += row[j + l];                                            \
                for (; j < stretch; ++j, ++i) lane[i % LANES] += row[j];                                              \
            }                                                                                                         \
    }                                                                                                                 \
    for (int half = LANES / 2; half; half /= 2)                                                                       \
        for (int l = 0; l < half; ++l) lane[l] += lane[l + half];                                                     \
    return lane[0];                                                                                                   \
}
SUM(f32, float)
SUM(f64, double)
#undef SUM

#define MEAN(name, T)                                                                                                 \
static void mean_##name(void *ctx, int64_t begin, int64_t end)                                                        \
{                                                                                                                     \
    const pool_job *job = ctx;                                                                                        \
    const fc_pool *p = job->p;                                                                                        \
    for (int64_t i = begin; i < end; ++i) {                                                                           \
        const T *x = (const T *)job->x + i * p->size_n;                                                               \
        T *out = (T *)job->out + i * p->out_n;                                                                        \
        for (int64_t d = 0; d < p->out[0]; ++d)                                                                       \
            for (int64_t h = 0; h < p->out[1]; ++h)                                                                   \
                for (int64_t w = 0; w < p->out[2]; ++w) {                                                             \
                    const fc_span sz = p->span[0][d], sy = p->span[1][h];                                             \
                    if (job->line && w == job->from && w < job->until && !fc_pool_empty(p, d, h, w)) {                        \
                        int32_t tap[MOST_TAPS];                                                                       \
                        const int taps = taps_of(p, sz, sy, tap);                                                     \
                        const int64_t n = job->until - job->from, first = (sz.start * p->size[1] + sy.start) * p->size[2] + p->span[2][w].start; \
                        job->line(out, NULL, x, n, p->stride[2], first, tap, taps);                                   \
                        const T places = (T)fc_pool_places(p, d, h, w);                                                    \
                        for (int64_t j = 0; j < n; ++j) out[j] /= places;                                             \
                        out += n, w += n - 1;                                                                         \
                        continue;                                                                                     \
                    }                                                                                                 \
                    *out++ = fc_pool_empty(p, d, h, w) ? 0 : sum_##name(p, x, p->span[0][d], p->span[1][h], p->span[2][w]) /  \
                                                         (T)fc_pool_places(p, d, h, w);                                    \
                }                                                                                                     \
    }                                                                                                                 \
}                                                                                                                     \
static void mean_grad_##name(void *ctx, int64_t begin, int64_t end)                                                   \
{                                                                                                                     \
    const pool_job *job = ctx;                                                                                        \
    const fc_pool *p = job->p;                                                                                        \
    for (int64_t i = begin; i < end; ++i) {                                                                           \
        const T *grad = (const T *)job->x + i * p->out_n;                                                             \
        T *to = (T *)job->out + i * p->size_n;                                                                        \
        memset(to, 0, (size_t)p->size_n * sizeof(T));                                                                 \
        for (int64_t d = 0; d < p->out[0]; ++d)                                                                       \
            for (int64_t h = 0; h < p->out[1]; ++h)                                                                   \
                for (int64_t w = 0; w < p->out[2]; ++w, ++grad) {                                                     \
                    if (fc_pool_empty(p, d, h, w)) continue;                                                                  \
                    const T share = *grad / (T)fc_pool_places(p, d, h, w);                                                 \
                    for (int64_t zd = p->span[0][d].start; zd < p->span[0][d].end; ++zd)                              \
                        for (int64_t zh = p->span[1][h].start; zh < p->span[1][h].end; ++zh) {                        \
                            T *row = to + (zd * p->size[1] + zh) * p->size[2];                                        \
                            for (int64_t zw = p->span[2][w].start; zw < p->span[2][w].end; ++zw) row[zw] += share;    \
                        }                                                                                             \
                }                                                                                                     \
    }                                                                                                                 \
}
MEAN(f32, float)
MEAN(f64, double)
#undef MEAN

void fc_pool_max(const fc_pool *p, void *values, int64_t *places, const void *x)
{
    static const fc_range_fn planes[FC_NDTYPES] = {
        [FC_U8] = max_u8, [FC_I8] = max_i8, [FC_I16] = max_i16, [FC_I32] = max_i32, [FC_I64] = max_i64, [FC_U16] = max_u16,
        [FC_U32] = max_u32, [FC_U64] = max_u64, [FC_F32] = max_f32, [FC_F64] = max_f64 };
    pool_job job = { p, values, places, x, NULL, 0, 0 };
    if (places) choose_line(&job, p, fc_pool_lines_v2, fc_pool_lines_v3);
    else choose_line(&job, p, fc_pool_peaks_v2, fc_pool_peaks_v3);
    fc_parallel(p->planes, grain(p), planes[p->dtype], &job);
}

void fc_pool_max_grad(const fc_pool *p, void *grad_x, const void *grad, const int64_t *places)
{
    static const fc_range_fn planes[FC_NDTYPES] = {
        [FC_U8] = max_grad_u8, [FC_I8] = max_grad_i8, [FC_I16] = max_grad_i16, [FC_I32] = max_grad_i32, [FC_I64] = max_grad_i64,
        [FC_U16] = max_grad_u16, [FC_U32] = max_grad_u32, [FC_U64] = max_grad_u64, [FC_F32] = max_grad_f32,
        [FC_F64] = max_grad_f64 };
    fc_parallel(p->planes, grain(p), planes[p->dtype], &(pool_job){ p, grad_x, (int64_t *)places, grad, NULL, 0, 0 });
}

void fc_pool_mean(const fc_pool *p, void *out, const void *x)
{
    pool_job job = { p, out, NULL, x, NULL, 0, 0 };
    choose_line(&job, p, fc_pool_sums_v2, fc_pool_sums_v3);
    fc_parallel(p->planes, grain(p), p->dtype == FC_F64 ? mean_f64 : mean_f32, &job);
}

void fc_pool_mean_grad(const fc_pool *p, void *grad_x, const void *grad)
{
    fc_parallel(p->planes, grain(p), p->dtype == FC_F64 ? mean_grad_f64 : mean_grad_f32, &(pool_job){ p, grad_x, NULL, grad, NULL, 0, 0 });
}

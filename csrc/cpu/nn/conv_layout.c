/* Where taps read in a padded copy of the source, and making that copy. */
#include "conv_layout.h"

#include <string.h>

#include "../parallel.h"

#define COPY_GRAIN (12 << 10) /* elements; about 4 us */

void fc_conv_lay_out(fc_conv_layout *l, const fc_window *x, int64_t channels, int phased, int64_t *room)
{
    *l = (fc_conv_layout){ .x = x, .channels = channels, .plane = 1, .channel = 1, .bare = 1 };
    for (int d = 0; d < 3; ++d) {
        const int64_t taps = x->ntaps[d], step = phased ? x->step[d] : 1, span = phased ? x->count[d] : (x->count[d] - 1) * x->step[d] + 1;
        l->residue[d] = room, l->slot[d] = room + taps, l->shift[d] = room + 2 * taps;
        room += 3 * taps;
        int64_t low = x->off[d][0], far = 0;
        for (int64_t t = 1; t < taps; ++t)
            if (x->off[d][t] < low) low = x->off[d][t];
        if (!phased && low > 0) low = 0;
        for (int64_t t = 0; t < taps; ++t) {
            const int64_t residue = (x->off[d][t] - low) % step;
            int64_t s = 0;
            while (s < l->slots[d] && l->residue[d][s] != residue) ++s;
            if (s == l->slots[d]) l->residue[d][l->slots[d]++] = residue;
            l->slot[d][t] = s;
            l->shift[d][t] = (x->off[d][t] - low) / step;
            if (l->shift[d][t] > far) far = l->shift[d][t];
        }
        l->low[d] = low;
        l->step[d] = step;
        l->extent[d] = span + far;
        l->plane *= l->extent[d];
        l->channel *= l->extent[d] * l->slots[d];
        /* outermost, fewer places than there are may be wanted; further in, the pitch must be the source's */
        l->bare = l->bare && step == 1 && low == 0 && (d == 0 ? l->extent[d] <= x->size[d] : l->extent[d] == x->size[d]);
    }
    /* an odd number of cache lines: the same place of many channels, which a block reads together, is in many sets */
    const int64_t line = 64 / fc_dt_size[x->dtype];
    if (l->channel > line / 2) /* smaller ones share lines */
        l->channel = ((l->channel + line - 1) / line | 1) * line;
}

int64_t fc_conv_tap_at(const fc_conv_layout *l, int64_t t)
{
    const int64_t *n = l->x->ntaps, w = t % n[2], h = t / n[2] % n[1], d = t / n[2] / n[1];
    const int64_t phase = (l->slot[0][d] * l->slots[1] + l->slot[1][h]) * l->slots[2] + l->slot[2][w];
    return phase * l->plane + (l->shift[0][d] * l->extent[1] + l->shift[1][h]) * l->extent[2] + l->shift[2][w];
}

int64_t fc_conv_flat(const fc_conv_layout *l)
{
    const int64_t *count = l->x->count;
    return ((count[0] - 1) * l->extent[1] + count[1] - 1) * l->extent[2] + count[2];
}

/* --- the copy ------------------------------------------------------------------------------------------------------- */

/* bands: parts of every plane's rows */
typedef struct { const fc_conv_layout *l; char *to; int64_t first, planes, bands; } copying;

/* Rows of every phase of a plane: [first, end), counted through the depth. */
typedef struct { int64_t first, end; } band;

/* Is a plane a row of neighbours, all of it there? */
static int is_line(const fc_conv_layout *l)
{
    int line = l->step[2] == 1 && l->slots[2] == 1;
    for (int d = 0; d < 2; ++d)
        line = line && l->extent[d] == 1 && l->slots[d] == 1 && l->low[d] == 0;
    return line;
}

/* Every second element of eight, or of four doubles: from[7], or from[3], is read and dropped. */
#ifdef __SSE2__
#include <emmintrin.h>
static inline void halve_f32(float *to, const float *from)
{
    _mm_storeu_ps(to, _mm_shuffle_ps(_mm_loadu_ps(from), _mm_loadu_ps(from + 4), 0x88));
}
static inline void halve_f64(double *to, const double *from)
{
    _mm_storeu_pd(to, _mm_unpacklo_pd(_mm_loadu_pd(from), _mm_loadu_pd(from + 2)));
    _mm_storeu_pd(to + 2, _mm_unpacklo_pd(_mm_loadu_pd(from + 4), _mm_loadu_pd(from + 6)));
}
static inline void part_f32(float *even, float *odd, const float *from)
{
    const __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + 4);
    _mm_storeu_ps(even, _mm_shuffle_ps(a, b, 0x88));
    _mm_storeu_ps(odd, _mm_shuffle_ps(a, b, 0xdd));
}
static inline void part_f64(double *even, double *odd, const double *from)
{
    for (int j = 0; j < 4; j += 2) {
        const __m128d a = _mm_loadu_pd(from + 2 * j), b = _mm_loadu_pd(from + 2 * j + 2);
        _mm_storeu_pd(even + j, _mm_unpacklo_pd(a, b));
        _mm_storeu_pd(odd + j, _mm_unpackhi_pd(a, b));
    }
}
#else
#define HALVE(name, R) \
static inline void halve_##name(R *to, const R *from) { for (int j = 0; j < 4; ++j) to[j] = from[2 * j]; }
HALVE(f32, float)
HALVE(f64, double)
#undef HALVE
#define PART(name, R) \
static inline void part_##name(R *even, R *odd, const R *from) { for (int j = 0; j < 4; ++j) even[j] = from[2 * j], odd[j] = from[2 * j + 1]; }
PART(f32, float)
PART(f64, double)
#undef PART
#endif

/* Row r of the phase `residue` lies at (at_d, at_h) of the source. */
#define EACH_ROW                                                                                                      \
    const int64_t down = rows.first ? rows.first / l->extent[1] : 0; /* planes are small, mostly, and divisions are slow */ \
    for (int64_t r = rows.first, at_h, at_d = l->low[0] + residue[0] + down * l->step[0], h = rows.first - down * l->extent[1]; \
         at_h = l->low[1] + residue[1] + h * l->step[1], r < rows.end;                                                \
         ++r, at_d += h + 1 == l->extent[1] ? l->step[0] : 0, h = h + 1 == l->extent[1] ? 0 : h + 1)

/* Rows and their margins are short, mostly: ladders instead of calls. */
#define COPY(name, R)                                                                                                 \
static inline void clear_##name(R *to, int64_t n)                                                                     \
{                                                                                                                     \
    const R none[4] = { 0 };                                                                                          \
    if (n >= 16) { memset(to, 0, (size_t)n * sizeof(R)); return; }                                                    \
    if (n & 8) { memcpy(to, none, sizeof none); memcpy(to + 4, none, sizeof none); to += 8; }                         \
    if (n & 4) { memcpy(to, none, sizeof none); to += 4; }                                                            \
    if (n & 2) { memcpy(to, none, 2 * sizeof(R)); to += 2; }                                                          \
    if (n & 1) *to = 0;                                                                                               \
}                                                                                                                     \
static inline void copy_row_##name(R *restrict to, const R *restrict from, int64_t count, int64_t step)               \
{                                                                                                                     \
    int64_t j = 0;                                                                                                    \
    if (step == 1) {                                                                                                  \
        for (; j + 16 <= count; j += 16) memcpy(to + j, from + j, 16 * sizeof(R));                                    \
        if (count & 8) { memcpy(to + j, from + j, 8 * sizeof(R)); j += 8; }                                           \
        if (count & 4) { memcpy(to + j, from + j, 4 * sizeof(R)); j += 4; }                                           \
        if (count & 2) { memcpy(to + j, from + j, 2 * sizeof(R)); j += 2; }                                           \
        if (count & 1) to[j] = from[j];                                                                               \
        return;                                                                                                       \
    }                                                                                                                 \
    if (step == 2)                                                                                                    \
        for (; j + 4 < count; j += 4) halve_##name(to + j, from + 2 * j);                                             \
    for (; j < count; ++j) to[j] = from[j * step];                                                                    \
}                                                                                                                     \
static void copy_phase_##name(const fc_conv_layout *l, R *to, const R *from, const int64_t *residue, band rows, int again) \
{                                                                                                                     \
    const fc_window *x = l->x;                                                                                        \
    const int64_t width = l->extent[2], first = l->low[2] + residue[2], step = l->step[2];                            \
    int64_t low = first < 0 ? -first : 0, high = x->size[2] > first ? x->size[2] - first : 0;                         \
    if (step > 1) low = (low + step - 1) / step, high = (high + step - 1) / step;                                     \
    if (high > width) high = width;                                                                                   \
    if (low > high) low = high;                                                                                       \
    EACH_ROW {                                                                                                        \
        R *row = to + r * width;                                                                                      \
        if (at_d < 0 || at_d >= x->size[0] || at_h < 0 || at_h >= x->size[1]) {                                       \
            if (!again) clear_##name(row, width);                                                                     \
            continue;                                                                                                 \
        }                                                                                                             \
        if (!again) {                                                                                                 \
            clear_##name(row, low);                                                                                   \
            clear_##name(row + high, width - high);                                                                   \
        }                                                                                                             \
        copy_row_##name(row + low, from + (at_d * x->size[1] + at_h) * x->size[2] + first + low * step, high - low, step); \
    }                                                                                                                 \
}                                                                                                                     \
/* Elements j of both halves of a padded row, at its ends. */                                                           \
static inline void part_end_##name(R *even, R *odd, const R *from, int64_t j, int64_t end, int64_t low, int64_t size)   \
{                                                                                                                     \
    for (int64_t at = low + 2 * j; j < end; ++j, at += 2) {                                                           \
        even[j] = at >= 0 && at < size ? from[at] : 0;                                                                \
        odd[j] = at >= -1 && at + 1 < size ? from[at + 1] : 0;                                                        \
    }                                                                                                                 \
}                                                                                                                     \
/* Every second element of the padded row to `even`, the others to `odd`: it is read once. */                         \
static inline void part_row_##name(R *restrict even, R *restrict odd, const R *restrict from, int64_t width, int64_t low, int64_t size) \
{                                                                                                                     \
    int64_t near = low < 0 ? (1 - low) / 2 : 0, far = size > low ? (size - low) / 2 : 0; /* all is there of [near, far) */ \
    if (near > width) near = width;                                                                                   \
    if (far > width) far = width;                                                                                     \
    if (far < near + 4) far = near;                                                                                   \
    for (int64_t j = near; j < far; j = j + 8 <= far || j + 4 == far ? j + 4 : far - 4)                               \
        part_##name(even + j, odd + j, from + low + 2 * j);                                                           \
    part_end_##name(even, odd, from, 0, near, low, size);                                                             \
    part_end_##name(even, odd, from, far, width, low, size);                                                          \
}                                                                                                                     \
static void part_phases_##name(const fc_conv_layout *l, R *to, const R *from, const int64_t *residue, band rows, int again) \
{                                                                                                                     \
    const fc_window *x = l->x;                                                                                        \
    const int64_t width = l->extent[2];                                                                               \
    R *even = l->residue[2][0] ? to + l->plane : to, *odd = l->residue[2][0] ? to : to + l->plane;                    \
    EACH_ROW {                                                                                                        \
        if (at_d < 0 || at_d >= x->size[0] || at_h < 0 || at_h >= x->size[1]) {                                       \
            if (!again) clear_##name(even + r * width, width), clear_##name(odd + r * width, width);                  \
        } else                                                                                                        \
            part_row_##name(even + r * width, odd + r * width, from + (at_d * x->size[1] + at_h) * x->size[2], width, l->low[2], x->size[2]); \
    }                                                                                                                 \
}                                                                                                                     \
static void copy_plane_##name(const fc_conv_layout *l, R *to, const R *from, band rows, int again)                    \
{                                                                                                                     \
    const int both = l->step[2] == 2 && l->slots[2] == 2; /* of a row at once */                                      \
    for (int64_t d = 0; d < l->slots[0]; ++d)                                                                         \
        for (int64_t h = 0; h < l->slots[1]; ++h) {                                                                   \
            if (both) {                                                                                               \
                const int64_t residue[2] = { l->residue[0][d], l->residue[1][h] };                                    \
                part_phases_##name(l, to, from, residue, rows, again);                                                \
                to += 2 * l->plane;                                                                                   \
                continue;                                                                                             \
            }                                                                                                         \
            for (int64_t w = 0; w < l->slots[2]; ++w, to += l->plane) {                                               \
                const int64_t residue[3] = { l->residue[0][d], l->residue[1][h], l->residue[2][w] };                  \
                copy_phase_##name(l, to, from, residue, rows, again);                                                 \
            }                                                                                                         \
        }                                                                                                             \
}                                                                                                                     \
/* `count` planes of one row each: what they have in common is found once. */                                         \
static void copy_lines_##name(const fc_conv_layout *l, R *to, const R *from, int64_t count)                           \
{                                                                                                                     \
    const int64_t width = l->extent[2], first = l->low[2], size = l->x->size[2];                                      \
    int64_t low = first < 0 ? -first : 0, high = size > first ? size - first : 0;                                     \
    if (high > width) high = width;                                                                                   \
    if (low > high) low = high;                                                                                       \
    for (int64_t i = 0; i < count; ++i, to += l->channel, from += l->x->plane) {                                      \
        clear_##name(to, low);                                                                                        \
        copy_row_##name(to + low, from + first + low, high - low, 1);                                                 \
        clear_##name(to + high, width - high);                                                                        \
    }                                                                                                                 \
}                                                                                                                     \
static void copy_planes_##name(void *ctx, int64_t begin, int64_t end)                                                 \
{                                                                                                                     \
    const copying *job = ctx;                                                                                         \
    const fc_conv_layout *l = job->l;                                                                                 \
    const int64_t rows = l->extent[0] * l->extent[1];                                                                 \
    int64_t b = begin / job->planes, i = begin % job->planes, n = i / l->channels, c = i % l->channels;               \
    for (int64_t t = begin; t < end; ++t) {                                                                           \
        const R *from = (const R *)l->x->source + (job->first + n) * l->x->sample + c * l->x->plane;                  \
        if (job->bands == 1 && is_line(l)) {                                                                          \
            const int64_t some = l->channels - c < end - t ? l->channels - c : end - t;                               \
            copy_lines_##name(l, (R *)job->to + i * l->channel, from, some);                                          \
            t += some - 1, i += some - 1, c += some - 1;                                                              \
        } else {                                                                                                      \
            const band of = job->bands == 1 ? (band){ 0, rows } : (band){ rows * b / job->bands, rows * (b + 1) / job->bands }; \
            copy_plane_##name(l, (R *)job->to + i * l->channel, from, of, 0);                                         \
        }                                                                                                             \
        if (++c == l->channels) c = 0, ++n;                                                                           \
        if (++i == job->planes) i = n = c = 0, ++b;                                                                   \
    }                                                                                                                 \
}
COPY(f32, float)
COPY(f64, double)
#undef COPY
#undef EACH_ROW

/* bands: of positions, which different threads will read; each then copies its own, and finds them in its cache. */
void fc_conv_copy(const fc_conv_layout *l, void *to, int64_t first, int64_t samples, int64_t bands)
{
    const int64_t planes = samples * l->channels;
    fc_parallel(bands * planes, 1 + COPY_GRAIN / (l->channel / bands + 1), l->x->dtype == FC_F64 ? copy_planes_f64 : copy_planes_f32,
                &(copying){ l, to, first, planes, bands });
}

void fc_conv_copy_plane(const fc_conv_layout *l, void *to, const void *from, int again)
{
    const band all = { 0, l->extent[0] * l->extent[1] };
    if (l->x->dtype == FC_F64) copy_plane_f64(l, to, from, all, again);
    else copy_plane_f32(l, to, from, all, again);
}

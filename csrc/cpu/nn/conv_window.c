/* Implicit im2col: panels of the product engine straight from the source tensor. */
#include <string.h>

#include "../../core/dtype.h"
#include "conv.h"

#define WIDEST 32

/* Neighbouring positions of one row of one sample. */
typedef struct { int lane, count; int64_t n, d, h, w; } segment;
/* Elements of a panel row that exist: `count` from `lane`, `step` apart from `from`. */
typedef struct { int lane, count; int64_t from; } run;

static int cut_segments(const fc_window *x, segment *out, int64_t sample, int64_t first, int64_t lines)
{
    int n = 0;
    for (int64_t at = 0; at < lines;) {
        const int64_t q = first + at, p = x->folded ? q % x->positions : q;
        const int64_t w = p % x->count[2], row = p / x->count[2];
        const int64_t left = x->count[2] - w, count = left < lines - at ? left : lines - at;
        out[n++] = (segment){ (int)at, (int)count, x->folded ? q / x->positions : sample, row / x->count[1], row % x->count[1], w };
        at += count;
    }
    return n;
}

static int64_t ceil_div(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

/* What tap t finds in each segment; *full says whether nothing is padding. */
static int find_runs(const fc_window *x, const segment *s, int segments, int64_t t, run *out, int64_t lines, int *full)
{
    const int64_t off_w = x->off[2][t % x->ntaps[2]], rest = t / x->ntaps[2];
    const int64_t off_h = x->off[1][rest % x->ntaps[1]], off_d = x->off[0][rest / x->ntaps[1]];
    int64_t found = 0;
    int n = 0;
    for (int i = 0; i < segments; ++i, ++s) {
        const int64_t d = s->d * x->step[0] + off_d, h = s->h * x->step[1] + off_h;
        if (d < 0 || d >= x->size[0] || h < 0 || h >= x->size[1])
            continue;
        const int64_t first = s->w * x->step[2] + off_w;
        int64_t low = first < 0 ? ceil_div(-first, x->step[2]) : 0;
        int64_t high = ceil_div(x->size[2] - first, x->step[2]);
        if (high > s->count) high = s->count;
        if (low >= high)
            continue;
        out[n++] = (run){ s->lane + (int)low, (int)(high - low),
                          s->n * x->sample + (d * x->size[1] + h) * x->size[2] + first + low * x->step[2] };
        found += high - low;
    }
    *full = found == lines;
    return n;
}

#define COPY(name, R)                                                                                                 \
static void copy_##name(R *restrict out, int width, const R *restrict source, const run *r, int runs, int64_t step, int zero) \
{                                                                                                                     \
    if (zero)                                                                                                         \
        memset(out, 0, (size_t)width * sizeof(R));                                                                    \
    for (int i = 0; i < runs; ++i, ++r) {                                                                             \
        const R *x = source + r->from;                                                                                \
        R *z = out + r->lane;                                                                                         \
        int j = 0;                                                                                                    \
        if (step == 1) {                                                                                              \
            for (; j + 16 <= r->count; j += 16) memcpy(z + j, x + j, 16 * sizeof(R));                                 \
            for (; j + 4 <= r->count; j += 4) memcpy(z + j, x + j, 4 * sizeof(R));                                    \
        }                                                                                                             \
        for (; j < r->count; ++j) z[j] = x[j * step];                                                                 \
    }                                                                                                                 \
}                                                                                                                     \
static void copy_complex_##name(R *restrict out, int width, const R *restrict source, const run *r, int runs, int64_t step) \
{                                                                                                                     \
    memset(out, 0, 2 * (size_t)width * sizeof(R));                                                                    \
    for (int i = 0; i < runs; ++i, ++r)                                                                               \
        for (int j = 0; j < r->count; ++j) {                                                                          \
            out[r->lane + j] = source[2 * (r->from + j * step)];                                                      \
            out[width + r->lane + j] = source[2 * (r->from + j * step) + 1];                                          \
        }                                                                                                             \
}
COPY(f32, float)
COPY(f64, double)
#undef COPY

void fc_pack_window(const void *operand, const fc_gemm_kernel *kernel, void *panels, int width, int64_t batch, int64_t first,
                    int64_t lines, int64_t k0, int64_t depth)
{
    const fc_window *x = operand;
    const int64_t size = kernel->size;
    char *panel = panels;
    for (int64_t at = 0; at < lines; at += width, panel += width * depth * size) {
        const int64_t here = lines - at < width ? lines - at : width;
        segment segments[WIDEST];
        run runs[WIDEST];
        const int n = cut_segments(x, segments, batch, first + at, here);
        /* one tap at a time: where it reads is the same in every channel */
        for (int64_t tt = 0; tt < x->taps && tt < depth; ++tt) {
            const int64_t t = (k0 + tt) % x->taps;
            int full;
            const int count = find_runs(x, segments, n, t, runs, width, &full);
            for (int64_t k = tt; k < depth; k += x->taps) {
                char *row = panel + k * width * size;
                const char *source = x->source + (k0 + k) / x->taps * x->plane * size;
                switch (x->dtype) {
                case FC_F32: copy_f32((float *)row, width, (const float *)source, runs, count, x->step[2], !full); break;
                case FC_F64: copy_f64((double *)row, width, (const double *)source, runs, count, x->step[2], !full); break;
                case FC_C64: copy_complex_f32((float *)row, width, (const float *)source, runs, count, x->step[2]); break;
                case FC_C128: copy_complex_f64((double *)row, width, (const double *)source, runs, count, x->step[2]); break;
                }
            }
        }
    }
}

/* One line of the transpose, (channel, tap), over positions [k0, k0 + depth) of all samples. */
static void window_line(const fc_window *x, char *out, int64_t line, int64_t k0, int64_t depth, int size)
{
    const int64_t t = line % x->taps;
    const char *source = x->source + line / x->taps * x->plane * size;
    memset(out, 0, (size_t)(depth * size));
    for (int64_t at = 0; at < depth;) {
        segment segments[WIDEST];
        run runs[WIDEST];
        int full;
        int64_t n = 0, covered = at;
        for (; n < WIDEST && covered < depth; ++n) {
            const int64_t left = x->count[2] - (k0 + covered) % x->count[2];
            const int64_t count = left < depth - covered ? left : depth - covered;
            cut_segments(x, segments + n, 0, k0 + covered, count);
            segments[n].lane = (int)covered;
            covered += count;
        }
        const int count = find_runs(x, segments, (int)n, t, runs, 0, &full);
        for (int i = 0; i < count; ++i) {
            const char *from = source + runs[i].from * size;
            char *to = out + (int64_t)runs[i].lane * size;
            if (x->step[2] == 1)
                memcpy(to, from, (size_t)(runs[i].count * size));
            else
                for (int64_t j = 0; j < runs[i].count; ++j) {
                    if (size == 4) memcpy(to + j * 4, from + j * x->step[2] * 4, 4);
                    else memcpy(to + j * size, from + j * x->step[2] * size, (size_t)size);
                }
        }
        at = covered;
    }
}

#define LINES_BYTES (14 * 16 * FC_GEMM_BLOCK) /* a panel of one block: at most 32 lines of 4 bytes, 14 of 16 */

void fc_pack_window_turned(const void *operand, const fc_gemm_kernel *kernel, void *panels, int width, int64_t batch,
                           int64_t first, int64_t lines, int64_t k0, int64_t depth)
{
    (void)batch;
    const int size = kernel->size;
    char straight[LINES_BYTES];
    for (int64_t at = 0; at < lines; at += width) {
        const int64_t here = lines - at < width ? lines - at : width;
        for (int64_t l = 0; l < here; ++l)
            window_line(operand, straight + l * depth * size, first + at + l, k0, depth, size);
        kernel->pack((char *)panels + at * depth * size, width, straight, depth, 1, here, depth);
    }
}

/* Element by element, for real types: neighbours in a line are not neighbours in memory. Lines may be. */
#define GATHER(name, R)                                                                                               \
static void gather_##name(const fc_two_level *x, R *restrict out, int width, int64_t first, int64_t lines, int64_t k0, int64_t depth) \
{                                                                                                                     \
    const R *line = (const R *)x->data + first * x->line;                                                             \
    int64_t outer = k0 / x->inner, inner = k0 % x->inner;                                                             \
    for (int64_t k = 0; k < depth; ++k, out += width) {                                                               \
        const R *from = line + outer * x->far + (x->place ? x->place[inner] : inner);                                 \
        if (x->line == 1)                                                                                             \
            memcpy(out, from, (size_t)lines * sizeof(R));                                                             \
        else                                                                                                          \
            for (int64_t l = 0; l < lines; ++l) out[l] = from[l * x->line];                                           \
        for (int64_t l = lines; l < width; ++l) out[l] = 0;                                                           \
        if (++inner == x->inner) inner = 0, ++outer;                                                                  \
    }                                                                                                                 \
}
GATHER(f32, float)
GATHER(f64, double)
#undef GATHER

#define LONG_ENOUGH 16 /* steps side by side, from which the kernel's own packing pays */

void fc_pack_two_level(const void *operand, const fc_gemm_kernel *kernel, void *panels, int width, int64_t batch, int64_t first,
                       int64_t lines, int64_t k0, int64_t depth)
{
    (void)batch;
    const fc_two_level *x = operand;
    const int size = kernel->size;
    for (int64_t at = 0; depth && at < lines; at += width) { /* no depth: no taps, and x->inner is 0 */
        const int64_t here = lines - at < width ? lines - at : width;
        char *panel = (char *)panels + at * depth * size;
        if ((x->place || x->inner < LONG_ENOUGH) && !x->planes) {
            if (size == 4) gather_f32(x, (float *)panel, width, first + at, here, k0, depth);
            else gather_f64(x, (double *)panel, width, first + at, here, k0, depth);
            continue;
        }
        for (int64_t k = 0; k < depth;) { /* one stretch of neighbours after the other */
            const int64_t outer = (k0 + k) / x->inner, inner = (k0 + k) % x->inner;
            const int64_t left = x->place ? 1 : x->inner - inner, count = left < depth - k ? left : depth - k;
            const char *from = x->data + ((first + at) * x->line + outer * x->far + (x->place ? x->place[inner] : inner)) * size;
            kernel->pack(panel + k * width * size, width, from, x->line, 1, here, count);
            k += count;
        }
    }
}

/*
 * Normalisation of short rows, sixteen to a strip (strip.h), and its gradients: layer_norm.c's and rms_norm.c's formulas and bits.
 *
 * Turned, a register holds an element of every row, so a row of one or five costs no more an element than a row of a hundred. For dw and db
 * the rows of a strip are the lanes of tally.h's sums: what was added goes to it block by block.
 */
#ifndef T
#include "../../core/mathfn.h"
#include "../fold_rows.h"
#include "norm_short.h"

/* `rows` rows from `at` as a tile of `width` lines; lines that are spare are zero. */
static void tile_of(void *tile, const void *x, int64_t at, int64_t rows, int64_t width, int64_t n, int64_t es)
{
    if (rows < width)
        memset(tile, 0, (size_t)(n * width * es));
    if (n == 1) /* a column lies as a row does */
        memcpy(tile, (const char *)x + at * es, (size_t)(rows * es));
    else
        FC_ISA_NAME(fc_turn)(tile, width * es, (const char *)x + at * n * es, n * es, rows, n, (int)es);
}

static void rows_of(void *out, const void *tile, int64_t at, int64_t rows, int64_t width, int64_t n, int64_t es)
{
    if (n == 1)
        memcpy((char *)out + at * es, tile, (size_t)(rows * es));
    else
        FC_ISA_NAME(fc_turn)((char *)out + at * n * es, n * es, tile, width * es, n, rows, (int)es);
}

#define T f32
#include "norm_short.c"
#define T f64
#include "norm_short.c"

static int each_tile(fc_norm_short *q, fc_scratch_fn fn, int64_t tiles, int64_t es)
{
    const int64_t strips = (q->rows + FC_LINES - 1) / FC_LINES, most = 4 * FC_LINES / q->n + 1;
    q->width = FC_LINES * (strips < most ? strips : most);
    return fc_parallel_scratch((q->rows - 1) / q->width + 1, 1 + FC_LINES_SERIAL / (q->n * q->width), (size_t)(tiles * q->n * q->width * es), fn, q);
}

int FC_ISA_NAME(fc_norm_short_forward)(fc_norm_short *q, int dtype)
{
    return each_tile(q, dtype == FC_F32 ? forward_short_f32 : forward_short_f64, 1, fc_dt_size[dtype]);
}

int FC_ISA_NAME(fc_norm_short_backward)(fc_norm_short *q, int dtype)
{
    const int64_t es = fc_dt_size[dtype];
    const int bad = each_tile(q, dtype == FC_F32 ? rows_short_f32 : rows_short_f64, 2, es);
    if (bad || !q->w || q->n > FC_SHORT_TALLY)
        return bad;
    return fc_parallel_scratch(1, 1, (size_t)(4 * q->n * FC_LINES * es), dtype == FC_F32 ? columns_short_f32 : columns_short_f64, q);
}

#else
#include "../typed.h"
#include "../tally.h"
#include "strip.h"

static void N(forward_short)(void *ctx, int64_t begin, int64_t end, void *tile)
{
    const fc_norm_short *q = ctx;
    const T *w = q->w, *b = q->b;
    const int64_t n = q->n, width = q->width;
    const T nothing = q->mean_out ? K(0) : -K(0); /* what rms_norm adds nothing to keeps the sign of its zeros */
    for (int64_t k = begin; k < end; ++k) {
        const int64_t first = k * width, rows = q->rows - first < width ? q->rows - first : width;
        tile_of(tile, q->x, first, rows, width, n, sizeof(T));
        for (int64_t at = 0; at < rows; at += FC_LINES) {
            T *x = (T *)tile + at, mean[FC_LINES], rstd[FC_LINES];
            N(strip) sum;
            N(strip_sum)(&sum, x, n, width);
            FOR_LINES
                mean[l] = q->mean_out ? sum.lane[0][l] / (T)n : K(0);
            N(strip_begin)(&sum, n);
            for (int64_t i = 0; i < n; ++i)
                FOR_LINES
                    sum.lane[i % FC_FOLD_LANES][l] += (x[i * width + l] - mean[l]) * (x[i * width + l] - mean[l]);
            N(strip_end)(&sum, n);
            FOR_LINES
                rstd[l] = K(1) / M(sqrt)(sum.lane[0][l] / (T)n + (T)q->eps);
            for (int64_t i = 0; i < n; ++i) {
                const T w_i = w ? w[i] : K(1), b_i = b ? b[i] : nothing;
                FOR_LINES
                    x[i * width + l] = (x[i * width + l] - mean[l]) * rstd[l] * w_i + b_i;
            }
            const size_t used = (size_t)(rows - at < FC_LINES ? rows - at : FC_LINES) * sizeof(T);
            if (q->mean_out)
                memcpy((T *)q->mean_out + first + at, mean, used);
            memcpy((T *)q->rstd_out + first + at, rstd, used);
        }
        rows_of(q->out, tile, first, rows, width, n, sizeof(T));
    }
}

static void N(rows_short)(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const fc_norm_short *q = ctx;
    const T *w = q->w;
    const int64_t n = q->n, width = q->width;
    T *xs = scratch, *gs = xs + n * width;
    for (int64_t k = begin; k < end; ++k) {
        const int64_t first = k * width, rows = q->rows - first < width ? q->rows - first : width;
        tile_of(xs, q->x, first, rows, width, n, sizeof(T));
        tile_of(gs, q->g, first, rows, width, n, sizeof(T));
        for (int64_t at = 0; at < rows; at += FC_LINES) {
            T *restrict x = xs + at, *restrict g = gs + at, mean[FC_LINES] = {0}, rstd[FC_LINES] = {0};
            const size_t used = (size_t)(rows - at < FC_LINES ? rows - at : FC_LINES) * sizeof(T);
            if (q->mean)
                memcpy(mean, (const T *)q->mean + first + at, used);
            memcpy(rstd, (const T *)q->rstd + first + at, used);
            N(strip) one, h;
            N(strip_begin)(&one, n);
            N(strip_begin)(&h, n);
            for (int64_t i = 0; i < n; ++i) {
                const T w_i = w ? w[i] : K(1);
                T *restrict x_i = x + i * width, *restrict g_i = g + i * width, *restrict of_one = one.lane[i % FC_FOLD_LANES], *restrict of_h = h.lane[i % FC_FOLD_LANES];
                FOR_LINES {
                    x_i[l] = (x_i[l] - mean[l]) * rstd[l];
                    g_i[l] *= w_i;
                    of_one[l] += g_i[l];
                    of_h[l] += g_i[l] * x_i[l];
                }
            }
            N(strip_end)(&one, n);
            N(strip_end)(&h, n);
            FOR_LINES {
                one.lane[0][l] = q->mean ? one.lane[0][l] / (T)n : K(0);
                h.lane[0][l] /= (T)n;
            }
            for (int64_t i = 0; i < n; ++i)
                FOR_LINES
                    x[i * width + l] = rstd[l] * (g[i * width + l] - one.lane[0][l] - x[i * width + l] * h.lane[0][l]);
        }
        rows_of(q->dx, xs, first, rows, width, n, sizeof(T));
    }
}

static void N(columns_short)(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const fc_norm_short *q = ctx;
    const int64_t n = q->n, size = n * FC_LINES;
    T *x = scratch, *g = x + size, *in_w = g + size, *in_b = in_w + size, both[2 * FC_SHORT_TALLY];
    N(tally) sums; /* dw, then db */
    (void)begin, (void)end; /* all of it */
    N(tally_begin)(&sums, 2 * n);
    memset(in_w, 0, (size_t)(2 * size) * sizeof(T));
    for (int64_t r = 0; r < q->rows; r += FC_LINES) {
        const int64_t rows = q->rows - r < FC_LINES ? q->rows - r : FC_LINES;
        T mean[FC_LINES] = {0}, rstd[FC_LINES] = {0};
        if (q->mean)
            memcpy(mean, (const T *)q->mean + r, (size_t)rows * sizeof(T));
        memcpy(rstd, (const T *)q->rstd + r, (size_t)rows * sizeof(T));
        tile_of(x, q->x, r, rows, FC_LINES, n, sizeof(T));
        tile_of(g, q->g, r, rows, FC_LINES, n, sizeof(T));
        for (int64_t i = 0; i < size; i += FC_LINES)
            FOR_LINES {
                in_w[i + l] += g[i + l] * ((x[i + l] - mean[l]) * rstd[l]);
                in_b[i + l] += g[i + l];
            }
        if ((r + rows) % FC_FOLD_BLOCK == 0 || r + rows == q->rows)
            N(tally_lanes)(&sums, in_w, (r + rows - 1) % FC_FOLD_BLOCK + 1);
    }
    N(tally_end)(&sums, both);
    memcpy(q->dw, both, (size_t)n * sizeof(T));
    if (q->db)
        memcpy(q->db, both + n, (size_t)n * sizeof(T));
}

#include "../typed_done.h"
#endif

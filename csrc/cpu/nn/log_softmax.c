/*
 * Logarithm of softmax along a dim, and its gradient.
 *
 *   out[j] = (x[j] - m) - log(sum_k exp(x[k] - m)),   m = max_k x[k]
 *   dx[j]  = g[j] - exp(out[j]) * sum_k g[k]
 *
 * Two passes of exp would be needed to keep the exponentials; out is their room, then overwritten.
 */
#ifndef T
#include "../../core/levels.h"
#include "../../core/mathfn.h"
#include "../fold_rows.h"
#include "lines.h"

#define T f32
#include "log_softmax.c"
#define T f64
#include "log_softmax.c"

#if FC_ISA_ONCE
int fc_infer_log_softmax(fc_call *c) { return fc_infer_lines(c); }
int fc_infer__log_softmax_backward(fc_call *c) { return fc_infer_lines(c); }
#endif

int FC_ISA_NAME(fc_cpu_log_softmax)(fc_call *c)
{
    const int f = c->out[0]->dtype != FC_F64;
    return fc_lines_run(f ? log_softmax_f32 : log_softmax_f64, TILE(f, log_softmax_tile), FC_ISA_NAME(fc_turn), c->out[0], 1, c->t, c->i[0]);
}
FC_OWN_LEVELS(log_softmax)

int FC_ISA_NAME(fc_cpu__log_softmax_backward)(fc_call *c)
{
    const int f = c->out[0]->dtype != FC_F64;
    return fc_lines_run(f ? log_softmax_backward_f32 : log_softmax_backward_f64, TILE(f, log_softmax_backward_tile),
                        FC_ISA_NAME(fc_turn), c->out[0], 2, c->t, c->i[0]);
}
FC_OWN_LEVELS(_log_softmax_backward)

#else
#include "../typed.h"
#include "strip.h"

static void N(log_softmax)(void *out_, const void *const *in, int64_t n, int64_t rows)
{
    T *restrict out = out_, peak[FC_LINE_ROWS];
    const T *restrict x = in[0];
    for (int64_t r = 0; r < rows; ++r) {
        peak[r] = M(row_max)(x + r * n, n);
        for (int64_t j = r * n; j < (r + 1) * n; ++j)
            out[j] = x[j] - peak[r];
    }
    for (int64_t j = 0; j < rows * n; ++j)
        out[j] = M(exp)(out[j]);
    for (int64_t r = 0; r < rows; ++r) {
        const T log_sum = M(log)(M(row_sum)(out + r * n, n));
        for (int64_t j = r * n; j < (r + 1) * n; ++j)
            out[j] = (x[j] - peak[r]) - log_sum;
    }
}

static void N(log_softmax_backward)(void *dx_, const void *const *in, int64_t n, int64_t rows)
{
    T *restrict dx = dx_;
    const T *restrict g = in[0], *restrict out = in[1];
    for (int64_t j = 0; j < rows * n; ++j)
        dx[j] = M(exp)(out[j]);
    for (int64_t r = 0; r < rows; ++r) {
        const T sum = M(row_sum)(g + r * n, n);
        for (int64_t j = r * n; j < (r + 1) * n; ++j)
            dx[j] = g[j] - dx[j] * sum;
    }
}

static void N(log_softmax_tile)(void *const *tile, int64_t n, int64_t pitch, int64_t lines)
{
    for (int64_t at = 0; at < lines; at += FC_LINES) {
        T *x = (T *)tile[0] + at, peak[FC_LINES];
        N(strip) sum;
        N(strip_peak)(peak, x, n, pitch);
        N(strip_begin)(&sum, n);
        for (int64_t i = 0; i < n; ++i) {
            T *restrict x_i = x + i * pitch, *restrict lane = sum.lane[i % FC_FOLD_LANES];
            FOR_LINES {
                x_i[l] -= peak[l];
                lane[l] += M(exp)(x_i[l]);
            }
        }
        N(strip_end)(&sum, n);
        FOR_LINES
            sum.lane[0][l] = M(log)(sum.lane[0][l]);
        for (int64_t i = 0; i < n; ++i)
            FOR_LINES
                x[i * pitch + l] -= sum.lane[0][l];
    }
}

static void N(log_softmax_backward_tile)(void *const *tile, int64_t n, int64_t pitch, int64_t lines)
{
    for (int64_t at = 0; at < lines; at += FC_LINES) {
        T *restrict g = (T *)tile[0] + at;
        const T *restrict out = (const T *)tile[1] + at;
        N(strip) sum;
        N(strip_sum)(&sum, g, n, pitch);
        for (int64_t i = 0; i < n; ++i)
            FOR_LINES
                g[i * pitch + l] -= M(exp)(out[i * pitch + l]) * sum.lane[0][l];
    }
}

#include "../typed_done.h"
#endif

/*
 * The recurrence of one layer in one direction over a whole sequence, packed or not, and its gradients.
 *
 *   p = W h + b  (one product per step)                  u: the input's part, computed for all steps at once beforehand
 *   tanh, relu:  h' = act(u + p)
 *   LSTM:        i, f, o = sigmoid(u + p), g = tanh(u + p);  c' = f c + i g,  h' = o tanh(c'), projected by R if there is one
 *   GRU:         r, z = sigmoid(u + p), n = tanh(u_n + r p_n);  h' = n + z (h - n)
 *
 * gates (rows, G H): u of step 0, then of step 1, ...; sizes (T): rows of each step, never rising, sizes[0] = N, as sequences sorted
 * by length leave one by one (all N where nothing is packed). The state (N, .) is worked on in place: rows that have left keep
 * their last value, and backwards in time (reverse) rows that have not joined still hold the initial one.
 *
 * reserve (rows, R) is what the gradients need: LSTM i f g o c', GRU r z n p_n. They walk the steps the other way with
 * dh = dgates W, and sum dW = dgates^T h, db over all rows in one product at the end.
 * Sources: Elman (1990); Hochreiter, Schmidhuber (1997); Gers (2000); Cho and others (2014); Sak, Senior, Beaufays (2014).
 */
#ifndef T
#include <string.h>

#include "../../core/atomic.h"
#include "../../core/levels.h"
#include "../../core/mathfn.h"
#include "../../core/move.h"
#include "../gemm_blocks.h"
#include "../parallel.h"
#include "same.h"

enum { TANH, RELU, LSTM, GRU, MODES };
enum { GATES, H0, C0, W_HH, B_HH, W_HR, SIZES, INPUTS };            /* arguments of the forward row */
enum { G_OUT, G_H, G_C, OUTPUT, RESERVE, LATER };                   /* of the backward row, then the forward's without gates and b */
enum { B_H0 = LATER, B_C0, B_W_HH, B_W_HR, B_SIZES };

/* From so many steps on W is turned into columns first, which every step's product then reads in place. */
enum { STEPS_WORTH_TURNING = 6, PANEL_BYTES = 64 / 2 * 4 * FC_GEMM_BLOCK }; /* of the widest panel, of either type */
enum { SLICE_UNITS = 8, SLICE_WORK = 32 << 10 }; /* a slice of hidden units: whole vectors, and longer than meeting takes */

static const int gate_count[MODES] = {1, 1, 4, 3}, reserve_count[MODES] = {0, 0, 5, 4};

typedef struct {
    int mode, reverse, dtype;
    int64_t rows, n, h, p, steps; /* all rows, batch, hidden, output width, steps */
    const int64_t *sizes;
    const void *gates, *h0, *c0, *w, *b, *r;
    int64_t w_row, w_col;         /* strides of W^T */
    void *out, *state, *cell, *reserve;
    const void *g_out, *output, *kept;
    void *d_gates, *dh, *dc, *dw, *db, *dr;
    void *products, *previous, *through; /* scratch */
    void *slices;                 /* scratch: W^T and b, slice by slice */
    int parts;                    /* slices of `units` hidden units */
    int64_t units;
    int bad;                      /* atomic: a product found no memory */
    int64_t at, before;           /* first row of this step, and of the one before it in its direction (-1: none) */
    int64_t live, live_before;
} job;

/* Runs step(q) for every step, in the order of time or, backwards, against it; q->at, ->before, ->live, ->live_before are set. */
static int each_step(job *q, int backwards, int (*step)(job *))
{
    int bad = FC_OK;
    int64_t at = backwards ? q->rows : 0;
    for (int64_t k = 0; k < q->steps && !bad; ++k) {
        const int64_t t = backwards ? q->steps - 1 - k : k, from = q->reverse ? t + 1 : t - 1;
        q->live = q->sizes[t];
        at -= backwards ? q->live : 0;
        q->at = at;
        q->live_before = from < 0 || from >= q->steps ? 0 : q->sizes[from];
        q->before = q->reverse ? at + q->live : at - q->live_before;
        bad = step(q);
        at += backwards ? 0 : q->live;
    }
    return bad;
}

#define T f32
#include "rnn.c"
#define T f64
#include "rnn.c"

#if FC_ISA_ONCE
static int check_state(const fc_call *c, int x, int k, int64_t n, int64_t width)
{
    const fc_tensor *t = c->t[k];
    if (t->dtype != c->t[x]->dtype)
        return fc_fail(FC_MIXED, x, c->t[x]->dtype, k, t->dtype);
    if (t->ndim != 2)
        return fc_fail(FC_RANK, k, t->ndim, 2, 0);
    if (t->shape[0] != n)
        return fc_fail(FC_SIZE, x, n, k, t->shape[0]);
    return t->shape[1] == width ? FC_OK : fc_fail(FC_SIZE, x, width, k, t->shape[1]);
}

/* gates, h0, c0, w_hh, b_hh, w_hr, sizes; mode, reverse -> out, h, c, reserve */
int fc_infer__rnn(fc_call *c)
{
    const fc_tensor *x = c->t[GATES], *h0 = c->t[H0], *w = c->t[W_HH], *r = c->t[W_HR], *s = c->t[SIZES];
    const int64_t mode = c->i[0];
    if (mode < 0 || mode >= MODES)
        return fc_fail(FC_ARG, INPUTS, mode, MODES - 1, 0);
    if (!fc_is_float(x->dtype))
        return fc_fail(FC_DTYPE, x->dtype, 0, 0, 0);
    if (s->dtype != FC_I64)
        return fc_fail(FC_DTYPE, s->dtype, SIZES, 0, 0);
    if (x->ndim != 2 || h0->ndim != 2 || w->ndim != 2 || s->ndim != 1)
        return fc_fail(FC_RANK, x->ndim != 2 ? GATES : h0->ndim != 2 ? H0 : w->ndim != 2 ? W_HH : SIZES, x->ndim != 2 ? x->ndim : 0, 2, 0);
    const int64_t h = x->shape[1] / gate_count[mode], n = h0->shape[0], p = h0->shape[1];
    if (x->shape[1] != gate_count[mode] * h)
        return fc_fail(FC_ARG, GATES, x->shape[1], gate_count[mode], 0);
    int bad = check_state(c, GATES, W_HH, x->shape[1], p);
    bad = bad ? bad : check_state(c, GATES, H0, n, r ? r->shape[0] : h);
    if (!bad && mode == LSTM)
        bad = c->t[C0] ? check_state(c, GATES, C0, n, h) : fc_fail(FC_RANK, C0, 0, 2, 0);
    if (!bad && r)
        bad = mode == LSTM ? check_state(c, GATES, W_HR, p, h) : fc_fail(FC_ARG, W_HR, mode, LSTM, 0);
    if (!bad && c->t[B_HH])
        bad = fc_check_part(c, x, B_HH, x->shape[1]);
    if (bad)
        return bad;
    const int64_t out[2] = {x->shape[0], p}, cell[2] = {n, h}, kept[2] = {x->shape[0], reserve_count[mode] * h}, none = 0;
    fc_declare(c, 0, x->dtype, 2, out);
    fc_declare(c, 1, x->dtype, 2, h0->shape);
    fc_declare(c, 2, x->dtype, mode == LSTM ? 2 : 1, mode == LSTM ? cell : &none);
    const size_t es = fc_dt_size[fc_is_half(x->dtype) ? FC_F32 : x->dtype];
    const int64_t turned = s->shape[0] < STEPS_WORTH_TURNING ? 0 : w->numel + x->shape[1];
    c->scratch_bytes = (size_t)(n * (x->shape[1] + h) + turned) * es + 128;
    return fc_declare(c, 3, fc_is_half(x->dtype) ? FC_F32 : x->dtype, 2, kept);
}

/* g, g_h, g_c, output, reserve, h0, c0, w_hh, w_hr, sizes; mode, reverse -> gates, h, c, w_hh, b_hh, w_hr */
int fc_infer__rnn_backward(fc_call *c)
{
    const fc_tensor *y = c->t[OUTPUT], *h0 = c->t[B_H0], *w = c->t[B_W_HH], *r = c->t[B_W_HR];
    const int64_t mode = c->i[0], none = 0;
    if (mode < 0 || mode >= MODES)
        return fc_fail(FC_ARG, B_SIZES + 1, mode, MODES - 1, 0);
    if (!fc_is_float(y->dtype))
        return fc_fail(FC_DTYPE, y->dtype, OUTPUT, 0, 0);
    if (y->ndim != 2 || w->ndim != 2 || h0->ndim != 2)
        return fc_fail(FC_RANK, OUTPUT, y->ndim, 2, 0);
    const int64_t h = w->shape[0] / gate_count[mode], n = h0->shape[0], p = y->shape[1], rows = y->shape[0];
    int bad = check_state(c, OUTPUT, B_H0, n, p);
    bad = bad ? bad : check_state(c, OUTPUT, B_W_HH, gate_count[mode] * h, p);
    bad = bad ? bad : fc_check_part(c, y, RESERVE, rows * reserve_count[mode] * h);
    for (int k = G_OUT; k <= G_C && !bad; ++k)
        if (c->t[k])
            bad = fc_check_part(c, y, k, k == G_OUT ? rows * p : n * (k == G_H ? p : h));
    if (!bad && mode == LSTM)
        bad = c->t[B_C0] ? check_state(c, OUTPUT, B_C0, n, h) : fc_fail(FC_RANK, B_C0, 0, 2, 0);
    if (!bad && r)
        bad = mode == LSTM ? check_state(c, OUTPUT, B_W_HR, p, h) : fc_fail(FC_ARG, B_W_HR, mode, LSTM, 0);
    if (!bad && !r && p != h)
        bad = fc_fail(FC_SIZE, OUTPUT, p, B_W_HH, h);
    if (!bad && c->t[B_SIZES]->dtype != FC_I64)
        bad = fc_fail(FC_DTYPE, c->t[B_SIZES]->dtype, B_SIZES, 0, 0);
    if (!bad && c->t[B_SIZES]->ndim != 1)
        bad = fc_fail(FC_RANK, B_SIZES, c->t[B_SIZES]->ndim, 1, 0);
    if (bad)
        return bad;
    const int64_t gates[2] = {rows, w->shape[0]}, cell[2] = {n, h};
    fc_declare(c, 0, y->dtype, 2, gates);
    fc_declare(c, 1, y->dtype, 2, h0->shape);
    fc_declare(c, 2, y->dtype, mode == LSTM ? 2 : 1, mode == LSTM ? cell : &none);
    fc_declare(c, 3, y->dtype, 2, w->shape);
    fc_declare(c, 4, y->dtype, 1, w->shape);
    const size_t es = fc_dt_size[fc_is_half(y->dtype) ? FC_F32 : y->dtype];
    c->scratch_bytes = (size_t)(rows * (p + (mode == GRU ? w->shape[0] : 0)) + (r ? 2 * n * h : 0)) * es + 64;
    return fc_declare(c, 5, y->dtype, r ? 2 : 1, r ? r->shape : &none);
}
#endif

/* sizes fall from n and add up to rows */
static int check_sizes(const job *q)
{
    int64_t total = 0;
    for (int64_t t = 0; t < q->steps; ++t) {
        if (q->sizes[t] < 0 || q->sizes[t] > (t ? q->sizes[t - 1] : q->n))
            return fc_fail(FC_ARG, SIZES, q->sizes[t], t ? q->sizes[t - 1] : q->n, 0);
        total += q->sizes[t];
    }
    return total == q->rows ? FC_OK : fc_fail(FC_SIZE, GATES, q->rows, SIZES, total);
}

/* As many slices as there are threads and work for them. */
static void slice(job *q)
{
    const int parts = fc_parts(q->n * q->p * gate_count[q->mode] * q->h / SLICE_WORK);
    q->units = ((q->h - 1) / parts / SLICE_UNITS + 1) * SLICE_UNITS;
    q->parts = (int)((q->h - 1) / q->units + 1);
}

int FC_ISA_NAME(fc_cpu__rnn)(fc_call *c)
{
    const fc_tensor *x = c->t[GATES], *h0 = c->t[H0];
    job q = {.mode = (int)c->i[0], .reverse = (int)c->i[1], .dtype = x->dtype, .rows = x->shape[0], .n = h0->shape[0], .p = h0->shape[1],
             .steps = c->t[SIZES]->shape[0], .sizes = FC_DATA(const int64_t, c->t[SIZES]), .gates = x->data, .h0 = h0->data, .w = c->t[W_HH]->data,
             .b = c->t[B_HH] ? c->t[B_HH]->data : NULL, .r = c->t[W_HR] ? c->t[W_HR]->data : NULL, .out = c->out[0]->data,
             .state = c->out[1]->data, .cell = c->out[2]->data, .reserve = c->out[3]->data, .products = c->scratch};
    q.h = x->shape[1] / gate_count[q.mode];
    const size_t es = fc_dt_size[x->dtype];
    q.through = (char *)c->scratch + (size_t)(q.n * x->shape[1]) * es;
    const int bad = check_sizes(&q);
    if (bad)
        return bad;
    memcpy(q.state, h0->data, (size_t)h0->numel * es);
    if (q.mode == LSTM)
        memcpy(q.cell, c->t[C0]->data, (size_t)c->t[C0]->numel * es);
    q.w_row = 1, q.w_col = q.p;
    if (q.steps >= STEPS_WORTH_TURNING) {
        const size_t used = (size_t)(q.n * (x->shape[1] + q.h)) * es;
        q.slices = (char *)c->scratch + (used + 63) / 64 * 64;
        if (q.rows == q.n * q.steps && !q.r && q.n) {
            slice(&q);
            fc_parallel_steps(q.steps + 1, q.parts, x->dtype == FC_F32 ? slice_step_f32 : slice_step_f64, &q);
            const char *last = (const char *)q.out + (size_t)(q.reverse ? 0 : h0->numel * (q.steps - 1)) * es;
            memcpy(q.state, last, (size_t)h0->numel * es);
            return q.bad ? fc_fail(FC_MEMORY, 0, 0, 0, 0) : FC_OK;
        }
        (x->dtype == FC_F32 ? turn_f32 : turn_f64)(q.slices, x->shape[1], q.w, x->shape[1], q.p);
        q.w = q.slices, q.w_row = x->shape[1], q.w_col = 1;
    }
    return each_step(&q, q.reverse, x->dtype == FC_F32 ? forward_f32 : forward_f64);
}
FC_OWN_TWO_LEVELS(_rnn)

static void start(fc_tensor *d, const fc_tensor *g)
{
    if (g)
        memcpy(d->data, g->data, (size_t)(d->numel * fc_dt_size[d->dtype]));
    else
        memset(d->data, 0, (size_t)(d->numel * fc_dt_size[d->dtype]));
}

int FC_ISA_NAME(fc_cpu__rnn_backward)(fc_call *c)
{
    const fc_tensor *y = c->t[OUTPUT], *w = c->t[B_W_HH];
    job q = {.mode = (int)c->i[0], .reverse = (int)c->i[1], .dtype = y->dtype, .rows = y->shape[0], .n = c->t[B_H0]->shape[0], .p = y->shape[1],
             .steps = c->t[B_SIZES]->shape[0], .sizes = FC_DATA(const int64_t, c->t[B_SIZES]), .h0 = c->t[B_H0]->data,
             .c0 = c->t[B_C0] ? c->t[B_C0]->data : NULL, .w = w->data, .r = c->t[B_W_HR] ? c->t[B_W_HR]->data : NULL,
             .g_out = c->t[G_OUT] ? c->t[G_OUT]->data : NULL, .output = y->data, .kept = c->t[RESERVE]->data,
             .d_gates = c->out[0]->data, .dh = c->out[1]->data, .dc = c->out[2]->data, .dw = c->out[3]->data, .db = c->out[4]->data,
             .dr = c->out[5]->data, .previous = c->scratch};
    const int64_t gates = w->shape[0], es = fc_dt_size[y->dtype];
    q.h = gates / gate_count[q.mode];
    const int bad = check_sizes(&q);
    if (bad)
        return bad;
    start(c->out[1], c->t[G_H]);
    start(c->out[2], q.mode == LSTM ? c->t[G_C] : NULL);
    char *room = (char *)c->scratch + q.rows * q.p * es;
    q.products = q.mode == GRU ? room : q.d_gates; /* gradient of W h + b */
    room += q.mode == GRU ? q.rows * gates * es : 0;
    q.through = room;
    return y->dtype == FC_F32 ? backward_f32(&q) : backward_f64(&q);
}
FC_OWN_TWO_LEVELS(_rnn_backward)

#else
#include "../typed.h"

/* a few rows are taken so many at a time that b is read where it is, unpacked */
static int N(product)(int64_t m, int64_t n, int64_t k, const T *a, int64_t a_row, int64_t a_col, const T *b, int64_t b_row,
                      int64_t b_col, T *c, const T *bias, int more)
{
    const int dtype = sizeof(T) == 4 ? FC_F32 : FC_F64;
    const int64_t few = fc_gemm_kernel_for(dtype)->direct_rows;
    const int64_t parts = b_col == 1 && few && m > few && m <= 3 * few ? (m + few - 1) / few : 1, rows = (m + parts - 1) / parts;
    int bad = FC_OK;
    for (int64_t from = 0; from < m; from += rows)
        bad |= fc_gemm(dtype, 1, m - from < rows ? m - from : rows, n, k, a + from * a_row, 0, a_row, a_col, b, 0, b_row, b_col,
                       c + from * n, 0, n, 1, bias, 1, more);
    return bad;
}

/* out = W^T, (cols, rows) with its rows `apart`; W's rows are turned by the engine's packing, in vectors: as many as a panel has lines
 * to where they belong, fewer by way of a panel, since packing fills its lanes. */
static void N(turn)(void *out, int64_t apart, const void *w, int64_t rows, int64_t cols)
{
    const fc_gemm_kernel *kernel = fc_gemm_kernel_for(sizeof(T) == 4 ? FC_F32 : FC_F64);
    T panel[PANEL_BYTES / sizeof(T)];
    for (int64_t r = 0; r < rows; r += kernel->nr)
        for (int64_t k = 0; k < cols; k += FC_GEMM_BLOCK) {
            const int64_t lines = rows - r < kernel->nr ? rows - r : kernel->nr, depth = cols - k < FC_GEMM_BLOCK ? cols - k : FC_GEMM_BLOCK;
            T *const to = (T *)out + k * apart + r;
            const T *const from = (const T *)w + r * cols + k;
            if (lines == kernel->nr) {
                kernel->pack(to, (int)apart, from, cols, 1, lines, depth);
                continue;
            }
            kernel->pack(panel, kernel->nr, from, cols, 1, lines, depth);
            for (int64_t j = 0; j < depth; ++j)
                memcpy(to + j * apart, panel + j * kernel->nr, (size_t)lines * sizeof(T));
        }
}

#include "rnn_cells.h"
#include "rnn_slices.h"

static int N(forward)(job *q)
{
    const int64_t width = gate_count[q->mode] * q->h;
    T *state = q->state;
    int bad = N(product)(q->live, width, q->p, state, q->p, 1, q->w, q->w_row, q->w_col, q->products, q->b, 0);
    fc_parallel(q->live, 1 + 2048 / (width + 1), N(cells), q);
    if (q->r)
        bad |= N(product)(q->live, q->p, q->h, q->through, q->h, 1, q->r, 1, q->h, state, NULL, 0);
    fc_move_bytes((T *)q->out + q->at * q->p, state, (size_t)(q->live * q->p) * sizeof(T));
    return bad;
}

static int N(backward_step)(job *q)
{
    const int64_t width = gate_count[q->mode] * q->h, p = q->p, at = q->at;
    T *dh = q->dh, *old = (T *)q->previous + at * p;
    const int64_t from_out = q->live < q->live_before ? q->live : q->live_before;
    fc_move_bytes(old, (const T *)q->output + q->before * p, (size_t)(from_out * p) * sizeof(T));
    fc_move_bytes(old + from_out * p, (const T *)q->h0 + from_out * p, (size_t)((q->live - from_out) * p) * sizeof(T));
    if (q->g_out)
        for (int64_t j = 0; j < q->live * p; ++j)
            dh[j] += ((const T *)q->g_out)[at * p + j];
    int bad = FC_OK;
    if (q->r) {
        bad = N(product)(q->live, q->h, p, dh, p, 1, q->r, q->h, 1, q->through, NULL, 0);
        T *u = (T *)q->through + q->n * q->h; /* what was projected */
        for (int64_t n = 0; n < q->live; ++n) {
            const T *kept = (const T *)q->kept + (at + n) * 5 * q->h;
            for (int64_t j = 0; j < q->h; ++j)
                u[n * q->h + j] = kept[3 * q->h + j] * M(tanh)(kept[4 * q->h + j]);
        }
        bad |= N(product)(p, q->h, q->live, dh, 1, p, u, q->h, 1, q->dr, NULL, 1);
    }
    fc_parallel(q->live, 1 + 2048 / (width + 1), N(cell_gradients), q);
    return bad | N(product)(q->live, p, width, (T *)q->products + at * width, width, 1, q->w, p, 1, dh, NULL, q->mode == GRU);
}

static int N(backward)(job *q)
{
    const int64_t width = gate_count[q->mode] * q->h;
    const T one = 1;
    if (q->r)
        memset(q->dr, 0, (size_t)(q->p * q->h) * sizeof(T));
    int bad = each_step(q, !q->reverse, N(backward_step));
    bad = bad ? bad : N(product)(width, q->p, q->rows, q->products, 1, width, q->previous, q->p, 1, q->dw, NULL, 0);
    return bad ? bad : N(product)(1, width, q->rows, &one, 0, 0, q->products, width, 1, q->db, NULL, 0);
}

#include "../typed_done.h"
#endif

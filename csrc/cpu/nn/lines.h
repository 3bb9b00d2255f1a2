/*
 * Runs a row kernel over every line along the middle of (outer, n, inner) arrays, in parallel.
 *
 * Where inner is 1 a line is a row already. Else sixteen neighbouring lines are copied into rows, run and copied back, so that
 * the kernel exists once and a line's bits cannot depend on where it lies.
 */
#ifndef FC_LINES_H
#define FC_LINES_H

#include <string.h>

#include "../../core/call.h"
#include "../../core/copy_nest.h"
#include "../../core/isa.h"
#include "../parallel.h"
#include "same.h"

enum { FC_LINES = 16, FC_LINES_IN = 2, FC_LINES_SERIAL = 8192 };

/* out and in: rows of n elements */
typedef void (*fc_line_fn)(void *out, const void *const *in, int64_t n);

typedef struct {
    fc_line_fn fn;
    char *out;
    const char *in[FC_LINES_IN];
    int nin;
    int64_t outer, n, inner, groups, es;
    int64_t pitch; /* from one copied row to the next: not a power of two, or all sixteen would meet in one set of L1 */
} fc_lines;

static void fc_lines_rows(void *ctx, int64_t begin, int64_t end)
{
    const fc_lines *q = ctx;
    const int64_t row = q->n * q->es;
    for (int64_t r = begin; r < end; ++r) {
        const void *in[FC_LINES_IN];
        for (int k = 0; k < q->nin; ++k)
            in[k] = q->in[k] + r * row;
        q->fn(q->out + r * row, in, q->n);
    }
}

static void fc_lines_columns(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const fc_lines *q = ctx;
    const int64_t row = q->pitch * q->es;
    char *out = scratch, *rows[FC_LINES_IN];
    for (int k = 0; k < q->nin; ++k)
        rows[k] = out + (k + 1) * FC_LINES * row;
    for (int64_t g = begin; g < end; ++g) {
        const int64_t c = g % q->groups * FC_LINES, at = (g / q->groups * q->n * q->inner + c) * q->es;
        const int64_t width = q->inner - c < FC_LINES ? q->inner - c : FC_LINES;
        for (int k = 0; k < q->nin; ++k)
            FC_ISA_NAME(fc_turn)(rows[k], row, q->in[k] + at, q->inner * q->es, q->n, width, (int)q->es);
        for (int64_t l = 0; l < width; ++l) {
            const void *in[FC_LINES_IN];
            for (int k = 0; k < q->nin; ++k)
                in[k] = rows[k] + l * row;
            q->fn(out + l * row, in, q->n);
        }
        FC_ISA_NAME(fc_turn)(q->out + at, q->inner * q->es, out, row, width, q->n, (int)q->es);
    }
}

/* Lines along `dim` of tensors of one shape and dtype (f32 or f64). FC_OK or FC_MEMORY. */
FC_CHECKED static inline int fc_lines_run(fc_line_fn fn, fc_tensor *out, int nin, fc_tensor *const *in, int64_t dim)
{
    fc_lines q = {.fn = fn, .out = out->data, .nin = nin, .outer = 1, .n = 1, .inner = 1, .es = fc_dt_size[out->dtype]};
    const int64_t d = fc_wrap_dim(dim, out->ndim);
    for (int k = 0; k < out->ndim; ++k)
        *(k < d ? &q.outer : k == d ? &q.n : &q.inner) *= out->shape[k];
    for (int k = 0; k < nin; ++k)
        q.in[k] = in[k]->data;
    if (out->numel == 0)
        return FC_OK;
    const int64_t grain = 1 + FC_LINES_SERIAL / q.n;
    q.pitch = q.n + 16 + q.n % 2;
    q.groups = (q.inner + FC_LINES - 1) / FC_LINES;
    if (q.inner > 1)
        return fc_parallel_scratch(q.outer * q.groups, 1 + grain / FC_LINES, (size_t)((1 + nin) * FC_LINES * q.pitch * q.es), fc_lines_columns, &q);
    if (out->numel <= FC_LINES_SERIAL)
        fc_lines_rows(&q, 0, q.outer);
    else
        fc_parallel(q.outer, grain, fc_lines_rows, &q);
    return FC_OK;
}

/* softmax_rows_simd.c: softmax, or its logarithm, of t[0] along dim i[0] where its rows are short; 0 where they are not. */
int FC_ISA_NAME(fc_softmax_short)(fc_call *c, int logarithm);

/* Results like t[like], after checking dim (argument c->i[0]) and that every tensor has its shape. */
static inline int fc_infer_lines(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    const int64_t d = fc_wrap_dim(c->i[0], x->ndim), limit = x->ndim ? x->ndim : 1;
    if (d < 0 || d >= limit)
        return fc_fail(FC_DIM, c->i[0], x->ndim, 0, 0);
    if (!fc_is_float(x->dtype))
        return fc_fail(FC_DTYPE, x->dtype, 0, 0, 0);
    for (int k = 1; k < c->nt; ++k) {
        if (c->t[k]->dtype != x->dtype)
            return fc_fail(FC_MIXED, 0, x->dtype, k, c->t[k]->dtype);
        const int bad = fc_check_same(c, 0, k);
        if (bad)
            return bad;
    }
    return fc_declare(c, 0, x->dtype, x->ndim, x->shape);
}

#endif

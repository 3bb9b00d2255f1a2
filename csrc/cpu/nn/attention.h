/* What attention's forward and backward share: shapes, checks, blocks of scores. */
#ifndef FC_ATTENTION_H
#define FC_ATTENTION_H

#include <string.h>

#include "../../core/atomic.h"
#include "../../core/levels.h"
#include "../../core/mathfn.h"
#include "../fold_rows.h"
#include "../gemm.h"
#include "../parallel.h"
#include "same.h"

/* Rows and columns of a block of scores. Constants: where a row's keys are cut is part of its order. 64 x 128 floats leave half of
 * a 64 KB cache to queries, keys and values. */
enum { FC_ATTENTION_ROWS = 64, FC_ATTENTION_COLS = 128 };

/* Strides of a tensor (B, H, L, E) whose rows lie whole. */
typedef struct { int64_t batch, head, row; } fc_lies;

static inline fc_lies fc_lies_of(const fc_tensor *t) { return (fc_lies){t->stride[0], t->stride[1], t->stride[2]}; }
static inline int64_t fc_row_at(const fc_lies *l, int64_t b, int64_t h, int64_t i) { return b * l->batch + h * l->head + i * l->row; }

typedef struct {
    int64_t batch, heads, key_heads, queries, keys, width, value_width;
    const void *q, *k, *v, *mask;
    fc_lies q_lies, k_lies, v_lies, out_lies, g_lies; /* out_lies: the result's, forward and backward */
    const uint8_t *keep;              /* NULL, or which weights dropout leaves, (B, H, L, S) */
    int64_t mask_batch, mask_head, mask_query, mask_key; /* strides, 0 where the mask is one for all */
    int mask_is_bool, causal;
    double scale, keep_scale;
    void *out, *lse;                  /* forward */
    const void *g, *result, *lse_in;  /* backward */
    void *dq, *dk, *dv;
    int bad; /* atomic: some thread found no memory */
} fc_attention;

static inline void note(fc_attention *a, int bad)
{
    if (bad) fc_atomic_poke(&a->bad, 1);
}

/* query (B, H, L, E), key (B, G, S, E), value (B, G, S, V), mask: 4 dims, each full or 1; from argument `at` on. */
static inline int fc_check_attention(const fc_call *c, int at, int mask)
{
    const fc_tensor *q = c->t[at], *k = c->t[at + 1], *v = c->t[at + 2], *m = c->t[mask];
    if (!fc_is_float(q->dtype))
        return fc_fail(FC_DTYPE, q->dtype, 0, 0, 0);
    for (int j = at; j < at + 3; ++j) {
        if (c->t[j]->ndim != 4)
            return fc_fail(FC_RANK, j, c->t[j]->ndim, 4, 0);
        if (c->t[j]->dtype != q->dtype)
            return fc_fail(FC_MIXED, at, q->dtype, j, c->t[j]->dtype);
    }
    const int64_t same[][4] = {{at, 0, at + 1, 0}, {at, 0, at + 2, 0}, {at, 3, at + 1, 3}, {at + 1, 1, at + 2, 1}, {at + 1, 2, at + 2, 2}};
    for (int j = 0; j < 5; ++j) {
        const int64_t x = c->t[same[j][0]]->shape[same[j][1]], y = c->t[same[j][2]]->shape[same[j][3]];
        if (x != y)
            return fc_fail(FC_SIZE, same[j][0], x, same[j][2], y);
    }
    if (q->shape[1] && (!k->shape[1] || q->shape[1] % k->shape[1]))
        return fc_fail(FC_SIZE, at, q->shape[1], at + 1, k->shape[1]);
    if (!m)
        return FC_OK;
    if (m->dtype != FC_BOOL && m->dtype != q->dtype)
        return fc_fail(FC_MIXED, at, q->dtype, mask, m->dtype);
    if (m->ndim != 4)
        return fc_fail(FC_RANK, mask, m->ndim, 4, 0);
    const int64_t full[4] = {q->shape[0], q->shape[1], q->shape[2], v->shape[2]};
    for (int j = 0; j < 4; ++j)
        if (m->shape[j] != 1 && m->shape[j] != full[j])
            return fc_fail(FC_SIZE, at, full[j], mask, m->shape[j]);
    return FC_OK;
}

/* Arguments whose rows lie whole are read where they are: heads that were one tensor's columns, as a rule. */
static inline void fc_read_in_place(fc_call *c, const int *which, int n)
{
    for (int j = 0; j < n; ++j) {
        const fc_tensor *t = c->t[which[j]];
        if (!fc_is_half(t->dtype) && (t->stride[3] == 1 || t->shape[3] == 1))
            c->as_is |= 1u << which[j];
    }
}

static inline fc_attention fc_attention_of(const fc_call *c, int at, int mask)
{
    const fc_tensor *q = c->t[at], *k = c->t[at + 1], *v = c->t[at + 2], *m = c->t[mask];
    fc_attention a = {.batch = q->shape[0], .heads = q->shape[1], .key_heads = k->shape[1], .queries = q->shape[2], .keys = k->shape[2],
                      .width = q->shape[3], .value_width = v->shape[3], .q = q->data, .k = k->data, .v = v->data,
                      .q_lies = fc_lies_of(q), .k_lies = fc_lies_of(k), .v_lies = fc_lies_of(v),
                      .causal = (int)c->i[0], .scale = c->d[0], .keep_scale = c->d[1]};
    if (m) {
        a.mask = m->data;
        a.mask_is_bool = m->dtype == FC_BOOL;
        a.mask_key = m->shape[3] > 1;
        a.mask_query = m->shape[2] > 1 ? m->shape[3] : 0;
        a.mask_head = m->shape[1] > 1 ? m->shape[2] * m->shape[3] : 0;
        a.mask_batch = m->shape[0] > 1 ? m->shape[1] * m->shape[2] * m->shape[3] : 0;
    }
    return a;
}

/* How many keys the query i of `a` may see. */
static inline int64_t fc_attention_seen(const fc_attention *a, int64_t i) { return a->causal && i + 1 < a->keys ? i + 1 : a->keys; }

#endif

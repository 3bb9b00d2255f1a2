/*
 * Attention: weighted means of values, without ever holding a row of weights whole.
 *
 *   p[i, j] = exp(scale q_i . k_j + mask[i, j] - lse_i),   lse_i = log sum_j exp(scale q_i . k_j + mask[i, j])
 *   out_i   = sum_j keep[i, j] p[i, j] v_j                     keep: keep_scale where dropout leaves a weight, else 0
 *
 * Scores are made in blocks of 64 queries by 128 keys; a row keeps its greatest score and its sum so far, and what was added up
 * is scaled down when a greater one comes. A boolean mask says which keys take part, another is added; causal: query i sees keys
 * 0 .. i. A query that sees no key gives 0 and lse -inf. Heads of key and value may be fewer: each serves a group of queries' heads.
 *
 * The order for one query: blocks of 128 keys in turn, so its bits depend on its keys alone, not on batch, heads or threads.
 *
 * Backward, from lse and D_i = g_i . out_i:
 *   ds[i, j] = scale p[i, j] (keep[i, j] g_i . v_j - D_i)
 *   dq_i = sum_j ds[i, j] k_j,  dk_j = sum_i ds[i, j] q_i,  dv_j = sum_i keep[i, j] p[i, j] g_i
 *
 * Sources: Milakov, Gimelshein (2018); Dao, Fu, Ermon, Rudra, Re, FlashAttention (2022).
 */
#ifndef T
#include "attention.h"

#define T f32
#include "attention.c"
#define T f64
#include "attention.c"

#if FC_ISA_ONCE
static int check_keep(const fc_call *c, int at, int keep)
{
    const fc_tensor *q = c->t[at], *t = c->t[keep];
    const int64_t n = q->shape[0] * q->shape[1] * q->shape[2] * c->t[at + 1]->shape[2];
    if (t->dtype != FC_BOOL)
        return fc_fail(FC_MIXED, at, FC_BOOL, keep, t->dtype);
    return t->numel == n ? FC_OK : fc_fail(FC_SIZE, at, n, keep, t->numel);
}

/* query, key, value, mask, keep; causal; scale, keep_scale -> result (B, H, L, V), lse (B, H, L) */
int fc_infer__attention(fc_call *c)
{
    const fc_tensor *q = c->t[0];
    int bad = fc_check_attention(c, 0, 3);
    bad = bad || !c->t[4] ? bad : check_keep(c, 0, 4);
    if (bad)
        return bad;
    const int64_t shape[4] = {q->shape[0], q->shape[1], q->shape[2], c->t[2]->shape[3]};
    fc_declare(c, 0, q->dtype, 4, shape);
    fc_read_in_place(c, (const int[]){0, 1, 2}, 3);
    int alike = !c->t[4] && shape[3] == q->shape[3]; /* the result lies as a query does that shows nothing twice, where every row lies whole */
    for (int k = 0; k < 3; ++k)
        alike &= c->t[k]->stride[3] == 1 && (q->shape[k] == 1 || q->stride[k] != 0);
    c->spec[0].format = alike;
    c->spec[0].direct = alike && !fc_is_half(q->dtype);
    return fc_declare(c, 1, fc_is_half(q->dtype) ? FC_F32 : q->dtype, 3, shape);
}

/* g, query, key, value, result, lse, mask, keep; causal; scale, keep_scale -> dq, dk, dv */
int fc_infer__attention_backward(fc_call *c)
{
    int bad = fc_check_attention(c, 1, 6);
    const fc_tensor *q = c->t[1];
    bad = bad ? bad : fc_check_same(c, 4, 0);
    bad = bad ? bad : fc_check_part(c, q, 0, q->shape[0] * q->shape[1] * q->shape[2] * c->t[3]->shape[3]);
    bad = bad ? bad : fc_check_part(c, q, 5, q->shape[0] * q->shape[1] * q->shape[2]);
    bad = bad || !c->t[7] ? bad : check_keep(c, 1, 7);
    if (!bad)
        fc_read_in_place(c, (const int[]){0, 1, 2, 3, 4}, 5);
    for (int k = 0; k < 3 && !bad; ++k)
        bad = fc_declare(c, k, q->dtype, 4, c->t[k + 1]->shape);
    return bad;
}
#endif

int FC_ISA_NAME(fc_cpu__attention)(fc_call *c)
{
    fc_attention a = fc_attention_of(c, 0, 3);
    a.keep = c->t[4] ? FC_DATA(const uint8_t, c->t[4]) : NULL;
    a.out = c->out[0]->data;
    a.out_lies = fc_lies_of(c->out[0]);
    a.lse = c->out[1]->data;
    return c->t[0]->dtype == FC_F32 ? forward_f32(&a) : forward_f64(&a);
}
FC_OWN_LEVELS(_attention)

int FC_ISA_NAME(fc_cpu__attention_backward)(fc_call *c)
{
    fc_attention a = fc_attention_of(c, 1, 6);
    a.keep = c->t[7] ? FC_DATA(const uint8_t, c->t[7]) : NULL;
    a.g = c->t[0]->data;
    a.result = c->t[4]->data;
    a.g_lies = fc_lies_of(c->t[0]);
    a.out_lies = fc_lies_of(c->t[4]);
    a.lse_in = c->t[5]->data;
    a.dq = c->out[0]->data;
    a.dk = c->out[1]->data;
    a.dv = c->out[2]->data;
    return c->t[1]->dtype == FC_F32 ? backward_f32(&a) : backward_f64(&a);
}
FC_OWN_LEVELS(_attention_backward)

#else
#include "../typed.h"

enum { N(DTYPE) = sizeof(T) == 4 ? FC_F32 : FC_F64 };

/* c (m, n) (+)= a b, rows of c `wide` apart; a and b by (row, column) strides. */
static inline int N(product)(T *c, int64_t wide, int64_t m, int64_t n, int64_t k, const T *a, int64_t a_row, int64_t a_col,
                             const T *b, int64_t b_row, int64_t b_col, int more)
{
    return fc_gemm(N(DTYPE), 1, m, n, k, a, 0, a_row, a_col, b, 0, b_row, b_col, c, 0, wide, 1, NULL, 0, more);
}

/* Columns of whole registers: no loop has something left over. What is beyond is -inf as a score, 0 as a weight, and changes no maximum, no sum. */
static inline int64_t N(whole)(int64_t cols) { return (cols + FC_FOLD_LANES - 1) / FC_FOLD_LANES * FC_FOLD_LANES; }

/* scores[r, j] of queries i0 + r and keys j0 + j: scaled, masked; -inf where a key takes no part, and up to whole(cols). */
static int N(scores)(const fc_attention *a, T *scores, int64_t b, int64_t h, int64_t i0, int64_t rows, int64_t j0, int64_t cols)
{
    const int64_t e = a->width, hk = h / (a->heads / a->key_heads);
    const T *q = (const T *)a->q + fc_row_at(&a->q_lies, b, h, i0);
    const T *k = (const T *)a->k + fc_row_at(&a->k_lies, b, hk, j0);
    if (N(product)(scores, FC_ATTENTION_COLS, rows, cols, e, q, a->q_lies.row, 1, k, 1, a->k_lies.row, 0))
        return FC_MEMORY;
    const T scale = (T)a->scale;
    for (int64_t r = 0; r < rows; ++r) {
        T *restrict row = scores + r * FC_ATTENTION_COLS;
        const int64_t at = b * a->mask_batch + h * a->mask_head + (i0 + r) * a->mask_query + j0 * a->mask_key, step = a->mask_key;
        const int64_t seen = fc_attention_seen(a, i0 + r) - j0;
        for (int64_t j = 0; j < N(whole)(cols); ++j)
            row[j] *= scale;
        for (int64_t j = cols; j < N(whole)(cols); ++j)
            row[j] = K(-INFINITY);
        if (a->mask && a->mask_is_bool)
            for (int64_t j = 0; j < cols; ++j)
                row[j] = ((const uint8_t *)a->mask)[at + j * step] ? row[j] : K(-INFINITY);
        else if (a->mask && step == 1) {
            const T *restrict mask = (const T *)a->mask + at;
            for (int64_t j = 0; j < cols; ++j)
                row[j] += mask[j];
        } else if (a->mask)
            for (int64_t j = 0; j < cols; ++j)
                row[j] += ((const T *)a->mask)[at + j * step];
        for (int64_t j = seen > 0 ? seen : 0; j < cols; ++j)
            row[j] = K(-INFINITY);
    }
    return FC_OK;
}

/* Dropout of x, for a block of queries from `query` (of all heads) on and keys from j0 on. */
static void N(drop)(const fc_attention *a, T *x, int64_t query, int64_t rows, int64_t j0, int64_t cols)
{
    const T scale = (T)a->keep_scale;
    for (int64_t r = 0; a->keep && r < rows; ++r) {
        T *restrict row = x + r * FC_ATTENTION_COLS;
        const uint8_t *restrict keep = a->keep + (query + r) * a->keys + j0;
        for (int64_t j = 0; j < cols; ++j)
            row[j] = keep[j] ? row[j] * scale : 0;
    }
}

/* Task t: one block of queries of one head. */
static void N(forward_block)(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    fc_attention *a = ctx;
    T *scores = scratch, *peak = scores + FC_ATTENTION_ROWS * FC_ATTENTION_COLS, *sum = peak + FC_ATTENTION_ROWS, *top = sum + FC_ATTENTION_ROWS, *less = top + FC_ATTENTION_ROWS;
    const int64_t w = a->value_width, blocks = (a->queries + FC_ATTENTION_ROWS - 1) / FC_ATTENTION_ROWS;
    for (int64_t t = begin; t < end && !fc_atomic_peek(&a->bad); ++t) {
        const int64_t i0 = t % blocks * FC_ATTENTION_ROWS, h = t / blocks % a->heads, b = t / blocks / a->heads;
        const int64_t rows = a->queries - i0 < FC_ATTENTION_ROWS ? a->queries - i0 : FC_ATTENTION_ROWS;
        const int64_t seen = fc_attention_seen(a, i0 + rows - 1), at = (b * a->heads + h) * a->queries + i0;
        const int64_t wide = a->out_lies.row;
        const T *v = (const T *)a->v + fc_row_at(&a->v_lies, b, h / (a->heads / a->key_heads), 0);
        T *out = (T *)a->out + fc_row_at(&a->out_lies, b, h, i0);
        for (int64_t r = 0; r < rows; ++r) {
            memset(out + r * wide, 0, (size_t)w * sizeof(T));
            peak[r] = K(-INFINITY), sum[r] = 0;
        }
        for (int64_t j0 = 0; j0 < seen; j0 += FC_ATTENTION_COLS) {
            const int64_t cols = seen - j0 < FC_ATTENTION_COLS ? seen - j0 : FC_ATTENTION_COLS;
            note(a, N(scores)(a, scores, b, h, i0, rows, j0, cols));
            for (int64_t r = 0; r < rows; ++r)
                top[r] = M(greater)(peak[r], M(row_max)(scores + r * FC_ATTENTION_COLS, N(whole)(cols)));
            for (int64_t r = 0; r < rows; ++r)
                less[r] = M(exp)(peak[r] - (top[r] == K(-INFINITY) ? 0 : top[r]));
            for (int64_t r = 0; r < rows; ++r) {
                T *restrict row = scores + r * FC_ATTENTION_COLS, *restrict out_r = out + r * wide;
                const T shift = top[r] == K(-INFINITY) ? 0 : top[r];
                for (int64_t j = 0; j < N(whole)(cols); ++j)
                    row[j] = M(exp)(row[j] - shift);
                sum[r] = sum[r] * less[r] + M(row_sum)(row, N(whole)(cols));
                if (less[r] != 1 && j0)
                    for (int64_t j = 0; j < w; ++j)
                        out_r[j] *= less[r];
                peak[r] = top[r];
            }
            N(drop)(a, scores, at, rows, j0, cols);
            note(a, N(product)(out, wide, rows, w, cols, scores, FC_ATTENTION_COLS, 1, v + j0 * a->v_lies.row, a->v_lies.row, 1, 1));
        }
        for (int64_t r = 0; r < rows; ++r) {
            const T by = sum[r] == 0 ? 1 : sum[r];
            for (int64_t j = 0; j < w; ++j)
                out[r * wide + j] /= by;
        }
        T *restrict lse = (T *)a->lse + at;
        for (int64_t r = 0; r < rows; ++r)
            lse[r] = peak[r] + M(log)(peak[r] == K(-INFINITY) ? 1 : sum[r]);
    }
}

static int N(forward)(fc_attention *a)
{
    const int64_t blocks = (a->queries + FC_ATTENTION_ROWS - 1) / FC_ATTENTION_ROWS;
    const size_t room = (FC_ATTENTION_ROWS * FC_ATTENTION_COLS + 4 * FC_ATTENTION_ROWS) * sizeof(T);
    const int bad = fc_parallel_scratch(a->batch * a->heads * blocks, 1, room, N(forward_block), a);
    return bad || a->bad ? FC_MEMORY : FC_OK;
}

/* One block of scores, turned into p and ds, and what they add to the gradients. */
static int N(backward_block)(const fc_attention *a, T *p, T *ds, int64_t b, int64_t h, int64_t i0, int64_t rows, int64_t j0, int64_t cols)
{
    const int64_t e = a->width, w = a->value_width, wide = FC_ATTENTION_COLS;
    const int64_t hk = h / (a->heads / a->key_heads), g_row = a->g_lies.row, out_row = a->out_lies.row;
    const int64_t queries = (b * a->heads + h) * a->queries + i0, keys = (b * a->key_heads + hk) * a->keys + j0;
    const T *q = (const T *)a->q + fc_row_at(&a->q_lies, b, h, i0), *g = (const T *)a->g + fc_row_at(&a->g_lies, b, h, i0);
    const T *k = (const T *)a->k + fc_row_at(&a->k_lies, b, hk, j0), *v = (const T *)a->v + fc_row_at(&a->v_lies, b, hk, j0);
    const T *out = (const T *)a->result + fc_row_at(&a->out_lies, b, h, i0), *lse = (const T *)a->lse_in + queries;
    T *dq = (T *)a->dq + queries * e, *dk = (T *)a->dk + keys * e, *dv = (T *)a->dv + keys * w;
    int bad = N(scores)(a, p, b, h, i0, rows, j0, cols);
    bad |= N(product)(ds, wide, rows, cols, w, g, g_row, 1, v, 1, a->v_lies.row, 0);
    N(drop)(a, ds, queries, rows, j0, cols);
    for (int64_t r = 0; r < rows; ++r) {
        T *restrict p_r = p + r * wide, *restrict ds_r = ds + r * wide;
        const T shift = lse[r] == K(-INFINITY) ? 0 : lse[r], d = M(row_dot)(g + r * g_row, out + r * out_row, w), scale = (T)a->scale;
        for (int64_t j = 0; j < N(whole)(cols); ++j)
            p_r[j] = M(exp)(p_r[j] - shift);
        for (int64_t j = 0; j < cols; ++j)
            ds_r[j] = p_r[j] * (ds_r[j] - d) * scale;
    }
    N(drop)(a, p, queries, rows, j0, cols);
    bad |= N(product)(dv, w, cols, w, rows, p, 1, wide, g, g_row, 1, 1);
    bad |= N(product)(dq, e, rows, e, cols, ds, wide, 1, k, a->k_lies.row, 1, 1);
    return bad | N(product)(dk, e, cols, e, rows, ds, 1, wide, q, a->q_lies.row, 1, 1);
}

/* Task t: one head of keys with its group of queries' heads. Keys outside, so that every sum runs in the order of its index. */
static void N(backward_heads)(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    fc_attention *a = ctx;
    T *p = scratch, *ds = p + FC_ATTENTION_ROWS * FC_ATTENTION_COLS;
    const int64_t group = a->heads / a->key_heads;
    for (int64_t t = begin; t < end; ++t)
        for (int64_t j0 = 0; j0 < a->keys; j0 += FC_ATTENTION_COLS)
            for (int64_t h = t % a->key_heads * group; h < (t % a->key_heads + 1) * group; ++h)
                for (int64_t i0 = 0; i0 < a->queries && !fc_atomic_peek(&a->bad); i0 += FC_ATTENTION_ROWS) {
                    const int64_t rows = a->queries - i0 < FC_ATTENTION_ROWS ? a->queries - i0 : FC_ATTENTION_ROWS;
                    const int64_t left = fc_attention_seen(a, i0 + rows - 1) - j0, cols = left < FC_ATTENTION_COLS ? left : FC_ATTENTION_COLS;
                    if (cols > 0)
                        note(a, N(backward_block)(a, p, ds, t / a->key_heads, h, i0, rows, j0, cols));
                }
}

static int N(backward)(fc_attention *a)
{
    const int64_t keys = a->batch * a->key_heads * a->keys;
    memset(a->dq, 0, (size_t)(a->batch * a->heads * a->queries * a->width) * sizeof(T));
    memset(a->dk, 0, (size_t)(keys * a->width) * sizeof(T));
    memset(a->dv, 0, (size_t)(keys * a->value_width) * sizeof(T));
    const size_t room = 2 * FC_ATTENTION_ROWS * FC_ATTENTION_COLS * sizeof(T);
    const int bad = fc_parallel_scratch(a->batch * a->key_heads, 1, room, N(backward_heads), a);
    return bad || a->bad ? FC_MEMORY : FC_OK;
}

#include "../typed_done.h"
#endif

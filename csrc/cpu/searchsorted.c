/*
 * _searchsorted(sorted_sequence, values, right, sorter=None) -> int64 of values' shape: where each value would be inserted.
 *
 * sorted_sequence is 1-d, or has values' shape but for the last dim. right: after equal elements, else before them.
 * sorter: int64 of sorted_sequence's shape, the order in which it is ascending.
 */
#include "sort_keys.h"

typedef struct { const fc_tensor *line, *value, *sorter; int64_t *out; int64_t n, per_line; int right; const void *keys; } job;

/* One line without a sorter has its keys made once, where they are fewer than what is looked for. */
static int keys_first(const fc_tensor *line, const fc_tensor *v, const fc_tensor *sorter)
{
    return line->ndim == 1 && !sorter && line->shape[0] <= v->numel;
}

/* sorted_sequence, values, sorter; right */
int fc_infer__searchsorted(fc_call *c)
{
    const fc_tensor *line = c->t[0], *v = c->t[1], *sorter = c->t[2];
    if (!fc_sortable(line->dtype) || !fc_sortable(v->dtype))
        return fc_fail(FC_DTYPE, fc_sortable(line->dtype) ? v->dtype : line->dtype, 0, 0, 0);
    if (line->dtype != v->dtype)
        return fc_fail(FC_MIXED, 0, line->dtype, 1, v->dtype);
    if (line->ndim < 1 || (line->ndim > 1 && line->ndim != v->ndim))
        return fc_fail(FC_RANK, 0, line->ndim, v->ndim, 0);
    for (int k = 0; line->ndim > 1 && k < line->ndim - 1; ++k)
        if (line->shape[k] != v->shape[k])
            return fc_fail(FC_SIZE, 0, line->shape[k], 1, v->shape[k]);
    if (sorter) {
        if (sorter->dtype != FC_I64)
            return fc_fail(FC_DTYPE, sorter->dtype, 2, 0, 0);
        if (sorter->ndim != line->ndim)
            return fc_fail(FC_RANK, 2, sorter->ndim, line->ndim, 0);
        for (int k = 0; k < line->ndim; ++k)
            if (sorter->shape[k] != line->shape[k])
                return fc_fail(FC_SIZE, 0, line->shape[k], 2, sorter->shape[k]);
    }
    if (keys_first(line, v, sorter))
        c->scratch_bytes = (size_t)line->shape[0] * (fc_dt_size[line->dtype] > 4 ? 8 : 4);
    return fc_declare(c, 0, FC_I64, v->ndim, v->shape);
}

/* Halving without a branch that could be guessed wrong. dtype is a constant where this is called, so the keys are read without a switch. */
static inline void search_as(const job *q, int64_t begin, int64_t end, const int dtype)
{
    const int size = fc_dt_size[dtype];
    const int right = q->right;
    for (int64_t k = begin; k < end; ++k) {
        const int64_t from = q->line->ndim > 1 ? k / q->per_line * q->n : 0;
        const char *line = q->line->data + from * size;
        const int64_t *order = q->sorter ? FC_DATA(int64_t, q->sorter) + from : NULL;
        const uint64_t v = fc_key(dtype, q->value->data, k);
        int64_t lo = 0, left = q->n;
        while (left > 0) {
            const int64_t half = left / 2, mid = lo + half;
            const uint64_t key = fc_key(dtype, line, order ? order[mid] : mid);
            const int64_t before = right ? key <= v : key < v;
            lo = before ? mid + 1 : lo;
            left = before ? left - half - 1 : half;
        }
        q->out[k] = lo;
    }
}

enum { MADE = 256, SIDE = 8 }; /* values whose keys are made together; that are looked for side by side, since each step waits for memory */

/* The same among keys. The steps depend on n alone; of a ?: the compiler makes branches, 29 ns for a value instead of 7. */
#define AMONG(NAME, T)                                                                                          \
    static void NAME(const job *q, int64_t begin, int64_t end)                                                  \
    {                                                                                                           \
        const T *keys = q->keys;                                                                                \
        const int64_t size = fc_dt_size[q->value->dtype], n = q->n, equal = q->right;                           \
        uint64_t wanted[MADE + SIDE] = {0};                                                                     \
        int last[SIDE];                                                                                         \
        for (int64_t k = begin; k < end; k += MADE) {                                                           \
            const int64_t some = end - k < MADE ? end - k : MADE;                                               \
            fc_plain_keys(wanted, q->value->dtype, q->value->data + k * size, some, 1);                         \
            for (int64_t j = 0; j < some; j += SIDE) {                                                          \
                const T *lo[SIDE];                                                                              \
                T v[SIDE];                                                                                      \
                for (int s = 0; s < SIDE; ++s) { /* after equal ones: before the next key, where there is one */    \
                    v[s] = (T)wanted[j + s];                                                                    \
                    last[s] = equal & (v[s] == (T)-1);                                                          \
                    v[s] += (T)(equal & !last[s]);                                                              \
                    lo[s] = keys;                                                                               \
                }                                                                                               \
                for (int64_t left = n, half; left > 0; left -= half) {                                          \
                    half = (left + 1) / 2;                                                                      \
                    for (int s = 0; s < SIDE; ++s)                                                              \
                        lo[s] += -(int64_t)(lo[s][half - 1] < v[s]) & half;                                     \
                }                                                                                               \
                for (int s = 0; s < SIDE && j + s < some; ++s)                                                  \
                    q->out[k + j + s] = last[s] ? n : lo[s] - keys;                                             \
            }                                                                                                   \
        }                                                                                                       \
    }
AMONG(among_words, uint32_t)
AMONG(among_doubles, uint64_t)
#undef AMONG

static void word_keys(uint32_t *key, int dtype, const void *x, int64_t n)
{
    if (dtype == FC_F32) { /* a loop without a switch in it */
        for (int64_t k = 0; k < n; ++k)
            key[k] = (uint32_t)fc_key(FC_F32, x, k);
        return;
    }
    for (int64_t k = 0; k < n; ++k)
        key[k] = (uint32_t)fc_key(dtype, x, k);
}

static void search(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    if (q->keys) {
        (fc_dt_size[q->line->dtype] > 4 ? among_doubles : among_words)(q, begin, end);
        return;
    }
    switch (q->line->dtype) {
    case FC_F32: search_as(q, begin, end, FC_F32); break;
    case FC_F64: search_as(q, begin, end, FC_F64); break;
    case FC_I64: search_as(q, begin, end, FC_I64); break;
    case FC_I32: search_as(q, begin, end, FC_I32); break;
    default: search_as(q, begin, end, q->line->dtype);
    }
}

int fc_cpu__searchsorted(fc_call *c)
{
    const fc_tensor *line = c->t[0], *v = c->t[1];
    job q = {line, v, c->t[2], FC_DATA(int64_t, c->out[0]), line->shape[line->ndim - 1], v->ndim ? v->shape[v->ndim - 1] : 1,
             (int)c->i[0], NULL};
    if (q.sorter)
        for (int64_t k = 0; k < q.sorter->numel; ++k)
            if ((uint64_t)FC_DATA(int64_t, q.sorter)[k] >= (uint64_t)q.n)
                return fc_fail(FC_INDEX, FC_DATA(int64_t, q.sorter)[k], q.n, 0, 0);
    if (keys_first(line, v, q.sorter) && q.n) {
        q.keys = c->scratch;
        if (fc_dt_size[line->dtype] > 4)
            fc_plain_keys(c->scratch, line->dtype, line->data, q.n, 1);
        else
            word_keys(c->scratch, line->dtype, line->data, q.n);
    }
    fc_parallel(v->numel, 1024, search, &q);
    return FC_OK;
}

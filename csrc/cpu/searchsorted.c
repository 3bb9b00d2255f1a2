/*
 * _searchsorted(sorted_sequence, values, right, sorter=None) -> int64 of values' shape: where each value would be inserted.
 *
 * sorted_sequence is 1-d, or has values' shape but for the last dim. right: after equal elements, else before them.
 * sorter: int64 of sorted_sequence's shape, the order in which it is ascending.
 */
#include "../core/levels.h"
#include "sort_keys.h"

typedef struct { const fc_tensor *line, *value, *sorter; int64_t *out; int64_t n, per_line; int right; const void *keys; } job;

/* One line without a sorter has its keys made once, where they are fewer than what is looked for. */
static int keys_first(const fc_tensor *line, const fc_tensor *v, const fc_tensor *sorter)
{
    return line->ndim == 1 && !sorter && line->shape[0] <= v->numel;
}

#if FC_ISA_ONCE
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
#endif

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

enum { MADE = 256, SIDE = 4, PIVOTS = 64 }; /* values whose keys are made together; that are halved for side by side, since each step waits for memory */

/* How many of some numbers each of a few values is above: comparisons in registers take the place of six steps that wait. */
#define ABOVE(NAME, S, COUNT)                                                                                   \
    enum { NAME##_count = COUNT };                                                                              \
    static inline void NAME(S *restrict above, const S *restrict v, const S *restrict pivot, int64_t pivots)    \
    {                                                                                                           \
        S n[COUNT] = {0};                                                                                       \
        for (int64_t i = 0; i < pivots; ++i)                                                                    \
            _Pragma("GCC unroll 1")                                                                             \
            for (int s = 0; s < COUNT; ++s)                                                                     \
                n[s] += pivot[i] < v[s];                                                                        \
        for (int s = 0; s < COUNT; ++s)                                                                         \
            above[s] = n[s];                                                                                    \
    }
ABOVE(words_above, int32_t, 16)
ABOVE(doubles_above, int64_t, 8)
#undef ABOVE

/* Without a sorter: first among every stride-th key, then by halving, whose steps depend on n alone; of a ?: the compiler makes branches, 29 ns
 * for a value instead of 7. What is looked for after equal ones is looked for before the next key, where there is one. dtype: of x, whose keys
 * are not made yet; NONE where they are. */
#define AMONG(NAME, T, S, ABOVE)                                                                                \
    static inline void NAME(const job *q, const char *x, const int dtype, int64_t begin, int64_t end)           \
    {                                                                                                           \
        const T *const keys = (const T *)x, top = (T)1 << (8 * sizeof(T) - 1);                                  \
        const int64_t size = fc_dt_size[q->value->dtype], n = q->n, stride = (n + PIVOTS - 1) / PIVOTS, pivots = n / stride; \
        uint64_t wanted[MADE];                                                                                  \
        T next[MADE] = {0};                                                                                     \
        S v[MADE] = {0}, above[MADE], pivot[PIVOTS];                                                            \
        for (int64_t i = 0; i < pivots; ++i)                                                                    \
            pivot[i] = (S)(KEY(T, (i + 1) * stride - 1) ^ top);                                                 \
        for (int64_t k = begin; k < end; k += MADE) {                                                           \
            const int64_t some = end - k < MADE ? end - k : MADE;                                               \
            int64_t *const out = q->out + k;                                                                    \
            fc_plain_keys(wanted, q->value->dtype, q->value->data + k * size, some, 1);                         \
            for (int64_t j = 0; j < some; ++j) {                                                                \
                next[j] = (T)wanted[j] + (T)(q->right & ((T)wanted[j] != (T)-1));                               \
                v[j] = (S)(next[j] ^ top);                                                                      \
            }                                                                                                   \
            for (int64_t j = 0; j < some; j += ABOVE##_count)                                                   \
                ABOVE(above + j, v + j, pivot, pivots);                                                         \
            for (int64_t j = 0; stride == 1 && j < some; ++j)                                                   \
                out[j] = above[j];                                                                              \
            for (int64_t j = 0; stride > 1 && j < some; j += SIDE) {                                            \
                const T v0 = next[j], v1 = next[j + 1], v2 = next[j + 2], v3 = next[j + 3];                     \
                int64_t a = FIRST(j), b = FIRST(j + 1), c = FIRST(j + 2), d = FIRST(j + 3);                     \
                for (int64_t left = stride, half; left > 0; left -= half) {                                     \
                    half = (left + 1) / 2;                                                                      \
                    a += -(int64_t)(KEY(T, a + half - 1) < v0) & half;                                          \
                    b += -(int64_t)(KEY(T, b + half - 1) < v1) & half;                                          \
                    c += -(int64_t)(KEY(T, c + half - 1) < v2) & half;                                          \
                    d += -(int64_t)(KEY(T, d + half - 1) < v3) & half;                                          \
                }                                                                                               \
                const int64_t found[SIDE] = {a, b, c, d};                                                       \
                for (int s = 0; s < SIDE && j + s < some; ++s)                                                  \
                    out[j + s] = found[s];                                                                      \
            }                                                                                                   \
            for (int64_t j = 0; q->right && j < some; ++j) /* after every key that there can be */              \
                out[j] = (T)wanted[j] == (T)-1 ? n : out[j];                                                    \
        }                                                                                                       \
    }
enum { NONE = -1 };
#define FIRST(j) (above[j] < pivots ? above[j] * stride : n - stride) /* the last keys may be fewer: some of those before them count again */
#define KEY(T, i) (dtype == NONE ? keys[i] : (T)fc_key(dtype, x, i))
AMONG(among_words, uint32_t, int32_t, words_above)
AMONG(among_doubles, uint64_t, int64_t, doubles_above)
#undef AMONG
#undef KEY
#undef FIRST

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

static void among_made(const job *q, int64_t begin, int64_t end)
{
    if (fc_dt_size[q->line->dtype] > 4)
        among_doubles(q, q->keys, NONE, begin, end);
    else
        among_words(q, q->keys, NONE, begin, end);
}

/* Values of one line, whose keys are made as they are read. */
static void among(const job *q, const char *x, int64_t begin, int64_t end)
{
    switch (q->line->dtype) {
    case FC_F32: among_words(q, x, FC_F32, begin, end); break;
    case FC_F64: among_doubles(q, x, FC_F64, begin, end); break;
    case FC_I64: among_doubles(q, x, FC_I64, begin, end); break;
    case FC_I32: among_words(q, x, FC_I32, begin, end); break;
    default: among_doubles(q, x, q->line->dtype, begin, end);
    }
}

enum { MANY = 32 }; /* values in one line, for which a look at every stride-th key pays */

static void search(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    if (q->keys) {
        among_made(q, begin, end);
        return;
    }
    const int64_t line = q->line->ndim > 1 ? q->per_line : end;
    if (!q->sorter && q->n && end - begin >= MANY && line >= MANY) {
        for (int64_t k = begin, next; k < end; k = next) {
            next = k / line * line + line < end ? k / line * line + line : end;
            among(q, q->line->data + (q->line->ndim > 1 ? k / line * q->n : 0) * fc_dt_size[q->line->dtype], k, next);
        }
        return;
    }
    switch (q->line->dtype) {
    case FC_F32: search_as(q, begin, end, FC_F32); break;
    case FC_I64: search_as(q, begin, end, FC_I64); break;
    default: search_as(q, begin, end, q->line->dtype);
    }
}

int FC_ISA_NAME(fc_cpu__searchsorted)(fc_call *c)
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

FC_OWN_TWO_LEVELS(_searchsorted)

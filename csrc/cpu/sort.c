/* sort_dim(input, dim, descending) -> (values, indices). Always stable: see sort_keys.h. Any strides, halves as they are. */
#include "facula.h"
#include "../core/copy_nest.h"
#include "../core/move.h"
#include "sort_side.h"

typedef struct { const fc_tensor *x; fc_tensor *value, *index; fc_lines f; int descending; } job;

/* input; dim, descending */
int fc_infer__sort(fc_call *c)
{
    fc_tensor *x = c->t[0];
    int bad = fc_check_sort(x, c->i[0]);
    bad = bad ? bad : fc_declare(c, 0, x->dtype, x->ndim, x->shape);
    bad = bad ? bad : fc_declare(c, 1, FC_I64, x->ndim, x->shape);
    if (!bad && x->contiguous && fc_lies_oddly(x)) /* what is written is contiguous all the same */
        for (int k = 0; k < 2; ++k)
            c->spec[k].format = c->spec[k].direct = 1;
    return bad;
}

/* Bytes (bool, int8, uint8) have so few keys that their places are counted; bool has two, whatever its bytes are. */
static inline void count_line(const job *q, char *value, int64_t *index, const char *x, const int truth)
{
    const fc_lines *f = &q->f;
#define DIGIT(k) ((uint8_t)(truth ? x[(k) * f->step] != 0 : x[(k) * f->step]) ^ turn)
    const int digits = truth ? 2 : 256;
    const uint8_t turn = (uint8_t)((q->x->dtype == FC_I8 ? 0x80 : 0) ^ (q->descending ? digits - 1 : 0));
    int64_t at[256], other[256];
    memset(at, 0, (size_t)digits * sizeof *at);
    memset(other, 0, (size_t)digits * sizeof *other);
    for (int64_t k = 0; k + 1 < f->n; k += 2) {
        ++at[DIGIT(k)];
        ++other[DIGIT(k + 1)];
    }
    if (f->n % 2)
        ++at[DIGIT(f->n - 1)];
    for (int64_t sum = 0, d = 0; d < digits; ++d) {
        const int64_t count = at[d] + other[d];
        for (int64_t k = sum; k < sum + count; ++k)
            value[k * f->inner] = (char)(d ^ turn);
        at[d] = sum;
        sum += count;
    }
    for (int64_t k = 0; k < f->n; ++k)
        index[at[DIGIT(k)]++ * f->inner] = k;
#undef DIGIT
}

static void lines(void *ctx, int64_t begin, int64_t end, void *room)
{
    const job *q = ctx;
    const fc_lines *f = &q->f;
    const int dtype = q->x->dtype, size = fc_dt_size[dtype];
    for (int64_t l = begin; l < end; ++l) {
        int64_t source;
        const char *x = q->x->data + fc_line_at(f, l, &source) * size;
        if (source != l)
            continue;
        const int64_t to = fc_line_to(f, l, f->n);
        char *value = q->value->data + to * size;
        int64_t *index = FC_DATA(int64_t, q->index) + to;
        if (size == 1 && (f->n >= 128 || dtype == FC_BOOL)) {
            dtype == FC_BOOL ? count_line(q, value, index, x, 1) : count_line(q, value, index, x, 0);
            continue;
        }
        const fc_sorted s = fc_sort_line(dtype, x, f->n, f->step, q->descending, f->n, room);
        for (int64_t k = 0; k < f->n; ++k) {
            const int64_t at = fc_sorted_at(s, k);
            fc_move(value, k * f->inner, x, at * f->step, size);
            index[k * f->inner] = at;
        }
    }
}

/* A line whose elements are all the same one stays as it is. Units are elements of lines side by side: (before the dim, the dim). */
static void same(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const fc_lines *f = &q->f;
    const int size = fc_dt_size[q->x->dtype];
    const int64_t inner = f->inner, n = f->n;
    int64_t *index = FC_DATA(int64_t, q->index), row_of = -1;
    const char *row = NULL; /* of inner elements, where they lie side by side */
    for (int64_t u = begin, source; u < end;) {
        const int64_t l = u / n * inner, i = u % n, some = inner > 1 ? 1 : end - u < n - i ? end - u : n - i;
        char *to = q->value->data + u * inner * size;
        if (l != row_of) {
            row_of = l;
            row = fc_lines_beside(f, l, inner) == inner ? q->x->data + fc_line_at(f, l, &source) * size : NULL;
        }
        if (row)
            fc_move_bytes(to, row, (size_t)(inner * size));
        for (int64_t c = 0; c < inner && !row;) {
            const int64_t beside = fc_lines_beside(f, l + c, inner - c);
            fc_move_bytes(to + c * size, q->x->data + fc_line_at(f, l + c, &source) * size, (size_t)(beside * size));
            c += beside;
        }
        for (int64_t k = 1; k < some; ++k)
            fc_move(to, k, to, 0, size);
        fc_fill_rows((char *)(index + u * inner), inner, (const char *)&i, 0, sizeof i, 1);
        for (int64_t k = 1; k < some; ++k)
            index[u + k] = i + k;
        u += some;
    }
}

int fc_cpu__sort(fc_call *c)
{
    job q = {c->t[0], c->out[0], c->out[1], fc_lines_of(c->t[0], c->i[0]), (int)c->i[1]};
    if (!q.x->numel)
        return FC_OK;
    if (q.f.n == 1) {
        fc_copy_nest(q.value, c->t[0]);
        memset(q.index->data, 0, (size_t)q.index->numel * sizeof(int64_t));
        return FC_OK;
    }
    if (q.f.step == 0) {
        fc_parallel(q.f.count / q.f.inner * q.f.n, 1 + 32768 / q.f.inner, same, &q);
        return FC_OK;
    }
    const int64_t room = q.x->dtype == FC_BOOL ? 0 : fc_side_room(&q.f);
    if (room)
        return fc_side_lines(&q.f, q.x, q.value, q.index, q.f.n, q.descending, room);
    const int bad = fc_parallel_scratch(q.f.count, 1 + 2048 / q.f.n, (size_t)q.f.n * 3 * sizeof(uint64_t), lines, &q);
    if (!bad) {
        fc_lines_again(&q.f, q.value, q.f.n);
        fc_lines_again(&q.f, q.index, q.f.n);
    }
    return bad;
}

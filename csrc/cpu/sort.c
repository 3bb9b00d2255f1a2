/* sort_dim(input, dim, descending) -> (values, indices). Always stable: see sort_keys.h. */
#include "sort_keys.h"

typedef struct { const fc_tensor *x; fc_tensor *value, *index; fc_line_form f; int descending; } job;

/* input; dim, descending */
int fc_infer__sort(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    int bad = fc_check_sort(x, c->i[0]);
    bad = bad ? bad : fc_declare(c, 0, x->dtype, x->ndim, x->shape);
    return bad ? bad : fc_declare(c, 1, FC_I64, x->ndim, x->shape);
}

static void lines(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const fc_line_form f = q->f;
    const int dtype = q->x->dtype, size = fc_dt_size[dtype];
    fc_keyed *a = scratch, *room = a + f.n;
    for (int64_t l = begin; l < end; ++l) {
        const int64_t at = l / f.inner * f.n * f.inner + l % f.inner;
        fc_keys(a, dtype, q->x->data + at * size, f.n, f.inner, q->descending);
        fc_sort_line(a, room, f.n, dtype);
        int64_t *index = FC_DATA(int64_t, q->index) + at;
        for (int64_t k = 0; k < f.n; ++k) {
            fc_move(q->value->data + at * size, k * f.inner, q->x->data + at * size, a[k].at * f.inner, size);
            index[k * f.inner] = a[k].at;
        }
    }
}

int fc_cpu__sort(fc_call *c)
{
    job q = {c->t[0], c->out[0], c->out[1], fc_form(c->t[0], c->i[0]), (int)c->i[1]};
    if (q.x->numel)
        fc_parallel_scratch(q.f.outer * q.f.inner, 1 + 2048 / q.f.n, (size_t)q.f.n * 2 * sizeof(fc_keyed), lines, &q);
    return FC_OK;
}

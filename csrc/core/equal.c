#include "facula.h"
#include "verb.h"

enum { FC_EQUAL_FIRST = 512 }; /* elements that are compared before more are looked at */

/* Whether all are equal, or -1. */
static int fc_equal_all(fc_tensor *x, fc_tensor *y)
{
    fc_tensor *same = fc_map2(FC_OP_eq, NULL, x, y);
    if (!same)
        return -1;
    fc_tensor *all = fc_fold(FC_OP_all, NULL, same, 0, 0, 0, -1);
    if (all && all->device == FC_META) {
        fc_free(all);
        all = NULL;
        fc_fail(FC_DEVICE, FC_META, FC_CPU, 0, 0);
    }
    const int verdict = all ? *(uint8_t *)all->data : -1;
    fc_free(same);
    fc_free(all);
    return verdict;
}

/* The same of what lies in one line: some, then eight times as many, so that what differs early is found early. */
static int fc_equal_lines(fc_tensor *x, fc_tensor *y)
{
    int verdict = 1;
    for (int64_t at = 0, some = FC_EQUAL_FIRST; verdict == 1 && at < x->numel; at += some, some *= 8) {
        const int64_t n = x->numel - at < some ? x->numel - at : some;
        fc_tensor *u = fc_new_view(x, 1, &n, NULL, x->offset + at), *v = fc_new_view(y, 1, &n, NULL, y->offset + at);
        verdict = u && v ? fc_equal_all(u, v) : -1;
        fc_free(u);
        fc_free(v);
    }
    return verdict;
}

/* Same shape and values; NaN differs from itself, dtypes must agree. */
int fc_equal(fc_tensor *x, fc_tensor *y)
{
    if (x->ndim != y->ndim)
        return 0;
    for (int d = 0; d < x->ndim; ++d)
        if (x->shape[d] != y->shape[d])
            return 0;
    const int lines = x->contiguous && y->contiguous && x->dtype == y->dtype && x->numel > FC_EQUAL_FIRST && x->device == FC_CPU && y->device == FC_CPU;
    return lines ? fc_equal_lines(x, y) : fc_equal_all(x, y);
}

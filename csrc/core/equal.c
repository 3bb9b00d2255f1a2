#include "facula.h"
#include "verb.h"

/* Same shape and values; NaN differs from itself, dtypes must agree. */
int fc_equal(fc_tensor *x, fc_tensor *y)
{
    if (x->ndim != y->ndim)
        return 0;
    for (int d = 0; d < x->ndim; ++d)
        if (x->shape[d] != y->shape[d])
            return 0;
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

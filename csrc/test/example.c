/*
 * Facula without Python: a C program that uses nothing but facula.h. It prints:
 *
 * > sum of sigmoid(x): 4.500000
 *
 * Built and run by tests/house/test_c.py.
 */
#include <stdio.h>
#include <string.h>

#include "facula.h"

static int row(const char *name)
{
    for (int op = 0; op < fc_op_count(); ++op)
        if (!strcmp(fc_op_text(op, 0), name))
            return op;
    return -1;
}

int main(void)
{
    const int64_t shape[] = { 3, 3 };
    fc_tensor *x = fc_empty(FC_F64, FC_CPU, 2, shape);
    double *data = fc_data(x);
    for (int i = 0; i < 9; ++i)
        data[i] = i - 4;

    fc_tensor *y = fc_map1(row("sigmoid"), NULL, x);
    fc_tensor *total = y ? fc_fold(row("sum"), NULL, y, 0, 0, 0, -1) : NULL;
    if (!total) {
        printf("failed with status %d\n", fc_status());
        return 1;
    }
    printf("sum of sigmoid(x): %f\n", fc_item_real(total));

    fc_free(total);
    fc_free(y);
    fc_free(x);
    return 0;
}

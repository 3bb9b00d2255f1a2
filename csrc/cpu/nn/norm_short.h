/* Normalisation of short rows (norm_short.c): layer_norm's kernels, and rms_norm's, which takes no mean and adds no b. */
#ifndef FC_NORM_SHORT_H
#define FC_NORM_SHORT_H

#include "lines.h"

enum { FC_SHORT_TALLY = 32 }; /* dw and db of longer rows are left to the caller: they fill registers as they lie */

typedef struct {
    const void *g, *x, *mean, *rstd, *w, *b;        /* mean NULL in the gradient of rms_norm; w, b may be NULL */
    void *out, *mean_out, *rstd_out, *dx, *dw, *db; /* mean_out, db NULL: rms_norm */
    int64_t rows, n, width;                         /* width: rows that are turned together, set here */
    double eps;
} fc_norm_short;

/* FC_OK or FC_MEMORY. */
FC_CHECKED int FC_ISA_NAME(fc_norm_short_forward)(fc_norm_short *q, int dtype);
FC_CHECKED int FC_ISA_NAME(fc_norm_short_backward)(fc_norm_short *q, int dtype);

/* Not on machines without AVX, where it gains little: there is no copy for v2. */
static inline int fc_norm_is_short(int64_t rows, int64_t n) { return FC_ISA_NUM >= 3 && n > 0 && n <= FC_SHORT_ROW && rows >= FC_LINES / 4; }

#endif

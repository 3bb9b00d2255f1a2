/* One product's arguments, and the plain C99 product over batches [first, last). See gemm.h for what they mean. */
#ifndef FC_GEMM_PLAIN_H
#define FC_GEMM_PLAIN_H

#include "gemm.h"

typedef struct {
    int dtype, accumulate;
    int64_t batch, M, N, K;
    const void *a;
    int64_t a_batch, a_row, a_col;
    const void *b;
    int64_t b_batch, b_row, b_col;
    void *c;
    int64_t c_batch, c_row, c_col;
    const void *bias;
    int64_t bias_stride;
} fc_gemm_args;

void fc_gemm_plain(const fc_gemm_args *g, int64_t first, int64_t last);

#endif

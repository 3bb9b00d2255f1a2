#include "gemm.h"

#include "../core/status.h"
#include "gemm_plain.h"

int fc_gemm(int dtype, int64_t batch, int64_t M, int64_t N, int64_t K,
            const void *a, int64_t a_batch, int64_t a_row, int64_t a_col,
            const void *b, int64_t b_batch, int64_t b_row, int64_t b_col,
            void *c, int64_t c_batch, int64_t c_row, int64_t c_col,
            const void *bias, int64_t bias_stride, int accumulate)
{
    if (dtype == FC_BOOL)
        return fc_fail(FC_DTYPE, dtype, 0, 0, 0);

    const fc_gemm_args g = { dtype, accumulate, batch, M, N, K, a, a_batch, a_row, a_col, b, b_batch, b_row, b_col,
                             c, c_batch, c_row, c_col, bias, bias_stride };
    fc_gemm_plain(&g, 0, batch);
    return FC_OK;
}

/*
 * The matrix product.
 *
 *   c[i, m, n] = sum_k a[i, m, k] * b[i, k, n]  (+ c's old value if accumulate)  (+ bias[n])
 *
 * Strides count elements and may be anything, 0 and negative included; c's elements must be distinct.
 * a, b, c and bias share the dtype. Integers wrap; float16 and bfloat16 accumulate in float32 and round once.
 * bool has no product, as in PyTorch: FC_DTYPE.
 *
 * The order of the sum is a function of K and the dtype alone, so that an element's bits depend on its row of a and
 * its column of b and on nothing else (threads, M, N, batch, strides, ISA level from v3 up):
 *   - k runs through blocks of FC_GEMM_BLOCK. A whole block is FC_GEMM_CHAINS chains of fma from +0: step k goes to chain
 *     k % FC_GEMM_CHAINS, and the chains are added in order. What is left at the end is one chain in the order of k;
 *   - FC_GEMM_SUPER consecutive blocks are added in order, which makes a super-block;
 *   - super-blocks are added in order. `accumulate` puts c's old value in front of the first one's first block.
 * bfloat16: k runs in pairs, of which a step takes one, the second of the two before the first; the last may be missing its second, which
 * is 0. Denormal numbers, of operands and of sums, are 0 (docs/decisions/052).
 * A block of complex numbers is four of real ones: re = sum ar*br - sum ai*bi, im = sum ar*bi + sum ai*br. So x * y is y * x bit for bit
 * here too, and a number times its conjugate is real (docs/decisions/056).
 */
#ifndef FC_GEMM_H
#define FC_GEMM_H

#include <stdint.h>

#include "../core/dtype.h"
#include "../core/status.h"

#define FC_GEMM_BLOCK 256
#define FC_GEMM_CHAINS 4 /* of a whole block: lines along k are then read as they lie, see docs/decisions/048 */
#define FC_GEMM_SUPER 16

FC_CHECKED int fc_gemm(int dtype, int64_t batch, int64_t M, int64_t N, int64_t K,
            const void *a, int64_t a_batch, int64_t a_row, int64_t a_col,
            const void *b, int64_t b_batch, int64_t b_row, int64_t b_col,
            void *c, int64_t c_batch, int64_t c_row, int64_t c_col,
            const void *bias, int64_t bias_stride, int accumulate);

#endif

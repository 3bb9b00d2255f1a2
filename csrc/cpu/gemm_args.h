/* One product's arguments as the engine takes them: fc_gemm's (see gemm.h), and what convolution needs beyond. */
#ifndef FC_GEMM_ARGS_H
#define FC_GEMM_ARGS_H

#include <stddef.h>

#include "gemm.h"
#include "gemm_kernel.h"

/* Fills packed panels of `width` lines (kernel->pack says how they look) from a matrix that is never formed:
 * lines [first, first + lines) of side `x` of product `batch`, k in [k0, k0 + depth). */
typedef void (*fc_gemm_pack_fn)(const void *x, const fc_gemm_kernel *kernel, void *panels, int width, int64_t batch,
                                int64_t first, int64_t lines, int64_t k0, int64_t depth);

typedef struct {
    int dtype, accumulate;
    int split;                    /* gemm.h's chains; 0: a block is always one (convolution, which reads no lines along k) */
    int64_t batch, M, N, K;
    const void *a;
    int64_t a_batch, a_row, a_col;
    const void *b;
    int64_t b_batch, b_row, b_col;
    void *c;
    int64_t c_batch, c_row, c_col;
    const void *bias;             /* or NULL; added to c[i, m, n]: bias[i * bias_batch + m * bias_row + n * bias_col]. It may be c itself where K is one block */
    int64_t bias_col, bias_row, bias_batch;
    const double *factors;        /* NULL, or where there is a bias alpha and beta: c = alpha * sum + beta * bias. Neither integers nor c_at */
    fc_gemm_pack_fn pack_a, pack_b;  /* NULL: a or b is memory with strides. Else a or b is handed to it. float, complex only */
    const int64_t *c_at;          /* NULL, or the offset of column n in a row of c, instead of n * c_col; with b_at, -1: dropped */
    const int64_t *b_at;          /* NULL, or b's element (k, n) is b[i * b_batch + b_at[k] + n]; not complex, as the next three */
    const int64_t *b_from;        /* with b_at: NULL, or + b_from[n / lanes] + n % lanes instead of + n; N is whole vectors, of nr / 2 lanes */
    const int64_t *a_at, *a_k;    /* NULL, or a's element (m, k) is a[a_at[m] + a_k[k]] */
    int a_in_place;               /* a is memory that is read where it lies: few columns would not repay packing it */
    int pairs;                    /* bfloat16: K and the strides of a and b count pairs of steps, which neighbours in memory are */
    int wide;                     /* with `pairs`: c and bias are float32 */
    int b_halves;                 /* b is of float16, lines along k, beside floats: fc_gemm_thin alone, a's steps side by side */
    const void *a_packed;         /* NULL, or what fc_gemm_pack_whole made of a: worth it where a meets several products */
} fc_gemm_args;

/* Is a block of this depth several chains? */
static inline int fc_gemm_splits(const fc_gemm_args *g, int64_t depth)
{
    return g->split && depth == FC_GEMM_BLOCK;
}

/* Is c of halves, where sums are float32? */
static inline int fc_gemm_narrows(const fc_gemm_args *g) { return fc_is_half(g->dtype) && !g->wide; }

/* The plain C99 product over batches [first, last): integers, and the oracle of the tests. No pack_a, pack_b, c_at. */
void fc_gemm_plain(const fc_gemm_args *g, int64_t first, int64_t last);

/* fc_gemm for memory operands given as a record, which it may rewrite. */
FC_CHECKED int fc_gemm_shaped(fc_gemm_args *g);

/* The engine, for floating dtypes. FC_OK or FC_MEMORY. */
FC_CHECKED int fc_gemm_run(const fc_gemm_args *g);

/* Packs all of g->a, for g->a_packed: bytes that it takes, and doing it. */
size_t fc_gemm_whole_bytes(int dtype, int64_t M, int64_t K);
void fc_gemm_pack_whole(const fc_gemm_args *g, void *packed);

#endif

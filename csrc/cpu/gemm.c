#include "gemm.h"

#include "../core/status.h"
#include "../include/facula.h"
#include "gemm_blocks.h"
#include "parallel.h"

#define FEW 64
#define PACKING 6
#define NARROW 16 /* columns of integers */
#define TINY_WORK 256 /* fma: below, packing and blocking cost more than they bring */
#define SMALL_WORK 4096 /* the same, of each product of a batch */
#define LINES 16 /* rows and steps from which a matrix times one column is many lines along k, not one lane of a vector */
#define TURNED 16384    /* bytes of small products that are turned at once */
#define TURNED_MOST 1024 /* elements of one: longer lines are read where they are */
#define ASIDE 16384     /* bytes of sums of small products that wait for their bias */

/* (M, N) sums, which lie in rows of N, to c with the bias of product i. */
static void leave(const fc_gemm_args *g, const fc_gemm_kernel *kernel, int64_t i, const void *sums)
{
    const int size = kernel->size;
    kernel->merge(&(fc_gemm_tile_job){ .rows = g->M, .cols = g->N, .a = sums, .b_row = g->N, .c = (char *)g->c + i * g->c_batch * size,
                                       .c_row = g->c_row, .c_col = g->c_col, .add = g->accumulate, .factors = g->factors,
                                       .bias = (const char *)g->bias + i * g->bias_batch * size, .bias_row = g->bias_row, .bias_col = g->bias_col });
}

static void small_products(void *ctx, int64_t begin, int64_t end)
{
    const fc_gemm_args *g = ctx;
    const fc_gemm_kernel *kernel = fc_gemm_kernel_for(g->dtype);
    const int size = kernel->size;
    const int64_t K = g->K, N = g->N, row = g->b_col == 1 ? g->b_row : N, MN = g->M * N;
    const int64_t turned_at_once = g->b_col == 1 ? end - begin : TURNED / (K * N * size + 1), aside = ASIDE / (MN * size);
    const int64_t some = g->bias && aside < turned_at_once ? aside : turned_at_once;
    double turned[TURNED / sizeof(double)]; /* lines along k of a few products, as rows of columns */
    double sums[ASIDE / sizeof(double)];
    for (int64_t i = begin, count; i < end; i += count) {
        const char *a = (const char *)g->a + i * g->a_batch * size, *b = (const char *)g->b + i * g->b_batch * size;
        count = end - i < some ? end - i : some;
#define TURN(T)                                                                                                   \
        for (int64_t p = 0; p < count; ++p)                                                                       \
            for (int64_t n = 0; n < N; ++n)                                                                       \
                for (int64_t k = 0; k < K; ++k)                                                                   \
                    ((T *)turned)[(p * K + k) * N + n] = ((const T *)b)[p * g->b_batch + n * g->b_col + k * g->b_row]
        if (g->b_col != 1) {
            if (size == 4) TURN(float);
            else TURN(double);
            b = (const char *)turned;
        }
#undef TURN
        char *const c = g->bias ? (char *)sums : (char *)g->c + i * g->c_batch * size;
        kernel->small(count, g->M, N, K, a, g->a_batch, g->a_row, g->a_col, b, g->b_col == 1 ? g->b_batch : K * N, row,
                      c, g->bias ? MN : g->c_batch, g->bias ? N : g->c_row);
        for (int64_t p = 0; g->bias && p < count; ++p)
            leave(g, kernel, i + p, c + p * MN * size);
    }
}

static int are_small(const fc_gemm_args *g, const fc_gemm_kernel *kernel)
{
    const int lines = g->N == 1 && g->a_col == 1 && g->M >= LINES && g->K >= LINES;
    return kernel->small && !lines && !fc_gemm_narrows(g) && g->batch > 1 && g->N <= kernel->nr / 2 && g->K < FC_GEMM_BLOCK &&
           g->M * g->N * g->K <= SMALL_WORK && (g->b_col == 1 || g->N * g->K <= TURNED_MOST) && g->c_col == 1 && (!g->bias || g->M * g->N * kernel->size <= ASIDE) && !g->accumulate &&
           !g->c_at && !g->pack_a && !g->pack_b && !g->a_at && !g->b_at && !g->a_packed;
}

fc_gemm_args fc_gemm_transposed(const fc_gemm_args *g)
{
    fc_gemm_args t = *g;
    t.M = g->N, t.N = g->M;
    t.a = g->b, t.a_batch = g->b_batch, t.a_row = g->b_col, t.a_col = g->b_row, t.pack_a = g->pack_b;
    t.b = g->a, t.b_batch = g->a_batch, t.b_row = g->a_col, t.b_col = g->a_row, t.pack_b = g->pack_a;
    t.c_row = g->c_col, t.c_col = g->c_row;
    t.bias_row = g->bias_col, t.bias_col = g->bias_row;
    return t;
}

/* What panels of columns waste on a narrow result they do not on its transpose; what packing takes is not earned back by a few steps. */
static void integers(const fc_gemm_args *g)
{
    const int level = fc_isa_level();
    const fc_gemm_args t = g->N < g->M && g->N < NARROW ? fc_gemm_transposed(g) : *g;
    if (g->M * g->N * g->K <= SMALL_WORK && g->batch == 1)
        fc_gemm_plain(g, 0, 1);
    else
        (level >= 4 ? fc_gemm_integers_v4 : level == 3 ? fc_gemm_integers_v3 : fc_gemm_integers_v2)(&t);
}

/* A few rows against lines along k (a batch through a layer): packing those lines would cost as much as PACKING rows, so they are
 * the left operand, read where they are, if the rows then fill vectors. Lines a page apart would push each other out of L1. */
static int reads_in_place(const fc_gemm_args *g, const fc_gemm_kernel *kernel)
{
    const int64_t lanes = kernel->nr / 2, filled = (g->M + lanes - 1) / lanes * lanes;
    return !fc_is_half(g->dtype) && g->M <= FEW && filled < g->M + PACKING && g->b_row == 1 && g->b_col != 1 && g->b_col * kernel->size % 4096 && g->N >= 2 * kernel->mr &&
           g->c_col == 1 && !g->bias_row && !g->pack_a && !g->pack_b && !g->c_at;
}

int fc_gemm_shaped(fc_gemm_args *g)
{
    if (g->dtype == FC_BOOL)
        return fc_fail(FC_DTYPE, g->dtype, 0, 0, 0);
    if (g->batch <= 0 || g->M <= 0 || g->N <= 0)
        return FC_OK;
    if (fc_is_int(g->dtype)) {
        integers(g);
        return FC_OK;
    }
    const fc_gemm_kernel *kernel = fc_gemm_kernel_for(g->dtype);
    if (kernel->tiny && !fc_gemm_narrows(g) && g->M * g->N * (g->K ? g->K : 1) <= TINY_WORK && g->K < FC_GEMM_BLOCK && g->batch == 1 &&
        !g->c_at && !g->pack_a && !g->pack_b) {
        if (g->bias_row || g->factors) {
            double sums[TINY_WORK];
            kernel->tiny(g->M, g->N, g->K, g->a, g->a_row, g->a_col, g->b, g->b_row, g->b_col, sums, g->N, 1, NULL, 0, 0);
            leave(g, kernel, 0, sums);
        } else
            kernel->tiny(g->M, g->N, g->K, g->a, g->a_row, g->a_col, g->b, g->b_row, g->b_col, g->c, g->c_row, g->c_col, g->bias,
                         g->bias_col, g->accumulate);
        return FC_OK;
    }
    if (g->batch > 1 && (!g->bias || g->bias_batch == g->M * g->bias_row) && g->b_batch == 0 && g->a_batch == g->M * g->a_row && g->c_batch == g->M * g->c_row) {
        g->M *= g->batch; /* one matrix against all: a taller product */
        g->batch = 1;
    }
    if (g->N == 1)
        g->b_col = 1; /* any step is that of one column */
    if (are_small(g, kernel)) {
        fc_parallel(g->batch, 1 + (64 << 10) / (g->M * g->N * g->K + 32), small_products, g);
        return FC_OK;
    }
    const int half = fc_gemm_narrows(g);
    const int few = g->N < g->M && g->N <= (half ? FC_GEMM_FEW_ROWS : kernel->along_rows) && (half || g->a_col == 1 || g->a_row == 1);
    if (few || (g->c_row == 1 && g->c_col != 1 && g->M > kernel->along_rows))
        *g = fc_gemm_transposed(g);
    int status;
    if (half && fc_gemm_half_pieces(g, &status))
        return status;
    if (g->M * g->N > 1 && fc_gemm_supers(g, &status))
        return status;
    if (fc_gemm_thin(g))
        return FC_OK;
    if (!fc_is_complex(g->dtype) && reads_in_place(g, kernel)) {
        fc_gemm_args t = fc_gemm_transposed(g);
        t.a_in_place = 1;
        return fc_gemm_run(&t);
    }
    return half && g->dtype == FC_BF16 ? fc_gemm_run_pairs(g) : fc_gemm_run(g);
}

int fc_gemm(int dtype, int64_t batch, int64_t M, int64_t N, int64_t K,
            const void *a, int64_t a_batch, int64_t a_row, int64_t a_col,
            const void *b, int64_t b_batch, int64_t b_row, int64_t b_col,
            void *c, int64_t c_batch, int64_t c_row, int64_t c_col,
            const void *bias, int64_t bias_stride, int accumulate)
{
    fc_gemm_args g = { .dtype = dtype, .accumulate = accumulate, .split = 1, .batch = batch, .M = M, .N = N, .K = K,
                       .a = a, .a_batch = a_batch, .a_row = a_row, .a_col = a_col,
                       .b = b, .b_batch = b_batch, .b_row = b_row, .b_col = b_col,
                       .c = c, .c_batch = c_batch, .c_row = c_row, .c_col = c_col, .bias = bias, .bias_col = bias_stride };
    return fc_gemm_shaped(&g);
}

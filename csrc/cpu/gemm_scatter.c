/* Sums that were gathered aside, to c: along rows in runs of neighbours, or down columns where c lies that way. */
#include "gemm_blocks.h"

#define MOST_COLS 1024 /* the engine's strips are at most about 550 wide */

/* Columns [n0, n0 + cols) that are kept, cut where they stop being evenly apart. */
static int cut_runs(const fc_gemm_args *g, int64_t n0, int64_t cols, fc_gemm_stretch *out, int64_t *step)
{
    if (!g->c_at) {
        out[0] = (fc_gemm_stretch){ 0, (int)cols, n0 * g->c_col };
        step[0] = g->c_col;
        return 1;
    }
    const int64_t *at = g->c_at + n0;
    int n = 0;
    for (int64_t j = 0; j < cols;) {
        if (at[j] < 0) {
            ++j;
            continue;
        }
        int64_t end = j + 1;
        step[n] = end < cols && at[end] >= 0 ? at[end] - at[j] : 1;
        while (end < cols && at[end] == at[j] + (end - j) * step[n]) ++end;
        out[n++] = (fc_gemm_stretch){ (int)j, (int)(end - j), at[j] };
        j = end;
    }
    return n;
}

/* Lines of c run down: tiles of 16 rows, each line a few elements. */
#define DOWN(name, R)                                                                                                 \
static void down_##name(R *c, const R *sums, int64_t rows, int64_t cols, int64_t step)                                \
{                                                                                                                     \
    for (int64_t m = 0; m < rows; m += 16)                                                                            \
        for (int64_t n = 0; n < cols; ++n) {                                                                          \
            R *z = c + n * step + m;                                                                                  \
            const R *x = sums + m * cols + n;                                                                         \
            for (int64_t l = 0; l < (rows - m < 16 ? rows - m : 16); ++l) z[l] = x[l * cols];                         \
        }                                                                                                             \
}
DOWN(f32, float)
DOWN(f64, double)
#undef DOWN

void fc_gemm_scatter(const fc_gemm_args *g, int64_t i, int64_t m0, int64_t rows, int64_t n0, int64_t cols, const void *sums)
{
    const fc_gemm_kernel *kernel = fc_gemm_kernel_for(g->dtype == FC_F64 ? FC_F64 : FC_F32); /* sums of pairs are floats */
    const int64_t size = kernel->size;
    char *const c = (char *)g->c + (i * g->c_batch + m0 * g->c_row) * size;
    fc_gemm_stretch runs[MOST_COLS];
    int64_t step[MOST_COLS];
    const int count = cut_runs(g, n0, cols, runs, step);
    if (g->c_row == 1 && !g->c_at && !g->bias) {
        if (size == 4) down_f32((float *)c + runs->from, sums, rows, cols, *step);
        else down_f64((double *)c + runs->from, sums, rows, cols, *step);
        return;
    }
    const char *bias = g->bias ? (const char *)g->bias + m0 * g->bias_row * size : NULL;
    for (int64_t m = 0; m < rows; ++m)
        kernel->lay(c + m * g->c_row * size, (const char *)sums + m * cols * size, bias ? bias + m * g->bias_row * size : NULL, runs,
                    step, count);
}

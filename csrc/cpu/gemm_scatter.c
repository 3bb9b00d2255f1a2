/* Sums that were gathered aside, to c: along rows in runs of neighbours, or down columns where c lies that way. */
#include <string.h>

#include "gemm_blocks.h"

typedef struct { int64_t lane, count, at, step; } run;

#define MOST_COLS 1024 /* the engine's strips are at most about 550 wide */

/* Columns [n0, n0 + cols) that are kept, cut where they stop being evenly apart. */
static int cut_runs(const fc_gemm_args *g, int64_t n0, int64_t cols, run *out)
{
    if (!g->c_at) {
        out[0] = (run){ 0, cols, n0 * g->c_col, g->c_col };
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
        const int64_t step = end < cols && at[end] >= 0 ? at[end] - at[j] : 1;
        while (end < cols && at[end] == at[j] + (end - j) * step) ++end;
        out[n++] = (run){ j, end - j, at[j], step };
        j = end;
    }
    return n;
}

#define SCATTER(name, R)                                                                                              \
static void scatter_##name(const fc_gemm_args *g, R *c, const R *bias, const R *sums, int64_t rows, int64_t cols,     \
                           const run *runs, int count)                                                                \
{                                                                                                                     \
    if (g->c_row == 1 && count == 1 && !bias) { /* lines of c run down: tiles of 16 rows, each line a few elements */ \
        for (int64_t m = 0; m < rows; m += 16)                                                                        \
            for (int64_t n = 0; n < cols; ++n) {                                                                      \
                R *z = c + runs->at + n * runs->step + m;                                                             \
                const R *x = sums + m * cols + n;                                                                     \
                for (int64_t l = 0; l < (rows - m < 16 ? rows - m : 16); ++l) z[l] = x[l * cols];                     \
            }                                                                                                         \
        return;                                                                                                       \
    }                                                                                                                 \
    for (int64_t m = 0; m < rows; ++m, sums += cols) {                                                                \
        const R b = bias ? bias[m * g->bias_row] : 0;                                                                 \
        for (int r = 0; r < count; ++r) {                                                                             \
            R *restrict z = c + m * g->c_row + runs[r].at;                                                            \
            const R *restrict x = sums + runs[r].lane;                                                                \
            const int64_t n = runs[r].count, step = runs[r].step;                                                     \
            if (step != 1)                                                                                            \
                for (int64_t j = 0; j < n; ++j) z[j * step] = bias ? x[j] + b : x[j];                                 \
            else if (bias)                                                                                            \
                for (int64_t j = 0; j < n; ++j) z[j] = x[j] + b;                                                      \
            else { /* runs are short, mostly: no call for them */                                                     \
                int64_t j = 0;                                                                                        \
                for (; j + 16 <= n; j += 16) memcpy(z + j, x + j, 16 * sizeof(R));                                    \
                for (; j + 4 <= n; j += 4) memcpy(z + j, x + j, 4 * sizeof(R));                                       \
                for (; j < n; ++j) z[j] = x[j];                                                                       \
            }                                                                                                         \
        }                                                                                                             \
    }                                                                                                                 \
}
SCATTER(f32, float)
SCATTER(f64, double)
#undef SCATTER

void fc_gemm_scatter(const fc_gemm_args *g, int64_t i, int64_t m0, int64_t rows, int64_t n0, int64_t cols, const void *sums)
{
    const int64_t start = i * g->c_batch + m0 * g->c_row;
    run runs[MOST_COLS];
    const int count = cut_runs(g, n0, cols, runs);
    if (g->dtype == FC_F32)
        scatter_f32(g, (float *)g->c + start, g->bias ? (const float *)g->bias + m0 * g->bias_row : NULL, sums, rows, cols, runs, count);
    else
        scatter_f64(g, (double *)g->c + start, g->bias ? (const double *)g->bias + m0 * g->bias_row : NULL, sums, rows, cols, runs, count);
}

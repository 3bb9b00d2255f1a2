/* float16 and bfloat16 at the edges of the engine: float32 inside, one rounding at the end. */
#include "../core/half.h"
#include "gemm_blocks.h"

#define WIDEST 32 /* lines of the widest panel */

static void widen_line(float *restrict out, const uint16_t *restrict x, int64_t step, int64_t n, int bf16)
{
    if (bf16)
        for (int64_t j = 0; j < n; ++j) out[j] = fc_f32_of_bf16(x[j * step]);
    else if (step == 1)
        for (int64_t j = 0; j < n; ++j) out[j] = fc_f32_of_f16(x[j]);
    else
        for (int64_t j = 0; j < n; ++j) out[j] = fc_f32_of_f16(x[j * step]);
}

void fc_gemm_pack_half(const fc_gemm_kernel *kernel, int dtype, void *panels, int width, const uint16_t *x, int64_t line,
                       int64_t step, int64_t lines, int64_t depth)
{
    const int bf16 = dtype == FC_BF16;
    float wide[WIDEST * FC_GEMM_BLOCK];
    float *out = panels;
    for (int64_t l = 0; l < lines; l += width, out += width * depth) {
        const int64_t count = lines - l < width ? lines - l : width;
        const uint16_t *x_l = x + l * line;
        if (line == 1) { /* along memory, whichever way that runs */
            for (int64_t k = 0; k < depth; ++k) widen_line(wide + k * count, x_l + k * step, 1, count, bf16);
            kernel->pack(out, width, wide, 1, count, count, depth);
        } else {
            for (int64_t j = 0; j < count; ++j) widen_line(wide + j * depth, x_l + j * line, step, depth, bf16);
            kernel->pack(out, width, wide, depth, 1, count, depth);
        }
    }
}

void fc_gemm_widen(const fc_gemm_args *g, int64_t i, int64_t m0, int64_t rows, int64_t n0, int64_t cols, float *sums)
{
    const uint16_t *c = (const uint16_t *)g->c + i * g->c_batch + m0 * g->c_row + n0 * g->c_col;
    for (int64_t m = 0; m < rows; ++m)
        widen_line(sums + m * cols, c + m * g->c_row, g->c_col, cols, g->dtype == FC_BF16);
}

void fc_gemm_narrow(const fc_gemm_args *g, int64_t i, int64_t m0, int64_t rows, int64_t n0, int64_t cols, const float *sums)
{
    const int bf16 = g->dtype == FC_BF16;
    uint16_t *c = (uint16_t *)g->c + i * g->c_batch + m0 * g->c_row + n0 * g->c_col;
    for (int64_t m = 0; m < rows; ++m, sums += cols, c += g->c_row) {
        float line[FC_GEMM_BLOCK], bias[FC_GEMM_BLOCK];
        for (int64_t n = 0; n < cols; n += FC_GEMM_BLOCK) {
            const int64_t count = cols - n < FC_GEMM_BLOCK ? cols - n : FC_GEMM_BLOCK;
            for (int64_t j = 0; j < count; ++j) line[j] = sums[n + j];
            if (g->bias) {
                const uint16_t *t = (const uint16_t *)g->bias + (m0 + m) * g->bias_row + (n0 + n) * g->bias_col;
                widen_line(bias, t, g->bias_col, count, bf16);
                for (int64_t j = 0; j < count; ++j) line[j] += bias[j];
            }
            uint16_t *z = c + n * g->c_col;
            if (bf16)
                for (int64_t j = 0; j < count; ++j) z[j * g->c_col] = fc_bf16_of_f32(line[j]);
            else if (g->c_col == 1)
                for (int64_t j = 0; j < count; ++j) z[j] = fc_f16_of_f32(line[j]);
            else
                for (int64_t j = 0; j < count; ++j) z[j * g->c_col] = fc_f16_of_f32(line[j]);
        }
    }
}

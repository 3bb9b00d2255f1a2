/* bfloat16 by pairs of steps (gemm_pairs_simd.c): how operands become pairs. */
#include "gemm_blocks.h"

#include <string.h>

int fc_has_pairs(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx512bf16") != 0;
#else
    return 0;
#endif
}

enum {
    WIDEST = 32, /* lines of the widest panel */
    NARROW = 256, /* columns that would not repay packing pairs which lie in rows */
    FETCHED = 64  /* columns that are fetched before they are read */
};

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

int fc_gemm_has_pairs(const fc_gemm_halves *h)
{
    return h->step == 1 && h->K % 2 == 0 && h->line % 2 == 0 && h->batch % 2 == 0 && (uintptr_t)h->x % 4 == 0;
}

int fc_gemm_pairs_of_rows(const fc_gemm_halves *h) { return h->line == 1 && h->step != 1; }

void fc_gemm_lay_pairs(const fc_gemm_kernel *kernel, void *out, int64_t pitch, const fc_gemm_halves *h, int64_t lines, int64_t depth)
{
    const uint16_t *x = h->x;
    if (fc_gemm_pairs_of_rows(h)) {
        for (int64_t p = 0; p < depth; ++p, x += 2 * h->step) {
            if (lines >= FETCHED && p + 1 < depth) { /* each row is a page of its own, across which no processor reads ahead */
                FC_GEMM_AHEAD(x + 2 * h->step, lines);
                FC_GEMM_AHEAD(x + 3 * h->step, lines);
            }
            kernel->pair_rows((uint32_t *)out + p * pitch, x, 2 * p + 1 < h->K ? x + h->step : NULL, lines);
        }
        return;
    }
    const int64_t n = least(2 * depth, h->K);
    uint16_t *z = out;
    for (int64_t l = 0; l < lines; ++l, x += h->line, z += 2 * pitch) {
        if (h->step == 1)
            memcpy(z, x, (size_t)n * sizeof *x);
        else
            for (int64_t k = 0; k < n; ++k)
                z[k] = x[k * h->step];
        if (n < 2 * depth)
            z[n] = 0;
    }
}

/* fc_gemm_pack_fn of fc_gemm_halves. */
static void pack(const void *side, const fc_gemm_kernel *kernel, void *panels, int width, int64_t batch, int64_t first, int64_t lines, int64_t k0, int64_t depth)
{
    const fc_gemm_halves *h = side;
    const int64_t lanes = kernel->nr / 2;
    float pairs[WIDEST * FC_GEMM_BLOCK], *panel = panels;
    for (int64_t l = 0; l < lines; l += width, panel += width * depth) {
        const int64_t count = least(lines - l, width), end = least((count + lanes - 1) / lanes * lanes, width);
        const fc_gemm_halves some = { h->x + batch * h->batch + (first + l) * h->line + 2 * k0 * h->step, 0, h->line, h->step, h->K - 2 * k0 };
        if (!fc_gemm_pairs_of_rows(h)) {
            fc_gemm_lay_pairs(kernel, pairs, depth, &some, count, depth);
            kernel->pack(panel, width, pairs, depth, 1, count, depth);
            continue;
        }
        fc_gemm_lay_pairs(kernel, panel, width, &some, count, depth);
        for (int64_t p = 0; count < end && p < depth; ++p) /* lanes that are computed and dropped */
            memset(panel + p * width + count, 0, (size_t)(end - count) * sizeof *panel);
    }
}

int fc_gemm_run_pairs(const fc_gemm_args *g)
{
    const fc_gemm_halves a = { g->a, g->a_batch, g->a_row, g->a_col, g->K }, b = { g->b, g->b_batch, g->b_col, g->b_row, g->K };
    fc_gemm_args q = *g;
    q.pairs = 1;
    q.K = (g->K + 1) / 2;
    if (fc_gemm_has_pairs(&a))
        q.a_batch /= 2, q.a_row /= 2, q.a_col = 1, q.a_in_place = g->N <= NARROW && q.a_row * 4 % 4096;
    else
        q.a = &a, q.pack_a = pack;
    if (fc_gemm_has_pairs(&b))
        q.b_batch /= 2, q.b_col /= 2, q.b_row = 1;
    else
        q.b = &b, q.pack_b = pack;
    return fc_gemm_run(&q);
}

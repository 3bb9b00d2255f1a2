/*
 * Products too thin for panels: a few rows against lines that run along k (y = x W^T for a small batch, matrix times
 * vector), and dot products. Same order as the engine; only the way through memory differs.
 */
#include "gemm_blocks.h"

#include <string.h>

#include "parallel.h"

#define CHUNK 128               /* columns at a time: as many lines of 1 KB are read side by side */
#define MOST_ROWS 4
#define WORK_PER_PIECE (64 << 10) /* bound by memory, so worth splitting earlier than the engine's pieces */
#define SUPER (FC_GEMM_SUPER * FC_GEMM_BLOCK)

typedef struct {
    const fc_gemm_args *g;
    const fc_gemm_kernel *kernel;
    int64_t chunks;
} thin;

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

static void columns(void *ctx, int64_t begin, int64_t end)
{
    const thin *p = ctx;
    const fc_gemm_args *g = p->g;
    const int size = p->kernel->size;
    double block[MOST_ROWS * CHUNK], super[MOST_ROWS * CHUNK]; /* of either type */

    for (int64_t t = begin; t < end; ++t) {
        const int64_t i = t / p->chunks, n0 = t % p->chunks * CHUNK, cols = least(g->N - n0, CHUNK);
        const char *a = (const char *)g->a + i * g->a_batch * size;
        const char *b = (const char *)g->b + (i * g->b_batch + n0 * g->b_col) * size;
        const fc_gemm_tile_job home = { .rows = g->M, .cols = cols, .a = block, .b_row = cols,
            .c = (char *)g->c + (i * g->c_batch + n0 * g->c_col) * size, .c_row = g->c_row, .c_col = g->c_col };
        const char *bias = g->bias ? (const char *)g->bias + n0 * g->bias_col * size : NULL;

        int64_t k = 0;
        do {
            const int64_t super_end = least(g->K, k + SUPER);
            const int first = k == 0, last = super_end == g->K;
            fc_gemm_tile_job job = home;
            job.add = first && g->accumulate;
            if (!first) {
                job.c = super;
                job.c_row = cols;
                job.c_col = 1;
            }
            do {
                const int64_t depth = least(FC_GEMM_BLOCK, super_end - k);
                p->kernel->along(block, g->M, cols, depth, a + k * g->a_col * size, g->a_row, g->a_col, b + k * size, g->b_col);
                k += depth;
                if (first && k == g->K) {
                    job.bias = bias;
                    job.bias_row = g->bias_row;
                    job.bias_col = g->bias_col;
                }
                p->kernel->merge(&job);
                job.add = 1;
            } while (k < super_end);
            if (!first) {
                job = home;
                job.a = super;
                job.add = 1;
                job.bias = last ? bias : NULL;
                job.bias_row = g->bias_row;
                job.bias_col = g->bias_col;
                p->kernel->merge(&job);
            }
        } while (k < g->K);
    }
}

/* Super-blocks of a dot product; each is the sum of its blocks in order. */
#define WAVE 256
typedef struct {
    const fc_gemm_args *g;
    const fc_gemm_kernel *kernel;
    const char *a, *b;
    int64_t first;
    double sums[WAVE];
} dot;

static void supers(void *ctx, int64_t begin, int64_t end)
{
    dot *d = ctx;
    const int size = d->kernel->size;
    for (int64_t s = begin; s < end; ++s) {
        const int64_t k = (d->first + s) * SUPER, depth = least(SUPER, d->g->K - k);
        const char *a = d->a + k * size, *b = d->b + k * size;
        double blocks[FC_GEMM_SUPER + 1];
        const int64_t whole = depth / FC_GEMM_BLOCK, rest = depth % FC_GEMM_BLOCK, n = whole + (rest > 0);
        char *tail = (char *)blocks + whole * size;
        d->kernel->dots(blocks, whole, a, b);
        if (rest)
            d->kernel->tiny(1, 1, rest, a + whole * FC_GEMM_BLOCK * size, 0, 1, b + whole * FC_GEMM_BLOCK * size, 1, 0, tail, 0, 0,
                            NULL, 0, 0);
        char *sum = (char *)d->sums + s * size;
        const int from_c = s + d->first == 0 && d->g->accumulate;
        memcpy(sum, from_c ? d->g->c : blocks, (size_t)size);
        for (int64_t j = !from_c; j < n; ++j)
            d->kernel->merge(&(fc_gemm_tile_job){ .rows = 1, .cols = 1, .a = (char *)blocks + j * size, .c = sum, .add = 1 });
    }
}

static void one_dot(const fc_gemm_args *g, const fc_gemm_kernel *kernel)
{
    dot d = { .g = g, .kernel = kernel, .a = g->a, .b = g->b };
    const int64_t count = (g->K + SUPER - 1) / SUPER;
    for (; d.first < count; d.first += WAVE) {
        const int64_t n = least(WAVE, count - d.first);
        fc_parallel(n, WORK_PER_PIECE / SUPER, supers, &d);
        for (int64_t s = 0; s < n; ++s)
            kernel->merge(&(fc_gemm_tile_job){ .rows = 1, .cols = 1, .a = (char *)d.sums + s * kernel->size, .c = g->c,
                                               .add = d.first + s > 0,
                                               .bias = d.first + s == count - 1 ? g->bias : NULL });
    }
}

int fc_gemm_thin(const fc_gemm_args *g)
{
    const fc_gemm_kernel *kernel = fc_gemm_kernel_for(g->dtype);
    if (g->M > kernel->along_rows || g->b_row != 1 || g->c_at || fc_is_half(g->dtype) || fc_is_complex(g->dtype))
        return 0;
    if (g->M * g->N == 1 && g->batch == 1 && g->a_col == 1 && g->K >= 2 * FC_GEMM_BLOCK) {
        one_dot(g, kernel);
        return 1;
    }
    thin p = { g, kernel, (g->N + CHUNK - 1) / CHUNK };
    fc_parallel(g->batch * p.chunks, 1 + WORK_PER_PIECE / (g->M * least(g->N, CHUNK) * g->K + 1), columns, &p);
    return 1;
}

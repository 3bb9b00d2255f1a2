/*
 * Products too thin for panels: a few rows against lines that run along k (y = x W^T for a small batch, matrix times
 * vector), and dot products. Same order as the engine; only the way through memory differs.
 */
#include "gemm_blocks.h"

#include <string.h>

#include "../core/cast.h"
#include "parallel.h"

#define CHUNK 128               /* columns at a time: as many lines of 1 KB are read side by side */
#define FAR (1 << 20) /* bytes of b from which FAR_CHUNK lines go all the way through k before the next are touched */
#define FAR_CHUNK 32
#define COMPLEX_CHUNK 64
#define FROM_MEMORY (16 << 20) /* bytes of b that no cache keeps */
#define MEMORY_CHUNK 8 /* so many lines are what the processor reads ahead of: 4.1 ms for 40 MB with 32, 2.6 with 8, but from L3 141 us for 4 MB against 171 */
#define MOST_ROWS 4
#define MOST_STRIP 16 /* columns that along writes to, however few they are */
#define WORK_PER_PIECE (64 << 10) /* bound by memory, so worth splitting earlier than the engine's pieces */
#define SUPER (FC_GEMM_SUPER * FC_GEMM_BLOCK)

typedef struct {
    const fc_gemm_args *g;
    const fc_gemm_kernel *kernel;
    int64_t chunk, chunks;
} thin;

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }
static int bytes_of_b(const fc_gemm_args *g, const fc_gemm_kernel *kernel) { return g->b_halves ? (int)sizeof(uint16_t) : kernel->size; }

/* One block against lines of float16: what is no whole one is widened, a few lines at a time. */
static void along_halves(const fc_gemm_kernel *kernel, float *block, int split, int64_t rows, int64_t cols, int64_t depth, const float *a, int64_t a_row,
                         const uint16_t *b, int64_t b_col)
{
    float wide[MOST_STRIP * FC_GEMM_BLOCK], sums[MOST_ROWS * MOST_STRIP];
    if (split) {
        kernel->along_f16(block, rows, cols, a, a_row, b, b_col);
        return;
    }
    for (int64_t n = 0, some; n < cols; n += some) {
        some = least(cols - n, MOST_STRIP);
        for (int64_t l = 0; l < some; ++l)
            fc_convert(FC_F32, wide + l * depth, FC_F16, b + (n + l) * b_col, depth);
        kernel->along(sums, 0, rows, some, depth, a, a_row, 1, wide, depth);
        for (int64_t m = 0; m < rows; ++m)
            memcpy(block + m * cols + n, sums + m * some, (size_t)some * sizeof *sums);
    }
}

static void columns(void *ctx, int64_t begin, int64_t end)
{
    const thin *p = ctx;
    const fc_gemm_args *g = p->g;
    const int size = p->kernel->size, held = bytes_of_b(g, p->kernel);
    double block[MOST_ROWS * CHUNK], super[MOST_ROWS * CHUNK]; /* of either type */

    for (int64_t t = begin; t < end; ++t) {
        const int64_t i = t / p->chunks, n0 = t % p->chunks * p->chunk, cols = least(g->N - n0, p->chunk);
        const char *a = (const char *)g->a + i * g->a_batch * size;
        const char *b = (const char *)g->b + (i * g->b_batch + n0 * g->b_col) * held;
        const fc_gemm_tile_job home = { .rows = g->M, .cols = cols, .a = block, .b_row = cols,
            .c = (char *)g->c + (i * g->c_batch + n0 * g->c_col) * size, .c_row = g->c_row, .c_col = g->c_col, .factors = g->factors };
        const char *bias = g->bias ? (const char *)g->bias + (i * g->bias_batch + n0 * g->bias_col) * size : NULL;

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
                const int split = fc_gemm_splits(g, depth);
                const char *const a_k = a + k * g->a_col * size, *const b_k = b + k * g->b_row * held;
                if (g->b_halves)
                    along_halves(p->kernel, (float *)block, split, g->M, cols, depth, (const float *)a_k, g->a_row, (const uint16_t *)b_k, g->b_col);
                else if (p->kernel->row)
                    for (int64_t m = 0; m < g->M; ++m)
                        p->kernel->row((char *)block + m * cols * size, split, cols, depth, a_k + m * g->a_row * size, g->a_col, b_k, g->b_row, g->b_col);
                else
                    p->kernel->along(block, split, g->M, cols, depth, a_k, g->a_row, g->a_col, b_k, g->b_col);
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

/* Few sums altogether (a dot product, or as many as fan takes): threads share out super-blocks, each the sum of its blocks in
 * order. */
#define WAVE 256 /* sums kept aside at a time */
#define MOST_SUMS (MOST_ROWS * 16)
typedef struct {
    const fc_gemm_args *g;
    const fc_gemm_kernel *kernel;
    int64_t first;
    double sums[WAVE];
} few;

/* The blocks of one sum, in order; after what is there, if `add`. Complex numbers have two parts. */
static void add_up(int size, int parts, void *sum, const double *blocks, int64_t n, int add)
{
#define ADD_UP(R)                                                                \
    for (int part = 0; part < parts; ++part) {                                   \
        const R *x = (const R *)blocks + part;                                   \
        R s;                                                                     \
        memcpy(&s, (const R *)sum + part, sizeof s);                             \
        s = add ? s + x[0] : x[0];                                               \
        for (int64_t j = 1; j < n; ++j)                                          \
            s += x[j * parts];                                                   \
        memcpy((R *)sum + part, &s, sizeof s);                                   \
    }
    if (size == 4 * parts) {
        ADD_UP(float)
    } else {
        ADD_UP(double)
    }
#undef ADD_UP
}

static void supers(void *ctx, int64_t begin, int64_t end)
{
    few *d = ctx;
    const fc_gemm_args *g = d->g;
    const int size = d->kernel->size, half = g->dtype == FC_F16, held = half ? (int)sizeof(uint16_t) : size;
    const int64_t room = g->M * g->N * size;
    for (int64_t s = begin; s < end; ++s) {
        const int64_t k = (d->first + s) * SUPER, depth = least(SUPER, g->K - k);
        const char *a = (const char *)g->a + k * g->a_col * held, *b = (const char *)g->b + k * g->b_row * held;
        double blocks[(FC_GEMM_SUPER + 1) * MOST_SUMS];
        const int64_t whole = depth / FC_GEMM_BLOCK, rest = depth % FC_GEMM_BLOCK, n = whole + (rest > 0);
        const char *end_a = a + whole * FC_GEMM_BLOCK * g->a_col * held, *end_b = b + whole * FC_GEMM_BLOCK * g->b_row * held;
        float wide_a[FC_GEMM_BLOCK], wide_b[FC_GEMM_BLOCK]; /* halves that fill no block */
        if (half) {
            d->kernel->dots_f16(blocks, whole, a, b);
            fc_convert(FC_F32, wide_a, FC_F16, end_a, rest);
            fc_convert(FC_F32, wide_b, FC_F16, end_b, rest);
            end_a = (const char *)wide_a, end_b = (const char *)wide_b;
        } else if (g->M * g->N == 1 && g->a_col == 1 && g->b_row == 1)
            d->kernel->dots(blocks, whole, a, b);
        else
            d->kernel->fan(blocks, whole, g->M, g->N, a, g->a_row, g->a_col, b, g->b_row);
        char *const last = (char *)blocks + whole * room;
        if (rest && d->kernel->row)
            d->kernel->row(last, 0, 1, rest, end_a, 1, end_b, 1, 0);
        else if (rest)
            d->kernel->tiny(g->M, g->N, rest, end_a, g->a_row, g->a_col, end_b, g->b_row, g->b_col, last, g->N, 1, NULL, 0, 0);
        fc_gemm_tile_job sum = { .rows = g->M, .cols = g->N, .a = blocks, .b_row = g->N, .c = (char *)d->sums + s * room,
                                 .c_row = g->N, .c_col = 1 };
        if (s + d->first == 0 && g->accumulate) { /* c's old value comes first */
            for (int64_t m = 0; m < g->M; ++m)
                for (int64_t j = 0; j < g->N; ++j)
                    memcpy((char *)sum.c + (m * g->N + j) * size, (const char *)g->c + (m * g->c_row + j * g->c_col) * size, (size_t)size);
            sum.add = 1;
        }
        if (g->M * g->N == 1) {
            add_up(size, fc_is_complex(g->dtype) ? 2 : 1, sum.c, blocks, n, sum.add);
            continue;
        }
        for (int64_t j = 0; j < n; ++j, sum.add = 1) {
            sum.a = (const char *)blocks + j * room;
            d->kernel->merge(&sum);
        }
    }
}

static void few_sums(const fc_gemm_args *g, const fc_gemm_kernel *kernel)
{
    few d = { .g = g, .kernel = kernel };
    const int64_t count = (g->K + SUPER - 1) / SUPER, MN = g->M * g->N, wave = WAVE * (int64_t)sizeof(double) / (MN * kernel->size);
    for (; d.first < count; d.first += wave) {
        const int64_t n = least(wave, count - d.first);
        fc_parallel(n, WORK_PER_PIECE / (SUPER * MN), supers, &d);
        for (int64_t s = 0; s < n; ++s) {
            const int last = d.first + s == count - 1;
            kernel->merge(&(fc_gemm_tile_job){ .rows = g->M, .cols = g->N, .a = (char *)d.sums + s * MN * kernel->size, .b_row = g->N,
                                               .c = g->c, .c_row = g->c_row, .c_col = g->c_col, .add = d.first + s > 0,
                                               .bias = last ? g->bias : NULL, .bias_col = g->bias_col, .bias_row = g->bias_row,
                                               .factors = g->factors });
        }
    }
}

/* One product after the other. */
static void few_sums_each(void *ctx, int64_t begin, int64_t end)
{
    const fc_gemm_args *g = ctx;
    const fc_gemm_kernel *kernel = fc_gemm_kernel_for(g->dtype);
    const int size = kernel->size;
    for (int64_t i = begin; i < end; ++i) {
        fc_gemm_args one = *g;
        one.batch = 1;
        one.a = (const char *)g->a + i * g->a_batch * size;
        one.b = (const char *)g->b + i * g->b_batch * size;
        one.c = (char *)g->c + i * g->c_batch * size;
        if (g->bias) one.bias = (const char *)g->bias + i * g->bias_batch * size;
        few_sums(&one, kernel);
    }
}

int fc_gemm_dot(const fc_gemm_args *g)
{
    const fc_gemm_kernel *kernel = fc_gemm_kernel_for(g->dtype);
    const int one = g->M * g->N == 1 && g->a_col == 1 && g->b_row == 1 && g->batch == 1 && !g->b_halves;
    if (!one || !g->split || g->K < FC_GEMM_BLOCK || fc_gemm_narrows(g) || !(g->dtype == FC_F16 ? kernel->dots_f16 != NULL : kernel->dots != NULL))
        return 0;
    few_sums(g, kernel);
    return 1;
}

/* Columns or lines of b at a time. What lies in rows, complex numbers alone, goes as far along them as there is room for sums. */
static int64_t chunk_of(const fc_gemm_args *g, const fc_gemm_kernel *kernel)
{
    const int64_t bytes = g->K > 2 * FC_GEMM_BLOCK ? g->N * g->K * bytes_of_b(g, kernel) : 0;
    if (bytes > FROM_MEMORY)
        return g->b_row == 1 ? MEMORY_CHUNK : MOST_ROWS * CHUNK * (int64_t)sizeof(double) / (g->M * kernel->size);
    if (bytes > FAR && g->b_row == 1)
        return FAR_CHUNK;
    return kernel->row ? COMPLEX_CHUNK : CHUNK;
}

int fc_gemm_thin(const fc_gemm_args *g)
{
    const fc_gemm_kernel *kernel = fc_gemm_kernel_for(g->dtype);
    const int few = g->M <= FC_GEMM_FEW_ROWS && g->N <= kernel->few && g->b_row == 1 && !g->pack_a && !g->pack_b && !g->a_at && !g->b_at;
    if ((g->M > kernel->along_rows && !few) || g->c_at || fc_gemm_narrows(g))
        return 0;
    if (fc_gemm_dot(g))
        return 1;
    if (g->split && g->K >= 2 * FC_GEMM_BLOCK && kernel->fan && g->M <= kernel->along_rows && g->N <= kernel->nr / 2 && g->b_col == 1 && g->b_row != 1) {
        if (g->batch == 1)
            few_sums(g, kernel);
        else
            fc_parallel(g->batch, 1 + WORK_PER_PIECE / (g->M * g->N * g->K), few_sums_each, (void *)g);
        return 1;
    }
    if (g->b_row != 1 && !(kernel->row && g->b_col == 1))
        return 0;
    const int64_t chunk = chunk_of(g, kernel);
    thin p = { g, kernel, chunk, (g->N + chunk - 1) / chunk };
    fc_parallel(g->batch * p.chunks, 1 + WORK_PER_PIECE / (g->M * least(g->N, chunk) * g->K + 1), columns, &p);
    return 1;
}

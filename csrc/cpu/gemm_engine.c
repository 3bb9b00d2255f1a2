/*
 * The product engine: cuts c into rectangles for the threads, and each rectangle's K into blocks and super-blocks in the
 * order of gemm.h. Blocking for caches: `rows_at_once` rows of one block of a stay in L2 as packed panels, and beside them
 * their piece of c, `cols_at_once` columns, while k runs through a super-block: c goes to memory once for each. b's columns
 * of the whole super-block are packed for the first rows and come from L3 for the others, one panel for a block's rows.
 *
 * Each rectangle packs what it needs for itself. Sharing the packed panels between threads would save some packing (under
 * 3 % at 256 x 256 x 256) and cost a barrier per block.
 */
#include "gemm_args.h"

#include <string.h>

#include "../core/denormal.h"
#include "../core/status.h"
#include "../include/facula.h"
#include "gemm_blocks.h"
#include "parallel.h"

#define SMALL_SCRATCH (48 << 10)     /* bytes of packed panels that fit the stack: no allocation up to about 64 x 64 x 64 */
#define WORK_PER_PIECE (200 << 10)   /* fma: at least 4 us, where waking a thread costs 1 to 2 */
#define A_BYTES (192 << 10)
#define B_BYTES (256 << 10)
#define SUM_BYTES (16 << 10)         /* sums on their way through L1 */
#define HALF_ROWS 128
#define FLAT 4                       /* steps up to which rounding and a bias take longer than products: long stretches of their rows then, which are read ahead */
#define PACKING 10                   /* a line of either side costs as much as so many lines of products */
#define PIECES 4                     /* rectangles for a thread, at most */
#define SHARED 2000                  /* steps of an element that a row costs whose columns two threads write: each processor fetches what the other's are next */
#define RECTANGLE 64                 /* elements of c that cost as much as beginning a rectangle */
#define SUPER ((int64_t)FC_GEMM_SUPER * FC_GEMM_BLOCK)

const fc_gemm_kernel *fc_gemm_kernel_for(int dtype)
{
    if (dtype == FC_BF16)
        return fc_isa_level() >= 4 && fc_has_pairs() ? &fc_gemm_pairs_v4 : fc_isa_level() >= 3 ? &fc_gemm_pairs_v3 : &fc_gemm_pairs_v2;
    const fc_gemm_kernel *level = fc_isa_level() >= 4 && !fc_is_complex(dtype) ? fc_gemm_kernels_v4 /* it has no complex ones */
                                : fc_isa_level() >= 3 ? fc_gemm_kernels_v3 : fc_gemm_kernels_v2;
    return level + (dtype == FC_F64 ? FC_GEMM_F64 : dtype == FC_C64 ? FC_GEMM_C64 : dtype == FC_C128 ? FC_GEMM_C128
                                                                                                     : FC_GEMM_F32);
}

static int64_t up(int64_t x, int64_t unit) { return (x + unit - 1) / unit * unit; }

typedef struct {
    const fc_gemm_args *g;
    const fc_gemm_kernel *kernel;
    int64_t rect_rows, rect_cols, down, across; /* a rectangle's size; rectangles per column and per row of c */
    int64_t rows_at_once, cols_at_once, depth;
    int direct, half, aside, narrow;            /* aside: sums gather in scratch and go to c at the end; narrow: tiles round them to c */
    int keeps_a, keeps_b;                       /* several strips, or several blocks of rows, meet it: a super-block of it stays packed */
    size_t b_at, sum_at, super_at, bytes;       /* scratch: packed a, packed b, float32 sums for halves, one super-block */
} plan;

/* Packs one side, from memory or by its own function; float16 widens to float32 on the way. */
static void pack_side(const plan *p, int is_b, void *panels, int64_t i, int64_t first, int64_t lines, int64_t k0, int64_t depth)
{
    const fc_gemm_args *g = p->g;
    const int width = is_b ? p->kernel->nr : p->kernel->mr;
    const fc_gemm_pack_fn own = is_b ? g->pack_b : g->pack_a;
    const void *x = is_b ? g->b : g->a;
    const int64_t line = is_b ? g->b_col : g->a_row, step = is_b ? g->b_row : g->a_col;
    const int64_t start = i * (is_b ? g->b_batch : g->a_batch) + first * line + k0 * step;

    if (own)
        own(x, p->kernel, panels, width, i, first, lines, k0, depth);
    else if (g->dtype == FC_F16)
        fc_gemm_pack_half(p->kernel, panels, width, (const uint16_t *)x + start, line, step, lines, depth);
    else
        p->kernel->pack(panels, width, (const char *)x + start * p->kernel->size, line, step, lines, depth);
}

/* Block [k, k + depth) of the left side, rows from m; `fresh`: it is not packed yet. */
static void give_a(const plan *p, fc_gemm_tile_job *job, int64_t i, int64_t m, int64_t k, char *packed, int fresh)
{
    const fc_gemm_args *g = p->g;
    const int size = p->kernel->size;
    job->a = packed;
    if (g->a_at) {
        job->a = g->a;
        job->a_at = g->a_at + m;
        job->a_k = g->a_k + k;
    } else if (g->a_in_place) {
        job->a = (const char *)g->a + (i * g->a_batch + m * g->a_row + k * g->a_col) * size;
        job->a_row = g->a_row;
        job->a_step = g->a_col;
    } else if (g->a_packed)
        job->a = (const char *)g->a_packed + (k * up(g->M, p->kernel->mr) + m * job->depth) * size;
    else if (fresh)
        pack_side(p, 0, packed, i, m, job->rows, k, job->depth);
}

/* The same of the right side, columns from n; `fresh`: it is not packed yet. */
static void give_b(const plan *p, fc_gemm_tile_job *job, int64_t i, int64_t n, int64_t cols, int64_t k, char *packed, int fresh)
{
    const fc_gemm_args *g = p->g;
    const int size = p->kernel->size;
    job->b = packed;
    if (g->b_at) {
        job->b = (const char *)g->b + (i * g->b_batch + (g->b_from ? 0 : n)) * size;
        job->b_from = g->b_from ? g->b_from + n / (p->kernel->nr / 2) : NULL;
        job->b_at = g->b_at + k;
    } else if (p->direct) {
        job->b = (const char *)g->b + (i * g->b_batch + k * g->b_row + n) * size;
        job->b_row = g->b_row;
    } else if (fresh)
        pack_side(p, 1, packed, i, n, cols, k, job->depth);
}

/* A bias of halves that is read where it lies, beside sums in registers. */
static int bias_in_place(const fc_gemm_args *g) { return g->bias && g->bias_col == 1 && (g->factors || g->bias_row); }

/* Rectangle (rows x cols at m0, n0) of product i, columns [n0, n0 + cols) fitting the packed panels; `fresh`: the first of its rows. */
static void strip(const plan *p, int64_t i, int64_t m0, int64_t rows, int64_t n0, int64_t cols, char *scratch, int fresh)
{
    const fc_gemm_args *g = p->g;
    const fc_gemm_kernel *kernel = p->kernel;
    const int size = kernel->size;
    char *const packed_a = scratch, *const packed_b = scratch + p->b_at;

    fc_gemm_tile_job home = { .rows = rows, .cols = cols, .c_row = g->c_row, .c_col = g->c_col };
    if (p->aside) {
        home.c = scratch + p->sum_at;
        home.c_row = cols;
        home.c_col = 1;
        if (g->accumulate && p->half)
            fc_gemm_widen(g, i, m0, rows, n0, cols, home.c);
    } else if (p->narrow) {
        home.c = (uint16_t *)g->c + i * g->c_batch + m0 * g->c_row + n0;
        home.narrow = 1;
        if ((home.bias_halves = bias_in_place(g))) {
            home.bias = (const uint16_t *)g->bias + i * g->bias_batch + m0 * g->bias_row + n0;
            home.bias_row = g->bias_row;
            home.factors = g->factors;
        } else if (g->bias) {
            fc_gemm_widen_bias(g, n0, cols, (float *)(scratch + p->sum_at));
            home.bias = scratch + p->sum_at;
        }
    } else {
        const int64_t start = i * g->c_batch + m0 * g->c_row + (g->c_at ? 0 : n0 * g->c_col);
        home.c = (char *)g->c + start * size;
        home.c_at = g->c_at ? g->c_at + n0 : NULL;
        home.bias = g->bias ? (const char *)g->bias + (i * g->bias_batch + m0 * g->bias_row + n0 * g->bias_col) * size : NULL;
        home.factors = g->factors;
        home.bias_row = g->bias_row;
        home.bias_col = g->bias_col;
    }
    const void *bias = home.bias;
    home.bias = NULL;

    int64_t k0 = 0;
    do {
        const int64_t k1 = g->K - k0 < SUPER ? g->K : k0 + SUPER;
        const int first = k0 == 0, last = k1 == g->K;
        for (int64_t m = 0; m < rows; m += p->rows_at_once) {
            fc_gemm_tile_job job = home;
            job.rows = rows - m < p->rows_at_once ? rows - m : p->rows_at_once;
            job.c = (char *)home.c + m * home.c_row * (p->narrow ? (int)sizeof(uint16_t) : size);
            const void *const bias_m = last && bias ? (const char *)bias + m * home.bias_row * (p->narrow ? (int)sizeof(uint16_t) : size) : NULL;
            fc_gemm_tile_job merged = job;
            if (!first) {
                job.c = scratch + p->super_at;
                job.c_row = cols;
                job.c_col = 1;
                job.c_at = NULL;
            }
            int64_t k = k0;
            do {
                job.depth = k1 - k < FC_GEMM_BLOCK ? k1 - k : FC_GEMM_BLOCK;
                job.split = fc_gemm_splits(g, job.depth);
                job.bias = first && k + job.depth == g->K ? bias_m : NULL;
                job.add = k > k0 || (first && g->accumulate);
                give_b(p, &job, i, n0, cols, k, packed_b + (p->keeps_b ? (k - k0) * up(cols, kernel->nr) * size : 0), m == 0 || !p->keeps_b);
                give_a(p, &job, i, m0 + m, k, packed_a + (p->keeps_a ? k * up(rows, kernel->mr) * size : 0), fresh || !p->keeps_a);
                kernel->block(&job);
                k += job.depth;
            } while (k < k1);
            if (!first) {
                merged.a = scratch + p->super_at;
                merged.b_row = cols;
                merged.add = 1;
                merged.bias = bias_m;
                kernel->merge(&merged);
            }
        }
        k0 = k1;
    } while (k0 < g->K);
    if (p->aside && p->half)
        fc_gemm_narrow(g, i, m0, rows, n0, cols, home.c);
    else if (p->aside)
        fc_gemm_scatter(g, i, m0, rows, n0, cols, home.c);
}

static void rectangles(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const plan *p = ctx;
    const fc_gemm_args *g = p->g;
    const unsigned before = g->pairs ? fc_flush() : 0;
    for (int64_t t = begin; t < end; ++t) {
        const int64_t i = t / (p->down * p->across), at = t % (p->down * p->across);
        const int64_t m0 = at % p->down * p->rect_rows, n_first = at / p->down * p->rect_cols;
        const int64_t rows = g->M - m0 < p->rect_rows ? g->M - m0 : p->rect_rows;
        const int64_t n_end = n_first + p->rect_cols < g->N ? n_first + p->rect_cols : g->N;
        for (int64_t n = n_first; n < n_end; n += p->cols_at_once)
            strip(p, i, m0, rows, n, n_end - n < p->cols_at_once ? n_end - n : p->cols_at_once, scratch, n == n_first);
    }
    if (g->pairs)
        fc_unflush(before);
}

/* May few rows meet b unpacked? Where a lies in memory, the loops that read it want b packed. */
static int reads_b_where_it_lies(const fc_gemm_args *g) { return g->b_col == 1 && !g->b_at && !g->a_in_place && !g->a_at; }

/* How c is cut: the rectangles, of whole tiles, with which `threads` are done soonest. Each packs its lines of a and of b, unless they are
 * read where they lie; so where nothing is packed, smaller rectangles share the work more evenly. */
static void cut(plan *p, int64_t threads)
{
    const fc_gemm_args *g = p->g;
    const int64_t mr = p->kernel->mr, nr = p->kernel->nr, tiles_down = (g->M + mr - 1) / mr, tiles_across = (g->N + nr - 1) / nr;
    const int pack_a = g->a_at || g->a_in_place || g->a_packed ? 0 : PACKING;
    const int pack_b = g->b_at || (reads_b_where_it_lies(g) && g->M <= p->kernel->direct_rows) ? 0 : PACKING;
    const int64_t line = g->b_at || g->pack_b ? 0 : SHARED / (g->K + 1); /* what is formed on the way is each thread's own by columns (decision 051) */
    int64_t best = INT64_MAX, rows = tiles_down, cols = tiles_across;
    const int64_t most = threads == 1 || g->batch >= PIECES * threads ? 1 : PIECES * threads;
    for (int64_t down = 1; down <= most && down <= tiles_down; ++down)
        for (int64_t across = 1; down * across <= most && across <= tiles_across; ++across) {
            const int64_t r = (tiles_down + down - 1) / down, c = (tiles_across + across - 1) / across;
            const int64_t count = g->batch * ((tiles_down + r - 1) / r) * ((tiles_across + c - 1) / c), turns = (count + threads - 1) / threads;
            const int64_t high = r < tiles_down ? r * mr : g->M, wide = c < tiles_across ? c * nr : g->N;
            const int64_t cost = turns * (high * wide + high * (pack_a + (c < tiles_across ? line : 0)) + wide * pack_b + RECTANGLE);
            if (cost < best)
                best = cost, rows = r, cols = c;
        }
    p->rect_rows = rows < tiles_down ? rows * mr : g->M;
    p->rect_cols = cols < tiles_across ? cols * nr : g->N;
}

size_t fc_gemm_whole_bytes(int dtype, int64_t M, int64_t K)
{
    const fc_gemm_kernel *kernel = fc_gemm_kernel_for(dtype);
    return (size_t)(up(M, kernel->mr) * K * kernel->size) + 64;
}

void fc_gemm_pack_whole(const fc_gemm_args *g, void *packed)
{
    const plan p = { .g = g, .kernel = fc_gemm_kernel_for(g->dtype) };
    const int64_t step = up(g->M, p.kernel->mr) * p.kernel->size;
    for (int64_t k = 0; k < g->K; k += FC_GEMM_BLOCK)
        pack_side(&p, 0, (char *)packed + k * step, 0, 0, g->M, k, g->K - k < FC_GEMM_BLOCK ? g->K - k : FC_GEMM_BLOCK);
}

int fc_gemm_run(const fc_gemm_args *g)
{
    const fc_gemm_kernel *kernel = fc_gemm_kernel_for(g->dtype);
    plan p = { .g = g, .kernel = kernel, .half = fc_gemm_narrows(g) };
    p.narrow = p.half && g->pairs && g->K <= FC_GEMM_BLOCK && !g->accumulate && g->c_col == 1 && (bias_in_place(g) || (!g->factors && !(g->bias && g->bias_row)));
    p.aside = (p.half && !p.narrow) || (g->b_at && !g->b_from) || (g->a_at && g->c_col != 1) || (g->c_at && !fc_is_complex(g->dtype));
    const int64_t work = g->M * g->N * (g->K + 1) * (fc_is_complex(g->dtype) ? 4 : 1);
    const int64_t threads = work * g->batch < 2 * WORK_PER_PIECE ? 1 : fc_get_num_threads();
    const int64_t worth = work * g->batch / WORK_PER_PIECE;

    cut(&p, worth < 1 ? 1 : worth < threads ? worth : threads);
    p.depth = g->K < FC_GEMM_BLOCK ? g->K : FC_GEMM_BLOCK;
    const int64_t depth = p.depth ? p.depth : 1;
    p.rows_at_once = A_BYTES / (FC_GEMM_BLOCK * kernel->size) / kernel->mr * kernel->mr;
    p.cols_at_once = up(B_BYTES / ((depth <= FC_GEMM_SHALLOW && !p.aside ? depth : FC_GEMM_BLOCK) * kernel->size), kernel->nr);
    p.direct = p.rect_rows <= kernel->direct_rows && reads_b_where_it_lies(g) && g->b_row != 0 && !g->pack_b && !p.half;
    p.keeps_b = p.rect_rows > p.rows_at_once && !p.direct && !g->b_at;
    if (p.direct) /* nothing is packed: long stretches of its lines */
        p.cols_at_once *= 8;
    else if (p.keeps_b) /* what is packed for several rows may come from L3, and each stretch of it costs packing all of a */
        p.cols_at_once *= 2;
    if (p.aside && p.rect_rows > 4 * p.rows_at_once) /* sums of a whole rectangle are kept aside: bound it */
        p.rect_rows = 4 * p.rows_at_once;
    if (p.half && p.aside && g->K <= FC_GEMM_BLOCK) { /* the sums are rounded while they are in L2 */
        const int64_t high = g->bias && g->K <= FLAT ? kernel->mr : HALF_ROWS / kernel->mr * kernel->mr, wide = HALF_ROWS * HALF_ROWS / high / kernel->nr * kernel->nr;
        p.rect_rows = p.rect_rows < high ? p.rect_rows : high;
        p.cols_at_once = p.cols_at_once < wide ? p.cols_at_once : wide;
    }
    if (p.aside && g->K <= FC_GEMM_BLOCK && (g->a_packed || g->a_at || g->a_in_place)) { /* short sums, of which much else is moving */
        const int64_t cols = SUM_BYTES / (kernel->size * (p.rect_rows + 1)) / kernel->nr * kernel->nr;
        p.cols_at_once = cols < kernel->nr ? kernel->nr : cols < p.cols_at_once ? cols : p.cols_at_once;
    }
    if (p.rows_at_once > p.rect_rows) p.rows_at_once = p.rect_rows;
    if (p.cols_at_once > p.rect_cols) p.cols_at_once = p.rect_cols;
    p.down = (g->M + p.rect_rows - 1) / p.rect_rows;
    p.across = (g->N + p.rect_cols - 1) / p.rect_cols;

    const size_t size = (size_t)kernel->size;
    p.keeps_a = p.rows_at_once == p.rect_rows && g->K <= SUPER && up(p.rect_rows, kernel->mr) * g->K * (int64_t)size <= A_BYTES;
    const int64_t kept = !p.keeps_b ? depth : g->K < SUPER ? g->K : SUPER, lines = up(p.cols_at_once, kernel->nr);
    p.b_at = (size_t)up((int64_t)((size_t)(up(p.rows_at_once, kernel->mr) * (p.keeps_a ? g->K : depth)) * size) + 64, 64);
    p.sum_at = p.b_at + (p.direct || g->b_at ? 0 : (size_t)(lines * kept) * size + 64);
    p.super_at = p.sum_at + (p.aside || p.narrow ? (size_t)up((int64_t)((size_t)((p.aside ? p.rect_rows : 1) * p.cols_at_once) * size), 64) : 0);
    p.bytes = p.super_at + (g->K > SUPER ? (size_t)(p.rows_at_once * p.cols_at_once) * size + 64 : 0);

    const int64_t count = g->batch * p.down * p.across;
    const int64_t grain = 1 + WORK_PER_PIECE / (work / (p.down * p.across) + 1);
    if (p.bytes <= SMALL_SCRATCH && (threads == 1 || count <= grain)) {
        char scratch[SMALL_SCRATCH] __attribute__((aligned(64)));
        rectangles(&p, 0, count, scratch);
        return FC_OK;
    }
    return fc_parallel_scratch(count, threads == 1 ? count : grain, p.bytes, rectangles, &p);
}

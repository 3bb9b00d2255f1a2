/*
 * Small results of a long sum: threads take super-blocks of k, since there is nothing else to share out. Each super-block is a
 * product of its own, kept aside; then they are added in the order of gemm.h.
 */
#include "gemm_blocks.h"

#include "../core/alloc.h"
#include "../core/atomic.h"
#include "../core/status.h"
#include "../include/facula.h"
#include "parallel.h"

#define SUPER (FC_GEMM_SUPER * FC_GEMM_BLOCK)
#define WAVE 64                   /* super-blocks kept aside at a time */
#define WORK_PER_PIECE (200 << 10)

typedef struct {
    const fc_gemm_args *g;
    char *sums; /* [super-block of the wave][M][N] */
    int64_t first;
    int size, bad;
} wave;

static void supers(void *ctx, int64_t begin, int64_t end)
{
    wave *w = ctx;
    for (int64_t s = begin; s < end; ++s) {
        fc_gemm_args part = *w->g;
        const int64_t k = (w->first + s) * SUPER, M = part.M, N = part.N;
        part.K = part.K - k < SUPER ? part.K - k : SUPER;
        part.a = (const char *)part.a + k * part.a_col * w->size;
        part.b = (const char *)part.b + k * part.b_row * w->size;
        part.bias = NULL;
        if (k > 0 || !part.accumulate) { /* the first of all adds to c's old value, so it works in c */
            part.c = w->sums + s * M * N * w->size;
            part.c_row = N;
            part.c_col = 1;
            part.accumulate = 0;
        }
        if (fc_gemm_shaped(&part))
            fc_atomic_poke(&w->bad, 1);
    }
}

int fc_gemm_supers(const fc_gemm_args *g, int *status)
{
    const fc_gemm_kernel *kernel = fc_gemm_kernel_for(g->dtype);
    const int64_t tiles = ((g->M - 1) / kernel->mr + 1) * ((g->N - 1) / kernel->nr + 1), threads = fc_get_num_threads();
    if (g->K <= SUPER || threads == 1 || tiles >= 4 * threads || g->batch != 1 || fc_is_half(g->dtype) ||
        g->pack_a || g->pack_b || g->c_at || g->a_at || g->b_at || g->a_packed || g->M * g->N * g->K < 2 * WORK_PER_PIECE)
        return 0;
    const int64_t count = (g->K - 1) / SUPER + 1, waves = count < WAVE ? count : WAVE, MN = g->M * g->N;
    wave w = { .g = g, .size = kernel->size };
    const int64_t room = waves * MN * w.size;
    w.sums = fc_alloc(room);
    if (!w.sums) {
        *status = fc_fail(FC_MEMORY, room, 0, 0, 0);
        return 1;
    }
    for (; w.first < count && !w.bad; w.first += waves) {
        const int64_t n = count - w.first < waves ? count - w.first : waves;
        fc_parallel(n, 1 + WORK_PER_PIECE / (MN * SUPER), supers, &w);
        for (int64_t s = w.first == 0 && g->accumulate; s < n; ++s) {
            const int last = w.first + s == count - 1;
            kernel->merge(&(fc_gemm_tile_job){ .rows = g->M, .cols = g->N, .a = w.sums + s * MN * w.size, .b_row = g->N,
                                               .c = g->c, .c_row = g->c_row, .c_col = g->c_col, .add = w.first + s > 0,
                                               .bias = last ? g->bias : NULL, .bias_col = g->bias_col, .bias_row = g->bias_row,
                                               .factors = g->factors });
        }
    }
    fc_dealloc(w.sums, room);
    *status = w.bad ? fc_fail(FC_MEMORY, room, 0, 0, 0) : FC_OK;
    return 1;
}

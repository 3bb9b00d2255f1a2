/* Pooling with channels as lanes: whole tensors that lie channels_last, and planes that are turned to lie so. The loops: pool_last.c. */
#include <string.h>

#include "../../core/copy_nest.h"
#include "../parallel.h"
#include "pool.h"

#define GRAIN (64 << 10)      /* elements looked at: about 10 us */
#define GROUP 16              /* planes turned at a time: a cache line of float */
#define WIDE_GROUP 32         /* of small planes: half as many windows, whose loops have a constant length */
#define SMALL_PLANE 1024
#define BLOCK 64              /* channels of a gradient that one thread writes */
#define TURNED_PLANE (16 << 10) /* elements of a plane, of which GROUP stay in the outer caches */

int fc_isa_level(void);

typedef struct {
    const fc_pool *p;
    const fc_pool_last *last;
    char *out;
    int64_t *places;
    const char *x;
    size_t size;
    int maxima;
    int64_t group; /* planes that are turned together */
} job;

static job job_of(const fc_pool *p, void *out, int64_t *places, const void *x)
{
    const int is64 = p->dtype == FC_F64;
    return (job){ p, (fc_isa_level() >= 3 ? fc_pool_lasts_v3 : fc_pool_lasts_v2) + is64, out, places, x, is64 ? 8 : 4, 0, 0 };
}

/* Elements that the windows of a plane look at. */
static int64_t looked(const fc_pool *p)
{
    int64_t places = p->out_n;
    for (int d = 0; d < 3; ++d)
        places *= p->adaptive ? p->size[d] / (p->out[d] ? p->out[d] : 1) + 1 : p->kernel[d];
    return places;
}

/* Window w of row r of a plane; n channels at x, out and places. */
static void one(const job *j, int64_t d, int64_t h, int64_t w, const char *x, char *out, int64_t *places, int64_t pitch, int64_t n)
{
    const fc_pool *p = j->p;
    const fc_pool_window win = { p->span[0][d], p->span[1][h], p->span[2][w] };
    if (j->maxima)
        j->last->max(p, &win, out, places, x, pitch, n);
    else if (fc_pool_empty(p, d, h, w))
        memset(out, 0, (size_t)n * j->size);
    else
        j->last->mean(p, &win, out, x, pitch, n, fc_pool_places(p, d, h, w));
}

/* --- tensors that lie so -------------------------------------------------------------------------------------------- */

/* rows [begin, end) of windows, of all samples */
static void rows(void *ctx, int64_t begin, int64_t end)
{
    const job *j = ctx;
    const fc_pool *p = j->p;
    const int64_t C = p->channels, per = p->out[0] * p->out[1];
    for (int64_t r = begin; r < end; ++r) {
        const char *x = j->x + (size_t)(r / per * p->size_n * C) * j->size;
        for (int64_t w = 0, at = r * p->out[2] * C; w < p->out[2]; ++w, at += C)
            one(j, r % per / p->out[1], r % p->out[1], w, x, j->out + (size_t)at * j->size, j->places ? j->places + at : NULL, C, C);
    }
}

static void run_rows(job *j)
{
    const fc_pool *p = j->p;
    const int64_t all = p->batch * p->out[0] * p->out[1];
    fc_parallel(all, 1 + GRAIN / (looked(p) * p->channels / (p->out[0] * p->out[1]) + 1), rows, j);
}

void fc_pool_max_last(const fc_pool *p, void *values, int64_t *places, const void *x)
{
    job j = job_of(p, values, places, x);
    j.maxima = 1;
    run_rows(&j);
}

void fc_pool_mean_last(const fc_pool *p, void *out, const void *x)
{
    job j = job_of(p, out, NULL, x);
    run_rows(&j);
}

/* Channels [c, c + n) of sample s, in the turn of unit u. */
static int64_t block_at(const fc_pool *p, int64_t u, int64_t *s, int64_t *n)
{
    const int64_t blocks = (p->channels + BLOCK - 1) / BLOCK, c = u % blocks * BLOCK;
    *s = u / blocks;
    *n = p->channels - c < BLOCK ? p->channels - c : BLOCK;
    return c;
}

static void clear(char *to, int64_t places, int64_t pitch, int64_t n, size_t size)
{
    if (n == pitch)
        memset(to, 0, (size_t)(places * n) * size);
    else
        for (int64_t k = 0; k < places; ++k) memset(to + (size_t)(k * pitch) * size, 0, (size_t)n * size);
}

static void mean_grads(void *ctx, int64_t begin, int64_t end)
{
    const job *j = ctx;
    const fc_pool *p = j->p;
    for (int64_t u = begin; u < end; ++u) {
        int64_t s, n;
        const int64_t c = block_at(p, u, &s, &n), C = p->channels;
        char *to = j->out + (size_t)(s * p->size_n * C + c) * j->size;
        const char *grad = j->x + (size_t)(s * p->out_n * C + c) * j->size;
        clear(to, p->size_n, C, n, j->size);
        for (int64_t d = 0; d < p->out[0]; ++d)
            for (int64_t h = 0; h < p->out[1]; ++h)
                for (int64_t w = 0; w < p->out[2]; ++w, grad += (size_t)C * j->size) {
                    const fc_pool_window win = { p->span[0][d], p->span[1][h], p->span[2][w] };
                    if (!fc_pool_empty(p, d, h, w)) j->last->spread(p, &win, to, grad, C, n, fc_pool_places(p, d, h, w));
                }
    }
}

#define MAX_GRADS(name, T)                                                                                            \
static void max_grads_##name(void *ctx, int64_t begin, int64_t end)                                                   \
{                                                                                                                     \
    const job *j = ctx;                                                                                               \
    const fc_pool *p = j->p;                                                                                          \
    for (int64_t u = begin; u < end; ++u) {                                                                           \
        int64_t s, n;                                                                                                 \
        const int64_t c0 = block_at(p, u, &s, &n), C = p->channels, first = s * p->out_n * C + c0;                    \
        T *to = (T *)j->out + s * p->size_n * C + c0;                                                                 \
        clear((char *)to, p->size_n, C, n, sizeof(T));                                                                \
        for (int64_t k = 0; k < p->out_n; ++k) {                                                                      \
            const T *grad = (const T *)j->x + first + k * C;                                                          \
            const int64_t *place = j->places + first + k * C;                                                         \
            for (int64_t c = 0; c < n; ++c) to[place[c] * C + c] += grad[c];                                          \
        }                                                                                                             \
    }                                                                                                                 \
}
MAX_GRADS(f32, float)
MAX_GRADS(f64, double)
#undef MAX_GRADS

static void run_blocks(job *j, fc_range_fn fn)
{
    const fc_pool *p = j->p;
    const int64_t width = p->channels < BLOCK ? p->channels : BLOCK;
    fc_parallel(p->batch * ((p->channels + BLOCK - 1) / BLOCK), 1 + GRAIN / ((p->size_n + p->out_n) * width + 1), fn, j);
}

void fc_pool_mean_grad_last(const fc_pool *p, void *grad_x, const void *grad)
{
    job j = job_of(p, grad_x, NULL, grad);
    run_blocks(&j, mean_grads);
}

void fc_pool_max_grad_last(const fc_pool *p, void *grad_x, const void *grad, const int64_t *places)
{
    job j = job_of(p, grad_x, (int64_t *)places, grad);
    run_blocks(&j, p->dtype == FC_F64 ? max_grads_f64 : max_grads_f32);
}

/* --- planes, turned ------------------------------------------------------------------------------------------------- */

/* groups [begin, end) of so many planes */
static void groups(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *j = ctx;
    const fc_pool *p = j->p;
    const int64_t group = j->group;
    char *x = scratch, *out = x + (size_t)(p->size_n * group) * j->size;
    int64_t *places = j->places ? (int64_t *)(out + (size_t)(p->out_n * group) * j->size) : NULL;
    for (int64_t g = begin; g < end; ++g) {
        const int64_t first = g * group, n = p->planes - first < group ? p->planes - first : group;
        const int size = (int)j->size;
        fc_turn(x, group * size, j->x + (size_t)(first * p->size_n) * j->size, p->size_n * size, n, p->size_n, size);
        int64_t k = 0;
        for (int64_t d = 0; d < p->out[0]; ++d)
            for (int64_t h = 0; h < p->out[1]; ++h)
                for (int64_t w = 0; w < p->out[2]; ++w, k += group)
                    one(j, d, h, w, x, out + (size_t)k * j->size, places ? places + k : NULL, group, n);
        fc_turn(j->out + (size_t)(first * p->out_n) * j->size, p->out_n * size, out, group * size, p->out_n, n, size);
        if (places)
            fc_turn((char *)(j->places + first * p->out_n), p->out_n * 8, (const char *)places, group * 8, p->out_n, n, 8);
    }
}

static int run_groups(job *j)
{
    const fc_pool *p = j->p;
    const int64_t group = j->group = p->size_n <= SMALL_PLANE && p->planes > GROUP ? WIDE_GROUP : GROUP;
    if ((p->dtype != FC_F32 && p->dtype != FC_F64) || p->planes < GROUP / 2 || p->size_n > TURNED_PLANE)
        return -1;
    const size_t bytes = (size_t)((p->size_n + p->out_n) * group) * j->size + (j->places ? (size_t)p->out_n * group * 8 : 0);
    return fc_parallel_scratch((p->planes - 1) / group + 1, 1 + GRAIN / ((p->size_n + looked(p)) * group), bytes, groups, j);
}

int fc_pool_max_turned(const fc_pool *p, void *values, int64_t *places, const void *x)
{
    job j = job_of(p, values, places, x);
    j.maxima = 1;
    return run_groups(&j);
}

int fc_pool_mean_turned(const fc_pool *p, void *out, const void *x)
{
    job j = job_of(p, out, NULL, x);
    return run_groups(&j);
}

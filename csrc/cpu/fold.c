/* Folds: which cell, which blocks, which threads. The order of fold.h is made here and in fold_cell.h, nowhere else. */
#include <math.h>
#include <string.h>

#include "../core/cast.h"
#include "../core/status.h"
#include "fold_job.h"
#include "parallel.h"

int fc_isa_level(void);

enum {
    LEVELS = 40,             /* of the block tree: 2**40 blocks are more than memory */
    SERIAL = 32768,          /* elements below which the pool costs more than it gives */
    SPLIT_FROM = 1 << 17,    /* elements from which one reduction may be cut into blocks for the threads */
    SPLIT_UNITS = 64,        /* tiles and rows that keep the threads busy without that */
    FROM_MEMORY = 4 << 20,   /* bytes that do not stay in a cache */
    LONG = 256,              /* elements of a row that is worth a call */
    STAGED_BYTES = 4 * FC_FOLD_BLOCK /* of what is staged at once: stays in the first cache */
};

typedef fc_fold_job job;

/* --- cells over rows and columns, of stored or staged elements ---------------------------------------------------- */

/* Rows that are not stored as the cell reads them, a few at a time. */
static FC_NOINLINE void staged_rows(const job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t rows, int64_t n,
                                    int64_t step, const char *params)
{
    char room[2 * STAGED_BYTES] __attribute__((aligned(64))); /* a block of float64, or as many rows as stay in the first cache */
    const int64_t fit = !n ? rows : STAGED_BYTES / q->staged / n > 0 ? STAGED_BYTES / q->staged / n : 1;
    for (int64_t r = 0; r < rows; r += fit) {
        const int64_t some = min64(fit, rows - r);
        for (int64_t k = 0; k < (n == step ? 1 : some); ++k)
            q->stage(room + k * n * q->staged, x + (r + k) * step * q->es, n == step ? some * n : n, q->param);
        cell->rows(dst + r * cell->size, room, some, n, n, params ? params + r * cell->size : NULL);
    }
}

/* From memory, one stream after the other is faster than four side by side: 1.2 ms against 1.6 to 2.8 for 40 MB. */
static void one_by_one(const job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t n, const char *params)
{
    (q->direct ? q->direct : cell->rows)(dst, x, 1, n, n, params);
}

/* dst[r] = fold of x[r * step + 0 .. n) */
static inline void rows(const job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t rows, int64_t n, int64_t step,
                        const char *params)
{
    if (q->streams && rows > 1 && n >= LONG && !(q->stage && !q->direct)) {
        for (int64_t r = 0; r < rows; ++r)
            one_by_one(q, cell, dst + r * cell->size, x + r * step * q->es, n, params ? params + r * cell->size : NULL);
        return;
    }
    if (q->direct)
        q->direct(dst, x, rows, n, step, params);
    else if (q->stage)
        staged_rows(q, cell, dst, x, rows, n, step, params);
    else
        cell->rows(dst, x, rows, n, step, params);
}

/* Element i of each column goes to lane i % 16; acc has the lanes one after the other. n is a multiple of 16, or there is no more. */
static void add_columns(const fc_fold_cell *cell, char *acc, const char *x, int64_t es, int64_t n, int64_t step, int64_t width, const char *params)
{
    const int64_t row = width * cell->size;
    /* Whole rows lie one after the other: sixteen of them are one long row of all lanes. */
    const int flat = step == width && !params;
    const int64_t span = flat ? FC_FOLD_LANES * width : width, lanes = flat ? 1 : FC_FOLD_LANES;
    int64_t i = 0;
    for (; i + 4 * FC_FOLD_LANES <= n; i += 4 * FC_FOLD_LANES)
        for (int64_t j = 0; j < lanes; ++j)
            cell->four(acc + j * row, x + (i + j) * step * es, FC_FOLD_LANES * step, span, params);
    for (; i < n; i += FC_FOLD_LANES) {
        const int64_t left = min64(FC_FOLD_LANES, n - i);
        if (flat)
            cell->one(acc, x + i * step * es, left * width, params);
        else
            for (int64_t j = 0; j < left; ++j)
                cell->one(acc + j * row, x + (i + j) * step * es, width, params);
    }
}

/* Every element of a column is the same: so are the lanes that have as many of them. */
static void add_repeated(const fc_fold_cell *cell, char *acc, const char *x, int64_t n, int64_t width, const char *params)
{
    const int64_t row = width * cell->size, full = n / FC_FOLD_LANES;
    int64_t i = 0;
    for (; i + 4 <= full; i += 4)
        cell->four(acc, x, 0, width, params);
    for (; i < full; ++i)
        cell->one(acc, x, width, params);
    for (int64_t j = 1; j < FC_FOLD_LANES; ++j)
        memcpy(acc + j * row, acc, (size_t)row);
    for (int64_t j = 0; j < n % FC_FOLD_LANES; ++j)
        cell->one(acc + j * row, x, width, params);
}

static FC_NOINLINE void add_staged_columns(const job *q, const fc_fold_cell *cell, char *acc, const char *x, int64_t n, int64_t step,
                                           int64_t width, const char *params)
{
    char room[STAGED_BYTES] __attribute__((aligned(64)));
    const int64_t fit = STAGED_BYTES / (width * q->staged) / FC_FOLD_LANES * FC_FOLD_LANES; /* a row is TILE_BYTES at most */
    if (step == 0) {
        q->stage(room, x, width, q->param);
        add_repeated(cell, acc, room, n, width, params);
        return;
    }
    for (int64_t i = 0; i < n; i += fit) {
        const int64_t some = min64(fit, n - i);
        for (int64_t k = 0; k < (step == width ? 1 : some); ++k)
            q->stage(room + k * width * q->staged, x + (i + k) * step * q->es, step == width ? some * width : width, q->param);
        add_columns(cell, acc, room, q->staged, some, width, width, params);
    }
}

/* dst[c] = fold of x[i * step + c], i in [0, n), for c in [0, width) */
static void columns(const job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t n, int64_t step, int64_t width, const char *params)
{
    char acc[FC_FOLD_LANES * TILE_BYTES] __attribute__((aligned(64)));
    cell->begin(acc, FC_FOLD_LANES * width);
    if (q->stage)
        add_staged_columns(q, cell, acc, x, n, step, width, params);
    else if (step == 0)
        add_repeated(cell, acc, x, n, width, params);
    else
        add_columns(cell, acc, x, q->es, n, step, width, params);
    for (int64_t half = FC_FOLD_LANES / 2; half; half /= 2)
        cell->join(acc, acc + half * width * cell->size, half * width);
    memcpy(dst, acc, (size_t)(width * cell->size));
}

/* --- blocks of a row ------------------------------------------------------------------------------------------------ */

void fc_fold_blocks(const job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t n, const char *params)
{
    char same[AT_ONCE * CELL];
    for (int64_t k = 0; params && k < AT_ONCE; ++k)
        memcpy(same + k * cell->size, params, (size_t)cell->size);
    const int64_t block = FC_FOLD_BLOCK * q->pairs;
    for (int64_t i = 0; i < n; i += AT_ONCE * FC_FOLD_BLOCK) {
        const int64_t some = min64(n - i, AT_ONCE * FC_FOLD_BLOCK), full = some / FC_FOLD_BLOCK, rest = some % FC_FOLD_BLOCK;
        const char *at = x + i * q->pairs * q->es;
        char *to = dst + i / FC_FOLD_BLOCK * q->pairs * cell->size;
        if (q->pairs == 2) {
            for (int64_t b = 0; b < full + (rest > 0); ++b)
                columns(q, cell, to + 2 * b * cell->size, at + b * block * q->es, b < full ? FC_FOLD_BLOCK : rest, 2, 2, params);
            continue;
        }
        if (full)
            rows(q, cell, to, at, full, FC_FOLD_BLOCK, FC_FOLD_BLOCK, params ? same : NULL);
        if (rest)
            rows(q, cell, to + full * cell->size, at + full * block * q->es, 1, rest, rest, params);
    }
}

void fc_fold_tree(const fc_fold_cell *cell, char *part, int64_t count, int64_t width)
{
    const int64_t row = width * cell->size;
    for (int64_t step = 1; step < count; step *= 2)
        for (int64_t b = 0; b + step < count; b += 2 * step)
            cell->join(part + b * row, part + (b + step) * row, width);
}

/* --- one tile: `width` columns of one outer index, or `width` rows ------------------------------------------------ */

/* A long row: blocks as they come, joined like carries of a binary counter, which is the same tree as level by level. */
static void row_fold(const job *q, const fc_fold_cell *cell, char *dst, const char *x, const char *params)
{
    char tree[LEVELS + AT_ONCE][CELL], values[AT_ONCE * CELL];
    int depth = 0;
    for (int64_t b = 0; b < q->nblocks; b += AT_ONCE) {
        const int64_t from = b * FC_FOLD_BLOCK, n = min64(q->reduce - from, AT_ONCE * FC_FOLD_BLOCK);
        fc_fold_blocks(q, cell, values, x + from * q->es, n, params);
        for (int64_t k = b; k < min64(b + AT_ONCE, q->nblocks); ++k) {
            memcpy(tree[depth++], values + (k - b) * cell->size, (size_t)cell->size);
            for (int64_t carry = k + 1; carry % 2 == 0; carry /= 2, --depth)
                cell->join(tree[depth - 2], tree[depth - 1], 1);
        }
    }
    for (; depth > 1; --depth)
        cell->join(tree[depth - 2], tree[depth - 1], 1);
    memcpy(dst, tree[0], (size_t)cell->size);
}

/* One block of a tile whose first element is x. */
static void block(const job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t b, int64_t width, const char *params)
{
    const int64_t from = b * FC_FOLD_BLOCK, n = min64(FC_FOLD_BLOCK, q->reduce - from);
    if (q->inner == 1)
        rows(q, cell, dst, x + from * q->es, width, n, q->outer_step, params);
    else
        columns(q, cell, dst, x + from * q->step * q->es, n, q->step, width, params);
}

static FC_NOINLINE void tile_tree(const job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t width, const char *params)
{
    char tree[LEVELS][TILE_BYTES] __attribute__((aligned(64)));
    int depth = 0;
    for (int64_t b = 0; b < q->nblocks; ++b) {
        block(q, cell, tree[depth++], x, b, width, params);
        for (int64_t carry = b + 1; carry % 2 == 0; carry /= 2, --depth)
            cell->join(tree[depth - 2], tree[depth - 1], width);
    }
    for (; depth > 1; --depth)
        cell->join(tree[depth - 2], tree[depth - 1], width);
    memcpy(dst, tree[0], (size_t)(width * cell->size));
}

static void tile_fold(const job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t width, const char *params)
{
    if (q->nblocks == 1)
        block(q, cell, dst, x, 0, width, params);
    else if (q->inner == 1 && width == 1)
        row_fold(q, cell, dst, x, params);
    else
        tile_tree(q, cell, dst, x, width, params);
}

/* A tile is `tile` rows where inner is 1, else `tile` columns of one outer index. */
static void tile_place(const job *q, int64_t t, const char **x, int64_t *at, int64_t *width)
{
    if (q->inner == 1) {
        *at = t * q->tile;
        *width = min64(q->tile, q->outer - *at);
        *x = q->x + *at * q->outer_step * q->es;
    } else {
        const int64_t o = t / q->tiles, c = t % q->tiles * q->tile;
        *at = o * q->inner + c;
        *width = min64(q->tile, q->inner - c);
        *x = q->x + (o * q->outer_step + c) * q->es;
    }
}

static void locate(const job *q, const char *acc, const char *x, int64_t at, int64_t width)
{
    int64_t *index = (int64_t *)(q->which == FC_FOLD_argmax || q->which == FC_FOLD_argmin ? q->out : q->out2) + at;
    char room[TILE_BYTES * FC_FOLD_LANES] __attribute__((aligned(64)));
    for (int64_t k = 0; k < width; ++k)
        index[k] = -1;
    if (q->inner > 1 && !q->stage) {
        q->find(index, x, 0, q->reduce, q->step, width, acc);
    } else if (q->inner > 1) { /* halves, from the last to the first, so that the first that fits is what remains */
        const int64_t fit = TILE_BYTES * FC_FOLD_LANES / (width * q->staged);
        for (int64_t i = (q->reduce - 1) / fit * fit; i >= 0; i -= fit) {
            const int64_t some = min64(fit, q->reduce - i);
            for (int64_t k = 0; k < some; ++k)
                q->stage(room + k * width * q->staged, x + (i + k) * q->step * q->es, width, q->param);
            q->find(index, room, i, some, width, width, acc);
        }
    } else {
        const int64_t fit = q->stage ? TILE_BYTES * FC_FOLD_LANES / q->staged : q->reduce;
        for (int64_t r = 0; r < width; ++r)
            for (int64_t i = 0; i < q->reduce && index[r] < 0; i += fit) {
                const char *from = x + (r * q->outer_step + i) * q->es;
                const int64_t some = min64(fit, q->reduce - i);
                if (q->stage)
                    q->stage(room, from, some, q->param);
                q->find(index + r, q->stage ? room : from, i, some, 1, 1, acc + r * q->cell->size);
            }
    }
}

static void conclude(const job *q, char *acc, const char *x, int64_t at, int64_t width, const char *params)
{
    if (q->find)
        locate(q, acc, x, at, width);
    if (q->which != FC_FOLD_argmax && q->which != FC_FOLD_argmin)
        fc_fold_finish(q, acc, at, width, params);
}

static void tiles_run(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    for (int64_t t = begin; t < end; ++t) {
        char value[TILE_BYTES] __attribute__((aligned(64))), params[TILE_BYTES] __attribute__((aligned(64)));
        const char *x;
        int64_t at, width;
        tile_place(q, t, &x, &at, &width);
        if (q->first) {
            tile_fold(q, q->first, params, x, width, NULL);
            fc_fold_parameters(q, params, at, width);
        }
        tile_fold(q, q->cell, value, x, width, q->first ? params : NULL);
        conclude(q, value, x, at, width, params);
    }
}

/* --- few, long reductions: threads take blocks, then the tree ------------------------------------------------------ */

typedef struct { const job *q; const fc_fold_cell *cell; const char *params; int64_t some; } split;

static void blocks_run(void *ctx, int64_t begin, int64_t end)
{
    const split *s = ctx;
    const job *q = s->q;
    const int64_t size = s->cell->size, groups = (q->nblocks - 1) / s->some + 1;
    for (int64_t k = begin; k < end; ++k) {   /* k counts (outer, blocks, column tile) */
        const int64_t c = k % q->tiles * q->tile, b = k / q->tiles % groups * s->some, o = k / q->tiles / groups;
        const char *params = s->params ? s->params + (o * q->inner + c) * size : NULL, *x = q->x + (o * q->outer_step + c) * q->es;
        char *dst = q->part + ((o * q->nblocks + b) * q->inner + c) * size;
        if (q->inner == 1)
            fc_fold_blocks(q, s->cell, dst, x + b * FC_FOLD_BLOCK * q->es, min64(q->reduce - b * FC_FOLD_BLOCK, s->some * FC_FOLD_BLOCK), params);
        else
            block(q, s->cell, dst, x, b, min64(q->tile, q->inner - c), params);
    }
}

/* The result of outer index o lies in its first block's place afterwards. */
static void split_fold(const job *q, const fc_fold_cell *cell, const char *params)
{
    split s = {q, cell, params, q->inner == 1 ? AT_ONCE : 1};
    fc_parallel(q->outer * ((q->nblocks - 1) / s.some + 1) * q->tiles, q->inner == 1 ? 1 : 4, blocks_run, &s);
    for (int64_t o = 0; o < q->outer; ++o)
        fc_fold_tree(cell, q->part + o * q->nblocks * q->inner * cell->size, q->nblocks, q->inner);
}

static void split_run(job *q)
{
    const int64_t row = q->inner * q->cell->size;
    if (q->first) {
        split_fold(q, q->first, NULL);
        for (int64_t o = 0; o < q->outer; ++o) {
            memcpy(q->params + o * row, q->part + o * q->nblocks * row, (size_t)row);
            fc_fold_parameters(q, q->params + o * row, o * q->inner, q->inner);
        }
    }
    split_fold(q, q->cell, q->first ? q->params : NULL);
    for (int64_t o = 0; o < q->outer; ++o)
        conclude(q, q->part + o * q->nblocks * row, q->x + o * q->outer_step * q->es, o * q->inner, q->inner,
                 q->first ? q->params + o * row : NULL);
}

/* --- the door ------------------------------------------------------------------------------------------------------ */

static const fc_fold_cells *cells_of(int dtype)
{
    if (fc_is_complex(dtype))
        return fc_fold_complex + (dtype - FC_C64);
    const int tuned = fc_isa_level() >= 3;
    return fc_is_int(dtype) ? (tuned ? fc_fold_exact_v3 : fc_fold_exact_v2) + dtype : (tuned ? fc_fold_float_v3 : fc_fold_float_v2) + (dtype - FC_F32);
}

/* The same of level v4, which has only cells that gain by it; NULL elsewhere. */
static const fc_fold_cells *wide_of(int dtype)
{
    static const fc_fold_cells none;
    if (fc_isa_level() < 4 || fc_is_complex(dtype))
        return &none;
    return fc_is_int(dtype) ? fc_fold_exact_v4 + dtype : fc_fold_float_v4 + (dtype - FC_F32);
}

#define WIDEST(dtype, name) (wide_of(dtype)->name ? wide_of(dtype)->name : cells_of(dtype)->name)

static void widen_f16(void *restrict to, const void *restrict x, int64_t n, double p)
{
    (void)p;
    fc_convert(FC_F32, to, FC_F16, x, n);
}

static void widen_bf16(void *restrict to, const void *restrict x, int64_t n, double p)
{
    (void)p;
    fc_convert(FC_F32, to, FC_BF16, x, n);
}

/* Raised halves: 512 of them at a time. */
static void raise_half(int dtype, void *restrict to, const void *restrict x, int64_t n, double p)
{
    f32 wide[512];
    for (int64_t k = 0; k < n; k += 512) {
        const int64_t some = min64(512, n - k);
        fc_convert(FC_F32, wide, dtype, (const uint16_t *)x + k, some);
        WIDEST(FC_F32, raise)((f32 *)to + k, wide, some, p);
    }
}

static void raise_f16(void *restrict to, const void *restrict x, int64_t n, double p) { raise_half(FC_F16, to, x, n, p); }
static void raise_bf16(void *restrict to, const void *restrict x, int64_t n, double p) { raise_half(FC_BF16, to, x, n, p); }

static int choose(job *q)
{
    q->pairs = 1;
    if (fc_is_complex(q->dtype) && (q->which == FC_FOLD_sum || q->which == FC_FOLD_mean || q->which == FC_FOLD_var || q->which == FC_FOLD_std)) {
        q->pairs = 2;
        q->dtype = q->dtype == FC_C64 ? FC_F32 : FC_F64;
        if (!q->run) {
            q->step = 2 * (q->inner == 1 ? 1 : q->step);
            q->outer_step *= 2;
            q->inner *= 2;
        }
    }
    const int stored = q->dtype;
    q->es = fc_dt_size[stored];
    if (fc_is_half(stored)) {
        q->stage = stored == FC_F16 ? widen_f16 : widen_bf16;
        q->dtype = FC_F32;
    }
    const fc_fold_cells *cells = cells_of(q->dtype);
    switch (q->which) {
    case FC_FOLD_sum: case FC_FOLD_mean:
        q->cell = WIDEST(q->dtype, sum);
        if (q->stage && fc_isa_level() >= 3)
            q->direct = stored == FC_F16 ? fc_isa_level() > 3 ? fc_fold_sum_f16_v4 : fc_fold_sum_f16_v3
                      : fc_isa_level() > 3 ? fc_fold_sum_bf16_v4 : fc_fold_sum_bf16_v3;
        break;
    case FC_FOLD_nansum: q->cell = cells->nansum; break;
    case FC_FOLD_prod: q->cell = cells->prod; break;
    case FC_FOLD_any: q->cell = cells->any; break;
    case FC_FOLD_all: q->cell = cells->all; break;
    case FC_FOLD_count_nonzero: q->cell = cells->count; break;
    case FC_FOLD_argmax: case FC_FOLD_max_index: q->find = cells->find; q->cell = WIDEST(q->dtype, amax); break;
    case FC_FOLD_argmin: case FC_FOLD_min_index: q->find = cells->find; q->cell = WIDEST(q->dtype, amin); break;
    case FC_FOLD_amax: q->cell = WIDEST(q->dtype, amax); break;
    case FC_FOLD_amin: q->cell = WIDEST(q->dtype, amin); break;
    case FC_FOLD_logsumexp: q->first = WIDEST(q->dtype, amax); q->cell = WIDEST(q->dtype, sumexp); break;
    case FC_FOLD_var: case FC_FOLD_std: q->first = WIDEST(q->dtype, sum); q->cell = WIDEST(q->dtype, devsq); break;
    case FC_FOLD_norm_p:
        if (q->param == 0 || q->param == 1 || q->param == 2 || isinf(q->param)) {
            q->cell = q->param == 0 ? cells->count : q->param == 1 ? cells->sumabs : q->param == 2 ? WIDEST(q->dtype, sumsq)
                    : q->param > 0 ? cells->maxabs : cells->minabs;
            break;
        }
        q->stage = stored == FC_F16 ? raise_f16 : stored == FC_BF16 ? raise_bf16 : WIDEST(q->dtype, raise);
        q->dtype = stored == FC_F64 || stored == FC_C128 ? FC_F64 : FC_F32;
        q->cell = WIDEST(q->dtype, sum);
        break;
    default: return 0;
    }
    q->staged = fc_dt_size[q->dtype];
    return q->cell != NULL;
}

static void measure(job *q)
{
    q->streams = q->outer * q->reduce * q->inner * q->es > FROM_MEMORY && !q->run;
    q->nblocks = q->reduce <= FC_FOLD_BLOCK ? 1 : (q->reduce + FC_FOLD_BLOCK - 1) / FC_FOLD_BLOCK;
    q->tile = TILE_BYTES / (q->cell->size > q->staged ? q->cell->size : q->staged);
    if (q->inner == 1 && q->nblocks >= AT_ONCE)
        q->tile = 1; /* whose blocks go side by side */
    else if (q->inner == 1 && q->tile * q->reduce > SERIAL / 2)
        q->tile = q->reduce > SERIAL / 2 / AT_ONCE ? AT_ONCE : SERIAL / 2 / q->reduce;
    q->tiles = q->inner == 1 ? 1 : (q->inner + q->tile - 1) / q->tile;
}

static int splits(const job *q)
{
    return q->nblocks > 1 && q->outer * q->tiles < SPLIT_UNITS && q->outer * q->reduce * q->inner >= SPLIT_FROM;
}

static job job_of(int which, int dtype, const fc_fold_form *f, double param)
{
    return (job){.which = which, .dtype = dtype, .x = f->x, .outer = f->outer, .reduce = f->reduce, .inner = f->inner,
                 .outer_step = f->outer_step, .step = f->step, .run = f->run, .run_step = f->run_step, .param = param};
}

size_t fc_fold_scratch(int which, int dtype, const fc_fold_form *f)
{
    if (f->reduce <= FC_FOLD_BLOCK && !f->run)
        return 0;
    job q = job_of(which, dtype, f, 2);
    if (!choose(&q))
        return 0;
    measure(&q);
    return q.run || splits(&q) ? (size_t)(q.outer * (q.nblocks + 1) * q.inner * q.pairs * CELL + 64) : 0;
}

/* One short row: no tiles, no threads, none of the divisions that plan them. Half of the time of a sum of eight elements. */
static int one_row(const job *q)
{
    char value[CELL] __attribute__((aligned(16))), params[CELL] __attribute__((aligned(16)));
    if (q->first) {
        rows(q, q->first, params, q->x, 1, q->reduce, q->reduce, NULL);
        fc_fold_parameters(q, params, 0, 1);
    }
    rows(q, q->cell, value, q->x, 1, q->reduce, q->reduce, q->first ? params : NULL);
    conclude(q, value, q->x, 0, 1, params);
    return FC_OK;
}

int fc_fold_run(int which, int dtype, int out_dtype, void *out, void *out2, const fc_fold_form *form, double param, void *scratch)
{
    const int result = fc_fold_result(which, dtype);
    if (result < 0 || (out_dtype != result && !(fc_is_half(result) && out_dtype == FC_F32)))
        return fc_fail(FC_DTYPE, dtype, out_dtype, 0, 0);
    job q = job_of(which, dtype, form, param);
    q.out_dtype = out_dtype;
    q.out = out;
    q.out2 = out2;
    if (q.outer == 0 || q.inner == 0)
        return FC_OK;
    if (!choose(&q))
        return fc_fail(FC_DTYPE, dtype, out_dtype, 0, 0);
    if (q.outer * q.inner == 1 && q.reduce <= FC_FOLD_BLOCK && !q.run)
        return one_row(&q);
    measure(&q);
    if (q.run || (scratch && splits(&q))) {
        q.part = scratch;
        q.params = q.part + q.outer * q.nblocks * q.inner * q.pairs * CELL;
        if (q.run)
            return fc_fold_runs(&q);
        split_run(&q);
        return FC_OK;
    }
    const int64_t units = q.inner == 1 ? (q.outer + q.tile - 1) / q.tile : q.outer * q.tiles;
    const int64_t total = q.outer * q.reduce * q.inner;
    if (total < SERIAL)
        tiles_run(&q, 0, units);
    else
        fc_parallel(units, 1 + SERIAL / 4 / (total / units + 1), tiles_run, &q);
    return FC_OK;
}

/* Folds: the door. Cells: fold_choose.c. One block: fold_block.c. Tiles and threads: fold_tile.c. Runs: fold_runs.c and fold_strips.c.
 * Results: fold_result.c. */
#include <unistd.h>

#include "../core/atomic.h"
#include "../core/status.h"
#include "../include/facula.h"
#include "fold_job.h"
#include "parallel.h"

enum {
    FEW = 64,                /* short rows of one reduction */
    SERIAL = 32768,          /* elements below which the pool costs more than it gives */
    SPLIT_FROM = 1 << 19,    /* bytes (of a float at least for each element) from which one reduction may be cut into blocks for the threads */
    LEAST_CACHE = 512 << 10, /* what a second cache is taken to have, whatever the system says */
    MOST_CACHE = 2 << 20,
    STREAMED = 1 << 20,      /* of rows that come from memory, in a tile: four streams that are long enough */
    SPLIT_UNITS = 64,        /* tiles and rows that keep the threads busy without that */
    FROM_MEMORY = 4 << 20    /* bytes that do not stay in a cache */
};

typedef fc_fold_job job;

/* Bytes of a core's second cache. */
static int64_t second_cache(void)
{
    static int64_t bytes;
    if (!fc_atomic_peek(&bytes)) {
        int64_t found = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
        found = (int64_t)sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
        fc_atomic_poke(&bytes, found < LEAST_CACHE ? LEAST_CACHE : found > MOST_CACHE ? MOST_CACHE : found);
    }
    return fc_atomic_peek(&bytes);
}

/* Accumulators of columns that come from memory, whose sixteen lanes take half of the second cache: rows are walked in the order of memory. */
static int64_t wide_bytes(void) { return second_cache() / (2 * FC_FOLD_LANES); }

/* Columns that a tile holds: as many as its bytes, or fewer where threads would have none. */
static int64_t columns(const job *q, int64_t most)
{
    const int64_t total = q->outer * q->reduce * q->inner, threads = total < SERIAL ? 1 : fc_get_num_threads();
    const int64_t share = (q->inner - 1) / ((threads - 1) / q->outer + 1) + 1, lines = (share + 15) / 16 * 16;
    return lines < most ? lines : most;
}

void fc_fold_measure(job *q)
{
    const int64_t widest = q->cell->size > q->staged ? q->cell->size : q->staged;
    q->streams = q->outer * q->reduce * q->inner * q->es > FROM_MEMORY && !q->run;
    q->nblocks = q->reduce <= FC_FOLD_BLOCK ? 1 : (q->reduce + FC_FOLD_BLOCK - 1) / FC_FOLD_BLOCK;
    q->tile_bytes = TILE_BYTES;
    q->tile = TILE_BYTES / widest;
    q->tiles = 1;
    if (q->inner > 1) {
        if (q->streams && q->inner > q->tile)
            q->tile_bytes = wide_bytes();
        q->tile = columns(q, q->tile_bytes / widest);
        q->tiles = (q->inner + q->tile - 1) / q->tile;
    } else if (q->nblocks >= AT_ONCE)
        q->tile = 1; /* whose blocks go side by side */
    else if (q->streams && q->reduce * q->es >= 1024)
        q->tile = q->tile < 1 + STREAMED / (q->reduce * q->es) ? q->tile : 1 + STREAMED / (q->reduce * q->es);
    else if (q->tile * q->reduce > SERIAL / 2)
        q->tile = q->reduce > SERIAL / 2 / AT_ONCE ? AT_ONCE : SERIAL / 2 / q->reduce;
}

static int splits(const job *q)
{
    return q->nblocks > 1 && q->outer * q->tiles < SPLIT_UNITS && q->outer * q->reduce * q->inner * (q->es < 4 ? 4 : q->es) >= SPLIT_FROM;
}

job fc_fold_job_of(int which, int dtype, const fc_fold_form *f, double param)
{
    if (which == FC_FOLD_norm_p && f->reduce == 1 && param != 0)
        param = 1; /* any norm of one element is its absolute value, whose powers may be out of range */
    return (job){.which = which, .dtype = dtype, .x = f->x, .outer = f->outer, .reduce = f->reduce, .inner = f->inner,
                 .outer_step = f->outer_step, .step = f->step, .run = f->run, .run_step = f->run_step, .second = f->second,
                 .param = param};
}

/* Of columns that are too few for more than one tile and one block, threads take lanes: in how many parts, or 0. */
static int lane_parts(const job *q)
{
    const int64_t threads = fc_get_num_threads();
    if (threads == 1 || !q->streams || q->inner == 1 || q->outer * q->nblocks > 1 || q->step != q->inner || q->run || q->cell->exact || q->first || q->given || q->find || !fc_fold_is_read(q))
        return 0;
    int parts = 2;
    while (2 * parts <= threads && parts < FC_FOLD_LANES)
        parts *= 2;
    return q->inner * q->cell->size <= wide_bytes() * parts ? parts : 0;
}

int64_t fc_fold_plain_scratch(const job *q)
{
    if (lane_parts(q))
        return FC_FOLD_LANES * q->inner * q->cell->size + 64;
    return q->run || splits(q) ? q->outer * (q->nblocks + 1) * q->inner * q->pairs * CELL + 64 : 0;
}

/* Runs that are a few short rows. */
static int few(const job *q, const fc_fold_form *f)
{
    return q->run >= FC_FOLD_RUN && q->run <= FC_FOLD_BLOCK && q->reduce <= FEW * q->run && q->reduce < SERIAL && q->outer * q->inner == 1
        && f->step == 1 && q->pairs == 1 && !q->first;
}

size_t fc_fold_scratch(int which, int dtype, const fc_fold_form *f, double param)
{
    if (f->reduce <= FC_FOLD_BLOCK && !f->run && (f->inner == 1 || f->outer > 1 || f->reduce * f->inner <= FROM_MEMORY / 16))
        return 0;
    job q = fc_fold_job_of(which, dtype, f, param);
    if (!fc_fold_choose(&q) || few(&q, f))
        return 0;
    if (q.run >= FC_FOLD_RUN)
        return (size_t)fc_fold_runs_scratch(&q, dtype, f);
    fc_fold_measure(&q);
    return (size_t)fc_fold_plain_scratch(&q);
}

/* One short row: no tiles, no threads, none of the divisions that plan them. Half of the time of a sum of eight elements. */
static int one_row(const job *q)
{
    char value[CELL] __attribute__((aligned(16))), params[CELL] __attribute__((aligned(16)));
    if (q->first) {
        fc_fold_row_block(q, q->first, params, q->x, 1, q->reduce, q->reduce, NULL);
        fc_fold_parameters(q, params, 0, 1);
    }
    fc_fold_row_block(q, q->cell, value, q->x, 1, q->reduce, q->reduce, q->first ? params : NULL);
    fc_fold_conclude(q, value, q->x, 0, 1, params);
    return FC_OK;
}

/* The same for a few of them. */
static int few_rows(const job *q)
{
    char value[FEW * CELL] __attribute__((aligned(64)));
    fc_fold_row_block(q, q->cell, value, q->x, q->reduce / q->run, q->run, q->run_step, NULL);
    fc_fold_halves(q->cell, value, q->reduce / q->run, 1);
    fc_fold_conclude(q, value, q->x, 0, 1, NULL);
    return FC_OK;
}

int fc_fold_run(int which, int dtype, int out_dtype, void *out, void *out2, const fc_fold_form *form, double param, void *scratch)
{
    const int result = fc_fold_result(which, dtype);
    if (result < 0 || (out_dtype != result && !(fc_is_half(result) && out_dtype == FC_F32)))
        return fc_fail(FC_DTYPE, dtype, out_dtype, 0, 0);
    job q = fc_fold_job_of(which, dtype, form, param);
    q.out_dtype = out_dtype;
    q.out = out;
    q.out2 = out2;
    if (q.outer == 0 || q.inner == 0)
        return FC_OK;
    if (!fc_fold_choose(&q))
        return fc_fail(FC_DTYPE, dtype, out_dtype, 0, 0);
    if (q.outer * q.inner == 1 && q.reduce <= FC_FOLD_BLOCK && !q.run)
        return one_row(&q);
    if (few(&q, form))
        return few_rows(&q);
    if (q.run >= FC_FOLD_RUN)
        return fc_fold_runs(&q, dtype, form, scratch);
    fc_fold_measure(&q);
    return fc_fold_plain(&q, scratch);
}

int fc_fold_plain(job *q, char *scratch)
{
    const int parts = scratch ? lane_parts(q) : 0;
    if (parts) {
        q->part = scratch;
        return fc_fold_by_lanes(q, parts);
    }
    if (q->run || (scratch && splits(q))) {
        q->part = scratch;
        q->params = q->part + q->outer * q->nblocks * q->inner * q->pairs * CELL;
        return q->run ? fc_fold_strips(q) : fc_fold_split(q);
    }
    const int64_t units = q->inner == 1 ? (q->outer + q->tile - 1) / q->tile : q->outer * q->tiles;
    const int64_t total = q->outer * q->reduce * q->inner;
    if (total >= SERIAL)
        return fc_fold_all_tiles(q, units, 1 + SERIAL / 4 / (total / units + 1));
    fc_fold_tiles(q, 0, units);
    return FC_OK;
}

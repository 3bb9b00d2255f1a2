/* Folds: the door. Cells: fold_choose.c. One block: fold_block.c. Tiles and threads: fold_tile.c. Results: fold_result.c. */
#include "../core/status.h"
#include "fold_job.h"
#include "parallel.h"

enum {
    SERIAL = 32768,          /* elements below which the pool costs more than it gives */
    SPLIT_FROM = 1 << 19,    /* bytes (of a float at least for each element) from which one reduction may be cut into blocks for the threads */
    SPLIT_UNITS = 64,        /* tiles and rows that keep the threads busy without that */
    FROM_MEMORY = 4 << 20    /* bytes that do not stay in a cache */
};

typedef fc_fold_job job;

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
    return q->nblocks > 1 && q->outer * q->tiles < SPLIT_UNITS && q->outer * q->reduce * q->inner * (q->es < 4 ? 4 : q->es) >= SPLIT_FROM;
}

static job job_of(int which, int dtype, const fc_fold_form *f, double param)
{
    if (which == FC_FOLD_norm_p && f->reduce == 1 && param != 0)
        param = 1; /* any norm of one element is its absolute value, whose powers may be out of range */
    return (job){.which = which, .dtype = dtype, .x = f->x, .outer = f->outer, .reduce = f->reduce, .inner = f->inner,
                 .outer_step = f->outer_step, .step = f->step, .run = f->run, .run_step = f->run_step, .param = param};
}

size_t fc_fold_scratch(int which, int dtype, const fc_fold_form *f)
{
    if (f->reduce <= FC_FOLD_BLOCK && !f->run)
        return 0;
    job q = job_of(which, dtype, f, 2);
    if (!fc_fold_choose(&q))
        return 0;
    measure(&q);
    return q.run || splits(&q) ? (size_t)(q.outer * (q.nblocks + 1) * q.inner * q.pairs * CELL + 64) : 0;
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
    if (!fc_fold_choose(&q))
        return fc_fail(FC_DTYPE, dtype, out_dtype, 0, 0);
    if (q.outer * q.inner == 1 && q.reduce <= FC_FOLD_BLOCK && !q.run)
        return one_row(&q);
    measure(&q);
    if (q.run || (scratch && splits(&q))) {
        q.part = scratch;
        q.params = q.part + q.outer * q.nblocks * q.inner * q.pairs * CELL;
        if (q.run)
            return fc_fold_runs(&q);
        fc_fold_split(&q);
        return FC_OK;
    }
    const int64_t units = q.inner == 1 ? (q.outer + q.tile - 1) / q.tile : q.outer * q.tiles;
    const int64_t total = q.outer * q.reduce * q.inner;
    if (total < SERIAL)
        fc_fold_tiles(&q, 0, units);
    else
        fc_parallel(units, 1 + SERIAL / 4 / (total / units + 1), fc_fold_tiles, &q);
    return FC_OK;
}

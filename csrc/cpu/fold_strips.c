/*
 * Folds over reduced dims that do not lie in one line and whose runs are short: runs that are apart (a slice of a matrix), that lie across
 * memory (a turned matrix of short rows), or that are shown again and again (a number). Blocks of the logical order are laid out in a
 * buffer that stays in cache and folded there; nothing but the buffer is written.
 */
#include <string.h>

#include "../core/copy_nest.h"
#include "../core/move.h"
#include "../core/status.h"
#include "fold_job.h"
#include "parallel.h"

enum {
    STRIP = 64,             /* runs that lie side by side in memory are turned together, at most */
    LINE_BYTES = 64,        /* of which a piece begins at whole ones */
    NEAR_BYTES = 256,       /* of a column that a strip is wide, where the second cache holds the matrix */
    FAR = 4 << 20,          /* bytes that the second cache does not hold */
    SHORT = 8192            /* elements below which the pool costs more than it gives */
};

typedef struct { const fc_fold_job *q; const fc_fold_cell *cell; const char *params; char *part; } pass;

static int64_t element(const fc_fold_job *q) { return q->es * q->pairs; }

static int64_t divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* One run, again and again. Blocks begin at a few places of it, and what begins at the same place has the same value. */
static void fold_repeated(const pass *p, const char *x, int64_t begin, int64_t end, char *dst, const char *params, char *room)
{
    const fc_fold_job *q = p->q;
    const int64_t es = element(q), run = q->run, row = q->pairs * p->cell->size, full = q->reduce / FC_FOLD_BLOCK;
    const int64_t period = run / divisor(run, FC_FOLD_BLOCK), length = (run + min64(AT_ONCE * FC_FOLD_BLOCK, q->reduce)) * es;
    memcpy(room, x, (size_t)(run * es));
    for (int64_t have = run * es; have < length; have *= 2)
        fc_move_bytes(room + have, room, (size_t)min64(have, length - have));
    for (int64_t b = begin; b < end;) {
        int64_t some = min64(AT_ONCE, end - b);
        if (b < full && b - begin >= period) {
            some = min64(full, end) - b;
            for (int64_t k = 0; k < some; ++k)
                memcpy(dst + (b - begin + k) * row, dst + (b - begin + k - period) * row, (size_t)row);
        } else {
            const int64_t from = b * FC_FOLD_BLOCK;
            fc_fold_blocks(q, p->cell, dst + (b - begin) * row, room + from % run * es, min64(some * FC_FOLD_BLOCK, q->reduce - from), params);
        }
        b += some;
    }
}

/* Runs that are laid together: as many as hide what their blocks wait for. */
static int64_t strip(const fc_fold_job *q)
{
    if (q->step == 1)
        return STRIP * (FC_FOLD_BLOCK / q->run);
    return q->reduce * element(q) > FAR ? STRIP : min64(STRIP, NEAR_BYTES / element(q));
}

/* m runs from run r on become dense rows. */
static void lay(const fc_fold_job *q, char *to, const char *x, int64_t r, int64_t m)
{
    const int64_t es = element(q), run = q->run;
    const char *from = x + r * q->run_step * es;
    if (q->step == 1)
        for (int64_t k = 0; k < m; ++k)
            fc_move_bytes(to + k * run * es, from + k * q->run_step * es, (size_t)(run * es));
    else
        fc_turn(to, run * es, from, q->step * es, run, m, (int)es);
}

/* Blocks begin .. end, whose elements come in strips of runs; what is left of a strip after its last whole block goes to the front. */
static void fold_strips(const pass *p, const char *x, int64_t begin, int64_t end, char *dst, const char *params, char *room)
{
    const fc_fold_job *q = p->q;
    const int64_t es = element(q), run = q->run, row = q->pairs * p->cell->size, runs = q->reduce / run;
    const int64_t first = begin * FC_FOLD_BLOCK, last = min64(end * FC_FOLD_BLOCK, q->reduce);
    const int64_t per = strip(q), line = es < LINE_BYTES ? LINE_BYTES / es : 1;
    int64_t r = q->step == 1 ? first / run : first / run / line * line, kept = 0, at = r * run; /* room holds elements at .. at + kept */
    while (at < last) {
        const int64_t wanted = ((last - 1) / run + 1 - r + line - 1) / line * line, m = min64(min64(per, wanted), runs - r);
        lay(q, room + kept * es, x, r, m);
        r += m;
        kept += m * run;
        const int64_t skip = min64(at < first ? first - at : 0, kept);
        const int64_t there = min64(kept, last - at), ready = at + there == last ? there : skip + (there - skip) / FC_FOLD_BLOCK * FC_FOLD_BLOCK;
        if (ready > skip)
            fc_fold_blocks(q, p->cell, dst + (at + skip - first) / FC_FOLD_BLOCK * row, room + skip * es, ready - skip, params);
        at += ready;
        kept -= ready;
        memmove(room, room + ready * es, (size_t)(kept * es));
    }
}

static void blocks_run(void *ctx, int64_t begin, int64_t end, void *room)
{
    const pass *p = ctx;
    const fc_fold_job *q = p->q;
    const int64_t row = q->pairs * p->cell->size;
    while (begin < end) { /* counts (outer, block) */
        const int64_t o = begin / q->nblocks, b = begin % q->nblocks, some = min64(end - begin, q->nblocks - b);
        (q->run_step == 0 ? fold_repeated : fold_strips)(p, q->x + o * q->outer_step * element(q), b, b + some, p->part + begin * row,
                                                         p->params ? p->params + o * row : NULL, room);
        begin += some;
    }
}

static int fold(const fc_fold_job *q, const fc_fold_cell *cell, const char *params)
{
    const pass p = {q, cell, params, q->part};
    const int64_t room = q->run_step == 0 ? q->run + AT_ONCE * FC_FOLD_BLOCK : strip(q) * q->run;
    const size_t bytes = (size_t)((room + FC_FOLD_BLOCK) * element(q));
    const int64_t turned = q->step == 1 || q->run_step == 0 ? 0 : strip(q) * q->run / FC_FOLD_BLOCK; /* less would read lines twice */
    const int bad = fc_parallel_scratch(q->outer * q->nblocks, 1 + SHORT / min64(q->reduce, FC_FOLD_BLOCK) + turned, bytes, blocks_run, (void *)&p);
    for (int64_t o = 0; !bad && o < q->outer; ++o)
        fc_fold_tree(cell, q->part + o * q->nblocks * q->pairs * cell->size, q->nblocks, q->pairs);
    return bad;
}

int fc_fold_strips(fc_fold_job *q) { return fc_fold_passes(q, q->pairs, fold); }

/* Folds of many blocks: tiles of rows or columns for the threads, or, where there are too few, blocks of one reduction for each. */
#include "fold_job.h"
#include "parallel.h"

enum { LEVELS = 40 }; /* of the block tree: 2**40 blocks are more than memory */

/* --- one tile: `width` columns of one outer index, or `width` rows ------------------------------------------------ */


/* A long row: blocks as they come, joined like carries of a binary counter, which is the same tree as level by level. */
static void row_fold(const fc_fold_job *q, const fc_fold_cell *cell, char *dst, const char *x, const char *params)
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
static void fold_block(const fc_fold_job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t b, int64_t width, const char *params)
{
    const int64_t from = b * FC_FOLD_BLOCK, n = min64(FC_FOLD_BLOCK, q->reduce - from);
    if (q->inner == 1)
        fc_fold_row_block(q, cell, dst, x + from * q->es, width, n, q->outer_step, params);
    else
        fc_fold_column_block(q, cell, dst, x + from * q->step * q->es, n, q->step, width, params);
}

static FC_NOINLINE void tile_tree(const fc_fold_job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t width, const char *params)
{
    char tree[LEVELS][TILE_BYTES] __attribute__((aligned(64)));
    int depth = 0;
    for (int64_t b = 0; b < q->nblocks; ++b) {
        fold_block(q, cell, tree[depth++], x, b, width, params);
        for (int64_t carry = b + 1; carry % 2 == 0; carry /= 2, --depth)
            cell->join(tree[depth - 2], tree[depth - 1], width);
    }
    for (; depth > 1; --depth)
        cell->join(tree[depth - 2], tree[depth - 1], width);
    memcpy(dst, tree[0], (size_t)(width * cell->size));
}

static void tile_fold(const fc_fold_job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t width, const char *params)
{
    if (q->nblocks == 1)
        fold_block(q, cell, dst, x, 0, width, params);
    else if (q->inner == 1 && width == 1)
        row_fold(q, cell, dst, x, params);
    else
        tile_tree(q, cell, dst, x, width, params);
}

/* A tile is `tile` rows where inner is 1, else `tile` columns of one outer index. */
static void tile_place(const fc_fold_job *q, int64_t t, const char **x, int64_t *at, int64_t *width)
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

static void locate(const fc_fold_job *q, const char *acc, const char *x, int64_t at, int64_t width)
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

void fc_fold_conclude(const fc_fold_job *q, char *acc, const char *x, int64_t at, int64_t width, const char *params)
{
    if (q->find)
        locate(q, acc, x, at, width);
    if (q->which != FC_FOLD_argmax && q->which != FC_FOLD_argmin)
        fc_fold_finish(q, acc, at, width, params);
}

void fc_fold_tiles(void *ctx, int64_t begin, int64_t end)
{
    const fc_fold_job *q = ctx;
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
        fc_fold_conclude(q, value, x, at, width, params);
    }
}

/* --- few, long reductions: threads take blocks, then the tree ------------------------------------------------------ */

typedef struct { const fc_fold_job *q; const fc_fold_cell *cell; const char *params; int64_t some; } split;

static void blocks_run(void *ctx, int64_t begin, int64_t end)
{
    const split *s = ctx;
    const fc_fold_job *q = s->q;
    const int64_t size = s->cell->size, groups = (q->nblocks - 1) / s->some + 1;
    for (int64_t k = begin; k < end; ++k) {   /* k counts (outer, blocks, column tile) */
        const int64_t c = k % q->tiles * q->tile, b = k / q->tiles % groups * s->some, o = k / q->tiles / groups;
        const char *params = s->params ? s->params + (o * q->inner + c) * size : NULL, *x = q->x + (o * q->outer_step + c) * q->es;
        char *dst = q->part + ((o * q->nblocks + b) * q->inner + c) * size;
        if (q->inner == 1)
            fc_fold_blocks(q, s->cell, dst, x + b * FC_FOLD_BLOCK * q->es, min64(q->reduce - b * FC_FOLD_BLOCK, s->some * FC_FOLD_BLOCK), params);
        else
            fold_block(q, s->cell, dst, x, b, min64(q->tile, q->inner - c), params);
    }
}

/* The result of outer index o lies in its first block's place afterwards. */
static void split_fold(const fc_fold_job *q, const fc_fold_cell *cell, const char *params)
{
    split s = {q, cell, params, q->inner == 1 ? AT_ONCE : 1};
    fc_parallel(q->outer * ((q->nblocks - 1) / s.some + 1) * q->tiles, q->inner == 1 ? 1 : 4, blocks_run, &s);
    for (int64_t o = 0; o < q->outer; ++o)
        fc_fold_tree(cell, q->part + o * q->nblocks * q->inner * cell->size, q->nblocks, q->inner);
}

void fc_fold_split(fc_fold_job *q)
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
        fc_fold_conclude(q, q->part + o * q->nblocks * row, q->x + o * q->outer_step * q->es, o * q->inner, q->inner,
                 q->first ? q->params + o * row : NULL);
}

/* Folds of many blocks: tiles of rows or columns for the threads, or, where there are too few, blocks of one reduction for each. */
#include "../core/status.h"
#include "fold_job.h"
#include "parallel.h"

/* --- one tile: `width` columns of one outer index, or `width` rows ------------------------------------------------ */

/* A long row: blocks as they come, joined like carries of a binary counter, which is the same tree as level by level. */
static void row_fold(const fc_fold_job *q, const fc_fold_cell *cell, char *dst, const char *x, const char *params)
{
    const int64_t at_once = fc_fold_at_once(q, cell);
    char tree[TILE_LEVELS + 1][CELL], values[MOST_AT_ONCE * CELL];
    int depth = 0;
    for (int64_t b = 0; b < q->nblocks; b += at_once) {
        const int64_t from = b * FC_FOLD_BLOCK, n = min64(q->reduce - from, at_once * FC_FOLD_BLOCK);
        fc_fold_blocks(q, cell, values, x + from * q->es, n, params);
        for (int64_t k = b; k < min64(b + at_once, q->nblocks); ++k) {
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
static void fold_block(const fc_fold_job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t b, int64_t width, const char *params,
                       const fc_fold_room *room)
{
    const int64_t from = b * FC_FOLD_BLOCK, n = min64(FC_FOLD_BLOCK, q->reduce - from);
    if (q->inner == 1)
        fc_fold_row_block(q, cell, dst, x + from * q->es, width, n, q->outer_step, params);
    else
        fc_fold_column_block(q, cell, dst, x + from * q->step * q->es, n, q->step, width, params, room);
}

static void tile_tree(const fc_fold_job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t width, const char *params,
                      const fc_fold_room *room)
{
    char *top = room->tree; /* where the next level begins */
    for (int64_t b = 0; b < q->nblocks; ++b) {
        fold_block(q, cell, top, x, b, width, params, room);
        top += room->bytes;
        for (int64_t carry = b + 1; carry % 2 == 0; carry /= 2, top -= room->bytes)
            cell->join(top - 2 * room->bytes, top - room->bytes, width);
    }
    for (; top > room->tree + room->bytes; top -= room->bytes)
        cell->join(top - 2 * room->bytes, top - room->bytes, width);
    memcpy(dst, room->tree, (size_t)(width * cell->size));
}

static void tile_fold(const fc_fold_job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t width, const char *params, const fc_fold_room *room)
{
    if (q->nblocks == 1)
        fold_block(q, cell, dst, x, 0, width, params, room);
    else if (q->inner == 1 && width == 1)
        row_fold(q, cell, dst, x, params);
    else
        tile_tree(q, cell, dst, x, width, params, room);
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

enum { FEW = TILE_BYTES * FC_FOLD_LANES / FC_FOLD_TURNED / 8 }; /* elements of rows that locate turns, of any dtype that has an order */

static void locate(const fc_fold_job *q, const char *acc, const char *x, int64_t at, int64_t width)
{
    int64_t *index = (int64_t *)(q->which == FC_FOLD_argmax || q->which == FC_FOLD_argmin ? q->out : q->out2) + at;
    char room[TILE_BYTES * FC_FOLD_LANES] __attribute__((aligned(64)));
    const int read = fc_fold_is_read(q);
    for (int64_t k = 0; k < width; ++k)
        index[k] = -1;
    if (q->inner > 1 && read) {
        q->find(index, x, 0, q->reduce, q->step, width, acc);
    } else if (q->inner > 1) { /* what is laid out first, from the last to the first, so that the first that fits is what remains */
        const int64_t fit = TILE_BYTES * FC_FOLD_LANES / (width * q->staged);
        for (int64_t i = (q->reduce - 1) / fit * fit; i >= 0; i -= fit) {
            const int64_t some = min64(fit, q->reduce - i);
            for (int64_t k = 0; k < some; ++k)
                fc_fold_lay(q, room + k * width * q->staged, x + (i + k) * q->step * q->es, width);
            q->find(index, room, i, some, width, width, acc);
        }
    } else if (q->reduce <= FEW) {
        char wide[FEW * FC_FOLD_TURNED * sizeof(f64)] __attribute__((aligned(64)));
        for (int64_t r = 0; r < width; r += FC_FOLD_TURNED) {
            const char *rows = x + r * q->outer_step * q->es;
            const int64_t some = min64(width - r, FC_FOLD_TURNED), together = q->outer_step == q->reduce ? some : 1;
            for (int64_t k = 0; !read && k < some; k += together)
                fc_fold_lay(q, wide + k * q->reduce * q->staged, rows + k * q->outer_step * q->es, together * q->reduce);
            fc_fold_turn_rows(read ? rows : wide, q->staged, some, q->reduce, read ? q->outer_step : q->reduce, room);
            q->find(index + r, room, 0, q->reduce, some, some, acc + r * q->cell->size);
        }
    } else {
        const int64_t fit = read ? q->reduce : TILE_BYTES * FC_FOLD_LANES / q->staged;
        for (int64_t r = 0; r < width; ++r)
            for (int64_t i = 0; i < q->reduce && index[r] < 0; i += fit) {
                const char *from = x + (r * q->outer_step + i) * q->es;
                const int64_t some = min64(fit, q->reduce - i);
                if (!read)
                    fc_fold_lay(q, room, from, some);
                q->find(index + r, read ? from : room, i, some, 1, 1, acc + r * q->cell->size);
            }
    }
}

void fc_fold_conclude(const fc_fold_job *q, char *acc, const char *x, int64_t at, int64_t width, const char *params)
{
    const int64_t size = q->cell->size, step = q->inner == 1 ? q->outer_step : 1;
    if (q->raw) {
        memcpy(q->out + at * size, acc, (size_t)(width * size));
        return;
    }
    for (int64_t c = 0; c < width; c += AT_MOST) {
        const int64_t some = min64(AT_MOST, width - c);
        if (q->find)
            locate(q, acc + c * size, x + c * step * q->es, at + c, some);
        if (q->which != FC_FOLD_argmax && q->which != FC_FOLD_argmin)
            fc_fold_finish(q, acc + c * size, at + c, some, params ? params + c * size : NULL);
    }
}

/* some: blocks at a time, or 0 for whole tiles */
typedef struct { const fc_fold_job *q; const fc_fold_cell *cell; const char *params; int64_t some; } split;

static void tiles_run(const split *s, int64_t begin, int64_t end, const fc_fold_room *room)
{
    const fc_fold_job *q = s->q;
    for (int64_t t = begin; t < end; ++t) {
        const char *x, *params = NULL;
        int64_t at, width;
        tile_place(q, t, &x, &at, &width);
        if (q->given)
            params = q->given + at * q->cell->size;
        if (q->first) {
            tile_fold(q, q->first, room->params, x, width, NULL, room);
            fc_fold_parameters(q, room->params, at, width);
            params = room->params;
        }
        tile_fold(q, q->cell, room->value, x, width, params, room);
        fc_fold_conclude(q, room->value, x, at, width, params);
    }
}

/* --- few, long reductions: threads take blocks, then the tree ------------------------------------------------------ */

static void blocks_run(const split *s, int64_t begin, int64_t end, const fc_fold_room *room)
{
    const fc_fold_job *q = s->q;
    const int64_t size = s->cell->size, groups = (q->nblocks - 1) / s->some + 1;
    for (int64_t k = begin; k < end; ++k) {   /* k counts (outer, blocks, column tile) */
        const int64_t c = k % q->tiles * q->tile, b = k / q->tiles % groups * s->some, o = k / q->tiles / groups;
        const char *params = s->params ? s->params + (o * q->inner + c) * size : NULL, *x = q->x + (o * q->outer_step + c) * q->es;
        char *dst = q->part + ((o * q->nblocks + b) * q->inner + c) * size;
        if (q->inner == 1)
            fc_fold_blocks(q, s->cell, dst, x + b * FC_FOLD_BLOCK * q->es, min64(q->reduce - b * FC_FOLD_BLOCK, s->some * FC_FOLD_BLOCK), params);
        else
            fold_block(q, s->cell, dst, x, b, min64(q->tile, q->inner - c), params, room);
    }
}

/* --- threads -------------------------------------------------------------------------------------------------------- */

static void units_run(const split *s, int64_t begin, int64_t end, const fc_fold_room *room)
{
    (s->some ? blocks_run : tiles_run)(s, begin, end, room);
}

static void narrow_units(void *ctx, int64_t begin, int64_t end)
{
    char memory[(2 * FC_FOLD_LANES + 2 + TILE_LEVELS) * TILE_BYTES] __attribute__((aligned(64)));
    const fc_fold_room room = fc_fold_room_at(memory, TILE_BYTES);
    units_run(ctx, begin, end, &room);
}

static void wide_units(void *ctx, int64_t begin, int64_t end, void *memory)
{
    const fc_fold_room room = fc_fold_room_at(memory, ((const split *)ctx)->q->tile_bytes);
    units_run(ctx, begin, end, &room);
}

static int share(split *s, int64_t units, int64_t grain)
{
    if (s->q->tile_bytes > TILE_BYTES) {
        int64_t levels = 2;
        while (s->q->nblocks >> (levels - 1))
            ++levels;
        return fc_parallel_scratch(units, grain, (size_t)fc_fold_room_bytes(s->q->tile_bytes, levels), wide_units, s);
    }
    fc_parallel(units, grain, narrow_units, s);
    return FC_OK;
}

void fc_fold_tiles(void *ctx, int64_t begin, int64_t end)
{
    split s = {.q = ctx};
    narrow_units(&s, begin, end);
}

int fc_fold_all_tiles(fc_fold_job *q, int64_t tiles, int64_t grain)
{
    split s = {.q = q};
    return share(&s, tiles, grain);
}

typedef struct { const fc_fold_job *q; int64_t each; } shared_lanes;

static void lanes_run(void *ctx, int64_t begin, int64_t end)
{
    const shared_lanes *s = ctx;
    const fc_fold_job *q = s->q;
    for (int64_t k = begin; k < end; ++k) {
        char *const acc = q->part + k * s->each * q->inner * q->cell->size;
        q->cell->begin(acc, s->each * q->inner);
        fc_fold_some_lanes(q->cell, acc, q->x, q->es, q->reduce, q->inner, k * s->each, s->each);
    }
}

int fc_fold_by_lanes(fc_fold_job *q, int parts)
{
    shared_lanes s = {q, FC_FOLD_LANES / parts};
    fc_parallel(parts, 1, lanes_run, &s);
    fc_fold_join_lanes(q->cell, q->part, FC_FOLD_LANES, q->inner);
    fc_fold_conclude(q, q->part, q->x, 0, q->inner, NULL);
    return FC_OK;
}

/* The result of outer index o lies in its first block's place afterwards. */
static int split_fold(const fc_fold_job *q, const fc_fold_cell *cell, const char *params)
{
    split s = {q, cell, params, q->inner == 1 ? fc_fold_at_once(q, cell) : 1};
    const int bad = share(&s, q->outer * ((q->nblocks - 1) / s.some + 1) * q->tiles, q->inner == 1 || q->tile_bytes > TILE_BYTES ? 1 : 4);
    for (int64_t o = 0; !bad && o < q->outer; ++o)
        fc_fold_tree(cell, q->part + o * q->nblocks * q->inner * cell->size, q->nblocks, q->inner);
    return bad;
}

int fc_fold_passes(fc_fold_job *q, int64_t width, fc_fold_pass pass)
{
    const int64_t row = width * q->cell->size;
    const char *params = q->given;
    int bad = FC_OK;
    if (q->first) {
        bad = pass(q, q->first, NULL);
        for (int64_t o = 0; !bad && o < q->outer; ++o) {
            memcpy(q->params + o * row, q->part + o * q->nblocks * row, (size_t)row);
            fc_fold_parameters(q, q->params + o * row, o * width, width);
        }
        params = q->params;
    }
    bad = bad ? bad : pass(q, q->cell, params);
    for (int64_t o = 0; !bad && o < q->outer; ++o)
        fc_fold_conclude(q, q->part + o * q->nblocks * row, q->x + o * q->outer_step * q->es, o * width, width, params ? params + o * row : NULL);
    return bad;
}

int fc_fold_split(fc_fold_job *q) { return fc_fold_passes(q, q->inner, split_fold); }

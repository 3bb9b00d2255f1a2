/* Staging: see stage.h. A block is 4 KiB of the widest operand, so that three of them and what they come from stay within L1. */
#include <string.h>

#include "facula.h"
#include "../cpu/gemm_blocks.h"
#include "../cpu/parallel.h"
#include "alloc.h"
#include "atomic.h"
#include "cast.h"
#include "copy_nest.h"
#include "move.h"
#include "stage.h"
#include "verb.h"

enum { FC_BLOCK_BYTES = 4096, FC_PAST_BYTES = 512, FC_LONG_ROW = 64, FC_PIECE_BYTES = 1024, FC_TILE_ROWS = 16, FC_TILE_BYTES = 512, FC_WHOLE_LINES = 32 << 10 };

typedef struct {
    const fc_nest *nest;
    fc_map_cell cell;
    const fc_scalar *scalars;
    int want[FC_NEST_OPERANDS];   /* dtype that the cell reads or writes */
    int linear[FC_NEST_OPERANDS]; /* walks memory as one run */
    int along[FC_NEST_OPERANDS];  /* contiguous along dim 0 */
    int same[FC_NEST_OPERANDS];   /* memory has the wanted dtype */
    int fixed[FC_NEST_OPERANDS];  /* one element for the whole nest */
    int still[FC_NEST_OPERANDS];  /* one element for each row, in the wanted dtype */
    int again[FC_NEST_OPERANDS];  /* the same row for each row */
    int turned[FC_NEST_OPERANDS]; /* contiguous along dim 1 */
    int rounded, half;            /* bits of operands that are rounded to the dtype `half` */
    int all_linear, rows, staged;
    int plain_rows;               /* every operand is along, in the wanted dtype, or still */
    int scaled;                   /* the operand that a row is multiplied by, or 0 */
    int past;                     /* the result is written past the caches (move.h) */
    int64_t block, piece, tile;   /* elements; of a row beside one that stays the same; of a row of a tile */
    int fault;
} fc_stage;

typedef struct { _Alignas(64) char bytes[FC_BLOCK_BYTES]; } fc_block;

static char *fc_operand_at(const fc_nest *nest, int k, const fc_nest_at *at)
{
    char *p = nest->data[k];
    for (int d = 0; d < nest->ndim; ++d)
        p += at->index[d] * nest->stride[k][d];
    return p;
}

/* Brings `count` elements of operand k into block, in the wanted dtype; near: where they lie in a run, or NULL. */
static void fc_stage_in(const fc_stage *g, int k, const fc_nest_at *at, int64_t count, const char *near, fc_block *block, fc_block *raw)
{
    char *const gathered = g->same[k] ? block->bytes : raw->bytes;
    if (!near)
        fc_nest_gather(g->nest, k, at, count, gathered);
    if (!g->same[k])
        fc_convert(g->want[k], block->bytes, g->nest->dtype[k], near ? near : gathered, count);
    if (g->rounded >> k & 1) {
        fc_convert(g->half, raw->bytes, g->want[k], block->bytes, count);
        fc_convert(g->want[k], block->bytes, g->half, raw->bytes, count);
    }
}

static void fc_stage_out(const fc_stage *g, const fc_nest_at *at, int64_t count, char *near, fc_block *block, fc_block *raw)
{
    char *const made = near ? near : g->same[0] ? block->bytes : raw->bytes;
    if (!g->same[0])
        fc_convert(g->nest->dtype[0], made, g->want[0], block->bytes, count);
    if (!near)
        fc_nest_scatter(g->nest, 0, at, count, made);
}

/* The cell over `count` elements. What goes past the caches is made piece by piece, no longer than FC_PAST_BYTES: with pieces of 1 to 4 KiB
 * what reads ahead loses its track every other time (-x of 4 * 10^7 bytes took 2.6 or 4.6 ms; 2.1 now). */
static void fc_stage_cell(const fc_stage *g, char *const *p, int64_t count, int *fault)
{
    if (!g->past) {
        g->cell(p[0], p[1], p[2], p[3], g->scalars, fault, count);
        return;
    }
    _Alignas(64) char made[FC_PAST_BYTES];
    const int64_t size = fc_dt_size[g->want[0]], from = fc_dt_size[g->want[1]], piece = FC_PAST_BYTES / (size > from ? size : from);
    for (int64_t i = 0, n; i < count; i += n) {
        char *x[FC_NEST_OPERANDS] = { 0 };
        for (int k = 1; k < g->nest->nops; ++k)
            x[k] = p[k] + (g->fixed[k] || g->still[k] ? 0 : i * from);
        n = count - i < piece ? count - i : piece;
        g->cell(made, x[1], x[2], x[3], g->scalars, fault, n);
        fc_move_past(p[0] + i * size, made, (size_t)(n * size));
    }
}

/* The last a thread does of its part. */
static void fc_stage_end(fc_stage *g, int fault)
{
    if (fault)
        fc_atomic_poke(&g->fault, 1);
    if (g->past)
        fc_moved_past();
}

/* Row by row, where all that needs a block is an element that stays the same along its row. */
static void fc_stage_rows(const fc_stage *g, int64_t begin, int64_t end, int *fault)
{
    const fc_nest *nest = g->nest;
    const int64_t length = nest->size[0];
    fc_block block[FC_NEST_OPERANDS];
    fc_nest_at at;
    fc_nest_seek(nest, begin, &at);
    char *from[FC_NEST_OPERANDS] = { 0 }, *p[FC_NEST_OPERANDS] = { 0 };
    for (int k = 0; k < nest->nops; ++k)
        from[k] = fc_operand_at(nest, k, &at);
    for (int64_t i = begin; i < end;) {
        const int64_t left = length - at.index[0] < end - i ? length - at.index[0] : end - i;
        for (int k = 0; k < nest->nops; ++k) {
            p[k] = from[k];
            if (g->still[k] && !g->scaled) {
                p[k] = block[k].bytes;
                fc_fill_same(p[k], from[k], fc_dt_size[g->want[k]], left < g->piece ? left : g->piece);
            }
        }
        if (g->scaled)
            fc_gemm_kernel_for(g->want[0])->scale(p[0], p[3 - g->scaled], p[g->scaled], left);
        for (int64_t done = g->scaled ? left : 0; done < left;) {
            const int64_t count = g->staged && left - done > g->piece ? g->piece : left - done;
            fc_stage_cell(g, p, count, fault);
            for (int k = 0; k < nest->nops; ++k)
                p[k] += g->still[k] ? 0 : count * fc_dt_size[g->want[k]];
            done += count;
        }
        i += left;
        const int next = at.index[0] + left == length && at.index[1] + 1 < nest->size[1]; /* the row below */
        if (next)
            ++at.index[1];
        else
            fc_nest_step(nest, left, &at);
        for (int k = 0; k < nest->nops; ++k)
            from[k] = next ? from[k] - at.index[0] * nest->stride[k][0] + nest->stride[k][1] : fc_operand_at(nest, k, &at);
        if (next)
            at.index[0] = 0;
    }
}

/* Where out's first cache line begins, in a range that is worth a call more: a vector across two lines is written in two goes
 * (400 KB in place: 5.4 us, 3.4 from the beginning of a line; memory that NumPy allocated begins 16 bytes after one). */
static int64_t fc_stage_line(const fc_stage *g, int64_t begin, int64_t end)
{
    const int64_t size = fc_dt_size[g->want[0]], bytes = (int64_t)(-(uintptr_t)(g->nest->data[0] + begin * size) % FC_LINE);
    const int whole = g->linear[0] && g->same[0] && !g->past && (end - begin) * size >= FC_WHOLE_LINES && bytes % size == 0;
    return begin + (whole ? bytes / size : 0);
}

static void fc_stage_range(void *ctx, int64_t begin, int64_t end)
{
    fc_stage *g = ctx;
    const fc_nest *nest = g->nest;
    const int64_t line = fc_stage_line(g, begin, end);
    int fault = 0;
    if (g->plain_rows && !g->all_linear) {
        fc_stage_rows(g, begin, end, &fault);
        fc_stage_end(g, fault);
        return;
    }
    if (g->all_linear) {
        for (int64_t from = begin, to = line > begin ? line : end; from < end; from = to, to = end) {
            char *p[FC_NEST_OPERANDS] = { 0 };
            for (int k = 0; k < nest->nops; ++k)
                p[k] = nest->data[k] + from * fc_dt_size[g->want[k]];
            fc_stage_cell(g, p, to - from, &fault);
        }
        fc_stage_end(g, fault);
        return;
    }
    fc_block block[FC_NEST_OPERANDS], raw;
    fc_nest_at at;
    fc_nest_seek(nest, begin, &at);
    for (int k = 1; k < nest->nops; ++k)
        if (g->fixed[k])
            fc_stage_in(g, k, &at, end - begin < g->block ? end - begin : g->block, NULL, &block[k], &raw);
    for (int64_t i = begin; i < end;) {
        int64_t count = (i < line ? line : end) - i;
        if (g->staged && count > g->block)
            count = g->block;
        if (g->rows && count > nest->size[0] - at.index[0])
            count = nest->size[0] - at.index[0];
        char *p[FC_NEST_OPERANDS] = { 0 }, *near[FC_NEST_OPERANDS] = { 0 };
        for (int k = 0; k < nest->nops; ++k) {
            if (g->linear[k])
                near[k] = nest->data[k] + i * fc_dt_size[nest->dtype[k]];
            else if (g->rows && g->along[k])
                near[k] = fc_operand_at(nest, k, &at);
            const int direct = near[k] && g->same[k];
            p[k] = direct ? near[k] : block[k].bytes;
            if (k && !direct && !g->fixed[k])
                fc_stage_in(g, k, &at, count, near[k], &block[k], &raw);
        }
        fc_stage_cell(g, p, count, &fault);
        if (p[0] == block[0].bytes)
            fc_stage_out(g, &at, count, near[0], &block[0], &raw);
        fc_nest_step(nest, count, &at);
        i += count;
    }
    fc_stage_end(g, fault);
}

/* A row alone that is seen again and again: what is computed of it once is copied. */
static void fc_stage_copies(void *ctx, int64_t begin, int64_t end)
{
    fc_stage *g = ctx;
    const fc_nest *nest = g->nest;
    const int64_t n = nest->size[0], first = begin % n, size = fc_dt_size[g->want[0]], once = end - begin < n ? end - begin : n;
    const int64_t whole = once < n - first ? once : n - first; /* up to where the row is over, and begins again */
    int fault = 0;
    char *const out = nest->data[0] + begin * size, *const row = nest->data[1];
    g->cell(out, row + first * fc_dt_size[g->want[1]], NULL, NULL, g->scalars, &fault, whole);
    if (once > whole)
        g->cell(out + whole * size, row, NULL, NULL, g->scalars, &fault, once - whole);
    for (int64_t i = n; i < end - begin; i += n)
        memcpy(out + i * size, out, (size_t)((end - begin - i < n ? end - begin - i : n) * size));
    if (fault)
        fc_atomic_poke(&g->fault, 1);
}

/* Short rows beside one that is seen again and again: that one is written out until it fills a block, and the others go by as if all were one
 * long row. */
static void fc_stage_again(void *ctx, int64_t begin, int64_t end)
{
    fc_stage *g = ctx;
    const fc_nest *nest = g->nest;
    const int64_t n = nest->size[0], first = begin % n, most = end - begin < g->block ? end - begin : g->block;
    int fault = 0;
    fc_block block[FC_NEST_OPERANDS];
    char *p[FC_NEST_OPERANDS] = { 0 };
    for (int k = 0; k < nest->nops; ++k) {
        const int64_t from = fc_dt_size[nest->dtype[k]], size = fc_dt_size[g->want[k]];
        p[k] = g->again[k] ? block[k].bytes : nest->data[k] + begin * size;
        if (!g->again[k])
            continue;
        fc_convert(g->want[k], p[k], nest->dtype[k], nest->data[k] + first * from, n - first);
        fc_convert(g->want[k], p[k] + (n - first) * size, nest->dtype[k], nest->data[k], first);
        for (int64_t have = n; have < most; have *= 2)
            memcpy(p[k] + have * size, p[k], (size_t)((have < most - have ? have : most - have) * size));
    }
    for (int64_t i = begin; i < end; i += g->block) {
        const int64_t count = end - i < g->block ? end - i : g->block;
        fc_stage_cell(g, p, count, &fault);
        for (int k = 0; k < nest->nops; ++k)
            p[k] += g->again[k] ? 0 : count * fc_dt_size[g->want[k]];
    }
    fc_stage_end(g, fault);
}

/* Where an operand is contiguous along dim 1 (a transposed matrix), cache lines are used whole only if many rows go at once: a unit is 16
 * rows, walked in tiles of which such operands are turned first. */
static void fc_stage_tiles(void *ctx, int64_t begin, int64_t end)
{
    fc_stage *g = ctx;
    const fc_nest *nest = g->nest;
    const int64_t n = nest->size[0], m = nest->size[1], strips = (m - 1) / FC_TILE_ROWS + 1;
    int fault = 0;
    fc_block block[FC_NEST_OPERANDS], raw;
    _Alignas(64) char tile[FC_NEST_OPERANDS][FC_TILE_ROWS * FC_TILE_BYTES];
    const fc_nest_at start = { { 0 } };
    for (int k = 1; k < nest->nops; ++k)
        if (g->fixed[k])
            fc_stage_in(g, k, &start, n < g->tile ? n : g->tile, NULL, &block[k], &raw);
    for (int64_t u = begin; u < end; ++u) {
        fc_nest_at at = { { 0 } };
        int64_t left = u / strips;
        for (int d = 2; d < nest->ndim; ++d) {
            at.index[d] = left % nest->size[d];
            left /= nest->size[d];
        }
        const int64_t first = u % strips * FC_TILE_ROWS, last = first + FC_TILE_ROWS < m ? first + FC_TILE_ROWS : m;
        for (int64_t i = 0; i < n; i += g->tile) {
            const int64_t count = n - i < g->tile ? n - i : g->tile;
            at.index[0] = i;
            at.index[1] = first;
            for (int k = 1; k < nest->nops; ++k)
                if (g->turned[k]) {
                    const int size = fc_dt_size[nest->dtype[k]];
                    fc_turn(tile[k], g->tile * size, fc_operand_at(nest, k, &at), nest->stride[k][0], count, last - first, size);
                }
            for (; at.index[1] < last; ++at.index[1]) {
                char *p[FC_NEST_OPERANDS] = { 0 }, *near[FC_NEST_OPERANDS] = { 0 };
                for (int k = 0; k < nest->nops; ++k) {
                    if (g->turned[k])
                        near[k] = tile[k] + (at.index[1] - first) * g->tile * fc_dt_size[nest->dtype[k]];
                    else if (g->along[k])
                        near[k] = fc_operand_at(nest, k, &at);
                    const int direct = near[k] && g->same[k];
                    p[k] = direct ? near[k] : block[k].bytes;
                    if (k && !direct && !g->fixed[k])
                        fc_stage_in(g, k, &at, count, near[k], &block[k], &raw);
                }
                g->cell(p[0], p[1], p[2], p[3], g->scalars, &fault, count);
                if (p[0] == block[0].bytes)
                    fc_stage_out(g, &at, count, near[0], &block[0], &raw);
            }
        }
    }
    fc_stage_end(g, fault);
}

static int fc_is_scale(const fc_stage *g, int compute)
{
    return g->plain_rows && (compute == FC_F32 || compute == FC_F64) && g->still[1] != g->still[2] && g->cell == fc_cpu_map_cell(FC_OP_mul, compute);
}

/* An operand that is contiguous along a dim beyond dim 1 reads no cache line whole within a few rows: that dim changes places with dim 1, and
 * tiles do. Answers which it is, or 0. */
static int fc_far_dim(const fc_nest *nest)
{
    int far = 0;
    if (nest->ndim < 3 || nest->size[0] < FC_TILE_ROWS)
        return 0;
    for (int k = 1; k < nest->nops; ++k) {
        const int64_t size = fc_dt_size[nest->dtype[k]];
        if (nest->stride[k][0] == size || nest->stride[k][0] == 0)
            continue;
        for (int d = 1; d < nest->ndim; ++d)
            if (nest->stride[k][d] == size && nest->size[d] >= FC_TILE_ROWS && (d == 1 || !far))
                far = d;
        if (far == 1)
            return 0;
    }
    return far;
}

int fc_stage_run(const fc_nest *nest, fc_map_cell cell, int light, int compute, int stored, int rounded, int half, const fc_scalar *s)
{
    fc_nest other;
    const int far = fc_far_dim(nest);
    if (far) {
        other = *nest;
        other.size[1] = nest->size[far];
        other.size[far] = nest->size[1];
        for (int k = 0; k < nest->nops; ++k) {
            other.stride[k][1] = nest->stride[k][far];
            other.stride[k][far] = nest->stride[k][1];
        }
        nest = &other;
    }
    fc_stage g = { .nest = nest, .cell = cell, .scalars = s, .rounded = rounded, .half = half };
    g.rows = nest->ndim > 1 && nest->size[0] >= FC_LONG_ROW;
    g.all_linear = 1;
    g.plain_rows = g.rows;
    int64_t widest = 1;
    int turns = 0, brought = 0, others = 1, again = 0, only_again = nest->ndim == 2;
    for (int k = 0; k < nest->nops; ++k) {
        g.want[k] = k ? compute : stored;
        const int64_t size = fc_dt_size[nest->dtype[k]], wanted = fc_dt_size[g.want[k]];
        int64_t run = size;
        int linear = 1, fixed = 1;
        for (int d = 0; d < nest->ndim; ++d) {
            linear &= nest->stride[k][d] == run;
            fixed &= nest->stride[k][d] == 0;
            run *= nest->size[d];
        }
        widest = widest < size ? size : widest;
        widest = widest < wanted ? wanted : widest;
        g.same[k] = nest->dtype[k] == g.want[k] && !(rounded >> k & 1);
        g.linear[k] = linear;
        g.fixed[k] = k && fixed && nest->ndim > 0;
        g.along[k] = nest->ndim > 0 && nest->stride[k][0] == size;
        g.still[k] = k && g.same[k] && g.rows && nest->stride[k][0] == 0;
        g.plain_rows &= (g.same[k] && g.along[k]) || g.still[k];
        g.turned[k] = k && nest->ndim > 1 && nest->size[0] >= (nest == &other ? FC_TILE_ROWS : FC_LONG_ROW) && nest->size[1] >= FC_TILE_ROWS && !g.along[k] && nest->stride[k][0]
            && nest->stride[k][1] == size;
        turns |= g.turned[k];
        g.again[k] = k && nest->ndim == 2 && g.along[k] && nest->stride[k][1] == 0 && !(rounded >> k & 1);
        again |= g.again[k];
        only_again &= g.again[k] || (linear && g.same[k]);
        g.all_linear &= linear && g.same[k];
        g.past = k ? g.past && nest->data[k] != nest->data[0] : light && linear && g.same[0] && nest->total * size >= FC_PAST_CACHES;
        g.staged |= !(g.same[k] && (linear || (g.rows && g.along[k])));
        const int many = k && !g.along[k] && nest->ndim > 1 && (nest->stride[k][0] == 0 || nest->stride[k][1] == size);
        brought |= many;
        others &= many || (linear && g.same[k]);
    }
    g.block = FC_BLOCK_BYTES / widest;
    g.piece = FC_PIECE_BYTES / widest;
    const int scales = fc_is_scale(&g, compute);
    if (brought && others && !scales && !turns && g.rows && nest->size[0] <= FC_SHORT_OPERAND) { /* blocks of many rows are sooner brought */
        g.rows = g.plain_rows = 0;
        memset(g.still, 0, sizeof g.still);
    }
    if (!nest->total)
        return 0;
    if (!g.rows && nest->ndim > 1 && nest->size[0] < g.block) /* whole rows */
        g.block -= g.block % nest->size[0];
    if (nest->nops == 2 && only_again && g.again[1] && g.same[0] && g.same[1] && nest->size[0] * widest >= FC_TILE_BYTES) {
        fc_parallel(nest->total, FC_GRAIN, fc_stage_copies, &g);
        return g.fault;
    }
    if (again && only_again && 2 * nest->size[0] <= g.block) {
        g.block = g.block / nest->size[0] * nest->size[0];
        fc_parallel(nest->total, FC_GRAIN, fc_stage_again, &g);
        return g.fault;
    }
    /* no block is filled for the commonest of all, a row times a number */
    if (scales)
        g.scaled = g.still[1] ? 1 : 2;
    if (turns) {
        g.past = 0; /* stretches of a tile's row fill lines in two goes */
        g.tile = FC_TILE_BYTES / (widest < 4 ? 4 : widest);
        const int64_t n = nest->size[0], m = nest->size[1];
        fc_parallel(nest->total / n / m * ((m - 1) / FC_TILE_ROWS + 1), FC_GRAIN / (n * FC_TILE_ROWS) + 1, fc_stage_tiles, &g);
    } else {
        fc_parallel(nest->total, FC_GRAIN, fc_stage_range, &g);
    }
    return g.fault;
}

/* Staging: see stage.h. Blocks are 512 elements, so that four operands in two dtypes stay within L1. */
#include "facula.h"
#include "../cpu/gemm_blocks.h"
#include "../cpu/parallel.h"
#include "atomic.h"
#include "cast.h"
#include "stage.h"
#include "verb.h"

enum { FC_BLOCK = 512, FC_LONG_ROW = 64 };

typedef struct {
    const fc_nest *nest;
    fc_map_cell cell;
    const fc_scalar *scalars;
    int want[FC_NEST_OPERANDS];   /* dtype that the cell reads or writes */
    int linear[FC_NEST_OPERANDS]; /* walks memory as one run, in the wanted dtype */
    int along[FC_NEST_OPERANDS];  /* contiguous along dim 0, in the wanted dtype */
    int fixed[FC_NEST_OPERANDS];  /* one element for the whole nest */
    int still[FC_NEST_OPERANDS];  /* one element for each row, in the wanted dtype */
    int all_linear, rows, staged;
    int plain_rows;               /* every operand is along or still */
    int scaled;                   /* the operand that a row is multiplied by, or 0 */
    int fault;
} fc_stage;

typedef struct { _Alignas(64) char bytes[FC_BLOCK * 16]; } fc_block;

static char *fc_operand_at(const fc_nest *nest, int k, const fc_nest_at *at)
{
    char *p = nest->data[k];
    for (int d = 0; d < nest->ndim; ++d)
        p += at->index[d] * nest->stride[k][d];
    return p;
}

/* Brings `count` elements of operand k from `at` on into block, in the wanted dtype. */
static void fc_stage_in(const fc_stage *g, int k, const fc_nest_at *at, int64_t count, fc_block *block, fc_block *raw)
{
    const int have = g->nest->dtype[k], want = g->want[k];
    if (have == want) {
        fc_nest_gather(g->nest, k, at, count, block->bytes);
        return;
    }
    const int size = fc_dt_size[have];
    const char *from = raw->bytes;
    if (g->rows && g->nest->stride[k][0] == size)
        from = fc_operand_at(g->nest, k, at);
    else
        fc_nest_gather(g->nest, k, at, count, raw->bytes);
    fc_convert(want, block->bytes, have, from, count);
}

static void fc_stage_out(const fc_stage *g, const fc_nest_at *at, int64_t count, fc_block *block, fc_block *raw)
{
    const int have = g->nest->dtype[0], want = g->want[0];
    if (have == want) {
        fc_nest_scatter(g->nest, 0, at, count, block->bytes);
        return;
    }
    fc_convert(have, raw->bytes, want, block->bytes, count);
    fc_nest_scatter(g->nest, 0, at, count, raw->bytes);
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
                fc_fill_same(p[k], from[k], fc_dt_size[g->want[k]], left < FC_BLOCK ? left : FC_BLOCK);
            }
        }
        if (g->scaled)
            fc_gemm_kernel_for(g->want[0])->scale(p[0], p[3 - g->scaled], p[g->scaled], left);
        for (int64_t done = g->scaled ? left : 0; done < left;) {
            const int64_t count = g->staged && left - done > FC_BLOCK ? FC_BLOCK : left - done;
            g->cell(p[0], p[1], p[2], p[3], g->scalars, fault, count);
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

static void fc_stage_range(void *ctx, int64_t begin, int64_t end)
{
    fc_stage *g = ctx;
    const fc_nest *nest = g->nest;
    int fault = 0;
    if (g->plain_rows && !g->all_linear) {
        fc_stage_rows(g, begin, end, &fault);
        if (fault)
            fc_atomic_poke(&g->fault, 1);
        return;
    }
    if (g->all_linear) {
        char *p[FC_NEST_OPERANDS] = { 0 };
        for (int k = 0; k < nest->nops; ++k)
            p[k] = nest->data[k] + begin * fc_dt_size[g->want[k]];
        g->cell(p[0], p[1], p[2], p[3], g->scalars, &fault, end - begin);
        if (fault)
            fc_atomic_poke(&g->fault, 1);
        return;
    }
    fc_block block[FC_NEST_OPERANDS], raw;
    fc_nest_at at;
    fc_nest_seek(nest, begin, &at);
    for (int k = 1; k < nest->nops; ++k)
        if (g->fixed[k])
            fc_stage_in(g, k, &at, end - begin < FC_BLOCK ? end - begin : FC_BLOCK, &block[k], &raw);
    for (int64_t i = begin; i < end;) {
        int64_t count = end - i;
        if (g->staged && count > FC_BLOCK)
            count = FC_BLOCK;
        if (g->rows && count > nest->size[0] - at.index[0])
            count = nest->size[0] - at.index[0];
        char *p[FC_NEST_OPERANDS] = { 0 };
        int direct[FC_NEST_OPERANDS] = { 0 };
        for (int k = 0; k < nest->nops; ++k) {
            direct[k] = g->linear[k] || (g->rows && g->along[k]);
            if (g->linear[k])
                p[k] = nest->data[k] + i * fc_dt_size[g->want[k]];
            else if (direct[k])
                p[k] = fc_operand_at(nest, k, &at);
            else
                p[k] = block[k].bytes;
            if (k && !direct[k] && !g->fixed[k])
                fc_stage_in(g, k, &at, count, &block[k], &raw);
        }
        g->cell(p[0], p[1], p[2], p[3], g->scalars, &fault, count);
        if (!direct[0])
            fc_stage_out(g, &at, count, &block[0], &raw);
        fc_nest_step(nest, count, &at);
        i += count;
    }
    if (fault)
        fc_atomic_poke(&g->fault, 1);
}

int fc_stage_run(const fc_nest *nest, fc_map_cell cell, int compute, int stored, const fc_scalar *s)
{
    fc_stage g = { .nest = nest, .cell = cell, .scalars = s };
    g.rows = nest->ndim > 1 && nest->size[0] >= FC_LONG_ROW;
    g.all_linear = 1;
    g.plain_rows = g.rows;
    for (int k = 0; k < nest->nops; ++k) {
        g.want[k] = k ? compute : stored;
        const int64_t size = fc_dt_size[nest->dtype[k]];
        const int same = nest->dtype[k] == g.want[k];
        int64_t run = size;
        int linear = 1, fixed = 1;
        for (int d = 0; d < nest->ndim; ++d) {
            linear &= nest->stride[k][d] == run;
            fixed &= nest->stride[k][d] == 0;
            run *= nest->size[d];
        }
        g.linear[k] = same && linear;
        g.fixed[k] = k && fixed && nest->ndim > 0;
        g.along[k] = same && nest->ndim > 0 && nest->stride[k][0] == size;
        g.still[k] = k && same && g.rows && nest->stride[k][0] == 0;
        g.plain_rows &= g.along[k] || g.still[k];
        g.all_linear &= g.linear[k];
        g.staged |= !(g.linear[k] || (g.rows && g.along[k]));
    }
    if (!nest->total)
        return 0;
    /* no block is filled for the commonest of all, a row times a number */
    if (g.plain_rows && (compute == FC_F32 || compute == FC_F64) && g.still[1] != g.still[2] && cell == fc_cpu_map_cell(FC_OP_mul, compute))
        g.scaled = g.still[1] ? 1 : 2;
    fc_parallel(nest->total, FC_GRAIN, fc_stage_range, &g);
    return g.fault;
}

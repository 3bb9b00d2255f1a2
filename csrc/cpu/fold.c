/* Folds: which cell, which blocks, which threads. The order of fold.h is made here and in fold_cell.h, nowhere else. */
#include <math.h>
#include <string.h>

#include "../core/half.h"
#include "../core/status.h"
#include "fold_cell_type.h"
#include "parallel.h"

int fc_isa_level(void);

enum {
    TILE_BYTES = 1024,       /* accumulators of a column tile: 16 lanes of it are 16 KB, within L1 */
    LEVELS = 40,             /* of the block tree: 2**40 blocks are more than memory */
    SERIAL = 32768,          /* elements below which the pool costs more than it gives */
    SPLIT_FROM = 1 << 17,    /* elements from which one reduction may be cut into blocks for the threads */
    SPLIT_UNITS = 64         /* tiles and rows that keep the threads busy without that */
};

typedef struct {
    const fc_fold_cell *cell, *first;   /* first: a pass that makes the parameters of the second; or NULL */
    fc_fold_find find;
    int which, dtype, out_dtype;
    int64_t es;                         /* bytes of a stored element */
    int64_t outer, reduce, inner;
    int pairs;                          /* complex seen as two columns of reals */
    char *out, *out2;
    const char *x;
    double param;
    int64_t nblocks, tile, tiles;
    char *part, *params;                /* in scratch, when one reduction is cut into blocks */
} job;

static const fc_fold_cells *cells_of(int dtype)
{
    if (dtype < FC_F16 || dtype > FC_F64)
        return &fc_fold_exact[dtype];
    const int level = fc_isa_level();
    return (level >= 4 ? fc_fold_float_v4 : level == 3 ? fc_fold_float_v3 : fc_fold_float_v2) + (dtype - FC_F16);
}

static int real_of(int dtype) { return dtype == FC_C64 ? FC_F32 : dtype == FC_C128 ? FC_F64 : dtype; }

int fc_fold_result(int which, int dtype)
{
    const int number = !fc_is_int(dtype);
    switch (which) {
    case FC_FOLD_sum: case FC_FOLD_nansum: case FC_FOLD_prod:
        return which == FC_FOLD_nansum && fc_is_complex(dtype) ? -1 : number ? dtype : FC_I64;
    case FC_FOLD_mean: return number ? dtype : -1;
    case FC_FOLD_amax: case FC_FOLD_amin: case FC_FOLD_max_index: case FC_FOLD_min_index: return fc_is_complex(dtype) ? -1 : dtype;
    case FC_FOLD_any: case FC_FOLD_all: return FC_BOOL;
    case FC_FOLD_count_nonzero: return FC_I64;
    case FC_FOLD_argmax: case FC_FOLD_argmin: return fc_is_complex(dtype) ? -1 : FC_I64;
    case FC_FOLD_logsumexp: return fc_is_float(dtype) ? dtype : -1;
    case FC_FOLD_var: case FC_FOLD_std: case FC_FOLD_norm_p: return number ? real_of(dtype) : -1;
    }
    return -1;
}

int fc_fold_has_identity(int which)
{
    switch (which) {
    case FC_FOLD_amax: case FC_FOLD_amin: case FC_FOLD_argmax: case FC_FOLD_argmin: case FC_FOLD_max_index: case FC_FOLD_min_index:
        return 0;
    }
    return 1;
}

/* --- from accumulators to results ------------------------------------------------------------------------------- */

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

static void finish_f32(const job *q, f32 *a, int64_t n, const f32 *p)
{
    const f32 count = (f32)q->reduce, divisor = (f32)fmax(0, (double)q->reduce - q->param);
    for (int64_t k = 0; k < n; ++k)
        switch (q->which) {
        case FC_FOLD_mean: a[k] /= count; break;
        case FC_FOLD_var: a[k] /= divisor; break;
        case FC_FOLD_std: a[k] = q->pairs ? a[k] / divisor : sqrtf(a[k] / divisor); break;
        case FC_FOLD_logsumexp: a[k] = p[k] + logf(a[k]); break;
        case FC_FOLD_norm_p:
            if (q->param == 2)
                a[k] = sqrtf(a[k]);
            else if (q->param != 1 && q->param != 0 && isfinite(q->param))
                a[k] = powf(a[k], (f32)(1 / q->param));
            break;
        default: return;
        }
}

static void finish_f64(const job *q, f64 *a, int64_t n, const f64 *p)
{
    const f64 count = (f64)q->reduce, divisor = fmax(0, (f64)q->reduce - q->param);
    for (int64_t k = 0; k < n; ++k)
        switch (q->which) {
        case FC_FOLD_mean: a[k] /= count; break;
        case FC_FOLD_var: a[k] /= divisor; break;
        case FC_FOLD_std: a[k] = q->pairs ? a[k] / divisor : sqrt(a[k] / divisor); break;
        case FC_FOLD_logsumexp: a[k] = p[k] + log(a[k]); break;
        case FC_FOLD_norm_p:
            if (q->param == 2)
                a[k] = sqrt(a[k]);
            else if (q->param != 1 && q->param != 0 && isfinite(q->param))
                a[k] = pow(a[k], 1 / q->param);
            break;
        default: return;
        }
}

/* A complex variance is that of the real column plus that of the imaginary one. */
static int64_t add_pairs(const job *q, void *acc, int64_t n)
{
    if (q->dtype == FC_F32) {
        f32 *a = acc;
        for (int64_t k = 0; k < n / 2; ++k)
            a[k] = q->which == FC_FOLD_std ? sqrtf(a[2 * k] + a[2 * k + 1]) : a[2 * k] + a[2 * k + 1];
    } else {
        f64 *a = acc;
        for (int64_t k = 0; k < n / 2; ++k)
            a[k] = q->which == FC_FOLD_std ? sqrt(a[2 * k] + a[2 * k + 1]) : a[2 * k] + a[2 * k + 1];
    }
    return n / 2;
}

/* Stores accumulators 0 .. n, which are results at .. at + n (of columns, where a complex number is two). */
static void finish(const job *q, void *acc, int64_t at, int64_t n, const void *params)
{
    if (fc_is_float(q->out_dtype) || q->pairs) {
        if (q->cell->size == 4)
            finish_f32(q, acc, n, params);
        else
            finish_f64(q, acc, n, params);
    }
    if (q->pairs && (q->which == FC_FOLD_var || q->which == FC_FOLD_std)) {
        n = add_pairs(q, acc, n);
        at /= 2;
    }
    if (q->out_dtype == FC_F16 || q->out_dtype == FC_BF16) {
        uint16_t *out = (uint16_t *)q->out + at;
        const f32 *a = acc;
        for (int64_t k = 0; k < n; ++k)
            out[k] = q->out_dtype == FC_F16 ? fc_f16_of_f32(a[k]) : fc_bf16_of_f32(a[k]);
    } else
        memcpy(q->out + at * q->cell->size, acc, (size_t)(n * q->cell->size));
}

/* Parameters of the second pass from the accumulators of the first. */
static void parameters(const job *q, void *acc, int64_t at, int64_t n)
{
    if (q->which == FC_FOLD_logsumexp) {        /* the peak; an infinite one is not subtracted */
        for (int64_t k = 0; k < n; ++k)
            if (q->cell->size == 4)
                ((f32 *)acc)[k] = isinf(((f32 *)acc)[k]) ? 0 : ((f32 *)acc)[k];
            else
                ((f64 *)acc)[k] = isinf(((f64 *)acc)[k]) ? 0 : ((f64 *)acc)[k];
        return;
    }
    for (int64_t k = 0; k < n; ++k)             /* the mean */
        if (q->cell->size == 4)
            ((f32 *)acc)[k] /= (f32)q->reduce;
        else
            ((f64 *)acc)[k] /= (f64)q->reduce;
    if (q->out2)
        memcpy(q->out2 + at * q->cell->size, acc, (size_t)(n * q->cell->size));
}

/* --- one tile: `width` columns of one outer index, or `width` rows ------------------------------------------------ */

/* One block of a tile whose first element is x. */
static void block(const job *q, const fc_fold_cell *cell, void *dst, const char *x, int64_t b, int64_t width, const void *params, void *acc)
{
    const int64_t from = b * FC_FOLD_BLOCK, n = min64(FC_FOLD_BLOCK, q->reduce - from);
    if (q->inner == 1)
        cell->rows(dst, x + from * q->es, width, n, q->reduce, params);
    else
        cell->cols(dst, x + from * q->inner * q->es, n, q->inner, width, params, acc);
}

/* Blocks as they come, joined like carries of a binary counter: the same tree as level by level. */
static void tile_fold(const job *q, const fc_fold_cell *cell, void *dst, const char *x, int64_t width, const void *params)
{
    char acc[FC_FOLD_LANES * TILE_BYTES] __attribute__((aligned(64)));
    if (q->nblocks == 1) {
        block(q, cell, dst, x, 0, width, params, acc);
        return;
    }
    char tree[LEVELS][TILE_BYTES] __attribute__((aligned(64)));
    int depth = 0;
    for (int64_t b = 0; b < q->nblocks; ++b) {
        block(q, cell, tree[depth++], x, b, width, params, acc);
        for (int64_t carry = b + 1; carry % 2 == 0; carry /= 2, --depth)
            cell->join(tree[depth - 2], tree[depth - 1], width);
    }
    for (; depth > 1; --depth)
        cell->join(tree[depth - 2], tree[depth - 1], width);
    memcpy(dst, tree[0], (size_t)(width * cell->size));
}

/* A tile is `tile` rows where inner is 1, else `tile` columns of one outer index. */
static void tile_place(const job *q, int64_t t, const char **x, int64_t *at, int64_t *width)
{
    if (q->inner == 1) {
        *at = t * q->tile;
        *width = min64(q->tile, q->outer - *at);
        *x = q->x + *at * q->reduce * q->es;
    } else {
        const int64_t o = t / q->tiles, c = t % q->tiles * q->tile;
        *at = o * q->inner + c;
        *width = min64(q->tile, q->inner - c);
        *x = q->x + (o * q->reduce * q->inner + c) * q->es;
    }
}

static void locate(const job *q, const void *acc, const char *x, int64_t at, int64_t width)
{
    int64_t *index = (int64_t *)(q->which == FC_FOLD_argmax || q->which == FC_FOLD_argmin ? q->out : q->out2) + at;
    if (q->inner > 1)
        q->find(index, x, q->reduce, q->inner, width, acc);
    else
        for (int64_t r = 0; r < width; ++r)
            q->find(index + r, x + r * q->reduce * q->es, q->reduce, 1, 1, (const char *)acc + r * q->cell->size);
}

static void conclude(const job *q, void *acc, const char *x, int64_t at, int64_t width, const void *params)
{
    if (q->find)
        locate(q, acc, x, at, width);
    if (q->which != FC_FOLD_argmax && q->which != FC_FOLD_argmin)
        finish(q, acc, at, width, params);
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
            parameters(q, params, at, width);
        }
        tile_fold(q, q->cell, value, x, width, q->first ? params : q->params);
        conclude(q, value, x, at, width, params);
    }
}

/* --- few, long reductions: threads take blocks, then the tree ------------------------------------------------------ */

typedef struct { const job *q; const fc_fold_cell *cell; const void *params; } split;

static void blocks_run(void *ctx, int64_t begin, int64_t end)
{
    const split *s = ctx;
    const job *q = s->q;
    char acc[FC_FOLD_LANES * TILE_BYTES] __attribute__((aligned(64)));
    for (int64_t k = begin; k < end; ++k) {   /* k counts (outer, block, column tile) */
        const int64_t c = k % q->tiles * q->tile, b = k / q->tiles % q->nblocks, o = k / q->tiles / q->nblocks;
        const int64_t width = q->inner == 1 ? 1 : min64(q->tile, q->inner - c);
        const void *params = s->params ? (const char *)s->params + (o * q->inner + c) * s->cell->size : NULL;
        block(q, s->cell, q->part + ((o * q->nblocks + b) * q->inner + c) * s->cell->size,
              q->x + (o * q->reduce * q->inner + c) * q->es, b, width, params, acc);
    }
}

/* The result of outer index o lies in its first block's place afterwards. */
static void split_fold(const job *q, const fc_fold_cell *cell, const void *params)
{
    split s = {q, cell, params};
    fc_parallel(q->outer * q->nblocks * q->tiles, 4, blocks_run, &s);
    for (int64_t o = 0; o < q->outer; ++o) {
        const int64_t row = q->inner * cell->size;
        char *part = q->part + o * q->nblocks * row;
        for (int64_t step = 1; step < q->nblocks; step *= 2)
            for (int64_t b = 0; b + step < q->nblocks; b += 2 * step)
                cell->join(part + b * row, part + (b + step) * row, q->inner);
    }
}

static void split_run(job *q)
{
    const int64_t row = q->inner * q->cell->size;
    if (q->first) {
        split_fold(q, q->first, NULL);
        for (int64_t o = 0; o < q->outer; ++o) {
            memcpy(q->params + o * row, q->part + o * q->nblocks * row, (size_t)row);
            parameters(q, q->params + o * row, o * q->inner, q->inner);
        }
    }
    split_fold(q, q->cell, q->first ? q->params : NULL);
    for (int64_t o = 0; o < q->outer; ++o)
        conclude(q, q->part + o * q->nblocks * row, q->x + o * q->reduce * q->inner * q->es, o * q->inner, q->inner,
                 q->first ? q->params + o * row : NULL);
}

/* --- the door ------------------------------------------------------------------------------------------------------ */

static int choose(job *q)
{
    if (fc_is_complex(q->dtype) && (q->which == FC_FOLD_sum || q->which == FC_FOLD_mean || q->which == FC_FOLD_var || q->which == FC_FOLD_std)) {
        q->pairs = 1;
        q->inner *= 2;
        q->dtype = real_of(q->dtype);
    }
    q->es = fc_dt_size[q->dtype];
    const fc_fold_cells *cells = cells_of(q->dtype);
    switch (q->which) {
    case FC_FOLD_sum: case FC_FOLD_mean: q->cell = cells->sum; break;
    case FC_FOLD_nansum: q->cell = cells->nansum; break;
    case FC_FOLD_prod: q->cell = cells->prod; break;
    case FC_FOLD_any: q->cell = cells->any; break;
    case FC_FOLD_all: q->cell = cells->all; break;
    case FC_FOLD_count_nonzero: q->cell = cells->count; break;
    case FC_FOLD_argmax: case FC_FOLD_max_index: q->find = cells->find; q->cell = cells->amax; break;
    case FC_FOLD_argmin: case FC_FOLD_min_index: q->find = cells->find; q->cell = cells->amin; break;
    case FC_FOLD_amax: q->cell = cells->amax; break;
    case FC_FOLD_amin: q->cell = cells->amin; break;
    case FC_FOLD_logsumexp: q->first = cells->amax; q->cell = cells->sumexp; break;
    case FC_FOLD_var: case FC_FOLD_std: q->first = cells->sum; q->cell = cells->devsq; break;
    case FC_FOLD_norm_p:
        q->cell = q->param == 2 ? cells->sumsq : q->param == 1 ? cells->sumabs : q->param == INFINITY ? cells->maxabs
                : q->param == -INFINITY ? cells->minabs : cells->sumpow;
        break;
    default: return 0;
    }
    return q->cell != NULL;
}

static void measure(job *q)
{
    q->nblocks = q->reduce <= FC_FOLD_BLOCK ? 1 : (q->reduce + FC_FOLD_BLOCK - 1) / FC_FOLD_BLOCK;
    q->tile = TILE_BYTES / (q->cell->size > q->es ? q->cell->size : q->es);
    if (q->inner == 1 && q->tile * q->reduce > SERIAL / 2)
        q->tile = q->reduce > SERIAL / 2 ? 1 : SERIAL / 2 / q->reduce;
    q->tiles = q->inner == 1 ? 1 : (q->inner + q->tile - 1) / q->tile;
}

static int splits(const job *q)
{
    return q->nblocks > 1 && q->outer * q->tiles < SPLIT_UNITS && q->outer * q->reduce * q->inner >= SPLIT_FROM;
}

size_t fc_fold_scratch(int which, int dtype, int64_t outer, int64_t reduce, int64_t inner)
{
    if (reduce <= FC_FOLD_BLOCK)
        return 0;
    job q = {.which = which, .dtype = dtype, .outer = outer, .reduce = reduce, .inner = inner, .param = 2};
    if (!choose(&q))
        return 0;
    measure(&q);
    return splits(&q) ? (size_t)(q.outer * (q.nblocks + 1) * q.inner * 16 + 64) : 0;
}

/* One short row: no tiles, no threads, none of the divisions that plan them. Half of the time of a sum of eight elements. */
static int one_row(const job *q)
{
    char value[16] __attribute__((aligned(16))), params[16] __attribute__((aligned(16)));
    if (q->first) {
        q->first->rows(params, q->x, 1, q->reduce, q->reduce, NULL);
        parameters(q, params, 0, 1);
    }
    q->cell->rows(value, q->x, 1, q->reduce, q->reduce, q->first ? params : NULL);
    conclude(q, value, q->x, 0, 1, params);
    return FC_OK;
}

int fc_fold_run(int which, int dtype, int out_dtype, void *out, void *out2, const void *x,
                int64_t outer, int64_t reduce, int64_t inner, double param, void *scratch)
{
    const int result = fc_fold_result(which, dtype);
    if (result < 0 || (out_dtype != result && !(fc_is_half(result) && out_dtype == FC_F32)))
        return fc_fail(FC_DTYPE, dtype, out_dtype, 0, 0);
    job q = {.which = which, .dtype = dtype, .out_dtype = out_dtype, .out = out, .out2 = out2, .x = x,
             .outer = outer, .reduce = reduce, .inner = inner, .param = param};
    if (outer == 0 || inner == 0)
        return FC_OK;
    if (!choose(&q))
        return fc_fail(FC_DTYPE, dtype, out_dtype, 0, 0);
    if (q.outer * q.inner == 1 && q.reduce <= FC_FOLD_BLOCK && q.cell != cells_of(q.dtype)->sumpow)
        return one_row(&q);
    measure(&q);

    f64 exponent[TILE_BYTES / 8];               /* norm: the same p for every output of a tile */
    if (q.cell == cells_of(q.dtype)->sumpow && q.which == FC_FOLD_norm_p) {
        const int64_t n = TILE_BYTES / q.cell->size;
        for (int64_t k = 0; k < n; ++k)
            if (q.cell->size == 4)
                ((f32 *)exponent)[k] = (f32)param;
            else
                exponent[k] = param;
        q.params = (char *)exponent;
    } else if (scratch && splits(&q)) {
        q.part = scratch;
        q.params = q.part + q.outer * q.nblocks * q.inner * 16;
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

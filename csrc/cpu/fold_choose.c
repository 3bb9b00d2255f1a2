/* Which cells a fold runs: those of its operation and dtype at this machine's level, and how halves and powers come to them. */
#include <math.h>

#include "../core/cast.h"
#include "../core/copy_nest.h"
#include "fold_job.h"

int fc_isa_level(void);

static const fc_fold_cells *cells_of(int dtype)
{
    const int tuned = fc_isa_level() >= 3;
    if (fc_is_complex(dtype))
        return (tuned ? fc_fold_complex_v3 : fc_fold_complex_v2) + (dtype - FC_C64);
    return fc_is_int(dtype) ? (tuned ? fc_fold_exact_v3 : fc_fold_exact_v2) + dtype : (tuned ? fc_fold_float_v3 : fc_fold_float_v2) + (dtype - FC_F32);
}

/* The same of level v4, which has only cells that gain by it; NULL elsewhere. */
static const fc_fold_cells *wide_of(int dtype)
{
    static const fc_fold_cells none;
    if (fc_isa_level() < 4)
        return &none;
    if (fc_is_complex(dtype))
        return fc_fold_complex_v4 + (dtype - FC_C64);
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

void fc_fold_lay(const fc_fold_job *q, void *to, const void *x, int64_t n)
{
    if (!q->second) {
        q->stage(to, x, n, q->param);
        return;
    }
    const int size = (int)(q->es / 2);
    if (!q->stage) {
        fc_seconds(to, x, size, n);
        return;
    }
    char some[512 * sizeof(f64)];
    for (int64_t k = 0; k < n; k += 512) {
        const int64_t m = min64(512, n - k);
        fc_seconds(some, (const char *)x + k * q->es, size, m);
        q->stage((char *)to + k * q->staged, some, m, q->param);
    }
}

/* Halves are widened a block at a time; of the extremes so far and those of the block the extremes are found by the same loop. */
static void both_of_halves(int dtype, uint16_t *least, uint16_t *greatest, const uint16_t *x, int64_t n)
{
    const fc_fold_extremes both = WIDEST(FC_F32, extremes);
    f32 wide[2048 + 2], low, high;
    for (int64_t k = 0; k < n; k += 2048) {
        const int64_t some = min64(2048, n - k), before = k ? 2 : 0;
        fc_convert(FC_F32, wide, dtype, x + k, some);
        if (before)
            wide[some] = low, wide[some + 1] = high;
        both(&low, &high, wide, some + before);
    }
    fc_convert(dtype, least, FC_F32, &low, 1);
    fc_convert(dtype, greatest, FC_F32, &high, 1);
}

int fc_fold_both(int dtype, void *least, void *greatest, const void *x, int64_t n)
{
    if (fc_is_half(dtype)) {
        both_of_halves(dtype, least, greatest, x, n);
        return 1;
    }
    const fc_fold_extremes both = WIDEST(dtype, extremes);
    if (both)
        both(least, greatest, x, n);
    return both != NULL;
}

int fc_fold_choose(fc_fold_job *q)
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
    q->es = (int64_t)fc_dt_size[stored] << q->second;
    if (fc_is_half(stored)) {
        q->stage = stored == FC_F16 ? widen_f16 : widen_bf16;
        q->dtype = FC_F32;
    }
    const fc_fold_cells *cells = cells_of(q->dtype);
    switch (q->which) {
    case FC_FOLD_sum: case FC_FOLD_mean:
        q->cell = WIDEST(q->dtype, sum);
        if (q->stage && fc_isa_level() >= 3) {
            q->stage = NULL;
            q->cell = stored == FC_F16 ? fc_isa_level() > 3 ? &fc_fold_sum_f16_v4 : &fc_fold_sum_f16_v3
                    : fc_isa_level() > 3 ? &fc_fold_sum_bf16_v4 : &fc_fold_sum_bf16_v3;
        }
        break;
    case FC_FOLD_nansum: q->cell = WIDEST(q->dtype, nansum); break;
    case FC_FOLD_prod: q->cell = WIDEST(q->dtype, prod); break;
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
    q->staged = fc_dt_size[q->stage ? q->dtype : stored];
    return q->cell != NULL;
}

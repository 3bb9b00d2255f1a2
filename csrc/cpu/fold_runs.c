/*
 * Folds over several dims whose last ones are long: each run of them is a fold of its own, of rows or of columns, whichever memory has, and
 * the runs are joined by halves. A turned matrix is read in the order of memory, as columns; nothing is copied.
 */
#include <string.h>

#include "../core/atomic.h"
#include "../core/status.h"
#include "../include/facula.h"
#include "fold_job.h"
#include "parallel.h"

enum { ALONE = 8192 }; /* elements below which the pool costs more than it gives */

int fc_fold_takes_runs(int which)
{
    return which != FC_FOLD_argmax && which != FC_FOLD_argmin && which != FC_FOLD_max_index && which != FC_FOLD_min_index;
}

/* What `outer` folds of runs are: one fold of all runs, where those of an outer index follow those of the one before; else as many of
 * those of one outer index. */
typedef struct {
    fc_fold_form form;
    int64_t runs, per, folds; /* per: accumulators of one outer index; folds: how often the form is folded */
    int same;                 /* one run, shown again and again, is folded once */
} plan;

static plan plan_of(const fc_fold_job *q, const fc_fold_form *f)
{
    plan p = {.form = *f, .runs = f->reduce / f->run, .folds = 1, .same = f->run_step == 0};
    p.per = p.runs * f->inner * q->pairs;
    p.form.reduce = f->run;
    p.form.run = p.form.run_step = 0;
    if (p.same && f->step == 0 && f->inner == 1) { /* of one element, shown again and again too */
        p.form.run = p.form.step = 1;
    } else if (f->inner == 1 && f->step != 1 && !p.same) { /* turned: a column for each run */
        p.form.inner = p.runs;
    } else if (!p.same) {
        const int together = f->outer == 1 || f->outer_step == p.runs * f->run_step;
        p.folds = together ? 1 : f->outer;
        p.form.outer = together ? f->outer * p.runs : p.runs;
        p.form.outer_step = f->run_step;
    }
    return p;
}

/* A pass over the runs: their accumulators to part, those of each outer index joined to its first. */
typedef struct {
    const fc_fold_job *q;
    const plan *p;
    int dtype, first, failed; /* first: the pass that makes the parameters of the second */
    char *part, *scratch;
    const char *given;
} pass;

static fc_fold_job job_of(const fc_fold_job *q, const plan *p, int dtype, int first)
{
    fc_fold_job sub = fc_fold_job_of(q->which, dtype, &p->form, q->param);
    fc_fold_choose(&sub);
    if (first)
        sub.cell = sub.first;
    sub.first = NULL;
    sub.raw = 1;
    fc_fold_measure(&sub);
    return sub;
}

static int fold(const pass *s, int64_t o, char *scratch)
{
    const int64_t at = o * s->p->per * s->q->cell->size;
    fc_fold_job sub = job_of(s->q, s->p, s->dtype, s->first);
    sub.x += o * s->q->outer_step * s->q->es * s->q->pairs;
    sub.out = s->part + at;
    sub.given = s->given ? s->given + at : NULL;
    return fc_fold_plain(&sub, scratch);
}

static void each_alone(void *ctx, int64_t begin, int64_t end)
{
    pass *s = ctx;
    for (int64_t o = begin; o < end; ++o)
        if (fold(s, o, NULL))
            fc_atomic_set(&s->failed, 1);
}

static int fold_all(pass *s)
{
    const plan *p = s->p;
    int bad = FC_OK;
    if (p->folds > 1 && p->folds >= fc_get_num_threads()) {
        fc_parallel(p->folds, 1 + ALONE / (s->q->reduce * s->q->inner), each_alone, s);
        return s->failed ? fc_fail(FC_MEMORY, 0, 0, 0, 0) : FC_OK;
    }
    for (int64_t o = 0; !bad && o < p->folds; ++o)
        bad = fold(s, o, s->scratch);
    return bad;
}

/* One value of each outer index becomes that of all its runs, which are the same. */
static void repeat(char *part, const plan *p, int64_t outer, int64_t row)
{
    for (int64_t o = outer - 1; o >= 0; --o)
        for (int64_t k = p->runs - 1; k >= 0; --k)
            memmove(part + (o * p->runs + k) * row, part + o * row, (size_t)row);
}

static int run(pass *s)
{
    const fc_fold_job *q = s->q;
    const fc_fold_cell *cell = s->first ? q->first : q->cell;
    const int64_t runs = s->p->runs, width = s->p->per / runs, row = width * cell->size;
    const int bad = fold_all(s);
    if (bad)
        return bad;
    if (s->p->same)
        repeat(s->part, s->p, q->outer, row);
    for (int64_t o = 0; o < q->outer; ++o)
        fc_fold_halves(cell, s->part + o * runs * row, runs, width);
    return FC_OK;
}

static int64_t lines(int64_t bytes) { return (bytes + 63) / 64 * 64; }

int64_t fc_fold_runs_scratch(const fc_fold_job *q, int dtype, const fc_fold_form *form)
{
    const plan p = plan_of(q, form);
    const fc_fold_job sub = job_of(q, &p, dtype, 0);
    return lines(q->outer * p.per * q->cell->size) * (q->first ? 2 : 1) + lines(q->outer * p.per / p.runs * q->cell->size) + fc_fold_plain_scratch(&sub);
}

int fc_fold_runs(fc_fold_job *q, int dtype, const fc_fold_form *form, char *scratch)
{
    const plan p = plan_of(q, form);
    const int64_t size = q->cell->size, width = p.per / p.runs, row = width * size;
    char *const params = scratch + lines(q->outer * p.per * size), *const given = params + lines(q->outer * row);
    pass s = {.q = q, .p = &p, .dtype = dtype, .part = scratch, .scratch = given + (q->first ? lines(q->outer * p.per * size) : 0)};
    int bad = FC_OK;
    if (q->first) {
        s.first = 1;
        bad = run(&s);
        for (int64_t o = 0; !bad && o < q->outer; ++o) {
            memcpy(params + o * row, s.part + o * p.runs * row, (size_t)row);
            fc_fold_parameters(q, params + o * row, o * width, width);
        }
        memcpy(given, params, (size_t)(q->outer * row));
        if (!p.same)
            repeat(given, &p, q->outer, row);
        s.first = 0;
        s.given = given;
    }
    bad = bad ? bad : run(&s);
    for (int64_t o = 0; !bad && o < q->outer; ++o)
        fc_fold_conclude(q, s.part + o * p.runs * row, NULL, o * width, width, q->first ? params + o * row : NULL);
    return bad;
}

int fc_fold_joins(int which)
{
    return which == FC_FOLD_sum || which == FC_FOLD_nansum || which == FC_FOLD_prod || which == FC_FOLD_mean;
}

void fc_fold_join(int which, int dtype, int out_dtype, void *out, void *part, int64_t runs, int64_t width, int64_t reduce)
{
    const fc_fold_form f = fc_fold_dense(NULL, 1, reduce, width);
    fc_fold_job q = fc_fold_job_of(which, dtype, &f, 0);
    fc_fold_choose(&q);
    q.out_dtype = out_dtype;
    q.out = out;
    fc_fold_halves(q.cell, part, runs, width * q.pairs);
    fc_fold_conclude(&q, part, NULL, 0, width * q.pairs, NULL);
}

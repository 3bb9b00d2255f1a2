/* fc_own and fc_own_n: the road of ops with a kernel of their own. See call.h for what a kernel may rely on. */
#include <pthread.h>
#include <string.h>

#include "facula.h"
#include "alloc.h"
#include "call.h"
#include "copy_nest.h"
#include "memory_format.h"
#include "nest.h"
#include "own.h"
#include "verb.h"

/* What the signature says of tensor arguments: which are lists, which are written in place. */
typedef struct { uint8_t count, nlists, list[16], written[16]; } fc_own_args;

static fc_own_args fc_args[FC_NOPS];
static pthread_once_t fc_args_once = PTHREAD_ONCE_INIT;

static void fc_read_signatures(void)
{
    for (int op = 0; op < FC_NOPS; ++op) {
        fc_own_args *a = &fc_args[op];
        const char *p = fc_ops[op].signature;
        while ((p = strstr(p, "Tensor")) != NULL && a->count < 16) {
            p += strlen("Tensor");
            const size_t words = strcspn(p, " ");
            const int k = a->count++;
            a->list[k] = strncmp(p, "[]", 2) == 0;
            a->written[k] = memchr(p, '!', words) != NULL;
            a->nlists = (uint8_t)(a->nlists + a->list[k]);
        }
    }
}

int fc_declare(fc_call *c, int k, int dtype, int ndim, const int64_t *shape)
{
    if (k >= FC_MAX_OUT || ndim > FC_MAX_DIMS)
        return fc_fail(FC_RANK, k, ndim, FC_MAX_DIMS, 0);
    if (dtype < 0 || dtype >= FC_NDTYPES || (!c->nt && fc_is_float8(dtype))) /* a row that needs one got none, or counts in one that has no arithmetic */
        return fc_fail(FC_DTYPE, dtype, 0, 0, 0);
    fc_spec *s = &c->spec[k];
    s->dtype = dtype;
    s->ndim = ndim;
    s->format = 0;
    s->direct = 0;
    s->strided = 0;
    s->half = 0;
    for (int d = 0; d < ndim; ++d)
        s->shape[d] = shape[d];
    if (k >= c->nout)
        c->nout = k + 1;
    return FC_OK;
}

enum { FC_FEW = 16 };

typedef struct {
    fc_tensor *few_staged[FC_FEW], *few_written[FC_FEW];
    fc_tensor **staged;  /* what the kernel sees; a new reference where it differs from the argument */
    fc_tensor **written; /* arguments to copy back into, where staged */
    fc_tensor **given;
    int nt;
    void *block;         /* of the two lists when they are long */
} fc_staging;

static int fc_stage_arguments(fc_staging *s, const fc_own_args *a, const fc_call *c)
{
    int list = 0, k = 0;
    for (int arg = 0; arg < a->count; ++arg) {
        const int width = a->list[arg] ? c->len[list++] : 1;
        for (int j = 0; j < width && k < s->nt; ++j, ++k) {
            fc_tensor *t = s->given[k];
            s->staged[k] = t;
            if (!t)
                continue;
            if (a->written[arg] && !fc_may_write(t))
                return fc_fail(FC_READONLY, k, 0, 0, 0);
            if (a->written[arg] && fc_overlaps_itself(t))
                return fc_fail(FC_OVERLAP, k, 0, 0, 0);
            const unsigned bit = k < 32 ? 1u << k : 0;
            const int dtype = c->halves & bit ? t->dtype : fc_compute_dtype(t->dtype), lies = (c->as_is & bit) != 0;
            if (((t->contiguous || lies) && dtype == t->dtype) || fc_op_has(c->op, FC_TRAIT_AS_IT_LIES))
                continue;
            s->staged[k] = fc_to(t, dtype, lies, 1);
            if (!s->staged[k]) {
                s->staged[k] = t;
                return fc_status();
            }
            if (a->written[arg])
                s->written[k] = t;
        }
    }
    return FC_OK;
}

static int fc_unstage(fc_staging *s, int copy_back)
{
    int bad = FC_OK;
    for (int k = 0; k < s->nt; ++k) {
        if (s->staged[k] == s->given[k] || !s->staged[k])
            continue;
        if (copy_back && s->written[k] && !bad)
            bad = fc_copy(s->written[k], s->staged[k]);
        fc_free(s->staged[k]);
    }
    return bad;
}

/* What was staged has been bumped by copying back. */
static void fc_bump_written(const fc_staging *s, const fc_own_args *a, const fc_call *c)
{
    for (int arg = 0, list = 0, k = 0; arg < a->count; ++arg) {
        const int end = k + (a->list[arg] ? c->len[list++] : 1);
        for (; k < end && k < s->nt; ++k)
            if (a->written[arg] && s->given[k] && !s->written[k])
                fc_bump(s->given[k]);
    }
}

/* A result in the format that was declared: 1 as the first argument lies. */
static fc_tensor *fc_arranged(fc_tensor *result, const fc_spec *spec, fc_tensor *const *given)
{
    if (spec->format != 1)
        return fc_to(result, spec->dtype, spec->format, 1);
    fc_tensor *t = fc_empty_like(given[0], spec->dtype, 1);
    if (t)
        fc_copy_nest(t, result);
    return t;
}

/* Arguments staged, computed, results in their dtypes and formats; on failure without results. */
static int fc_own_compute(fc_call *c, int device, fc_tensor **t)
{
    const fc_own_args *a = &fc_args[c->op];
    const int op = c->op, as_is = fc_op_has(op, FC_TRAIT_AS_IT_LIES);
    int bad = FC_OK;
    for (int k = 0; k < c->nout; ++k)
        c->out[k] = NULL;
    fc_staging s = { .nt = c->nt, .given = t };
    s.staged = s.few_staged;
    s.written = s.few_written;
    const int64_t bytes = 2 * c->nt * (int64_t)sizeof(fc_tensor *);
    if (c->nt > FC_FEW) {
        s.block = fc_alloc(bytes);
        if (!s.block)
            return fc_fail(FC_MEMORY, bytes, 0, 0, 0);
        s.staged = s.block;
        s.written = s.staged + c->nt;
    }
    for (int k = 0; k < c->nt; ++k)
        s.staged[k] = t[k], s.written[k] = NULL;
    fc_tensor *narrow[FC_MAX_OUT] = { 0 };
    for (int k = 0; k < c->nout && !bad; ++k) {
        const fc_spec *spec = &c->spec[k];
        const int stays = device == FC_META || as_is || spec->half, dtype = stays ? spec->dtype : fc_compute_dtype(spec->dtype);
        c->out[k] = !k && c->into ? (fc_retain(c->into), c->into)
                  : spec->direct && spec->format != 1 ? fc_new_formed(dtype, device, spec->ndim, spec->shape, spec->format)
                  : (as_is || spec->direct) && spec->format ? fc_empty_like(t[0], dtype, spec->format)
                                                            : fc_new(dtype, device, spec->ndim, spec->shape);
        bad = c->out[k] ? FC_OK : FC_MEMORY;
    }
    if (!bad && device != FC_META) {
        bad = fc_stage_arguments(&s, a, c);
        c->t = s.staged;
        c->scratch = NULL;
        if (!bad && c->scratch_bytes && !(c->scratch = fc_arena(c->scratch_bytes)))
            bad = fc_fail(FC_MEMORY, (int64_t)c->scratch_bytes, 0, 0, 0);
        if (!bad)
            bad = fc_own_cpu[op](c);
        const int code = fc_status();
        const int64_t d[4] = { fc_status_detail(0), fc_status_detail(1), fc_status_detail(2), fc_status_detail(3) };
        const int late = fc_unstage(&s, !bad);
        if (bad)
            fc_fail(code, d[0], d[1], d[2], d[3]);
        else
            bad = late;
    }
    for (int k = 0; k < c->nout && !bad; ++k)
        if (c->out[k]->dtype != c->spec[k].dtype || (c->spec[k].format && !as_is && !c->spec[k].direct)) { /* halves: rounded once, here */
            narrow[k] = fc_arranged(c->out[k], &c->spec[k], t);
            bad = narrow[k] ? FC_OK : FC_MEMORY;
            if (!bad) {
                fc_free(c->out[k]);
                c->out[k] = narrow[k];
            }
        }
    if (!bad)
        fc_bump_written(&s, a, c);
    if (s.block)
        fc_dealloc(s.block, bytes);
    for (int k = 0; bad && k < c->nout; ++k) {
        fc_free(c->out[k]);
        c->out[k] = NULL;
    }
    return bad;
}

enum {
    FC_SLAB = 32 << 10, /* elements, for each thread: what is staged and what comes out stay in the second cache */
    FC_SLAB_RUN = 64    /* of them side by side, at least */
};

/* Where the call is to be cut: the first dim whose slices are small, or the longest. -1 where it is not: it may not be, is small, or nothing
 * is staged. */
static int fc_slab_dim(const fc_call *c, int device, fc_tensor *const *t, int64_t *length)
{
    if (!c->slabs || device == FC_META)
        return -1;
    const fc_tensor *x = NULL;
    int staged = 0, dim = -1;
    for (int k = 0; k < c->nt; ++k)
        if (t[k] && c->cut >> k & 1) {
            staged |= !t[k]->contiguous || fc_is_half(t[k]->dtype);
            x = !x || t[k]->numel > x->numel ? t[k] : x;
        }
    const int64_t most = FC_SLAB * fc_get_num_threads();
    if (!staged || x->numel <= 2 * most)
        return -1;
    for (int k = 0; k < c->nout; ++k)
        if (c->spec[k].format)
            return -1;
    for (int d = 0; d < x->ndim; ++d)
        if (c->slabs & fc_dim_bit(d) && (dim < 0 || x->shape[d] > x->shape[dim])) {
            dim = d;
            if (x->numel / x->shape[d] <= most)
                break;
        }
    if (dim < 0)
        return -1;
    int64_t within = 1, before = 1;
    for (int d = 0; d < x->ndim; ++d)
        *(d < dim ? &before : &within) *= d == dim ? 1 : x->shape[d];
    *length = most / (before * within);
    *length = *length < 1 ? 1 : *length;
    return *length < x->shape[dim] && (before == 1 || *length * within >= FC_SLAB_RUN) ? dim : -1;
}

/* Part of t along a dim. */
static fc_tensor *fc_slab(fc_tensor *t, int dim, int64_t from, int64_t length)
{
    int64_t shape[FC_MAX_DIMS];
    memcpy(shape, t->shape, (size_t)t->ndim * sizeof *shape);
    shape[dim] = length;
    return fc_new_view(t, t->ndim, shape, t->stride, t->offset + from * t->stride[dim]);
}

static int fc_own_slabs(fc_call *c, int device, fc_tensor **t, int dim, int64_t slab)
{
    const int64_t n = c->spec[0].shape[dim];
    int bad = FC_OK;
    for (int k = 0; k < c->nout; ++k) {
        c->out[k] = fc_new(c->spec[k].dtype, device, c->spec[k].ndim, c->spec[k].shape);
        bad = c->out[k] ? bad : FC_MEMORY;
    }
    for (int64_t from = 0; from < n && !bad; from += slab) {
        const int64_t length = n - from < slab ? n - from : slab;
        fc_call part = *c;
        fc_tensor *of[FC_FEW] = { NULL };
        for (int k = 0; k < c->nt && !bad; ++k)
            if (t[k]) {
                of[k] = c->cut >> k & 1 ? fc_slab(t[k], dim, from, length) : (fc_retain(t[k]), t[k]);
                bad = of[k] ? FC_OK : FC_MEMORY;
            }
        for (int k = 0; k < c->nout; ++k)
            if (!(c->whole >> k & 1))
                part.spec[k].shape[dim] = length;
        part.t = of;
        const int done = !bad && !(bad = fc_own_compute(&part, device, of));
        for (int k = 0; k < c->nout && done; ++k) {
            fc_tensor *to = c->whole >> k & 1 ? NULL : fc_slab(c->out[k], dim, from, length);
            if (to)
                fc_copy_nest(to, part.out[k]);
            bad = to || c->whole >> k & 1 ? bad : FC_MEMORY;
            fc_free(to);
            fc_free(part.out[k]);
        }
        for (int k = 0; k < c->nt; ++k)
            fc_free(of[k]);
    }
    for (int k = 0; bad && k < c->nout; ++k)
        fc_free(c->out[k]);
    return bad;
}

/* Can the kernel write its first result where the caller wants it? It lies as a new tensor would, and no argument lies there, but for the one that
 * the row may write over, wherever that begins. */
static int fc_takes_result(const fc_call *c, fc_tensor *out, int device, fc_tensor *const *t)
{
    const fc_spec *spec = &c->spec[0];
    const int stays = fc_op_has(c->op, FC_TRAIT_AS_IT_LIES) || spec->half;
    if (!c->nout || device == FC_META || spec->format || (!out->contiguous && !(spec->strided && out == t[0])) || FC_IS_STALE(out) || ((!c->nt || out != t[0]) && (uintptr_t)out->data % FC_LINE))
        return 0;
    if (out->dtype != spec->dtype || !(stays || fc_compute_dtype(spec->dtype) == spec->dtype))
        return 0;
    for (int k = 0; k < c->nt; ++k)
        if (t[k] && t[k]->storage == out->storage && !(k == 0 && fc_op_has(c->op, FC_TRAIT_OVER) && t[0] == out))
            return 0;
    return 1;
}

static fc_tensor *fc_own_run(fc_call *c, fc_tensor *out, fc_tensor **t)
{
    pthread_once(&fc_args_once, fc_read_signatures);
    const fc_own_args *a = &fc_args[c->op];
    int device;
    for (int k = 0; a->nlists && k < c->nt; ++k) /* a list has no gaps: None among its tensors arrives as NULL */
        if (!t[k]) {
            fc_fail(FC_ARG, k, 0, 0, 0);
            return NULL;
        }
    if (fc_check_operands(c->nt, t, &device))
        return NULL;
    if (c->nt && t[0] && !a->list[0] && !fc_op_takes(c->op, t[0]->dtype)) {
        fc_fail(FC_DTYPE, t[0]->dtype, 0, 0, 0);
        return NULL;
    }
    c->t = t;
    if (fc_own_infer[c->op](c) || (out && c->nout && fc_check_out(out, c->spec[0].dtype, device, c->spec[0].ndim, c->spec[0].shape)))
        return NULL;
    int64_t slab;
    const int dim = fc_slab_dim(c, device, t, &slab);
    c->into = out && dim < 0 && fc_takes_result(c, out, device, t) ? out : NULL;
    if (dim >= 0 ? fc_own_slabs(c, device, t, dim, slab) : fc_own_compute(c, device, t))
        return NULL;
    for (int k = 1; k < c->nout; ++k)
        fc_leave_result(k, c->out[k]);
    if (c->nout == 0) { /* works in place only: hand back its first argument */
        fc_retain(t[0]);
        return t[0];
    }
    if (c->into) {
        fc_bump(out);
        return out;
    }
    return fc_deliver(out, c->out[0]);
}

/* List lengths lead the integers. */
fc_tensor *fc_own_n(int op, fc_tensor *out, int nt, fc_tensor **t, int ni, const int64_t *i, int nd, const double *d)
{
    fc_call c;
    pthread_once(&fc_args_once, fc_read_signatures);
    const int lists = fc_args[op].nlists;
    if (ni - lists > FC_MAX_INTS || nd > FC_MAX_DOUBLES || ni < lists || !fc_own_infer[op]) {
        fc_fail(FC_ARG, 0, ni, FC_MAX_INTS, 0);
        return NULL;
    }
    c.op = op;
    c.nt = nt;
    c.nlists = lists;
    c.ni = ni - lists;
    c.nd = nd;
    c.nout = 0;
    c.as_is = 0;
    c.halves = 0;
    c.slabs = 0;
    c.scratch_bytes = 0;
    for (int k = 0; k < lists; ++k)
        c.len[k] = (int)i[k];
    for (int k = 0; k < c.ni; ++k)
        c.i[k] = i[lists + k];
    for (int k = 0; k < nd; ++k)
        c.d[k] = d[k];
    return fc_own_run(&c, out, t);
}

fc_tensor *fc_own(int op, fc_tensor *out, fc_tensor *t0, fc_tensor *t1, fc_tensor *t2, fc_tensor *t3,
                  int64_t i0, int64_t i1, int64_t i2, int64_t i3, int64_t i4, int64_t i5, double d0, double d1)
{
    fc_call c;
    pthread_once(&fc_args_once, fc_read_signatures);
    if (!fc_own_infer[op]) {
        fc_fail(FC_ARG, 0, op, 0, 0);
        return NULL;
    }
    fc_tensor *t[4] = { t0, t1, t2, t3 };
    c.op = op;
    c.nt = fc_args[op].count;
    c.nlists = 0;
    c.ni = 6;
    c.nd = 2;
    c.nout = 0;
    c.as_is = 0;
    c.halves = 0;
    c.slabs = 0;
    c.scratch_bytes = 0;
    c.i[0] = i0, c.i[1] = i1, c.i[2] = i2, c.i[3] = i3, c.i[4] = i4, c.i[5] = i5;
    c.d[0] = d0, c.d[1] = d1;
    return fc_own_run(&c, out, t);
}

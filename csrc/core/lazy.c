/* Conjugate and negative views; see lazy.h. Both changes undo themselves, so what reads through a bit writes through it too. */
#include "facula.h"
#include "copy_nest.h"
#include "lazy.h"
#include "nest.h"
#include "verb.h"

int fc_lazy(fc_tensor *x) { return x->lazy; }

/* The memory as it is: x without its bits. */
static fc_tensor *fc_bare(fc_tensor *x)
{
    fc_tensor *t = fc_alias(x, 0);
    if (!t)
        return NULL;
    t->lazy = 0;
    fc_epoch_refresh(t);
    if (t->storage->moved && fc_rebind(t)) {
        fc_free(t);
        fc_fail(FC_STALE, 0, 0, 0, 0);
        return NULL;
    }
    return t;
}

/* Does to t's elements, in place, what the bits say; t is nobody else's yet. Takes the reference and gives it back, or NULL. */
static fc_tensor *fc_done(fc_tensor *t, int lazy)
{
    const int op[2] = { FC_OP_conj_physical, FC_OP_neg };
    for (int k = 0; t && k < 2; ++k) {
        if (!(lazy >> k & 1) || (k == 0 && !fc_is_complex(t->dtype)))
            continue;
        fc_tensor *same = fc_map1(op[k], t, t);
        fc_free(t);
        t = same;
    }
    if (t)
        fc_fresh(t);
    return t;
}

fc_tensor *fc_lazy_to(fc_tensor *x, int dtype, int memory_format)
{
    if (fc_epoch_stale(x)) {
        fc_fail(FC_STALE, 0, 0, 0, 0);
        return NULL;
    }
    fc_tensor *bare = fc_bare(x);
    fc_tensor *t = bare ? fc_done(fc_to(bare, x->dtype, memory_format, 1), x->lazy) : NULL;
    fc_free(bare);
    if (!t || t->dtype == dtype)
        return t;
    fc_tensor *converted = fc_to(t, dtype, memory_format, 1); /* after the sign: -1 as uint8 is not 1 */
    fc_free(t);
    return converted;
}

fc_tensor *fc_resolve(fc_tensor *x)
{
    return fc_to(x, x->dtype, 1, 1);
}

int fc_lazy_copy(fc_tensor *out, fc_tensor *x)
{
    if (fc_epoch_stale(out) || fc_epoch_stale(x))
        return fc_fail(FC_STALE, 0, 0, 0, 0);
    if (fc_overlaps_partly(out, x))
        return fc_fail(FC_OVERLAP, 0, 0, 0, 0);
    fc_tensor *t = fc_done(fc_to(x, out->dtype, 1, 1), out->lazy), *to = t ? fc_bare(out) : NULL;
    const int bad = to ? fc_copy(to, t) : fc_status();
    fc_free(t);
    fc_free(to);
    return bad;
}

int fc_lazy_fill(fc_tensor *out, int kind, int64_t i, double re, double im)
{
    if (fc_epoch_stale(out))
        return fc_fail(FC_STALE, 0, 0, 0, 0);
    if (!fc_may_write(out))
        return fc_fail(FC_READONLY, 0, 0, 0, 0);
    fc_tensor *one = fc_done(fc_from_scalar(out->dtype, kind, i, re, im), out->lazy), *to = one ? fc_bare(out) : NULL;
    const int bad = to ? FC_OK : fc_status();
    if (!bad && out->device != FC_META && out->numel)
        fc_copy_nest(to, one);
    if (!bad)
        fc_bump(out);
    fc_free(one);
    fc_free(to);
    return bad;
}

/* One C call per optimizer step, for every formula of formulas.def: its loop over elements, its constants, its row's two functions. */
#ifndef T
#include <string.h>

#include "optim.h"

#define SPREAD(...) __VA_ARGS__
#define C(name) ((T)k.name)
#define ONE(...) { __VA_ARGS__ }
#define WITH(a, b, ...) { enum { has1 = a, has2 = b }; __VA_ARGS__ }
#define FOUR(...)                                                             \
    if (s1 && s2) WITH(1, 1, __VA_ARGS__) else if (s1) WITH(1, 0, __VA_ARGS__) \
    else if (s2) WITH(0, 1, __VA_ARGS__) else WITH(0, 0, __VA_ARGS__)

/* A product rounded as the list's dtype rounds it. */
static inline double fc_scaled_one(const fc_call *c, int list, int j, double by)
{
    const double x = fc_one(c, list, j);
    return fc_one_of(c, list, j)->dtype == FC_F32 ? (double)((f32)x * (f32)by) : x * by;
}

#define FC_FORMULA(name, ones, variants, constants, once, ...) typedef struct { double SPREAD constants, sign, decay, shrink; } fc_k_##name;
#include "formulas.def"
#undef FC_FORMULA

#define T f32
#include "formulas.c"
#define T f64
#include "formulas.c"

enum { MAXIMIZE, DECOUPLED };            /* the bools of every row */
enum { LR, DECAY, D2, D3, D4, D5 };      /* its floats */

#if FC_ISA_ONCE
enum { MAY_BE_EMPTY_ONE = 0, MAY_BE_EMPTY_FOUR = 1 << 3 | 1 << 4 }; /* the lists of s1 and s2 */
#define FC_FORMULA(name, ones, variants, constants, once, ...)   \
    int fc_infer__##name##_(fc_call *c);                 \
    int fc_infer__##name##_(fc_call *c) { return fc_check_step(c, ones, MAY_BE_EMPTY_##variants); }
#include "formulas.def"
#undef FC_FORMULA
#endif

#define FC_FORMULA(name, ones, variants, constants, once, ...)                                    \
    FC_STATIC_ASSERT(sizeof(fc_k_##name) <= sizeof ((fc_step *)0)->k, name##_constants_fit); \
    int FC_ISA_NAME(fc_cpu__##name##_)(fc_call *c);                                        \
    int FC_ISA_NAME(fc_cpu__##name##_)(fc_call *c)                                         \
    {                                                                                      \
        const double *d = c->d;                                                            \
        for (int j = 0; j < c->len[0]; ++j) {                                              \
            fc_step q = fc_step_of(c, j);                                                  \
            const double t = fc_step_count(c, j);                                          \
            fc_k_##name k;                                                                 \
            k.sign = c->i[MAXIMIZE] ? -1 : 1;                                              \
            k.decay = c->i[DECOUPLED] ? 0 : d[DECAY];                                      \
            k.shrink = c->i[DECOUPLED] ? 1 - d[LR] * d[DECAY] : 1;                         \
            (void)t;                                                                       \
            once                                                                           \
            memcpy(q.k, &k, sizeof k);                                                     \
            fc_step_run(c->t[j], name##_f32, name##_f64, &q);                              \
        }                                                                                  \
        return FC_OK;                                                                      \
    }                                                                                      \
    FC_OWN_TWO_LEVELS(_##name##_)
#include "formulas.def"
#undef FC_FORMULA

#else
#include "../typed.h"

#define FC_FORMULA(name, ones, variants, constants, once, ...)                                       \
    static void N(name)(void *ctx, int64_t begin, int64_t end)                              \
    {                                                                                       \
        const fc_step *q = ctx;                                                             \
        fc_k_##name k;                                                                      \
        memcpy(&k, q->k, sizeof k);                                                         \
        T *restrict params = q->p, *restrict s0 = q->s[0], *restrict s1 = q->s[1], *restrict s2 = q->s[2]; \
        const T *restrict grads = q->g;                                                     \
        (void)s1, (void)s2;                                                                 \
        variants(for (int64_t i = begin; i < end; ++i) {                                     \
            T p = params[i] * C(shrink);                                                     \
            const T g = M(pull)(C(decay), p, C(sign) * grads[i]);                            \
            __VA_ARGS__                                                                      \
            params[i] = p;                                                                   \
        })                                                                                   \
    }
#include "formulas.def"
#undef FC_FORMULA
#include "../typed_done.h"
#endif

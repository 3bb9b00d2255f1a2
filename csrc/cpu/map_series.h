/* Cells of doubles that take a step of a series, or a part of a formula, for all of a run before the next. Included by map_easy.h alone. */
#include "../core/tensor.h"

#define FC_EASY_WHOLE(n) (((n) + 7) / 8 * 8) /* whole registers: no code for what is left over */

/* fc_cheb of an odd number of terms; u has whole registers. Two steps at a time: the sums come from memory and go there. */
static FC_NOINLINE void chebyshev_run(f64 *y, const f64 *c, int terms, const f64 *u, int64_t n)
{
    f64 b0[FC_EASY_RUN] = {0}, b1[FC_EASY_RUN] = {0};
    const int64_t whole = FC_EASY_WHOLE(n);
    for (int k = terms - 1; k > 0; k -= 2)
        for (int64_t i = 0; i < whole; ++i) {
            b1[i] = fc_fma_f64(2 * u[i], b0[i], c[k] - b1[i]);
            b0[i] = fc_fma_f64(2 * u[i], b1[i], c[k - 1] - b0[i]);
        }
    for (int64_t i = 0; i < n; ++i)
        y[i] = fc_fma_f64(u[i], b0[i], c[0] - b1[i]);
}

/* sqrt(a) e**-a I(a) of each a beyond 8; 0 where there is none */
static FC_NOINLINE int bessel_far_run(f64 *y, const f64 *high, int terms, const f64 *xs, int64_t n)
{
    f64 u[FC_EASY_RUN] = {0};
    int far = 0;
    for (int64_t i = 0; i < n; ++i)
        far |= !(fabs(xs[i]) <= 8);
    if (!far)
        return 0;
    for (int64_t i = 0; i < n; ++i)
        u[i] = fabs(xs[i]) <= 8 ? 0 : 16 / fabs(xs[i]) - 1;
    chebyshev_run(y, high, terms, u, n);
    return 1;
}

#ifndef FC_WITHOUT_RARE
static int all_between(const f64 *xs, f64 low, f64 high, int64_t n)
{
    int other = 0;
    for (int64_t i = 0; i < n; ++i)
        other |= !(xs[i] > low) | !(xs[i] < high);
    return !other;
}

/* NaN is not above */
static int none_above(const f64 *xs, f64 high, int64_t n)
{
    int other = 0;
    for (int64_t i = 0; i < n; ++i)
        other |= !(fabs(xs[i]) < high) & (xs[i] == xs[i]);
    return !other;
}

/* fc_zeta_f64 of positive numbers */
static FC_NOINLINE void zeta_run(f64 *y, const f64 *ss, const f64 *qs, int64_t n)
{
    f64 order[FC_EASY_RUN], base[FC_EASY_RUN], term[FC_EASY_RUN], sum[FC_EASY_RUN] = {0};
    const int64_t whole = FC_EASY_WHOLE(n);
    memcpy(order, ss, (size_t)n * sizeof *order);
    memcpy(base, qs, (size_t)n * sizeof *base);
    for (int64_t i = n; i < whole; ++i)
        order[i] = 2, base[i] = 1;
    for (int k = 0; k <= FC_ZETA_TERMS; ++k) {
        for (int64_t i = 0; i < whole; ++i)
            term[i] = fc_zeta_term(order[i], base[i]);
        for (int64_t i = 0; i < whole; ++i) {
            sum[i] += term[i];
            base[i] += k < FC_ZETA_TERMS ? 1 : 0;
        }
    }
    for (int64_t i = 0; i < whole; ++i)
        sum[i] = fc_zeta_end(order[i], base[i], term[i], sum[i]);
    memcpy(y, sum, (size_t)n * sizeof *y);
}
#include "map_gamma.h"
#endif

/* run_##name goes over an easy run */
#define FC_EASY(name, easy)                                                                                              \
    FC_EASY_CELL(easy_##name)                                                                                            \
    {                                                                                                                    \
        for (int64_t first = 0; first < n; first += FC_EASY_RUN) {                                                       \
            T *out = (T *)out_ + first;                                                                                  \
            const T *xs = (const T *)x_ + first, *ys = y_ ? (const T *)y_ + first : xs;                                  \
            const int64_t count = n - first < FC_EASY_RUN ? n - first : FC_EASY_RUN;                                     \
            if (easy)                                                                                                    \
                run_##name(out, xs, ys, s, count);                                                                       \
            else                                                                                                         \
                cell_##name(out, xs, ys, z_, s, fault, count);                                                           \
        }                                                                                                                \
    }

/* lgamma_r is a call for each element, what it is less by is not */
static void run_lgamma(T *out, const T *xs, const T *ys, const fc_scalar *s, int64_t n)
{
    f64 from[FC_EASY_RUN], less[FC_EASY_RUN];
    (void)ys, (void)s;
    for (int64_t i = 0; i < n; ++i) {
        const fc_lgamma_parts_f64 l = fc_lgamma_split_f64(xs[i]);
        from[i] = l.from;
        less[i] = fc_lgamma_less_f64(l);
    }
    for (int64_t i = 0; i < n; ++i)
        out[i] = fc_lgamma_library_f64(from[i]) - less[i];
}

static int any_steps(const f64 *xs, int64_t n)
{
    int any = 0;
    for (int64_t i = 0; i < n; ++i)
        any |= fc_lgamma_steps_f64(xs[i]);
    return any;
}
FC_EASY(lgamma, any_steps(xs, count))

/* Each part for all of the run: in one loop an element waits for itself, and few fit into what the processor looks ahead. */
static void run_erfinv(T *out, const T *xs, const T *ys, const fc_scalar *s, int64_t n)
{
    f64 start[FC_EASY_RUN], value[FC_EASY_RUN], scaled[FC_EASY_RUN];
    (void)ys, (void)s;
    for (int64_t i = 0; i < n; ++i)
        start[i] = fc_erfinv_start_f64(fabs(xs[i]));
    for (int64_t i = 0; i < n; ++i) {
        const fc_erfc_parts_f64 e = fc_erfc_parts_of_f64(start[i], 0);
        value[i] = e.value;
        scaled[i] = e.scaled;
    }
    _Pragma("GCC ivdep")
    for (int64_t i = 0; i < n; ++i)
        out[i] = fc_erfinv_step_f64(xs[i], start[i], (fc_erfc_parts_f64){value[i], scaled[i]});
}
FC_EASY(erfinv, 1)

#define FC_EASY_TABLE(c) c, (int)(sizeof c / sizeof *c)
/* near, far: of a = |x|, and of y, which beyond 8 is e**-a I(a); result: of y, which is either, and x */
#define FC_EASY_BESSEL(name, order, near, far, result)                                                                   \
    static void run_##name(T *out, const T *xs, const T *ys, const fc_scalar *s, int64_t n)                              \
    {                                                                                                                    \
        f64 v[FC_EASY_RUN], beyond[FC_EASY_RUN];                                                                         \
        (void)ys, (void)s;                                                                                               \
        for (int64_t i = 0; i < n; ++i) {                                                                                \
            const f64 a = fabs(xs[i]) <= 8 ? fabs(xs[i]) : 0;                                                            \
            v[i] = near;                                                                                                 \
        }                                                                                                                \
        if (bessel_far_run(beyond, FC_EASY_TABLE(fc_i##order##e_high_cheb), xs, n))                                      \
            for (int64_t i = 0; i < n; ++i) {                                                                            \
                const f64 a = fabs(xs[i]), y = beyond[i] / sqrt(a);                                                      \
                v[i] = a <= 8 ? v[i] : far;                                                                              \
            }                                                                                                            \
        for (int64_t i = 0; i < n; ++i) {                                                                                \
            const f64 x = xs[i], y = v[i];                                                                               \
            out[i] = result;                                                                                             \
        }                                                                                                                \
    }                                                                                                                    \
    FC_STATIC_ASSERT(sizeof fc_i##order##e_high_cheb / sizeof(f64) % 2, name##_has_an_odd_series);                       \
    FC_EASY(name, 1)
FC_EASY_BESSEL(_special_i1e, 1, fc_i1_near_f64(a) * fc_exp_f64(-a), y, x < 0 ? -y : y)
#define FC_EASY_USUAL [FC_CELL__special_i1e] = easy__special_i1e, [FC_CELL_lgamma] = easy_lgamma, [FC_CELL_erfinv] = easy_erfinv,
#ifdef FC_WITHOUT_RARE
#define FC_EASY_SERIES FC_EASY_USUAL
#else
FC_EASY_BESSEL(_special_i0e, 0, fc_i0_near_f64(a) * fc_exp_f64(-a), y, ((void)x, y))
FC_EASY_BESSEL(i0, 0, fc_i0_near_f64(a), fc_bessel_grown(a, y), ((void)x, y))
FC_EASY_BESSEL(_special_i1, 1, fc_i1_near_f64(a), fc_bessel_grown(a, y), x == 0 ? x : x < 0 ? -y : y)

/* Bessel functions are two formulas, on either side of 8: where a run has arguments of both kinds, both are taken of all. */
#define FC_EASY_WAVE(name, size)                                                                                         \
    static void run__special_bessel_##name(T *out, const T *xs, const T *ys, const fc_scalar *s, int64_t n)              \
    {                                                                                                                    \
        f64 near[FC_EASY_RUN] = {0};                                                                                     \
        (void)ys, (void)s;                                                                                               \
        int any_near = 0, any_far = 0;                                                                                   \
        for (int64_t i = 0; i < n; ++i) {                                                                                \
            const f64 x = xs[i];                                                                                         \
            any_near |= !(size > 8);                                                                                     \
            any_far |= size > 8;                                                                                         \
        }                                                                                                                \
        if (any_near)                                                                                                    \
            for (int64_t i = 0; i < n; ++i)                                                                              \
                near[i] = fc_bessel_##name##_near_f64(xs[i]);                                                            \
        if (!any_far) {                                                                                                  \
            memcpy(out, near, (size_t)n * sizeof *out);                                                                  \
            return;                                                                                                      \
        }                                                                                                                \
        _Pragma("GCC ivdep")                                                                                             \
        for (int64_t i = 0; i < n; ++i) {                                                                                \
            const f64 x = xs[i], a = fabs(x);                                                                            \
            const f64 far = fc_bessel_##name##_far_f64(x, fc_circle_of_f64(a, fc_trig_split_near_f64(a)));               \
            out[i] = size > 8 ? far : near[i];                                                                           \
        }                                                                                                                \
    }                                                                                                                    \
    FC_EASY(_special_bessel_##name, none_above(xs, FC_TRIG_NEAR, count))
FC_EASY_WAVE(j0, fabs(x))
FC_EASY_WAVE(j1, fabs(x))
FC_EASY_WAVE(y0, x)
FC_EASY_WAVE(y1, x)
#undef FC_EASY_WAVE

static void run__special_spherical_bessel_j0(T *out, const T *xs, const T *ys, const fc_scalar *s, int64_t n)
{
    (void)ys, (void)s;
    _Pragma("GCC ivdep")
    for (int64_t i = 0; i < n; ++i)
        out[i] = fc_spherical_j0_of_f64(xs[i], fc_sin_of_f64(xs[i], fc_trig_split_near_f64(xs[i])));
}
FC_EASY(_special_spherical_bessel_j0, none_above(xs, FC_TRIG_NEAR, count))

/* The positive numbers of orders above 1 are brought together, the others come one by one. */
static void run__special_zeta(T *out, const T *xs, const T *ys, const fc_scalar *s, int64_t n)
{
    f64 orders[FC_EASY_RUN], bases[FC_EASY_RUN], y[FC_EASY_RUN], first[FC_EASY_RUN]; /* of out, which may be xs or ys */
    int at[FC_EASY_RUN], count = 0, defined = 0;
    (void)s;
    for (int64_t i = 0; i < n; ++i)
        defined |= !(xs[i] < 1); /* of order NaN too: at a pole that is infinite */
    for (int64_t i = 0; i < n; ++i)
        first[i] = NAN;
    for (int64_t i = 0; defined && i < n; ++i) {
        const f64 order = xs[i], base = ys[i];
        const int easy = (order > 1) & (order < 1e300) & (base > 0) & (base < 1e300);
        orders[count] = order;
        bases[count] = base;
        at[count] = (int)i;
        count += easy;
        if (!easy && !(order < 1))
            first[i] = fc_zeta_f64(order, base);
    }
    zeta_run(y, orders, bases, count);
    for (int k = 0; k < count; ++k)
        first[at[k]] = y[k];
    memcpy(out, first, (size_t)n * sizeof *out);
}
FC_EASY(_special_zeta, 1)

/* Of orders from 2 on the numbers that are not positive are left out, and come one by one. */
static void run__polygamma(T *out, const T *xs, const T *ys, const fc_scalar *s, int64_t n)
{
    const f64 order = FC_SCALAR(s[0]), factor = fc_polygamma_factor(order), sign = (fmod)(order, 2) == 0 ? -1 : 1;
    f64 orders[FC_EASY_RUN], bases[FC_EASY_RUN], y[FC_EASY_RUN];
    (void)ys;
    if (order == 1) {
        _Pragma("GCC ivdep")
        for (int64_t i = 0; i < n; ++i)
            out[i] = fc_trigamma_f64(xs[i]);
        return;
    }
    for (int64_t i = 0; i < n; ++i) {
        orders[i] = order + 1;
        bases[i] = (xs[i] > 0) & (xs[i] < 1e300) ? xs[i] : 1;
    }
    zeta_run(y, orders, bases, n);
    for (int64_t i = 0; i < n; ++i)
        out[i] = bases[i] == xs[i] ? sign * (factor * y[i]) : fc_polygamma_f64(order, xs[i]);
}
FC_EASY(_polygamma, FC_SCALAR(s[0]) >= 1 && FC_SCALAR(s[0]) < 1e300)

/* Of positive numbers nothing is reflected, */
static void run__special_erfcx(T *out, const T *xs, const T *ys, const fc_scalar *s, int64_t n)
{
    (void)ys, (void)s;
    _Pragma("GCC ivdep")
    for (int64_t i = 0; i < n; ++i)
        out[i] = fc_erfc_parts_of_f64(xs[i], 0).scaled;
}
FC_EASY(_special_erfcx, all_between(xs, 0, 27, count))

/* and of what is no rare event one rational function of the tail is enough; of what is no inner probability, none. */
static int no_rare_event(const f64 *xs, int64_t n)
{
    int rare = 0;
    for (int64_t i = 0; i < n; ++i)
        rare |= ((xs[i] > 0) & (xs[i] < 1e-10)) | ((xs[i] > 1 - 1e-10) & (xs[i] < 1));
    return !rare;
}

static void run__special_ndtri(T *out, const T *xs, const T *ys, const fc_scalar *s, int64_t n)
{
    int inner = 0;
    (void)ys, (void)s;
    for (int64_t i = 0; i < n; ++i)
        inner |= (xs[i] > 0) & (xs[i] < 1);
    if (!inner) {
        for (int64_t i = 0; i < n; ++i)
            out[i] = fc_ndtri_edge_f64(xs[i]);
        return;
    }
    _Pragma("GCC ivdep")
    for (int64_t i = 0; i < n; ++i)
        out[i] = fc_ndtri_of_f64(xs[i], 0);
}
FC_EASY(_special_ndtri, no_rare_event(xs, count))

static void run_igamma(T *out, const T *xs, const T *ys, const fc_scalar *s, int64_t n)
{
    (void)s;
    gamma_run(out, xs, ys, n, 0);
}

static void run_igammac(T *out, const T *xs, const T *ys, const fc_scalar *s, int64_t n)
{
    (void)s;
    gamma_run(out, xs, ys, n, 1);
}
FC_EASY(igamma, 1)
FC_EASY(igammac, 1)
#define FC_EASY_SERIES FC_EASY_USUAL [FC_CELL_i0] = easy_i0, [FC_CELL__special_i0e] = easy__special_i0e, [FC_CELL__special_i1] = easy__special_i1, \
    [FC_CELL__special_zeta] = easy__special_zeta, [FC_CELL__polygamma] = easy__polygamma, [FC_CELL__special_bessel_j0] = easy__special_bessel_j0, \
    [FC_CELL__special_bessel_j1] = easy__special_bessel_j1, [FC_CELL__special_bessel_y0] = easy__special_bessel_y0, \
    [FC_CELL__special_bessel_y1] = easy__special_bessel_y1, [FC_CELL__special_spherical_bessel_j0] = easy__special_spherical_bessel_j0, \
    [FC_CELL__special_erfcx] = easy__special_erfcx, [FC_CELL__special_ndtri] = easy__special_ndtri, [FC_CELL_igamma] = easy_igamma, \
    [FC_CELL_igammac] = easy_igammac,
#endif
#undef FC_EASY_BESSEL
#undef FC_EASY_TABLE
#undef FC_EASY_WHOLE
#undef FC_EASY

/* Incomplete gamma functions of a run: the series and the fraction take a step for all before the next. An element's steps do not depend on
 * its neighbours: the series is continued until all are done, which adds nothing to the ones that are; a fraction that stands leaves.
 * Included by map_easy.h alone; the formulas are core/mathfn_gamma.h's. */

typedef struct { f64 a[FC_EASY_RUN], x[FC_EASY_RUN], y[FC_EASY_RUN]; int at[FC_EASY_RUN], count; } gamma_part;

static void gamma_add(gamma_part *p, f64 a, f64 x, int64_t at)
{
    p->a[p->count] = a;
    p->x[p->count] = x;
    p->at[p->count++] = (int)at;
}

/* 1 + x / (a + 1) + x**2 / ((a + 1)(a + 2)) + ... */
static void gamma_series(gamma_part *p)
{
    f64 term[FC_EASY_RUN];
    const int n = p->count;
    for (int i = 0; i < n; ++i)
        term[i] = p->y[i] = 1;
    for (int k = 1, more = 1; more && k < FC_GAMMA_STEPS; ++k) {
        more = 0;
        _Pragma("GCC ivdep")
        for (int i = 0; i < n; ++i) {
            term[i] *= p->x[i] / (p->a[i] + k);
            p->y[i] += term[i];
            more |= term[i] > p->y[i] * 0x1p-54;
        }
    }
}

/* Legendre's continued fraction by the recurrence of its numerators and denominators. Every 8 steps they are looked at and brought near 1, and
 * elements that stand leave. */
static void gamma_fraction(gamma_part *p)
{
    f64 a[FC_EASY_RUN], b[FC_EASY_RUN], top[FC_EASY_RUN], bottom[FC_EASY_RUN], top0[FC_EASY_RUN], bottom0[FC_EASY_RUN], y[FC_EASY_RUN];
    int at[FC_EASY_RUN], n = p->count;
    for (int i = 0; i < n; ++i) {
        at[i] = i;
        a[i] = p->a[i];
        b[i] = p->x[i] + 1 - p->a[i];
        top0[i] = 0;
        bottom0[i] = top[i] = 1;
        bottom[i] = b[i];
        y[i] = 1 / b[i];
    }
    for (int k = 1; n && k < FC_GAMMA_STEPS; k += 8) {
        for (int j = k; j < k + 8; ++j) {
            _Pragma("GCC ivdep")
            for (int i = 0; i < n; ++i) {
                const f64 by = j * (a[i] - j), c = b[i] + 2 * j;
                const f64 t = fc_fma_f64(by, top0[i], c * top[i]), u = fc_fma_f64(by, bottom0[i], c * bottom[i]);
                top0[i] = top[i];
                bottom0[i] = bottom[i];
                top[i] = t;
                bottom[i] = u;
            }
        }
        int kept = 0;
        for (int i = 0; i < n; ++i) {
            const f64 now = top[i] / bottom[i], scale = fc_f64_of_bits(UINT64_C(0x7fe0000000000000) - (fc_bits_f64(bottom[i]) & UINT64_C(0x7ff0000000000000)));
            p->y[at[i]] = now;
            if (fabs(now - y[i]) <= fabs(now) * 0x1p-52)
                continue;
            at[kept] = at[i];
            a[kept] = a[i];
            b[kept] = b[i];
            y[kept] = now;
            top[kept] = top[i] * scale;
            bottom[kept] = bottom[i] * scale;
            top0[kept] = top0[i] * scale;
            bottom0[kept++] = bottom0[i] * scale;
        }
        n = kept;
    }
}

/* P, or for `upper` Q, of orders as and points xs */
static FC_NOINLINE void gamma_run(f64 *out, const f64 *as, const f64 *xs, int64_t n, int upper)
{
    gamma_part series, fraction;
    series.count = fraction.count = 0;
    f64 first[FC_EASY_RUN]; /* of out, which may be as or xs */
    for (int64_t i = 0; i < n; ++i) {
        const f64 a = as[i], x = xs[i];
        if (!(fc_gamma_edge(a, x) == 2) || a > FC_GAMMA_FAR)
            first[i] = upper ? fc_gammaincc_f64(a, x) : fc_gammainc_f64(a, x);
        else if (fc_gamma_by_series(a, x, upper))
            gamma_add(&series, a, x, i);
        else
            gamma_add(&fraction, a, x, i);
    }
    gamma_series(&series);
    gamma_fraction(&fraction);
    for (int i = 0; i < series.count; ++i) {
        const f64 p = series.y[i] * fc_gamma_term(series.a[i], series.x[i]);
        first[series.at[i]] = upper ? 1 - p : p;
    }
    for (int i = 0; i < fraction.count; ++i) {
        const f64 q = fraction.y[i] * fc_gamma_term(fraction.a[i], fraction.x[i]) * fraction.a[i];
        first[fraction.at[i]] = upper ? q : 1 - q;
    }
    memcpy(out, first, (size_t)n * sizeof *out);
}

/* One cummax or cummin: includer defines NAME, S, V, LOAD (S to V), ISNAN, BEATS(v, best), and of what a line is compared by: K, INTEGER (K, widened),
 * CHOOSE, and for floats KEYED and KEY(v). No guard on purpose. Elements of a line are `step` apart, in x `from`. */
static inline __attribute__((always_inline)) void PASTE(NAME, line)(S *out, int64_t *index, const S *x, int64_t n, const int64_t step, const int64_t from)
{
#ifdef KEYED
    K key[CALM];
    K best = KEY(LOAD(x[0]));
#define VALUE(k) key[k]
#else
    K best = LOAD(x[0]);
#define VALUE(k) LOAD(x[(i + (k)) * from])
#endif
    S raw = x[0];
    int64_t at = 0;
    int busy = 0; /* the block before had a new extreme */
    for (int64_t i = 0, some; i < n; i += some) {
        some = n - i < CALM ? n - i : CALM;
#ifdef KEYED
        for (int k = 0; k < some; ++k)
            key[k] = KEY(LOAD(x[(i + k) * from]));
#endif
        int hit = busy || some < CALM || step != 1;
        if (!hit)
            for (int k = 0; k < CALM; ++k)
                hit |= BEATS(VALUE(k), best);
        if (!hit) {
            for (int k = 0; k < CALM; ++k) {
                out[i + k] = raw;
                index[i + k] = at;
            }
            continue;
        }
        INTEGER most = (INTEGER)best;
        for (int k = 0; k < some; ++k) {
            CHOOSE(&most, &at, (INTEGER)VALUE(k), i + k);
            index[(i + k) * step] = at;
#ifdef KEYED
            out[(i + k) * step] = x[at * from];
#else
            out[(i + k) * step] = (S)most;
#endif
        }
        best = (K)most;
        raw = out[(i + some - 1) * step];
        busy = at >= i;
    }
#undef VALUE
}

static void NAME(void *out_, int64_t *index, const void *x_, int64_t n, int64_t step, int64_t from, int64_t width)
{
    S *out = out_;
    const S *x = x_;
    if (width == 1 && step == 1 && from == 1) {
        PASTE(NAME, line)(out, index, x, n, 1, 1);
        return;
    }
    if (width == 1) {
        PASTE(NAME, line)(out, index, x, n, step, from);
        return;
    }
    for (int64_t c = 0; c < width; ++c) {
        out[c] = x[c];
        index[c] = 0;
    }
    for (int64_t i = 1; i < n; ++i)
        for (int64_t c = 0; c < width; ++c) {
            const S fresh = x[i * from + c], best = out[(i - 1) * step + c];
            const int64_t at = index[(i - 1) * step + c];
            const int take = (ISNAN(LOAD(fresh))) | (BEATS(LOAD(fresh), LOAD(best)));
            out[i * step + c] = take ? fresh : best;
            index[i * step + c] = take ? i : at;
        }
}
#undef NAME
#undef BEATS
#undef CHOOSE
#undef LAST

/* One cummax or cummin: includer defines NAME, S, V, LOAD (S to V), WIDENS where those differ, ISNAN, BEATS(v, best). No guard on purpose. Elements of a
 * line are `step` apart, in x `from`. */
static inline __attribute__((always_inline)) void PASTE(NAME, line)(S *out, int64_t *index, const S *x, int64_t n, const int64_t step, const int64_t from)
{
    S raw = x[0];
    V best = LOAD(raw);
    int64_t at = 0;
    int busy = 0; /* the block before had a new extreme */
    for (int64_t i = 0, some; i < n; i += some) {
        some = n - i < CALM ? n - i : CALM;
#ifdef WIDENS
        V value[CALM];
        for (int k = 0; k < some; ++k)
            value[k] = LOAD(x[(i + k) * from]);
#define VALUE(k) value[k]
#else
#define VALUE(k) LOAD(x[(i + (k)) * from])
#endif
        int hit = busy || some < CALM || step != 1;
        if (!hit)
            for (int k = 0; k < CALM; ++k)
                hit |= (ISNAN(VALUE(k))) | (BEATS(VALUE(k), best)); /* nothing beats NaN */
        if (!hit) {
            for (int k = 0; k < CALM; ++k) {
                out[i + k] = raw;
                index[i + k] = at;
            }
            continue;
        }
        for (int k = 0; k < some; ++k) { /* among few numbers one in two is a new best, which no branch foresees: each choice is the larger of two */
            const V v = VALUE(k);
            best = (ISNAN(v)) | (BEATS(v, best)) ? v : best;
            const int64_t taken = (i + k) & -(int64_t)((ISNAN(v)) | (v == best));
            at = taken > at ? taken : at;
            index[(i + k) * step] = at;
#ifdef WIDENS
            out[(i + k) * step] = x[at * from];
#else
            out[(i + k) * step] = best;
#endif
        }
        raw = out[(i + some - 1) * step];
        busy = at >= i;
#undef VALUE
    }
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

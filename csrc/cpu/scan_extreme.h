/* One cummax or cummin: includer defines NAME, S, V, LOAD (S to V), ISNAN, BEATS(v, best). No guard on purpose. Elements of a line are `step` apart, in x `from`. */
static void NAME(void *out_, int64_t *index, const void *x_, int64_t n, int64_t step, int64_t from, int64_t width)
{
    S *out = out_;
    const S *x = x_;
    if (width == 1) { /* a line of its own: the best stays in a register, and a new one is rare */
        S raw = x[0];
        V best = LOAD(raw), value[LOADED];
        int64_t at = 0;
        for (int64_t i = 0, some; i < n; i += some) {
            some = n - i < LOADED ? n - i : LOADED;
            for (int64_t k = 0; k < some; ++k)
                value[k] = LOAD(x[(i + k) * from]);
            for (int64_t k = 0; k < some;) {
                int hit = 0;
                if (step == 1 && k + CALM <= some)
                    for (int j = 0; j < CALM; ++j)
                        hit |= (ISNAN(value[k + j])) | (BEATS(value[k + j], best)); /* nothing beats NaN */
                else
                    hit = 1;
                const int64_t end = k + CALM < some ? k + CALM : some;
                if (!hit)
                    for (int j = 0; j < CALM; ++j) {
                        out[i + k + j] = raw;
                        index[i + k + j] = at;
                    }
/* without branches: among few numbers one in two is a new best. gcc makes one of at's ?: */
#define STEP(to)                                                                        \
                {                                                                       \
                    const S fresh = x[(i + k) * from];                                  \
                    const int take = (ISNAN(value[k])) | (BEATS(value[k], best));       \
                    best = take ? value[k] : best;                                      \
                    raw = take ? fresh : raw;                                           \
                    at ^= (at ^ (i + k)) & -(int64_t)take;                              \
                    out[to] = raw;                                                      \
                    index[to] = at;                                                     \
                }
                if (hit && step == 1)
                    for (; k < end; ++k)
                        STEP(i + k)
                for (; hit && k < end; ++k)
                    STEP((i + k) * step)
#undef STEP
                k = end;
            }
        }
        return;
    }
    for (int64_t c = 0; c < width; ++c) {
        out[c] = x[c];
        index[c] = 0;
    }
    for (int64_t i = 1; i < n; ++i)
        for (int64_t c = 0; c < width; ++c) {
            const S fresh = x[i * from + c], best = out[(i - 1) * step + c];
            const int take = ISNAN(LOAD(fresh)) || BEATS(LOAD(fresh), LOAD(best));
            out[i * step + c] = take ? fresh : best;
            index[i * step + c] = take ? i : index[(i - 1) * step + c];
        }
}
#undef NAME
#undef BEATS

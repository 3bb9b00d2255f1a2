/* Cells of fmod and its family. The exact remainder takes the C library's loop where quotients are large; a loop that might
 * call it does not vectorise. So runs of pairs are looked at first, and where all are easy (FN(easy_fmod)), which is to say
 * always, they take a loop without calls. The results are exact both ways, hence the same. Included by map.c alone. */
#if FC_CLASS == 2 && FC_HAS_FMA
#define FC_EASY_RUN 512
#define FC_EASY_QUOTIENT (sizeof(T) == 4 ? (T)0x1p22 : (T)0x1p51)

static int all_easy(const T *xs, const T *ys, int64_t n)
{
    int hard = 0;
    for (int64_t i = 0; i < n; ++i) {
        const T b = FN(fabs)(ys[i]);
        const int large = !(FN(fabs)(xs[i]) < b * FC_EASY_QUOTIENT), infinite = !(b < (T)INFINITY);
        hard |= large | infinite;
    }
    return !hard;
}

#define FC_EASY(name, body)                                                                                              \
    static void easy_##name(void *out_, const void *x_, const void *y_, const void *z_, const fc_scalar *s, int *fault, int64_t n) \
    {                                                                                                                    \
        for (int64_t first = 0; first < n; first += FC_EASY_RUN) {                                                       \
            T *out = (T *)out_ + first;                                                                                  \
            const T *xs = (const T *)x_ + first, *ys = (const T *)y_ + first;                                            \
            const int64_t count = n - first < FC_EASY_RUN ? n - first : FC_EASY_RUN;                                     \
            if (!all_easy(xs, ys, count)) {                                                                              \
                cell_##name(out, xs, ys, z_, s, fault, count);                                                           \
                continue;                                                                                                \
            }                                                                                                            \
            _Pragma("GCC ivdep")                                                                                         \
            for (int64_t i = 0; i < count; ++i) {                                                                        \
                const T x = xs[i], y = ys[i], r = FN(easy_fmod)(x, y);                                                   \
                out[i] = body;                                                                                           \
            }                                                                                                            \
        }                                                                                                                \
    }
FC_EASY(fmod, ((void)y, r))
FC_EASY(remainder, FN(remainder_of)(r, y))
FC_EASY(floor_divide, FN(floor_divide_of)(r, x, y))
#undef FC_EASY

#pragma GCC diagnostic ignored "-Woverride-init" /* the table has the plain cells first */
#define FC_EASY_CELLS [FC_CELL_fmod] = easy_fmod, [FC_CELL_remainder] = easy_remainder, [FC_CELL_floor_divide] = easy_floor_divide,
#else
#define FC_EASY_CELLS
#endif

/* Cells that look at a run of their operands first, and take a shorter way if all of it is easy. The results are the same both ways.
 * Included by map.c alone. */
#define FC_EASY_RUN 512
#define FC_EASY_IS_i64 1
#define FC_EASY_CELL(name)                                                                                               \
    static void name(void *out_, const void *x_, const void *y_, const void *z_, const fc_scalar *s, int *fault, int64_t n)

#pragma GCC diagnostic ignored "-Woverride-init" /* the table has the plain cells first */

/* --- floats: fmod and its family -------------------------------------------------------------------------------
 * The exact remainder takes the C library's loop where quotients are large; a loop that might call it does not vectorise. Where all
 * pairs are easy (FN(easy_fmod)), which is to say always, a loop without calls gives the exact remainder too. */
#if FC_CLASS == 2 && FC_HAS_FMA
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
    FC_EASY_CELL(easy_##name)                                                                                            \
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
#define FC_EASY_DIVISION [FC_CELL_fmod] = easy_fmod, [FC_CELL_remainder] = easy_remainder, [FC_CELL_floor_divide] = easy_floor_divide,

/* --- integers: division --------------------------------------------------------------------------------------------
 * Below 2**51 a quotient of doubles falls short of an integer by more than its rounding, so cutting it is exact, and so is the remainder.
 * Integers become doubles and back by adding 1.5 2**52, which leaves them in the low bits. Narrower integers are staged as int64. */
#elif FC_PASTE(FC_EASY_IS_, FC_DT) && FC_ISA_NUM > 2
#define FC_EASY_OFFSET 0x4338000000000000

static int all_easy(const int64_t *xs, const int64_t *ys, int64_t n)
{
    uint64_t high = 0;
    int zero = 0;
    for (int64_t i = 0; i < n; ++i) {
        high |= ((uint64_t)xs[i] + (1ull << 51)) | ((uint64_t)ys[i] + (1ull << 51));
        zero |= ys[i] == 0;
    }
    return high >> 52 == 0 && !zero;
}

#define FC_EASY(name, body)                                                                                              \
    FC_EASY_CELL(easy_##name)                                                                                            \
    {                                                                                                                    \
        for (int64_t first = 0; first < n; first += FC_EASY_RUN) {                                                       \
            int64_t *out = (int64_t *)out_ + first;                                                                      \
            const int64_t *xs = (const int64_t *)x_ + first, *ys = (const int64_t *)y_ + first;                          \
            const int64_t count = n - first < FC_EASY_RUN ? n - first : FC_EASY_RUN;                                     \
            if (!all_easy(xs, ys, count)) {                                                                              \
                cell_##name(out, xs, ys, z_, s, fault, count);                                                           \
                continue;                                                                                                \
            }                                                                                                            \
            _Pragma("GCC ivdep")                                                                                         \
            for (int64_t i = 0; i < count; ++i) {                                                                        \
                const f64 x = fc_f64_of_bits((uint64_t)xs[i] + FC_EASY_OFFSET) - 0x1.8p52;                               \
                const f64 y = fc_f64_of_bits((uint64_t)ys[i] + FC_EASY_OFFSET) - 0x1.8p52;                               \
                const f64 q = fc_trunc_f64(x / y), r = x - q * y;                                                        \
                const f64 result = body;                                                                                 \
                out[i] = (int64_t)(fc_bits_f64(result + 0x1.8p52) - FC_EASY_OFFSET);                                     \
            }                                                                                                            \
        }                                                                                                                \
    }
FC_EASY(trunc_divide, ((void)r, q))
FC_EASY(fmod, r)
FC_EASY(remainder, r * y < 0 ? r + y : r)
FC_EASY(floor_divide, r * y < 0 ? q - 1 : q)
#undef FC_EASY
#undef FC_EASY_OFFSET
#define FC_EASY_DIVISION [FC_CELL_trunc_divide] = easy_trunc_divide, [FC_CELL_fmod] = easy_fmod, [FC_CELL_remainder] = easy_remainder, \
    [FC_CELL_floor_divide] = easy_floor_divide,
#else
#define FC_EASY_DIVISION
#endif

/* --- float: circular functions of moderate angles --------------------------------------------------------------------- */
#if FC_CLASS == 2 && FC_PASTE(FC_SINGLE_, FC_DT)
static int all_near(const T *xs, int64_t n)
{
    int far = 0;
    for (int64_t i = 0; i < n; ++i)
        far |= !(fabsf(xs[i]) < FC_TRIG_NEAR);
    return !far;
}

#define FC_EASY(name)                                                                                                    \
    FC_EASY_CELL(easy_##name)                                                                                            \
    {                                                                                                                    \
        for (int64_t first = 0; first < n; first += FC_EASY_RUN) {                                                       \
            T *out = (T *)out_ + first;                                                                                  \
            const T *xs = (const T *)x_ + first;                                                                         \
            const int64_t count = n - first < FC_EASY_RUN ? n - first : FC_EASY_RUN;                                     \
            if (!all_near(xs, count)) {                                                                                  \
                cell_##name(out, xs, y_, z_, s, fault, count);                                                           \
                continue;                                                                                                \
            }                                                                                                            \
            _Pragma("GCC ivdep")                                                                                         \
            for (int64_t i = 0; i < count; ++i)                                                                          \
                out[i] = fc_##name##_of_f32(xs[i], fc_trig_split_near_f32(xs[i]));                                       \
        }                                                                                                                \
    }
FC_EASY(sin)
FC_EASY(cos)
FC_EASY(tan)
#undef FC_EASY
#define FC_EASY_TRIG [FC_CELL_sin] = easy_sin, [FC_CELL_cos] = easy_cos, [FC_CELL_tan] = easy_tan,
#else
#define FC_EASY_TRIG
#endif

/* --- floats: where all is positive, elu and its kin are a product ---------------------------------------------------- */
#if FC_CLASS == 2
static int all_positive(const T *xs, int64_t n)
{
    int other = 0;
    for (int64_t i = 0; i < n; ++i)
        other |= !(xs[i] > 0);
    return !other;
}

static FC_NOINLINE void elu_runs(fc_map_cell plain, T factor, T *out, const T *xs, const fc_scalar *s, int *fault, int64_t n)
{
    for (int64_t first = 0; first < n; first += FC_EASY_RUN, out += FC_EASY_RUN, xs += FC_EASY_RUN) {
        const int64_t count = n - first < FC_EASY_RUN ? n - first : FC_EASY_RUN;
        if (!all_positive(xs, count)) {
            plain(out, xs, 0, 0, s, fault, count);
            continue;
        }
        _Pragma("GCC ivdep")
        for (int64_t i = 0; i < count; ++i)
            out[i] = xs[i] * factor;
    }
}
#define FC_EASY(name, factor) FC_EASY_CELL(easy_##name) { (void)y_, (void)z_; elu_runs(cell_##name, factor, out_, x_, s, fault, n); }
FC_EASY(_elu, FC_SCALAR(s[1]))
FC_EASY(celu, K(1))
FC_EASY(selu, K(1.0507009873554805))
#undef FC_EASY
#define FC_EASY_CELLS FC_EASY_DIVISION FC_EASY_TRIG [FC_CELL__elu] = easy__elu, [FC_CELL_celu] = easy_celu, [FC_CELL_selu] = easy_selu,
#else
#define FC_EASY_CELLS FC_EASY_DIVISION FC_EASY_TRIG
#endif

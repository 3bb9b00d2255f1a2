/* Cells that look at a run of their operands first, and take a shorter way if all of it is easy. The results are the same both ways.
 * Included by map.c alone. */
#include <string.h>

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
        const T a = FN(fabs)(xs[i]), b = FN(fabs)(ys[i]);
        hard |= ((a >= b * FC_EASY_QUOTIENT) & (a < (T)INFINITY) & (b > 0)) | (b == (T)INFINITY);
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
FC_EASY(_floor_quotient, FN(floor_divide_of)(r, x, y))
#undef FC_EASY
#define FC_EASY_DIVISION [FC_CELL_fmod] = easy_fmod, [FC_CELL_remainder] = easy_remainder, [FC_CELL_floor_divide] = easy_floor_divide, \
    [FC_CELL__floor_quotient] = easy__floor_quotient,

/* --- integers: division --------------------------------------------------------------------------------------------
 * Below 2**51 a quotient of doubles falls short of an integer by more than its rounding, so cutting it is exact, and so is the remainder.
 * Narrower ones divide by floats as they are (mathfn_int.h); those of the rare dtypes are staged as int64. */
#elif FC_PASTE(FC_EASY_IS_, FC_DT) && FC_ISA_NUM > 2

static int all_easy(const int64_t *xs, const int64_t *ys, int64_t n)
{
    uint64_t high = 0;
    int zero = 0;
    for (int64_t i = 0; i < n; ++i) {
        high |= fc_beyond_near(xs[i]) | fc_beyond_near(ys[i]);
        zero |= ys[i] == 0;
    }
    return !high && !zero;
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
                const f64 x = fc_f64_of_near_i64(xs[i]), y = fc_f64_of_near_i64(ys[i]);                                \
                const f64 q = fc_trunc_f64(x / y), r = x - q * y;                                                        \
                const f64 result = body;                                                                                 \
                out[i] = fc_near_i64_of_f64(result);                                                                     \
            }                                                                                                            \
        }                                                                                                                \
    }
FC_EASY(trunc_divide, ((void)r, q))
FC_EASY(fmod, r)
FC_EASY(remainder, r * y < 0 ? r + y : r)
FC_EASY(floor_divide, r * y < 0 ? q - 1 : q)
#undef FC_EASY
#define FC_EASY_DIVISION [FC_CELL_trunc_divide] = easy_trunc_divide, [FC_CELL_fmod] = easy_fmod, [FC_CELL_remainder] = easy_remainder, \
    [FC_CELL_floor_divide] = easy_floor_divide,
#else
#define FC_EASY_DIVISION
#endif

/* --- int16: shifts, two elements to a word ---------------------------------------------------------------------------
 * AVX2 shifts words by as many amounts, not their halves. */
#define FC_IN_WORDS_i16 1
#if FC_PASTE(FC_IN_WORDS_, FC_DT) && FC_ISA_NUM > 2
typedef uint32_t word __attribute__((may_alias, aligned(2)));

/* low and high: both halves of a word, as places of the upper half */
#define FC_EASY(name, most, low, high)                                                                                   \
    FC_EASY_CELL(easy_##name)                                                                                            \
    {                                                                                                                    \
        word *out = out_;                                                                                                \
        const word *xs = x_, *ys = y_;                                                                                   \
        _Pragma("GCC ivdep")                                                                                             \
        for (int64_t i = 0; i < n / 2; ++i) {                                                                            \
            const uint32_t x = xs[i], first = ys[i] & 0xffff, second = ys[i] >> 16;                                      \
            const uint32_t u = first < most ? first : most, v = second < most ? second : most;                           \
            out[i] = (low) | (high);                                                                                     \
        }                                                                                                                \
        cell_##name((word *)out_ + n / 2, xs + n / 2, ys + n / 2, z_, s, fault, n % 2);                                  \
    }
FC_EASY(bitwise_left_shift, 16, (x << u) & 0xffff, (x >> 16 << v) << 16)
FC_EASY(bitwise_right_shift, 15, (uint32_t)((int32_t)(x << 16) >> u) >> 16, (uint32_t)((int32_t)x >> v) & 0xffff0000)
#undef FC_EASY
#define FC_EASY_SHIFT [FC_CELL_bitwise_left_shift] = easy_bitwise_left_shift, [FC_CELL_bitwise_right_shift] = easy_bitwise_right_shift,
#else
#define FC_EASY_SHIFT
#endif

/* --- floats: circular functions of moderate angles -------------------------------------------------------------------- */
#if FC_CLASS == 2
static int all_near(const T *xs, int64_t n)
{
    int far = 0;
    for (int64_t i = 0; i < n; ++i)
        far |= !(FN(fabs)(xs[i]) < (T)FC_TRIG_NEAR);
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
                out[i] = FN(name##_of)(xs[i], FN(trig_split_near)(xs[i]));                                               \
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

/* --- float: one logarithm is enough for lgamma above -5/2 --------------------------------------------------------------- */
#if FC_CLASS == 2 && FC_PASTE(FC_SINGLE_, FC_DT)
FC_EASY_CELL(easy_lgamma)
{
    for (int64_t first = 0; first < n; first += FC_EASY_RUN) {
        T *out = (T *)out_ + first;
        const T *xs = (const T *)x_ + first;
        const int64_t count = n - first < FC_EASY_RUN ? n - first : FC_EASY_RUN;
        int far = 0;
        for (int64_t i = 0; i < count; ++i)
            far |= xs[i] < (T)-2.5;
        if (far) {
            cell_lgamma(out, xs, y_, z_, s, fault, count);
            continue;
        }
        _Pragma("GCC ivdep")
        for (int64_t i = 0; i < count; ++i)
            out[i] = fc_lgamma_of_f32(xs[i], 0);
    }
}
#define FC_EASY_LGAMMA [FC_CELL_lgamma] = easy_lgamma,
#else
#define FC_EASY_LGAMMA
#endif

/* --- double: series whose steps are taken for all of a run before the next --------------------------------------------- */
#if FC_CLASS == 2 && !FC_PASTE(FC_SINGLE_, FC_DT) && FC_ISA_NUM > 2
#include "map_series.h"
#else
#define FC_EASY_SERIES
#endif

/* --- float: gelu by a table in registers ------------------------------------------------------------------------------- */
#if FC_CLASS == 2 && FC_PASTE(FC_SINGLE_, FC_DT) && FC_ISA_NUM > 2
#include "map_registers.h"
#define FC_EASY_GELU [FC_CELL__gelu] = FC_ISA_NAME(fc_map_gelu),
#else
#define FC_EASY_GELU
#endif

/* --- complex64: the conjugate ------------------------------------------------------------------------------------
 * The upper bit of a word. Of parts gcc makes vectors of their own and puts them together again, which takes longer than memory. */
#define FC_EASY_IS_c64 1
#if FC_PASTE(FC_EASY_IS_, FC_DT) && FC_CLASS == 3
FC_EASY_CELL(easy_conj)
{
    uint64_t *out = out_;
    const uint64_t *xs = x_;
    (void)y_, (void)z_, (void)s, (void)fault;
    _Pragma("GCC ivdep")
    for (int64_t i = 0; i < n; ++i)
        out[i] = xs[i] ^ (uint64_t)1 << 63;
}
#define FC_EASY_CONJ [FC_CELL_conj_physical] = easy_conj,
#else
#define FC_EASY_CONJ
#endif

/* --- complex: products in registers ------------------------------------------------------------------------------------ */
#if FC_CLASS == 3 && FC_ISA_NUM == 3
#include "map_registers.h"
#define FC_EASY_PRODUCT [FC_CELL_mul] = FC_PASTE(fc_map_mul_, FC_DT),
#else
#define FC_EASY_PRODUCT
#endif

/* --- floats and complex: between two tensors by one number, a Scalar where there is no third operand (verb_map.c) ----------- */
#if FC_CLASS > 1
#if FC_CLASS == 2
#define FC_EASY_SHARE(w) const T far = 1 - w; const int near = FN(fabs)(w) < (T)0.5
#define FC_EASY_NEAR FN(fma)(w, ys[i] - xs[i], xs[i])
#define FC_EASY_FAR FN(fma)(-far, ys[i] - xs[i], ys[i])
#else
#define FC_EASY_SHARE(w) const T far = FN(lerp_far)(w); const int near = FN(lerp_near)(w)
#define FC_EASY_NEAR FN(lerp_from)(xs[i], xs[i], ys[i], w)
#define FC_EASY_FAR FN(lerp_from)(ys[i], xs[i], ys[i], far)
#endif
FC_EASY_CELL(easy_lerp)
{
    if (z_) {
        cell_lerp(out_, x_, y_, z_, s, fault, n);
        return;
    }
    T *out = out_;
    const T *xs = x_, *ys = y_, w = FC_SCALAR(s[0]);
    FC_EASY_SHARE(w);
    if (near) {
        _Pragma("GCC ivdep")
        for (int64_t i = 0; i < n; ++i)
            out[i] = FC_EASY_NEAR;
    } else {
        _Pragma("GCC ivdep")
        for (int64_t i = 0; i < n; ++i)
            out[i] = FC_EASY_FAR;
    }
}
#undef FC_EASY_SHARE
#undef FC_EASY_NEAR
#undef FC_EASY_FAR
#define FC_EASY_LERP [FC_CELL_lerp] = easy_lerp,
#else
#define FC_EASY_LERP
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
#define FC_EASY_CELLS FC_EASY_DIVISION FC_EASY_LERP FC_EASY_TRIG FC_EASY_LGAMMA FC_EASY_SERIES FC_EASY_GELU [FC_CELL__elu] = easy__elu, [FC_CELL_celu] = easy_celu, [FC_CELL_selu] = easy_selu,
#else
#define FC_EASY_CELLS FC_EASY_DIVISION FC_EASY_LERP FC_EASY_SHIFT FC_EASY_CONJ FC_EASY_PRODUCT
#endif

/* Scans: the loops are scan_sum.h and scan_extreme.h, stamped here per dtype. */
#include "scan.h"

#include <math.h>

#include "../core/cast.h"
#include "../core/copy_nest.h"
#include "../core/dtype.h"
#include "../core/half.h"
#include "../core/status.h"
#include "parallel.h"

enum { SCAN_TILE = 128, SERIAL = 32768, AT_ONCE = 4, STAGED = 2048 /* halves that are widened at once */,
       CALM = 16 /* elements that are looked at together for a new extreme */,
       APART = 4096, LARGE = 1 << 20,
       TURNED = 64 /* lines that lie side by side are turned at once */, MOST_BYTES = 1 << 20 };

typedef void (*sum_fn)(void *out, const void *x, int64_t n, int64_t lines, int64_t step, int64_t from, int64_t line, void *state, int fresh);
typedef void (*extreme_fn)(void *out, int64_t *out2, const void *x, int64_t n, int64_t step, int64_t from, int64_t width);

/* log(exp(a) + exp(b)) without overflow; -inf is the empty sum. */
static inline f64 log_add_f64(f64 a, f64 b)
{
    const f64 hi = a > b || a != a ? a : b, lo = a > b || a != a ? b : a;
    return isinf(hi) && (lo == hi || hi > 0) ? hi : hi + log1p(exp(lo - hi));
}

#define ADD(a, b) ((a) + (b))
#define TIMES(a, b) ((a) * (b))
#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)

#define SAME(v) (v)
#define TRUTH(v) ((v) != 0)
#define INTEGERS
#define S uint8_t
#define A int64_t
#define LOAD TRUTH
#define STORE SAME
#define T truth
#include "scan_sums.h"
#define S uint8_t
#define A int64_t
#define LOAD SAME
#define STORE SAME
#define T u8
#include "scan_sums.h"
#define S int8_t
#define A int64_t
#define LOAD SAME
#define STORE SAME
#define T i8
#include "scan_sums.h"
#define S int16_t
#define A int64_t
#define LOAD SAME
#define STORE SAME
#define T i16
#include "scan_sums.h"
#define S int32_t
#define A int64_t
#define LOAD SAME
#define STORE SAME
#define T i32
#include "scan_sums.h"
#define S int64_t
#define A int64_t
#define LOAD SAME
#define STORE SAME
#define T i64
#include "scan_sums.h"
#define S uint16_t
#define A int64_t
#define LOAD SAME
#define STORE SAME
#define T u16
#include "scan_sums.h"
#define S uint32_t
#define A int64_t
#define LOAD SAME
#define STORE SAME
#define T u32
#include "scan_sums.h"
#define S uint64_t
#define A int64_t
#define LOAD SAME
#define STORE SAME
#define T u64
#include "scan_sums.h"
#undef INTEGERS
#define S c64
#define A c128
#define LOAD SAME
#define STORE SAME
#define T c64
#include "scan_sums.h"
#define S c128
#define A c128
#define LOAD SAME
#define STORE SAME
#define T c128
#include "scan_sums.h"
#define FLOATS
#define S f32 /* halves, widened */
#define A f32
#define LOAD SAME
#define STORE SAME
#define T half
#include "scan_sums.h"
#define S f32
#define A f64
#define LOAD SAME
#define STORE SAME
#define T f32
#include "scan_sums.h"
#define S f64
#define A f64
#define LOAD SAME
#define STORE SAME
#define T f64
#include "scan_sums.h"

#define GREATER(v, best) ((v) >= (best))
#define LESSER(v, best) ((v) <= (best))
#define ISNAN(v) ((v) != (v))
/* An integer that is as extreme as the best, and where it is, take the best's place. gcc makes this a branch, however it is written, or chains of masks:
 * numbers that no branch foresees took 1.5 to 2 times as long. */
#if defined __x86_64__ && defined __GNUC__
#define CHOOSES(name, type, condition, comparison)                                                                      \
    static inline void name(type *best, int64_t *at, type v, int64_t i)                                                 \
    {                                                                                                                   \
        __asm__("cmp %0, %2\n\tcmov" #condition " %2, %0\n\tcmov" #condition " %3, %1" : "+r"(*best), "+r"(*at) : "r"(v), "r"(i) : "cc"); \
    }
#else
#define CHOOSES(name, type, condition, comparison)                       \
    static inline void name(type *best, int64_t *at, type v, int64_t i)  \
    {                                                                    \
        *at = v comparison *best ? i : *at;                              \
        *best = v comparison *best ? v : *best;                          \
    }
#endif
CHOOSES(at_least_signed, int64_t, ge, >=)
CHOOSES(at_most_signed, int64_t, le, <=)
CHOOSES(at_least_unsigned, uint64_t, ae, >=)
CHOOSES(at_most_unsigned, uint64_t, be, <=)

/* Floats as integers in their order: zeros are one, and a NaN, which nothing beats but another, is `last`. */
#define KEYS(T, I, MOST)                        \
    static inline I key_##T(T v, I last)        \
    {                                           \
        const T plain = v + 0;                  \
        I bits;                                 \
        memcpy(&bits, &plain, sizeof bits);     \
        bits ^= bits >> (8 * sizeof bits - 1) & MOST; \
        return v == v ? bits : last;            \
    }
KEYS(f32, int32_t, INT32_MAX)
KEYS(f64, int64_t, INT64_MAX)

#define INTEGER int64_t
#define SIGN signed
#define KEYED
#define K int32_t
#define KEY(v) key_f32(v, LAST < 0 ? INT32_MIN : INT32_MAX)
#define S uint16_t
#define T f16
#define V f32
#define LOAD fc_f32_of_f16
#include "scan_extremes.h"
#define S uint16_t
#define T bf16
#define V f32
#define LOAD fc_f32_of_bf16
#include "scan_extremes.h"
#define S f32
#define T f32
#define V S
#define LOAD SAME
#include "scan_extremes.h"
#undef K
#undef KEY
#define K int64_t
#define KEY(v) key_f64(v, LAST)
#define S f64
#define T f64
#define V S
#define LOAD SAME
#include "scan_extremes.h"
#undef KEYED
#undef K
#undef KEY
#undef ISNAN
#define ISNAN(v) 0
#define K V
#define S uint8_t
#define T truth
#define V S
#define LOAD TRUTH
#include "scan_extremes.h"
#define S uint8_t
#define T u8
#define V S
#define LOAD SAME
#include "scan_extremes.h"
#define S int8_t
#define T i8
#define V S
#define LOAD SAME
#include "scan_extremes.h"
#define S int16_t
#define T i16
#define V S
#define LOAD SAME
#include "scan_extremes.h"
#define S int32_t
#define T i32
#define V S
#define LOAD SAME
#include "scan_extremes.h"
#define S int64_t
#define T i64
#define V S
#define LOAD SAME
#include "scan_extremes.h"
#define S uint16_t
#define T u16
#define V S
#define LOAD SAME
#include "scan_extremes.h"
#define S uint32_t
#define T u32
#define V S
#define LOAD SAME
#include "scan_extremes.h"
#undef INTEGER
#undef SIGN
#define INTEGER uint64_t
#define SIGN unsigned
#define S uint64_t
#define T u64
#define V S
#define LOAD SAME
#include "scan_extremes.h"
#undef INTEGER
#undef SIGN
#undef K

#define SUMS(T) {cumsum_##T, cumprod_##T, NULL}
#define ALL(T) {cumsum_##T, cumprod_##T, logcumsumexp_##T}
#define EXTREMES(T) {cummax_##T, cummin_##T}

static const sum_fn sums[FC_NDTYPES][FC_SCAN_logcumsumexp + 1] = {
    [FC_BOOL] = SUMS(truth), [FC_U8] = SUMS(u8), [FC_I8] = SUMS(i8), [FC_I16] = SUMS(i16), [FC_I32] = SUMS(i32), [FC_I64] = SUMS(i64),
    [FC_U16] = SUMS(u16), [FC_U32] = SUMS(u32), [FC_U64] = SUMS(u64), [FC_C64] = SUMS(c64), [FC_C128] = SUMS(c128),
    [FC_F16] = ALL(half), [FC_BF16] = ALL(half), [FC_F32] = ALL(f32), [FC_F64] = ALL(f64),
};

static const extreme_fn extremes[FC_C64][2] = {
    [FC_BOOL] = EXTREMES(truth), [FC_U8] = EXTREMES(u8), [FC_I8] = EXTREMES(i8), [FC_I16] = EXTREMES(i16), [FC_I32] = EXTREMES(i32),
    [FC_I64] = EXTREMES(i64), [FC_U16] = EXTREMES(u16), [FC_U32] = EXTREMES(u32), [FC_U64] = EXTREMES(u64),
    [FC_F16] = EXTREMES(f16), [FC_BF16] = EXTREMES(bf16), [FC_F32] = EXTREMES(f32), [FC_F64] = EXTREMES(f64),
};

static int exists(int which, int dtype)
{
    return which <= FC_SCAN_logcumsumexp ? sums[dtype][which] != NULL : !fc_is_complex(dtype);
}

int fc_scan_result(int which, int dtype)
{
    return !exists(which, dtype) ? -1 : fc_is_int(dtype) && (which == FC_SCAN_cumsum || which == FC_SCAN_cumprod) ? FC_I64 : dtype;
}

typedef struct {
    sum_fn sum;         /* one of the two */
    extreme_fn extreme;
    int dtype;
    char *out;
    int64_t *out2;
    const char *x;
    int64_t n, inner, tiles, width, size, out_size, across, from; /* from: elements between those of a line, as some_lines sees x */
} job;

/* Halves: a stretch of the lines at a time becomes float32 and goes back. */
static void half_lines(const job *q, const char *x, int64_t at, int64_t lines)
{
    f32 wide[STAGED], scanned[STAGED], state[SCAN_TILE];
    const int rows = q->inner == 1;
    const int64_t some = STAGED / lines;
    for (int64_t i = 0; i < q->n; i += some) {
        const int64_t m = q->n - i < some ? q->n - i : some;
        int64_t runs = rows ? lines : m, length = rows ? m : lines, run = rows ? q->n : q->inner, x_run = rows ? q->n : q->from;
        const int64_t step = rows ? 1 : length, line = rows ? length : 1;
        if (run == length && x_run == length) { /* one after the other */
            length *= runs;
            runs = 1;
        }
        for (int64_t r = 0; r < runs; ++r)
            fc_convert(FC_F32, wide + r * length, q->dtype, x + (i * q->from + r * x_run) * 2, length);
        q->sum(scanned, wide, m, lines, step, step, line, state, i == 0);
        for (int64_t r = 0; r < runs; ++r)
            fc_convert(q->dtype, q->out + (at + i * q->inner + r * run) * 2, FC_F32, scanned + r * length, length);
    }
}

/* Lines of their own that go together: short ones would pay for each call. */
static int64_t together(const job *q)
{
    const int64_t fit = STAGED / q->n;
    return fit < AT_ONCE ? AT_ONCE : fit > SCAN_TILE ? SCAN_TILE : fit / AT_ONCE * AT_ONCE;
}

/* x: the first of these lines, whose results begin at `at`. */
static void some_lines(const job *q, const char *x, int64_t at, int64_t lines)
{
    char state[SCAN_TILE * 16] __attribute__((aligned(16)));
    char *out = q->out + at * q->out_size;
    if (!q->sum)
        for (int64_t l = 0; l < (q->inner == 1 ? lines : 1); ++l)
            q->extreme(out + l * q->n * q->out_size, q->out2 + at + l * q->n, x + l * q->n * q->size, q->n, q->inner, q->from, q->inner == 1 ? 1 : lines);
    else if (fc_is_half(q->dtype))
        half_lines(q, x, at, lines);
    else if (q->inner == 1)
        q->sum(out, x, q->n, lines, 1, 1, q->n, state, 1);
    else
        q->sum(out, x, q->n, lines, q->inner, q->from, 1, state, 1);
}

/* Units are lines where inner is 1, else tiles of lines that lie side by side. */
static void lines_run(void *ctx, int64_t begin, int64_t end, void *room)
{
    const job *q = ctx;
    const int64_t some = together(q);
    for (int64_t l = begin; q->across && q->inner == 1 && l < end; l += TURNED) {
        const int64_t lines = end - l < TURNED ? end - l : TURNED;
        fc_turn(room, q->n * q->size, q->x + l * q->size, q->across * q->size, q->n, lines, (int)q->size);
        for (int64_t k = 0; k < lines; k += some)
            some_lines(q, (char *)room + k * q->n * q->size, (l + k) * q->n, lines - k < some ? lines - k : some);
    }
    for (int64_t l = begin; !q->across && q->inner == 1 && l < end; l += some)
        some_lines(q, q->x + l * q->n * q->size, l * q->n, end - l < some ? end - l : some);
    for (int64_t k = begin; q->inner > 1 && k < end; ++k) {
        const int64_t c = k % q->tiles * q->width, at = k / q->tiles * q->n * q->inner + c, lines = q->inner - c < q->width ? q->inner - c : q->width;
        if (q->across)
            fc_turn(room, q->width * q->size, q->x + c * q->across * q->size, q->across * q->size, lines, q->n, (int)q->size);
        some_lines(q, q->across ? room : q->x + at * q->size, at, lines);
    }
}

int fc_scan_takes_across(int dtype, int64_t n) { return n * fc_dt_size[dtype] * TURNED <= MOST_BYTES; }

/* How many lines side by side make a tile: no more than SCAN_TILE and much the same in all tiles, of which there is an even number where they
 * are few, so that threads get equal shares. Whole cache lines. */
static int64_t tile_width(int64_t outer, int64_t inner)
{
    int64_t tiles = (inner + SCAN_TILE - 1) / SCAN_TILE;
    if (tiles > 1 && outer * tiles < 16)
        tiles += tiles % 2;
    return tiles > 1 ? ((inner + tiles - 1) / tiles + 15) / 16 * 16 : SCAN_TILE;
}

int fc_scan_run(int which, int dtype, void *out, int64_t *out2, const void *x, int64_t outer, int64_t n, int64_t inner, int64_t across)
{
    if (!exists(which, dtype))
        return fc_fail(FC_DTYPE, dtype, 0, 0, 0);
    const int sum = which <= FC_SCAN_logcumsumexp;
    if (n == 1 && !across) { /* lines of one element lie side by side */
        inner *= outer;
        outer = 1;
    }
    const int64_t width = tile_width(outer, inner);
    job q = {sum ? sums[dtype][which] : NULL, sum ? NULL : extremes[dtype][which - FC_SCAN_cummax], dtype, out, out2, x, n, inner,
             (inner + width - 1) / width, width, fc_dt_size[dtype], fc_dt_size[fc_scan_result(which, dtype)], across,
             inner > 1 && across ? width : inner};
    const int64_t units = outer * q.tiles, total = outer * n * inner;
    if (total == 0)
        return FC_OK;
    if (total < SERIAL && !across) {
        lines_run(&q, 0, units, NULL);
        return FC_OK;
    }
    /* threads whose columns are next to each other fetch each other's lines ahead: 25 us alone, 23 to 40 on two, 50 on four (250 x 400) */
    const int64_t apart = outer == 1 && inner > 1 && total < LARGE ? APART / (width * q.size) : 0, grain = SERIAL / 4 / (total / units + 1);
    return fc_parallel_scratch(units, 1 + (grain > apart ? grain : apart), across ? (size_t)(n * (inner == 1 ? TURNED : width) * q.size) : 0, lines_run, &q);
}

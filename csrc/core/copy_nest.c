/*
 * A copy has no arithmetic: both sides are walked as one nest. Its rows run along dim 0, where out is densest; what a row is decides
 * how it goes:
 *
 *   both dense            converted, or memcpy
 *   one value             out is filled
 *   anything else         through a block in L1, if the dtypes differ
 *   shorter than SHORT    many of them go at once, column by column
 *   dense, below SHORT_BYTES, or read backwards    many of them go at once, row by row
 *
 * A source whose own densest dim is another one (a transposed matrix) goes by tiles of TILE by TILE elements, so that every cache line of
 * both sides is used whole while it is there. Tried for (4000, 2500) float32: 64 lines of 4 KiB strides are beyond L1, 16 use whole lines.
 */
#include <string.h>

#include "../cpu/parallel.h"
#include "cast.h"
#include "copy_nest.h"
#include "facula.h"
#include "isa.h"
#include "move.h"
#include "nest.h"
#include "verb.h"

enum { BLOCK = 512, TILE = 16, WIDE = 128, STRIP = 64, SHORT = 16, SHORT_BYTES = 512, SPAN = 256, BUNDLE = 128, LEAST_SPAN = 16, SPAN_BYTES = 8 << 10,
       NEAR = 512, PAST_ROW = 4096, LINE_OF_TILES = 256, CONVERTED = 64 /* elements of a line that is worth a conversion */, CONVERTED_FROM = 1024,
       FAR = 6 << 20, FAR_LINE = 64, FAR_LINES = 256, FAR_ROOM = 256 << 10, FAR_SIDE = 64 };

typedef struct {
    const fc_nest *nest;
    int across;       /* the dim along which the source is densest, if that is not dim 0; else 0 */
    int along;        /* of bundles: the dim that they go along */
    int64_t per_unit; /* rows that one unit of work has */
    int past;         /* dense out is written past the caches (move.h) */
} job;

/* Four at a time: one takes 1 or 2 cycles, as the loop happens to lie across a cache line. */
#define STRIDED(T)                                                             \
    for (; n >= 4; n -= 4, to += 4 * to_step, from += 4 * from_step) {         \
        const T a = *(const T *)from, b = *(const T *)(from + from_step);      \
        const T c = *(const T *)(from + 2 * from_step), d = *(const T *)(from + 3 * from_step); \
        *(T *)to = a, *(T *)(to + to_step) = b;                                \
        *(T *)(to + 2 * to_step) = c, *(T *)(to + 3 * to_step) = d;            \
    }                                                                          \
    for (int64_t i = 0; i < n; ++i)                                            \
    *(T *)(to + i * to_step) = *(const T *)(from + i * from_step)

typedef struct { uint64_t lo, hi; } word16;

#define BY_SIZE(LOOP)               \
    switch (size) {                 \
    case 1: LOOP(uint8_t); break;   \
    case 2: LOOP(uint16_t); break;  \
    case 4: LOOP(uint32_t); break;  \
    case 8: LOOP(uint64_t); break;  \
    default: LOOP(word16); break;   \
    }

static void strided(char *restrict to, int64_t to_step, const char *restrict from, int64_t from_step, int size, int64_t n)
{
    if (to_step == size && from_step == -size && size <= 8 && n * size >= FC_LEAST_MIRRORED) { /* as flip reads */
        FC_ISA_NAME(fc_mirror)(to, 0, from, 0, n, size, 1);
        return;
    }
    if (to_step == size && from_step == 2 * size) {
        FC_ISA_NAME(fc_seconds)(to, from, size, n);
        return;
    }
    BY_SIZE(STRIDED)
}

#undef STRIDED

#define FILL(T)                                                                \
    for (int64_t i = 0; i < n; ++i)                                            \
    ((T *)to)[i] = *(const T *)value

/* One value over n dense elements. */
static void fill(char *to, const char *restrict value, int size, int64_t n)
{
    switch (size) {
    case 1: memset(to, *value, (size_t)n); break;
    case 2: FILL(uint16_t); break;
    case 4: FILL(uint32_t); break;
    case 8: FILL(uint64_t); break;
    default: FILL(word16); break;
    }
}

#undef FILL

/* n elements, either side strided, of any dtypes. */
static void row(char *to, int64_t to_step, int to_dtype, const char *from, int64_t from_step, int from_dtype, int64_t n)
{
    const int to_size = fc_dt_size[to_dtype], from_size = fc_dt_size[from_dtype];
    _Alignas(64) char raw[BLOCK * 16], made[BLOCK * 16];
    if (to_step == to_size && from_step == from_size) {
        fc_convert(to_dtype, to, from_dtype, from, n);
    } else if (from_step == 0) {
        fc_convert(to_dtype, made, from_dtype, from, 1);
        if (to_step == to_size)
            fill(to, made, to_size, n);
        else
            strided(to, to_step, made, 0, to_size, n);
    } else if (to_dtype == from_dtype) {
        strided(to, to_step, from, from_step, to_size, n);
    } else {
        for (int64_t i = 0; i < n; i += BLOCK) {
            const int64_t count = n - i < BLOCK ? n - i : BLOCK;
            const char *dense = from + i * from_step;
            if (from_step != from_size) {
                strided(raw, from_size, dense, from_step, from_size, count);
                dense = raw;
            }
            if (to_step == to_size) {
                fc_convert(to_dtype, to + i * to_step, from_dtype, dense, count);
            } else {
                fc_convert(to_dtype, made, from_dtype, dense, count);
                strided(to + i * to_step, to_step, made, to_size, to_size, count);
            }
        }
    }
}

/* The same of dense `to`, written past the caches (move.h). */
static void row_past(char *to, int to_dtype, const char *from, int64_t from_step, int from_dtype, int64_t n)
{
    _Alignas(64) char block[BLOCK * 16];
    const int size = fc_dt_size[to_dtype], kept = from_step == size && to_dtype == from_dtype && to_dtype != FC_BOOL; /* whose bytes become 0 or 1 */
    /* whole lines alone: one that is written past the caches in part, and by a neighbour as well, goes to memory twice and waits for it */
    const int64_t line = 64 / size, before = (int64_t)(-(uintptr_t)to % 64) / size, head = before < n ? before : n, last = n - (n - head) % line;
    row(to, size, to_dtype, from, from_step, from_dtype, head);
    for (int64_t i = head, count; i < last; i += count) {
        count = last - i < BLOCK ? last - i : BLOCK;
        if (!kept && (i == head || from_step)) /* a number fills the block once */
            row(block, size, to_dtype, from + i * from_step, from_step, from_dtype, count);
        fc_move_past(to + i * size, kept ? from + i * from_step : block, (size_t)(count * size));
    }
    row(to + last * size, size, to_dtype, from + last * from_step, from_step, from_dtype, n - last);
}

/* Where both sides stand at a position of the dims from `first` on, but for dim `skip`. */
static void seek(const fc_nest *nest, int first, int skip, int64_t position, char **to, char **from)
{
    *to = nest->data[0];
    *from = nest->data[1];
    for (int d = first; d < nest->ndim; ++d) {
        if (d == skip)
            continue;
        const int64_t i = position % nest->size[d];
        position /= nest->size[d];
        *to += i * nest->stride[0][d];
        *from += i * nest->stride[1][d];
    }
}

static void rows(void *ctx, int64_t begin, int64_t end)
{
    const fc_nest *nest = ((const job *)ctx)->nest;
    const int past = ((const job *)ctx)->past;
    const int64_t n = nest->ndim ? nest->size[0] : 1;
    int64_t index[FC_MAX_DIMS], left = begin;
    char *to = nest->data[0], *from = nest->data[1];
    for (int d = 1; d < nest->ndim; ++d) {
        index[d] = left % nest->size[d];
        left /= nest->size[d];
        to += index[d] * nest->stride[0][d];
        from += index[d] * nest->stride[1][d];
    }
    const int64_t to_step = nest->ndim ? nest->stride[0][0] : fc_dt_size[nest->dtype[0]];
    const int64_t from_step = nest->ndim ? nest->stride[1][0] : fc_dt_size[nest->dtype[1]];
    for (int64_t r = begin; r < end; ++r) {
        if (past)
            row_past(to, nest->dtype[0], from, from_step, nest->dtype[1], n);
        else
            row(to, to_step, nest->dtype[0], from, from_step, nest->dtype[1], n);
        for (int d = 1; d < nest->ndim; ++d) {
            to += nest->stride[0][d];
            from += nest->stride[1][d];
            if (++index[d] < nest->size[d])
                break;
            to -= nest->size[d] * nest->stride[0][d];
            from -= nest->size[d] * nest->stride[1][d];
            index[d] = 0;
        }
    }
    if (past)
        fc_moved_past();
}

/* rows() for rows of a few elements: `count` of them along dim 1 at once, an element of each in turn, so that the loops are long. */
static void short_rows(void *ctx, int64_t begin, int64_t end)
{
    const fc_nest *nest = ((const job *)ctx)->nest;
    const int size = fc_dt_size[nest->dtype[0]];
    const int64_t n = nest->size[0], to_step = nest->stride[0][0], from_step = nest->stride[1][0], to_row = nest->stride[0][1], from_row = nest->stride[1][1];
    int64_t index[FC_MAX_DIMS], left = begin;
    char *to = nest->data[0], *from = nest->data[1];
    for (int d = 1; d < nest->ndim; ++d) {
        index[d] = left % nest->size[d];
        left /= nest->size[d];
        to += index[d] * nest->stride[0][d];
        from += index[d] * nest->stride[1][d];
    }
    for (int64_t r = begin, count; r < end; r += count) {
        count = nest->size[1] - index[1] < end - r ? nest->size[1] - index[1] : end - r;
        count = count < SPAN ? count : SPAN;
        if (to_step == size && from_step == size && to_row == n * size && from_row == -to_row && (to_row & (to_row - 1)) == 0 && to_row <= 8)
            strided(to, to_row, from, from_row, (int)to_row, count); /* one element each, read backwards */
        else if (to_step == size && from_step == size)
            FC_ISA_NAME(fc_packs)(to, to_row, from, from_row, n * size, count);
        else if (to_step == size && from_step == -size && n * size >= FC_LEAST_MIRRORED && size <= 8)
            FC_ISA_NAME(fc_mirror)(to, to_row, from, from_row, n, size, count);
        else
            for (int64_t k = 0; k < n; ++k)
                strided(to + k * to_step, to_row, from + k * from_step, from_row, size, count);
        to += count * to_row;
        from += count * from_row;
        index[1] += count;
        for (int d = 1; d < nest->ndim && index[d] == nest->size[d]; ++d) {
            to -= nest->size[d] * nest->stride[0][d];
            from -= nest->size[d] * nest->stride[1][d];
            index[d] = 0;
            if (d + 1 < nest->ndim) {
                to += nest->stride[0][d + 1];
                from += nest->stride[1][d + 1];
                ++index[d + 1];
            }
        }
    }
}

/* One row, cut: [begin, end) are elements. */
static void piece(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const fc_nest *nest = q->nest;
    const int64_t to_step = nest->stride[0][0], from_step = nest->stride[1][0];
    char *const to = nest->data[0] + begin * to_step;
    const char *const from = nest->data[1] + begin * from_step;
    if (!q->past) {
        row(to, to_step, nest->dtype[0], from, from_step, nest->dtype[1], end - begin);
        return;
    }
    row_past(to, nest->dtype[0], from, from_step, nest->dtype[1], end - begin);
    fc_moved_past();
}

#define TURN(T)                                                                                        \
    for (int64_t j = 0; j < m; ++j)                                                                    \
        for (int64_t i = 0; i < n; ++i)                                                                \
    *(T *)(to + j * to_row + i * to_step) = *(const T *)(from + j * from_row + i * from_step)

/* m rows of n elements each */
static void turn(char *to, int64_t to_row, int64_t to_step, const char *from, int64_t from_row, int64_t from_step, int size, int64_t m, int64_t n)
{
    if (to_step == size && from_row == size) {
        FC_ISA_NAME(fc_turn)(to, to_row, from, from_step, n, m, size);
        return;
    }
    BY_SIZE(TURN)
}

#undef TURN

/* A unit is per_unit rows along dim `across`, at one position of the other dims. */
static void tiles(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const fc_nest *nest = q->nest;
    const int a = q->across, to = nest->dtype[0], from = nest->dtype[1], to_size = fc_dt_size[to], from_size = fc_dt_size[from];
    const int64_t n = nest->size[0], m = nest->size[a], strips = (m - 1) / q->per_unit + 1;
    const int64_t to_step = nest->stride[0][0], from_step = nest->stride[1][0], to_row = nest->stride[0][a], from_row = nest->stride[1][a];
    _Alignas(64) char block[TILE * WIDE * 16];
    for (int64_t u = begin; u < end; ++u) {
        char *t, *f;
        const int64_t j0 = u % strips * q->per_unit;
        seek(nest, 1, a, u / strips, &t, &f);
        const int64_t j1 = j0 + q->per_unit < m ? j0 + q->per_unit : m;
        /* where no registers turn, whole stretches of a line are written one after the other */
        const int64_t wide = to != from ? WIDE : to_step == to_size ? TILE : LINE_OF_TILES, high = to == from && n <= TILE ? STRIP : TILE;
        for (int64_t i = 0; i < n; i += wide)
            for (int64_t j = j0; j < j1; j += high) {
                const int64_t mm = j1 - j < high ? j1 - j : high, nn = n - i < wide ? n - i : wide;
                char *tt = t + j * to_row + i * to_step;
                const char *ff = f + j * from_row + i * from_step;
                if (to == from) {
                    turn(tt, to_row, to_step, ff, from_row, from_step, to_size, mm, nn);
                    continue;
                }
                for (int64_t k = 0; k < nn; k += TILE)
                    turn(block + k * from_size, WIDE * from_size, from_size, ff + k * from_step, from_row, from_step, from_size, mm, nn - k < TILE ? nn - k : TILE);
                for (int64_t r = 0; r < mm; ++r)
                    row(tt + r * to_row, to_step, to, block + r * WIDE * from_size, from_size, from, nn);
            }
    }
}

/* Tiles of what no second cache holds: a line's worth of rows is turned into room, and they go out in long stretches, so that the side that
 * is written does not visit a page for a line. 40 MB of float32: 12 ms tile by tile, 3 so. */
static void far_tiles(void *ctx, int64_t begin, int64_t end, void *room)
{
    const job *q = ctx;
    const fc_nest *nest = q->nest;
    const int a = q->across, size = fc_dt_size[nest->dtype[0]];
    const int64_t n = nest->size[0], m = nest->size[a], strips = (m - 1) / q->per_unit + 1, wide = FAR_ROOM / (q->per_unit * size);
    for (int64_t u = begin; u < end; ++u) {
        char *to, *from;
        const int64_t j = u % strips * q->per_unit, high = m - j < q->per_unit ? m - j : q->per_unit;
        seek(nest, 1, a, u / strips, &to, &from);
        to += j * nest->stride[0][a];
        from += j * size;
        for (int64_t i = 0; i < n; i += wide) {
            const int64_t some = n - i < wide ? n - i : wide;
            FC_ISA_NAME(fc_turn)(room, some * size, from + i * nest->stride[1][0], nest->stride[1][0], some, high, size);
            for (int64_t r = 0; r < high; ++r) {
                char *const line = to + r * nest->stride[0][a] + i * size;
                const char *const made = (const char *)room + r * some * size;
                if (q->past)
                    fc_move_past(line, made, (size_t)(some * size));
                else
                    memcpy(line, made, (size_t)(some * size));
            }
        }
    }
    if (q->past)
        fc_moved_past();
}

/* Where dim 0 and the one across are both short, a tile of them is a handful of elements: each of those goes along the first
 * other dim that is long. Where one of them is, no square of registers fits, and each of its elements goes along the other. In spans that leave what they
 * read and write in L1; a unit is a span. */
static void bundles(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const fc_nest *nest = q->nest;
    const int a = q->across, l = q->along, size = fc_dt_size[nest->dtype[0]];
    const int64_t n = l ? nest->size[0] : 1, m = l != a ? nest->size[a] : 1, others = nest->total / (n * m * nest->size[l]);
    for (int64_t u = begin; u < end; ++u) { /* one span at all positions of the other dims, whose lines are neighbours, then the next */
        char *t, *f;
        const int64_t first = u / others * q->per_unit, count = nest->size[l] - first < q->per_unit ? nest->size[l] - first : q->per_unit;
        int64_t left = u % others;
        t = nest->data[0] + first * nest->stride[0][l];
        f = nest->data[1] + first * nest->stride[1][l];
        for (int d = 1; d < nest->ndim; ++d) {
            if (d == a || d == l)
                continue;
            t += left % nest->size[d] * nest->stride[0][d];
            f += left % nest->size[d] * nest->stride[1][d];
            left /= nest->size[d];
        }
        for (int64_t j = 0; j < m; ++j)
            for (int64_t i = 0; i < n; ++i)
                strided(t + i * nest->stride[0][0] + j * nest->stride[0][a], nest->stride[0][l], f + i * nest->stride[1][0] + j * nest->stride[1][a], nest->stride[1][l], size, count);
    }
}

/* Whether lines such steps apart share a few sets of the first cache, and push each other out. */
static int collides(int64_t step) { return step && step % 1024 == 0; }

/* The dim that bundles go along; -1 where tiles are better. */
static int bundled(const fc_nest *nest, int a)
{
    const int size = fc_dt_size[nest->dtype[0]];
    const int64_t n = nest->size[0], m = nest->size[a], least = n < m ? n : m, side = size == 8 ? 4 : size == 1 ? 16 : 8; /* copy_turn_simd.c's */
    if (nest->dtype[0] != nest->dtype[1])
        return -1;
    /* another dim, the nearest in the result: what is written lies together */
    for (int d = 1; d < nest->ndim; ++d)
        if (d != a && nest->size[d] >= LEAST_SPAN && !collides(nest->stride[0][d]) && !collides(nest->stride[1][d]) && (n * m <= BUNDLE || (n < side && nest->stride[1][d] <= NEAR)))
            return d;
    const int best = n < m ? a : 0;
    return least < side && nest->size[best] >= LEAST_SPAN && nest->stride[best == 0][best] <= NEAR ? best : -1; /* far lines of one set of the cache would push each other out */
}

/* The dim with the source's smallest stride, if it beats dim 0's. */
static int densest(const fc_nest *nest)
{
    int best = 0;
    for (int d = 1; d < nest->ndim; ++d) {
        const int64_t s = nest->stride[1][d] < 0 ? -nest->stride[1][d] : nest->stride[1][d];
        const int64_t b = nest->stride[1][best] < 0 ? -nest->stride[1][best] : nest->stride[1][best];
        if (s && b && s < b && nest->size[d] >= 4)
            best = d;
    }
    return best;
}

/* A conversion to or from another order of dims whose lines are short, as a copy and a conversion of one line: loops that convert are asked
 * line by line (131072 float16 in pairs: 880 us, so 42). 0 where neither side is one line, or there is no memory for what lies between. */
static int apart(fc_tensor *out, fc_tensor *x)
{
    if (!out->contiguous && !(x->contiguous && x->numel == out->numel))
        return 0;
    fc_tensor *between = fc_new(out->contiguous ? x->dtype : out->dtype, out->device, out->ndim, out->shape);
    if (!between)
        return 0;
    FC_ISA_NAME(fc_copy_nest)(between, x);
    FC_ISA_NAME(fc_copy_nest)(out, between);
    fc_free(between);
    return 1;
}

/* Is a dense result written past the caches? On a v4 machine one that reads less than it writes only where the third cache would keep little of it: a
 * fill of 40 MB takes 1.25 ms there instead of 1.5, on two threads 1.16, bfloat16 to int32 1.95 instead of 2.65 and 1.4 instead of 3.8, and a row for
 * 40 MB 0.54 on two threads instead of 0.94, but one for 80 MB 2.7 instead of 2.1; a copy takes 2.3 instead of 2.0. */
static int goes_past(const fc_nest *nest)
{
    const int64_t size = fc_dt_size[nest->dtype[0]];
    int reads = nest->ndim > 0 && fc_dt_size[nest->dtype[1]] >= size;
    for (int d = 0; d < nest->ndim; ++d) /* one element, or one row, that is shown again and again is read once */
        reads &= nest->stride[1][d] != 0;
    return nest->total * size >= (reads || FC_ISA_NUM < 4 ? FC_PAST_CACHES : 3 * FC_PAST_CACHES);
}

void FC_ISA_NAME(fc_copy_nest)(fc_tensor *out, fc_tensor *x)
{
    fc_tensor *ops[2] = { out, x };
    fc_nest nest;
    fc_nest_build(&nest, 2, ops);
    if (!nest.total)
        return;
    job q = { .nest = &nest };
    if (nest.ndim == 1) {
        q.past = nest.stride[0][0] == fc_dt_size[nest.dtype[0]] && goes_past(&nest);
        fc_parallel(nest.total, FC_GRAIN, piece, &q);
        return;
    }
    if (nest.dtype[0] != nest.dtype[1] && nest.ndim && nest.size[0] < CONVERTED && nest.total >= CONVERTED_FROM && apart(out, x))
        return;
    q.across = nest.ndim && nest.size[0] >= 4 ? densest(&nest) : 0;
    if (!q.across) {
        const int64_t n = nest.ndim ? nest.size[0] : 1;
        const int64_t size = fc_dt_size[nest.dtype[0]];
        const int packed = nest.ndim > 1 && nest.stride[0][0] == size && (nest.stride[1][0] == size ? n * size < SHORT_BYTES : nest.stride[1][0] == -size && n * size >= FC_LEAST_MIRRORED && size <= 8);
        const int few = nest.ndim > 1 && nest.dtype[0] == nest.dtype[1] && (packed || (n < SHORT && nest.size[1] > n));
        q.past = !few && n * size >= PAST_ROW && nest.stride[0][0] == size && goes_past(&nest);
        fc_parallel(nest.total / n, FC_GRAIN / n + 1, few ? short_rows : rows, &q);
        return;
    }
    const int64_t n = nest.size[0], m = nest.size[q.across];
    q.along = bundled(&nest, q.across);
    if (q.along >= 0) {
        const int64_t l = nest.size[q.along], bundle = q.along == 0 ? m : q.along == q.across ? n : n * m, span = SPAN_BYTES / (bundle * fc_dt_size[nest.dtype[0]]);
        q.per_unit = span < LEAST_SPAN ? LEAST_SPAN : span;
        fc_parallel(nest.total / (bundle * l) * ((l - 1) / q.per_unit + 1), FC_GRAIN / (bundle * (q.per_unit < l ? q.per_unit : l)) + 1, bundles, &q);
        return;
    }
    const int64_t size = fc_dt_size[nest.dtype[0]];
    if (nest.dtype[0] == nest.dtype[1] && nest.total * size >= FAR && nest.stride[0][0] == size && nest.stride[1][q.across] == size && n >= FAR_SIDE && m * size >= FAR_LINES) {
        q.past = nest.total * size >= FC_PAST_CACHES;
        q.per_unit = FAR_LINE / size;
        if (!fc_parallel_scratch(nest.total / n / m * ((m - 1) / q.per_unit + 1), 1, FAR_ROOM, far_tiles, &q))
            return;
    }
    q.per_unit = STRIP;
    fc_parallel(nest.total / n / m * ((m - 1) / q.per_unit + 1), FC_GRAIN / (q.per_unit * n) + 1, tiles, &q);
}

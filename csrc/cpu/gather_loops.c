/* See gather_loops.h. Reading and writing move bytes of a size; sums, products and extremes know their dtype. */
#include <string.h>

#include "../core/cast.h"
#include "../core/dtype.h"
#include "../core/half.h"
#include "../core/move.h"
#include "gather.h"
#include "gather_loops.h"

typedef struct { uint64_t lo, hi; } word16;

enum { LINE_OF_PLACES = 8, AHEAD = 64 }; /* places of a cache line; how far ahead they are fetched, which what waits for elements leaves no room for */

#define LINE(name, T, STATEMENT)                                                                                                            \
    static int64_t name(const fc_through_box *b, char *big, char *flat, const int64_t *index)                                               \
    {                                                                                                                                       \
        const fc_through_box q = *b;                                                                                                        \
        for (int64_t r = 0; r < q.rows; ++r)                                                                                                \
            for (int64_t k = 0; k < q.count; ++k) {                                                                                         \
                const int64_t place = r * q.index_row + k * q.index_next, i = index[place];                                                 \
                if ((uint64_t)i >= (uint64_t)q.n)                                                                                           \
                    return place;                                                                                                           \
                T *const at = (T *)big + (r * q.big_row + k * q.big_next + i * q.big_step);                                                 \
                T *const v = (T *)flat + (r * q.flat_row + k * q.flat_next);                                                                \
                STATEMENT;                                                                                                                  \
            }                                                                                                                               \
        return -1;                                                                                                                          \
    }

#define AT_PLACE(l, STATEMENT)                                                                                                              \
    {                                                                                                                                       \
        const int64_t i = places[l];                                                                                                        \
        if ((uint64_t)i >= (uint64_t)q.n)                                                                                                   \
            return r * q.index_row + (l);                                                                                                   \
        STATEMENT(at[i], v[l]);                                                                                                             \
    }

/* Along the index's own dim, dense: the commonest, of the fewest instructions. Lines that share an index go four at a time, and each keeps its order. */
#define DENSE(name, T, STATEMENT)                                                                                                           \
    static int64_t dense_##name(const fc_through_box *b, char *big, char *flat, const int64_t *index)                                       \
    {                                                                                                                                       \
        const fc_through_box q = *b;                                                                                                        \
        int64_t r = 0;                                                                                                                      \
        for (; !q.index_row && r + 4 <= q.rows; r += 4) {                                                                                   \
            T *const at0 = (T *)big + r * q.big_row, *const at1 = at0 + q.big_row, *const at2 = at1 + q.big_row, *const at3 = at2 + q.big_row; \
            T *const v0 = (T *)flat + r * q.flat_row, *const v1 = v0 + q.flat_row, *const v2 = v1 + q.flat_row, *const v3 = v2 + q.flat_row; \
            for (int64_t k = 0; k < q.count; ++k) {                                                                                         \
                const int64_t i = index[k];                                                                                                 \
                if ((uint64_t)i >= (uint64_t)q.n)                                                                                           \
                    return k;                                                                                                               \
                STATEMENT(at0[i], v0[k]);                                                                                                   \
                STATEMENT(at1[i], v1[k]);                                                                                                   \
                STATEMENT(at2[i], v2[k]);                                                                                                   \
                STATEMENT(at3[i], v3[k]);                                                                                                   \
            }                                                                                                                               \
        }                                                                                                                                   \
        for (; r < q.rows; ++r) {                                                                                                           \
            T *const at = (T *)big + r * q.big_row, *const v = (T *)flat + r * q.flat_row;                                                  \
            const int64_t *const places = index + r * q.index_row;                                                                          \
            int64_t k = 0;                                                                                                                  \
            for (; k + LINE_OF_PLACES <= q.count; k += LINE_OF_PLACES) {                                                                    \
                __builtin_prefetch(places + k + AHEAD);                                                                                     \
                _Pragma("GCC unroll 8")                                                                                                     \
                for (int64_t l = k; l < k + LINE_OF_PLACES; ++l)                                                                            \
                    AT_PLACE(l, STATEMENT)                                                                                                  \
            }                                                                                                                               \
            for (; k < q.count; ++k)                                                                                                        \
                AT_PLACE(k, STATEMENT)                                                                                                      \
        }                                                                                                                                   \
        return -1;                                                                                                                          \
    }                                                                                                                                       \
    static int64_t either_##name(const fc_through_box *b, char *big, char *flat, const int64_t *index)                                      \
    {                                                                                                                                       \
        return (b->index_next == 1 && b->flat_next == 1 && b->big_step == 1 && !b->big_next ? dense_##name : name)(b, big, flat, index);    \
    }

#define EACH(name, T, STATEMENT) LINE(name, T, STATEMENT(*at, *v)) DENSE(name, T, STATEMENT)

#define READ(at, v) v = at
#define WRITE(at, v) at = v
#define PLUS(at, v) at = at + v

#define MOVES(T)                                                                                                                            \
    EACH(read_##T, T, READ) EACH(write_##T, T, WRITE)
MOVES(uint8_t)
MOVES(uint16_t)
MOVES(uint32_t)
MOVES(uint64_t)
MOVES(word16)

#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define SMALLER(a, b) ((a) < (b) ? (a) : (b))

#define ARITHMETIC(name, T)                                                                                                                 \
    LINE(add_##name, T, *at = (T)(*at + *v)) LINE(mul_##name, T, *at = (T)(*at * *v)) LINE(max_##name, T, *at = LARGER(*at, *v))             \
    LINE(min_##name, T, *at = SMALLER(*at, *v))
ARITHMETIC(u8, uint8_t)
ARITHMETIC(i8, int8_t)
ARITHMETIC(i16, int16_t)
ARITHMETIC(i32, int32_t)
ARITHMETIC(i64, int64_t)
ARITHMETIC(u16, uint16_t)
ARITHMETIC(u32, uint32_t)
ARITHMETIC(u64, uint64_t)

/* NaN wins, as in maximum and minimum: the one that is there stays, one that comes fails the comparison and is taken. A comparison that
 * chooses a number is one instruction, without a jump; that for NaN is always guessed. */
#define TIMES(at, v) at = at * v
#define LARGEST(at, v) if (at == at) at = LARGER(at, v)
#define SMALLEST(at, v) if (at == at) at = SMALLER(at, v)
#define FLOATS(name, T) EACH(add_##name, T, PLUS) EACH(mul_##name, T, TIMES) EACH(max_##name, T, LARGEST) EACH(min_##name, T, SMALLEST)
FLOATS(f32, float)
FLOATS(f64, double)

#define HALVES(name, of, to)                                                                                                                \
    LINE(add_##name, uint16_t, *at = to(of(*at) + of(*v))) LINE(mul_##name, uint16_t, *at = to(of(*at) * of(*v)))                            \
    LINE(max_##name, uint16_t, *at = of(*at) > of(*v) || of(*at) != of(*at) ? *at : *v)                                                      \
    LINE(min_##name, uint16_t, *at = of(*at) < of(*v) || of(*at) != of(*at) ? *at : *v)
HALVES(f16, fc_f32_of_f16, fc_f16_of_f32)
HALVES(bf16, fc_f32_of_bf16, fc_bf16_of_f32)

LINE(add_bool, uint8_t, *at |= *v)
LINE(mul_bool, uint8_t, *at = *at && *v)
LINE(add_c64, c64, *at += *v)
LINE(add_c128, c128, *at += *v)
LINE(mul_c64, c64, *at *= *v)
LINE(mul_c128, c128, *at *= *v)

#define ROW(name) { 0, 0, add_##name, mul_##name, max_##name, min_##name }
#define FLOAT_ROW(name) { 0, 0, either_add_##name, either_mul_##name, either_max_##name, either_min_##name }

static const fc_through_lines arithmetic[FC_NDTYPES][6] = {
    [FC_BOOL] = { 0, 0, add_bool, mul_bool, add_bool, mul_bool }, [FC_U8] = ROW(u8), [FC_I8] = ROW(i8), [FC_I16] = ROW(i16), [FC_I32] = ROW(i32),
    [FC_I64] = ROW(i64), [FC_U16] = ROW(u16), [FC_U32] = ROW(u32), [FC_U64] = ROW(u64), [FC_F16] = ROW(f16), [FC_BF16] = ROW(bf16),
    [FC_F32] = FLOAT_ROW(f32), [FC_F64] = FLOAT_ROW(f64), [FC_C64] = { 0, 0, add_c64, mul_c64, 0, 0 }, [FC_C128] = { 0, 0, add_c128, mul_c128, 0, 0 },
};

fc_through_lines fc_through_lines_of(int dtype, int how)
{
    if (how != FC_THROUGH_READ && how != FC_THROUGH_WRITE)
        return arithmetic[dtype][how];
    const int write = how == FC_THROUGH_WRITE;
    switch (fc_dt_size[dtype]) {
    case 1: return write ? either_write_uint8_t : either_read_uint8_t;
    case 2: return write ? either_write_uint16_t : either_read_uint16_t;
    case 4: return write ? either_write_uint32_t : either_read_uint32_t;
    case 8: return write ? either_write_uint64_t : either_read_uint64_t;
    default: return write ? either_write_word16 : either_read_word16;
    }
}

/* Four rows at a time share what is read of the index: 1e5 words in rows of 400 take 23 us instead of 42. */
#define CHOOSE(T)                                                                          \
    for (; rows >= 4; rows -= 4, to += 4 * to_far * size, from += 4 * from_far * size) {   \
        T *a = (T *)to, *b = a + to_far, *c = b + to_far, *d = c + to_far;                 \
        const T *x = (const T *)from;                                                      \
        for (int64_t k = 0; k < count; ++k) {                                              \
            const T *const at = x + index[k] * step;                                       \
            a[k] = at[0], b[k] = at[from_far], c[k] = at[2 * from_far], d[k] = at[3 * from_far]; \
        }                                                                                  \
    }                                                                                      \
    for (; rows; --rows, to += to_far * size, from += from_far * size)                     \
        if (step == 1) /* no multiplication: 34 us instead of 57 for 1e5 words */          \
            for (int64_t k = 0; k < count; ++k)                                            \
                ((T *)to)[k] = ((const T *)from)[index[k]];                                \
        else                                                                               \
            for (int64_t k = 0; k < count; ++k)                                            \
                ((T *)to)[k] = ((const T *)from)[index[k] * step];                         \
    break

void fc_cpu_choose(int size, char *restrict to, int64_t to_far, const char *restrict from, int64_t from_far, int64_t rows, int64_t step,
                   const int64_t *restrict index, int64_t count)
{
    switch (size) {
    case 1: CHOOSE(uint8_t);
    case 2: CHOOSE(uint16_t);
    case 4: CHOOSE(uint32_t);
    case 8: CHOOSE(uint64_t);
    default: CHOOSE(word16);
    }
}

#define COPY(T)                                                                \
    for (int64_t i = 0; i < n; ++i)                                            \
    ((T *)to)[i * to_step] = ((const T *)from)[i * from_step]

void fc_cpu_strided_copy(int size, char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n)
{
    if (to_step == 1 && from_step == 1) {
        fc_move_bytes(to, from, (size_t)(n * size));
        return;
    }
    switch (size) {
    case 1: COPY(uint8_t); break;
    case 2: COPY(uint16_t); break;
    case 4: COPY(uint32_t); break;
    case 8: COPY(uint64_t); break;
    default: COPY(word16); break;
    }
}

/* Dense sides have a loop of their own, which vectorises. */
#define ADD(T)                                                                                                     \
    if (to_step == 1 && from_step == 1)                                                                            \
        for (int64_t i = 0; i < n; ++i)                                                                            \
            ((T *)to)[i] += ((const T *)from)[i];                                                                  \
    else                                                                                                           \
        for (int64_t i = 0; i < n; ++i)                                                                            \
            ((T *)to)[i * to_step] += ((const T *)from)[i * from_step];                                            \
    break

void fc_cpu_accumulate(int dtype, char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n)
{
    uint16_t *h = (uint16_t *)to;
    const uint16_t *g = (const uint16_t *)from;
    switch (dtype) {
    case FC_BOOL:
        for (int64_t i = 0; i < n; ++i)
            to[i * to_step] |= from[i * from_step];
        break;
    case FC_U8: case FC_I8: ADD(uint8_t);
    case FC_I16: case FC_U16: ADD(uint16_t);
    case FC_I32: case FC_U32: ADD(uint32_t);
    case FC_I64: case FC_U64: ADD(uint64_t);
    case FC_F16:
        for (int64_t i = 0; i < n; ++i)
            h[i * to_step] = fc_f16_of_f32(fc_f32_of_f16(h[i * to_step]) + fc_f32_of_f16(g[i * from_step]));
        break;
    case FC_BF16:
        for (int64_t i = 0; i < n; ++i)
            h[i * to_step] = fc_bf16_of_f32(fc_f32_of_bf16(h[i * to_step]) + fc_f32_of_bf16(g[i * from_step]));
        break;
    case FC_F32: ADD(f32);
    case FC_F64: ADD(f64);
    case FC_C64: ADD(c64);
    case FC_C128: ADD(c128);
    default: /* float8 */
        for (int64_t i = 0; i < n; ++i) {
            f32 sum, v;
            fc_convert(FC_F32, &sum, dtype, to + i * to_step, 1);
            fc_convert(FC_F32, &v, dtype, from + i * from_step, 1);
            sum += v;
            fc_convert(dtype, to + i * to_step, FC_F32, &sum, 1);
        }
    }
}

/* The statements of FLOATS. */
#define COMBINE(T)                                                                                                 \
    T *const at = (T *)to;                                                                                         \
    const T *const v = (const T *)from;                                                                            \
    if (how == FC_THROUGH_MUL)                                                                                     \
        for (int64_t i = 0; i < n; ++i)                                                                            \
            at[i] *= v[i];                                                                                         \
    else if (how == FC_THROUGH_MAX)                                                                                \
        for (int64_t i = 0; i < n; ++i)                                                                            \
            at[i] = (at[i] != at[i]) | (at[i] > v[i]) ? at[i] : v[i];                                                 \
    else                                                                                                           \
        for (int64_t i = 0; i < n; ++i)                                                                            \
            at[i] = (at[i] != at[i]) | (at[i] < v[i]) ? at[i] : v[i]

static void combine_f32(int how, char *restrict to, const char *restrict from, int64_t n) { COMBINE(float); }
static void combine_f64(int how, char *restrict to, const char *restrict from, int64_t n) { COMBINE(double); }

void fc_cpu_combine(int dtype, int how, char *to, const char *from, int64_t n)
{
    (dtype == FC_F32 ? combine_f32 : combine_f64)(how, to, from, n);
}

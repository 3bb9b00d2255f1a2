/*
 * Folds of one contiguous row inside a kernel, in THE ORDER of fold.h: the bits are those of fc_fold on the same row.
 *
 * fc_row_sum, fc_row_max, fc_row_dot (sum of x * y), fc_row_dev (sum of (x - p)^2), each for f32 and f64.
 */
#ifndef FC_FOLD_ROWS_H
#define FC_FOLD_ROWS_H

#include <math.h>

#include "../core/dtype.h"
#include "fold.h"

#define ROW_ADD(a, b) ((a) + (b))

/* NaN wins, as in fold_ops.h. */
static inline f32 fc_greater_f32(f32 a, f32 b) { const f32 m = b > a ? b : a; return b == b ? m : b; }
static inline f64 fc_greater_f64(f64 a, f64 b) { const f64 m = b > a ? b : a; return b == b ? m : b; }

/* One block; then the blocks, joined like the carries of a binary counter. */
#define ROW_FOLD(NAME, T, INIT, OP, TERM)                                                                               \
    static inline T NAME##_block(const T *restrict x, const T *restrict y, T p, int64_t n)                       \
    {                                                                                                            \
        (void)y, (void)p;                                                                                        \
        T lane[FC_FOLD_LANES];                                                                                   \
        for (int j = 0; j < FC_FOLD_LANES; ++j)                                                                  \
            lane[j] = INIT;                                                                                      \
        int64_t i = 0;                                                                                           \
        for (; i + FC_FOLD_LANES <= n; i += FC_FOLD_LANES)                                                       \
            _Pragma("GCC unroll 1") /* else unrolled to scalars before it is vectorised */                       \
            for (int j = 0; j < FC_FOLD_LANES; ++j)                                                              \
                lane[j] = OP(lane[j], TERM(i + j));                                                              \
        if (i < n) /* loads under a mask */                                                                      \
            _Pragma("GCC unroll 1")                                                                              \
            for (int j = 0; j < FC_FOLD_LANES; ++j)                                                              \
                lane[j] = j < n - i ? OP(lane[j], TERM(i + j)) : lane[j];                                        \
        for (int j = 0; j < 8; ++j)                                                                              \
            lane[j] = OP(lane[j], lane[j + 8]);                                                                  \
        for (int j = 0; j < 4; ++j)                                                                              \
            lane[j] = OP(lane[j], lane[j + 4]);                                                                  \
        for (int j = 0; j < 2; ++j)                                                                              \
            lane[j] = OP(lane[j], lane[j + 2]);                                                                  \
        return OP(lane[0], lane[1]);                                                                             \
    }                                                                                                            \
    static T NAME##_blocks(const T *restrict x, const T *restrict y, T p, int64_t n)                             \
    {                                                                                                            \
        T tree[48];                                                                                              \
        int depth = 0;                                                                                           \
        for (int64_t b = 0; b * FC_FOLD_BLOCK < n; ++b) {                                                        \
            const int64_t from = b * FC_FOLD_BLOCK, left = n - from;                                             \
            tree[depth++] = NAME##_block(x + from, y ? y + from : y, p, left < FC_FOLD_BLOCK ? left : FC_FOLD_BLOCK); \
            for (int64_t carry = b + 1; carry % 2 == 0; carry /= 2, --depth)                                     \
                tree[depth - 2] = OP(tree[depth - 2], tree[depth - 1]);                                          \
        }                                                                                                        \
        for (; depth > 1; --depth)                                                                               \
            tree[depth - 2] = OP(tree[depth - 2], tree[depth - 1]);                                              \
        return tree[0];                                                                                          \
    }                                                                                                            \
    static inline T NAME##_any(const T *restrict x, const T *restrict y, T p, int64_t n)                         \
    {                                                                                                            \
        return n <= FC_FOLD_BLOCK ? NAME##_block(x, y, p, n) : NAME##_blocks(x, y, p, n);                        \
    }

#define ROW_X(i) x[i]
#define ROW_XY(i) (x[i] * y[i])
#define ROW_DEV(i) ((x[i] - p) * (x[i] - p))
#define ROW_DEV_Y(i) ((x[i] - p) * y[i])

#define ROW_FOLDS(T)                                                                                                       \
    ROW_FOLD(fc_row_sum_##T, T, 0, ROW_ADD, ROW_X)                                                                         \
    ROW_FOLD(fc_row_max_##T, T, -INFINITY, fc_greater_##T, ROW_X)                                                          \
    ROW_FOLD(fc_row_dot_##T, T, 0, ROW_ADD, ROW_XY)                                                                        \
    ROW_FOLD(fc_row_dev_##T, T, 0, ROW_ADD, ROW_DEV)                                                                       \
    ROW_FOLD(fc_row_devdot_##T, T, 0, ROW_ADD, ROW_DEV_Y)                                                                  \
    static inline T fc_row_sum_##T(const T *x, int64_t n) { return fc_row_sum_##T##_any(x, 0, 0, n); }                     \
    static inline T fc_row_max_##T(const T *x, int64_t n) { return fc_row_max_##T##_any(x, 0, 0, n); }                     \
    static inline T fc_row_dot_##T(const T *x, const T *y, int64_t n) { return fc_row_dot_##T##_any(x, y, 0, n); }         \
    static inline T fc_row_dev_##T(const T *x, T p, int64_t n) { return fc_row_dev_##T##_any(x, 0, p, n); }                \
    static inline T fc_row_devdot_##T(const T *x, T p, const T *y, int64_t n) { return fc_row_devdot_##T##_any(x, y, p, n); }

ROW_FOLDS(f32)
ROW_FOLDS(f64)

#undef ROW_FOLD
#undef ROW_FOLDS
#undef ROW_ADD
#undef ROW_X
#undef ROW_XY
#undef ROW_DEV
#undef ROW_DEV_Y

#endif

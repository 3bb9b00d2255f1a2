/* What a fold kernel is to fold.c: functions over one block, and the size of its accumulator. */
#ifndef FC_FOLD_CELL_TYPE_H
#define FC_FOLD_CELL_TYPE_H

#include <string.h>

#include "../core/dtype.h"
#include "../core/isa.h"
#include "fold.h"

/* Before a loop over lanes, which whole would be unrolled to scalars before it is vectorised: 6 GB/s instead of 50. */
#define FC_FOLD_NO_UNROLL _Pragma("GCC unroll 1")

/* A statement for every lane j, in FOLD_PARTS loops: gcc keeps in registers what one loop does two vectors of, and what it does more of in memory. */
#define FOLD_LOOP(from, to, ...) FC_FOLD_NO_UNROLL for (int j = from; j < to; ++j) __VA_ARGS__;
#define FOLD_EACH(...) FOLD_EACH_(FOLD_PARTS, __VA_ARGS__)
#define FOLD_EACH_(parts, ...) FOLD_EACH__(parts, __VA_ARGS__)
#define FOLD_EACH__(parts, ...) { FOLD_EACH_##parts(__VA_ARGS__) }
#define FOLD_EACH_1(...) FOLD_LOOP(0, 16, __VA_ARGS__)
#define FOLD_EACH_2(...) FOLD_LOOP(0, 8, __VA_ARGS__) FOLD_LOOP(8, 16, __VA_ARGS__)
#define FOLD_EACH_4(...) FOLD_LOOP(0, 4, __VA_ARGS__) FOLD_LOOP(4, 8, __VA_ARGS__) FOLD_LOOP(8, 12, __VA_ARGS__) FOLD_LOOP(12, 16, __VA_ARGS__)

/* param: one value for each output, or NULL where the cell has none. */
typedef void (*fc_fold_rows)(void *restrict out, const void *restrict x, int64_t rows, int64_t n, int64_t step, const void *restrict param);

typedef struct {
    fc_fold_rows rows; /* out[r] = fold of x[r * step + 0 .. n), n <= FC_FOLD_BLOCK */
    void (*begin)(void *acc, int64_t n);
    /* acc[k] = acc[k] with x[k]; four: with x[k], x[k + gap], .. in this order */
    void (*one)(void *restrict acc, const void *restrict x, int64_t n, const void *restrict param);
    void (*four)(void *restrict acc, const void *restrict x, int64_t gap, int64_t n, const void *restrict param);
    void (*join)(void *restrict a, const void *restrict b, int64_t n);
    /* two columns that lie side by side, as rows are folded; NULL where no complex number is folded so */
    void (*pairs)(void *restrict out, const void *restrict x, int64_t n, const void *restrict param);
    int64_t size;
    int exact; /* any order gives the same */
    int64_t (*few)(void *restrict out, const void *restrict x, int64_t n, int64_t step, int64_t width); /* the first of width columns, n <= FC_FOLD_FEW; or NULL */
    void (*seconds)(void *restrict out, const void *restrict x, int64_t n, const void *restrict param); /* a row of every second element; or NULL */
    int abreast; /* rows that go side by side */
} fc_fold_cell;

/* Where a value first occurs: index[c] = base + the least i with x[i * step + c] equal to value[c] (NaN equals NaN), else as it was. */
typedef void (*fc_fold_find)(int64_t *restrict index, const void *restrict x, int64_t base, int64_t n, int64_t step, int64_t width,
                             const void *restrict value);

/* What is folded, where that is not what is stored: n elements of x become n numbers. */
typedef void (*fc_fold_stage)(void *restrict to, const void *restrict x, int64_t n, double p);

/* The least and the greatest of n > 0 elements: as the folds give them, but for the sign of a zero. */
typedef void (*fc_fold_extremes)(void *restrict least, void *restrict greatest, const void *restrict x, int64_t n);

/* The cells of one element type; NULL where there is none. raise: |x|^p */
#define FC_FOLD_CELLS(X) X(sum) X(nansum) X(prod) X(amax) X(amin) X(any) X(all) X(count) \
                         X(sumabs) X(sumsq) X(maxabs) X(minabs) X(devsq) X(sumexp)
#define X(name) const fc_fold_cell *name;
typedef struct { FC_FOLD_CELLS(X) fc_fold_find find; fc_fold_stage raise; fc_fold_extremes extremes; } fc_fold_cells;
#undef X

/* Integers and bool: fold_exact.c. Floats: fold_float.c, f32 and f64; halves are read as f32. Complex: fold_complex.c. */
extern const fc_fold_cells fc_fold_exact_v2[FC_U64 + 1], fc_fold_exact_v3[FC_U64 + 1], fc_fold_exact_v4[FC_U64 + 1];
extern const fc_fold_cells fc_fold_float_v2[2], fc_fold_float_v3[2], fc_fold_float_v4[2], fc_fold_complex_v2[2], fc_fold_complex_v3[2],
    fc_fold_complex_v4[2];

/* Products of complex numbers in registers: fold_complex_simd.c. */
extern const fc_fold_cell fc_fold_prod_c64_v3, fc_fold_prod_c64_v4, fc_fold_prod_c128_v3, fc_fold_prod_c128_v4;

/* Sums of stored halves, which need no stage: fold_half_simd.c. */
extern const fc_fold_cell fc_fold_sum_f16_v3, fc_fold_sum_f16_v4, fc_fold_sum_bf16_v3, fc_fold_sum_bf16_v4;

#endif

/*
 * What the product engine needs from one ISA level and one element type: register tiles, packing, and a few whole small
 * products. The engine (gemm_engine.c) owns the blocking, the threads and the order of blocks; the kernels own one block.
 *
 * Packed form, of both sides: panels of `width` lines (rows of a, columns of b), each panel [k][plane][width]. A complex
 * type has two planes, real parts then imaginary parts.
 */
#ifndef FC_GEMM_KERNEL_H
#define FC_GEMM_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* `count` elements from x on will be read soon; they may be beyond what is anyone's */
#define FC_GEMM_AHEAD(x, count)                                                                        \
    for (size_t line_ = 0; line_ < (count) * sizeof *(x); line_ += 64)                                 \
        __builtin_prefetch((const void *)((uintptr_t)(x) + line_))

enum { FC_GEMM_FEW_ROWS = 8 };
enum { FC_GEMM_SHALLOW = 64 }; /* steps up to which a product takes the time of its way to c, which then runs along c's rows */
enum { FC_GEMM_F32, FC_GEMM_F64, FC_GEMM_C64, FC_GEMM_C128, FC_GEMM_TYPES };

/* `count` neighbours: they go to `lane` of a panel's step and come from `from` beyond where the step starts to read. */
typedef struct { int lane, count; int64_t from; } fc_gemm_stretch;

/* One block: c (+)= a * b with a packed (rows, depth) and b packed or in place, then bias. */
typedef struct {
    int64_t rows, cols, depth;
    int split;              /* the block is whole, and its steps are shared out to chains */
    const void *a;          /* packed, width `mr`; or, if a_row != 0, in place: element (i, k) at i * a_row + k * a_step */
    int64_t a_row, a_step;
    const void *b;          /* packed, width `nr`; or, if b_row != 0, rows of memory b_row apart with unit column stride */
    int64_t b_row;
    const int64_t *b_at;        /* NULL, or b in place: line k is at b + b_at[k], columns side by side */
    const int64_t *b_from;      /* with b_at: NULL, or columns come in whole vectors, number v b_from[v] further on */
    const int64_t *a_at, *a_k;  /* NULL, or a in place: element (i, k) is a[a_at[i] + a_k[k]] */
    void *c;
    int64_t c_row, c_col;
    const int64_t *c_at;    /* complex: NULL, or the offset of each column instead of c_col (convolution) */
    int add;                /* add to c instead of writing it */
    int narrow;             /* bfloat16: c is of halves, columns side by side; bias of floats, one for each column, or, bias_halves, of halves, bias_row apart */
    int bias_halves;
    const void *bias;       /* NULL, or added per column (bias_col) and per row (bias_row) after the sum */
    int64_t bias_col, bias_row;
    const double *factors;  /* NULL, or alpha and beta: alpha * sum + beta * bias */
} fc_gemm_tile_job;

typedef struct {
    int mr, nr;             /* rows and columns of the widest tile */
    int size;               /* bytes of an element */
    int direct_rows;        /* up to so many rows, `block` may read b in place */
    void (*block)(const fc_gemm_tile_job *job);

    /* dst: panels of `width` of x[(first line + l) * line + k * step], l < lines, k < depth; vector tails are zeroed */
    void (*pack)(void *dst, int width, const void *x, int64_t line, int64_t step, int64_t lines, int64_t depth);

    /* One panel of `nr` lines, of which the runs give the first `lines`: step k reads at x + k_at[k]. Up to a vector beyond the
     * panel and beyond a run is written and read. NULL: none */
    void (*pack_runs)(void *panel, const void *x, const int64_t *k_at, int64_t depth, const fc_gemm_stretch *runs, int count, int lines);

    /* One row of c from sums: stretch r, `count` from `lane` on, goes to c[from], `step` apart, with *bias if there is one. NULL: none */
    void (*lay)(void *c, const void *sums, const void *bias, const fc_gemm_stretch *runs, const int64_t *step, int count);

    /* c (+)= x, then bias: x (rows, cols) in rows of job->b_row elements; job->a is x, depth and b are not used */
    void (*merge)(const fc_gemm_tile_job *job);

    /* out (rows, cols) = one block of a times b, where b's lines run along k (unit step); rows <= along_rows. NULL: none */
    void (*along)(void *out, int split, int64_t rows, int64_t cols, int64_t depth, const void *a, int64_t a_row, int64_t a_col,
                  const void *b, int64_t b_col);

    /* The same of a whole block whose lines are of float16, and a's steps side by side. float */
    void (*along_f16)(float *out, int64_t rows, int64_t cols, const float *a, int64_t a_row, const uint16_t *b, int64_t b_col);

    /* The same of one row of complex numbers against `cols` columns; b_row or b_col is 1. NULL: none */
    void (*row)(void *out, int split, int64_t cols, int64_t depth, const void *a, int64_t a_col, const void *b, int64_t b_row, int64_t b_col);

    int along_rows;
    int few;                    /* up to so many lines, FC_GEMM_FEW_ROWS rows */

    /* out[j] = block j of a dot product, j < blocks; unit steps on both sides; every block is full. NULL: none */
    void (*dots)(void *out, int64_t blocks, const void *a, const void *b);
    void (*dots_f16)(void *out, int64_t blocks, const void *a, const void *b); /* the same of float16, to float. float */

    /* out[j] (rows, cols) = block j of a product, j < blocks, each full; rows <= along_rows, cols <= nr / 2; b's columns are
     * side by side. NULL: none */
    void (*fan)(void *out, int64_t blocks, int64_t rows, int64_t cols, const void *a, int64_t a_row, int64_t a_col,
                const void *b, int64_t b_row);

    /* `count` whole products of at most one block each and few columns (a vector's), which lie side by side in b and c. NULL: none */
    void (*small)(int64_t count, int64_t rows, int64_t cols, int64_t depth, const void *a, int64_t a_batch, int64_t a_row, int64_t a_col,
                  const void *b, int64_t b_batch, int64_t b_row, void *c, int64_t c_batch, int64_t c_row);

    /* a whole product of at most one block, written straight to c; no packing */
    void (*tiny)(int64_t rows, int64_t cols, int64_t depth, const void *a, int64_t a_row, int64_t a_col, const void *b,
                 int64_t b_row, int64_t b_col, void *c, int64_t c_row, int64_t c_col, const void *bias, int64_t bias_col,
                 int add);

    void (*scale)(void *out, const void *x, const void *factor, int64_t n); /* out = x * factor; out may be x. float, double */

    void (*pair_rows)(void *out, const uint16_t *first, const uint16_t *second, int64_t n); /* n pairs of two rows' elements; second may be NULL. bfloat16 */
} fc_gemm_kernel;

extern const fc_gemm_kernel fc_gemm_kernels_v2[FC_GEMM_TYPES], fc_gemm_kernels_v3[FC_GEMM_TYPES],
    fc_gemm_kernels_v4[FC_GEMM_TYPES];

/* bfloat16's, whose element is a pair of neighbouring steps of k, and whose sums are float. v4 needs fc_has_pairs(). */
extern const fc_gemm_kernel fc_gemm_pairs_v2, fc_gemm_pairs_v3, fc_gemm_pairs_v4;

#endif

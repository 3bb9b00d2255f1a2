/* Pieces that the engine is made of. */
#ifndef FC_GEMM_BLOCKS_H
#define FC_GEMM_BLOCKS_H

#include "gemm_args.h"

/* The kernels of this machine's ISA level; float16 uses float32's. */
const fc_gemm_kernel *fc_gemm_kernel_for(int dtype);

/* kernel->pack for float16, widening. */
void fc_gemm_pack_half(const fc_gemm_kernel *kernel, void *panels, int width, const uint16_t *x, int64_t line, int64_t step, int64_t lines,
                       int64_t depth);

/* Does this machine multiply pairs of bfloat16? fc_gemm_pairs_v4 is made for it. */
int fc_has_pairs(void);

/* bfloat16's product of matrices, by pairs. FC_OK or FC_MEMORY. */
FC_CHECKED int fc_gemm_run_pairs(const fc_gemm_args *g);

/* One operand of halves: elements at batch, line and step, K of them along a line. */
typedef struct { const uint16_t *x; int64_t batch, line, step, K; } fc_gemm_halves;

/* Are its pairs neighbours in memory? */
int fc_gemm_has_pairs(const fc_gemm_halves *h);

/* Its first `depth` pairs of `lines` lines to out, `pitch` pairs apart: pairs of rows, lines side by side, if its lines are neighbours in memory
 * and its steps are not, else lines. What is beyond K is 0. */
void fc_gemm_lay_pairs(const fc_gemm_kernel *kernel, void *out, int64_t pitch, const fc_gemm_halves *h, int64_t lines, int64_t depth);
int fc_gemm_pairs_of_rows(const fc_gemm_halves *h);

/* A rectangle of half c: out of it into float32 rows of `cols`, and back with bias, rounded once. */
void fc_gemm_widen(const fc_gemm_args *g, int64_t i, int64_t m0, int64_t rows, int64_t n0, int64_t cols, float *sums);
void fc_gemm_narrow(const fc_gemm_args *g, int64_t i, int64_t m0, int64_t rows, int64_t n0, int64_t cols, const float *sums);

/* Columns of a bias of halves, which is the same for all rows. */
void fc_gemm_widen_bias(const fc_gemm_args *g, int64_t n0, int64_t cols, float *bias);

/* Halves of which little meets little: 1 if it was done, with its status; 0 if the engine should do it. */
int fc_gemm_half_pieces(const fc_gemm_args *g, int *status);

/* A rectangle of sums, rows of `cols`, to where it belongs in c, with bias. float32 and float64. */
void fc_gemm_scatter(const fc_gemm_args *g, int64_t i, int64_t m0, int64_t rows, int64_t n0, int64_t cols, const void *sums);

/* (a b)^T = b^T a^T: same chains, since x * y is y * x bit for bit. */
fc_gemm_args fc_gemm_transposed(const fc_gemm_args *g);

/* A dot product of at least a block, both sides' steps neighbours; of float16 to a float c (wide): 1 if it was done. */
int fc_gemm_dot(const fc_gemm_args *g);

/* Few rows against lines along k, and dot products: 1 if it was done, 0 if the engine should do it. */
int fc_gemm_thin(const fc_gemm_args *g);

/* Small results of a long sum: 1 if it was done, with its status; 0 if the engine should do it. */
int fc_gemm_supers(const fc_gemm_args *g, int *status);

/* Whole products of integers, all of g's batch. */
void fc_gemm_integers_v2(const fc_gemm_args *g);
void fc_gemm_integers_v3(const fc_gemm_args *g);
void fc_gemm_integers_v4(const fc_gemm_args *g);

#endif

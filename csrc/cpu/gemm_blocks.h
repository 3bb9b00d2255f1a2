/* Pieces that the engine is made of. */
#ifndef FC_GEMM_BLOCKS_H
#define FC_GEMM_BLOCKS_H

#include "gemm_args.h"

/* The kernels of this machine's ISA level; halves use float32's. */
const fc_gemm_kernel *fc_gemm_kernel_for(int dtype);

/* kernel->pack for float16 and bfloat16, widening. */
void fc_gemm_pack_half(const fc_gemm_kernel *kernel, int dtype, void *panels, int width, const uint16_t *x, int64_t line,
                       int64_t step, int64_t lines, int64_t depth);

/* A rectangle of half c: out of it into float32 rows of `cols`, and back with bias, rounded once. */
void fc_gemm_widen(const fc_gemm_args *g, int64_t i, int64_t m0, int64_t rows, int64_t n0, int64_t cols, float *sums);
void fc_gemm_narrow(const fc_gemm_args *g, int64_t i, int64_t m0, int64_t rows, int64_t n0, int64_t cols, const float *sums);

/* Halves of which little meets little: 1 if it was done, with its status; 0 if the engine should do it. */
int fc_gemm_half_pieces(const fc_gemm_args *g, int *status);

/* A rectangle of sums, rows of `cols`, to where it belongs in c, with bias. float32 and float64. */
void fc_gemm_scatter(const fc_gemm_args *g, int64_t i, int64_t m0, int64_t rows, int64_t n0, int64_t cols, const void *sums);

/* Few rows against lines along k, and dot products: 1 if it was done, 0 if the engine should do it. */
int fc_gemm_thin(const fc_gemm_args *g);

/* Small results of a long sum: 1 if it was done, with its status; 0 if the engine should do it. */
int fc_gemm_supers(const fc_gemm_args *g, int *status);

/* Whole products of integers, all of g's batch. */
void fc_gemm_integers_v2(const fc_gemm_args *g);
void fc_gemm_integers_v3(const fc_gemm_args *g);
void fc_gemm_integers_v4(const fc_gemm_args *g);

#endif

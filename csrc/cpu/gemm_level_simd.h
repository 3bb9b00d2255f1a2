/* What the kernels of one ISA level are made for. */
#ifndef FC_GEMM_LEVEL_SIMD_H
#define FC_GEMM_LEVEL_SIMD_H

#define FEW_ROWS FC_GEMM_FEW_ROWS
#define INLINE static inline __attribute__((always_inline))

#if FC_ISA_NUM == 4
#define VECTOR_BYTES 64
#define TILE_ROWS 14   /* 14 x 2 sums, 2 of b, 2 spare: all 32 registers */
#define ALONG_ROWS 4
#elif FC_ISA_NUM == 3
#define VECTOR_BYTES 32
#define TILE_ROWS 6    /* 6 x 2 sums, 2 of b, 2 spare: all 16 registers */
#define ALONG_ROWS 2
#else
#define VECTOR_BYTES 16
#define TILE_ROWS 6
#define ALONG_ROWS 0
#endif

#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)
#define T(name) PASTE(name, SUFFIX)

#endif

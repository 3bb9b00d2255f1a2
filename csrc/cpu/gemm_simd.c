/* The kernels of gemm_kernel.h for one ISA level, in vector extensions. Lanes always run over rows or columns of the
 * result, never over k, so vector width and tile shape leave no trace in the result. Without FMA (v2) a product is rounded
 * before it is added. */
#include "gemm_kernel.h"

#include <string.h>

#include "../core/isa.h"
#include "gemm.h"

#if FC_HAS_FMA
#include <immintrin.h>
#endif

/* complex products are rare: a v4 machine runs those of v3 */
#define FC_GEMM_COMPLEX (FC_ISA_NUM < 4)
#define FC_GEMM_PAIRS 0

#include "gemm_level_simd.h"

#define SUFFIX f32
#define R float
#define LANES ((int)(VECTOR_BYTES / sizeof(float)))
#if FC_ISA_NUM == 4
#define FMA(x, y, z) (__typeof__(z))_mm512_fmadd_ps((__m512)(x), (__m512)(y), (__m512)(z))
#elif FC_ISA_NUM == 3
#define FMA(x, y, z) (__typeof__(z))_mm256_fmadd_ps((__m256)(x), (__m256)(y), (__m256)(z))
#endif
#if FC_HAS_FMA
#define FMA1(x, y, z) __builtin_fmaf(x, y, z)
#endif
#include "gemm_pack_simd.h"
#include "gemm_tile_simd.h"
#include "gemm_along_simd.h"
#if FC_HAS_FMA
#include "gemm_float16_simd.h"
#endif
#include "gemm_fan_simd.h"
#if FC_GEMM_COMPLEX
#include "gemm_complex_simd.h"
#endif
#undef SUFFIX
#undef S
#undef E
#undef R
#undef LANES
#undef FMA
#undef FMA1

#define SUFFIX f64
#define R double
#define LANES ((int)(VECTOR_BYTES / sizeof(double)))
#if FC_ISA_NUM == 4
#define FMA(x, y, z) (__typeof__(z))_mm512_fmadd_pd((__m512d)(x), (__m512d)(y), (__m512d)(z))
#elif FC_ISA_NUM == 3
#define FMA(x, y, z) (__typeof__(z))_mm256_fmadd_pd((__m256d)(x), (__m256d)(y), (__m256d)(z))
#endif
#if FC_HAS_FMA
#define FMA1(x, y, z) __builtin_fma(x, y, z)
#endif
#include "gemm_pack_simd.h"
#include "gemm_tile_simd.h"
#include "gemm_along_simd.h"
#include "gemm_fan_simd.h"
#if FC_GEMM_COMPLEX
#include "gemm_complex_simd.h"
#endif

#define ELEMENT_f32 4
#define ELEMENT_f64 8
#if FC_HAS_FMA
#define ALONG(name) .along = along_##name, .along_rows = ALONG_ROWS, \
                    .few = 32 / ELEMENT_##name, .dots = dots_##name, .fan = fan_##name, .small = small_##name
#define HALVES .along_f16 = along_f16, .dots_f16 = dots_f16
#else
#define HALVES .along_f16 = NULL, .dots_f16 = NULL
#define ALONG(name) .along = NULL, .along_rows = 0, .few = 0, .dots = NULL, .fan = NULL, .small = NULL
#endif

const fc_gemm_kernel FC_ISA_NAME(fc_gemm_kernels)[FC_GEMM_TYPES] = {
    [FC_GEMM_F32] = { .mr = TILE_ROWS, .nr = VECTOR_BYTES / 2, .size = 4, .direct_rows = TILE_ROWS, .block = block_f32,
                      .pack = pack_f32, .pack_runs = pack_runs_f32, .lay = lay_f32, .merge = merge_f32, .tiny = tiny_f32, .scale = scale_f32,
                      HALVES, ALONG(f32) },
    [FC_GEMM_F64] = { .mr = TILE_ROWS, .nr = VECTOR_BYTES / 4, .size = 8, .direct_rows = TILE_ROWS, .block = block_f64,
                      .pack = pack_f64, .pack_runs = pack_runs_f64, .lay = lay_f64, .merge = merge_f64, .tiny = tiny_f64, .scale = scale_f64,
                      ALONG(f64) },
#if FC_GEMM_COMPLEX
#if FC_HAS_FMA
#define THIN(name) .row = row_complex_##name, .along_rows = 4 /* packing is earned back by more */, .dots = dots_complex_##name
#else
#define THIN(name) .row = NULL
#endif
    [FC_GEMM_C64] = { .mr = TILE_ROWS, .nr = VECTOR_BYTES / 4, .size = 8, .block = block_complex_f32,
                      .pack = pack_complex_f32, .merge = merge_complex_f32, THIN(f32) },
    [FC_GEMM_C128] = { .mr = TILE_ROWS, .nr = VECTOR_BYTES / 8, .size = 16, .block = block_complex_f64,
                       .pack = pack_complex_f64, .merge = merge_complex_f64, THIN(f64) },
#endif
};

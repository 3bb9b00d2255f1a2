/* The loops of depthwise convolution over a padded copy (conv_layout.h), in vector extensions, for one ISA level. */
#include <string.h>

#include "../../core/isa.h"
#include "conv_depth.h"

#if FC_HAS_FMA
#include <immintrin.h>
#endif

#if FC_ISA_NUM == 4
#define VECTOR_BYTES 64
#elif FC_ISA_NUM == 3
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

#define INLINE static inline __attribute__((always_inline))
#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)
#define T(name) PASTE(name, SUFFIX)

#define SUFFIX f32
#define R float
#define MASK int32_t
#if FC_ISA_NUM == 4
#define FMA(x, y, z) (__typeof__(z))_mm512_fmadd_ps((__m512)(x), (__m512)(y), (__m512)(z))
#elif FC_ISA_NUM == 3
#define FMA(x, y, z) (__typeof__(z))_mm256_fmadd_ps((__m256)(x), (__m256)(y), (__m256)(z))
#else
#define FMA(x, y, z) ((x) * (y) + (z))
#endif
#include "conv_depth_loops_simd.h"
#undef SUFFIX
#undef R
#undef MASK
#undef FMA

#if FC_ISA_NUM < 4 /* doubles are rare here: a v4 machine runs v3's */
#define SUFFIX f64
#define R double
#define MASK int64_t
#if FC_ISA_NUM == 3
#define FMA(x, y, z) (__typeof__(z))_mm256_fmadd_pd((__m256d)(x), (__m256d)(y), (__m256d)(z))
#else
#define FMA(x, y, z) ((x) * (y) + (z))
#endif
#include "conv_depth_loops_simd.h"
#endif

const fc_conv_depth_kernel FC_ISA_NAME(fc_conv_depth_kernels)[2] = { { flat_f32, lanes_f32, last_f32, last_lanes_f32 },
#if FC_ISA_NUM < 4
                                                                     { flat_f64, lanes_f64, last_f64, last_lanes_f64 },
#endif
};

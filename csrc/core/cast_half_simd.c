/* float16 from and to float32 by the instruction that levels v3 and up have; the same rounding as half.h, NaNs stay NaNs. */
#include "cast_pairs.h"
#include "half.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

void FC_ISA_NAME(fc_narrow_f16)(void *to_, const void *from_, int64_t n)
{
    uint16_t *to = to_;
    const float *from = from_;
    int64_t i = 0;
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((__m128i *)(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#endif
    for (; i < n; ++i)
        to[i] = fc_f16_of_f32(from[i]);
}

void FC_ISA_NAME(fc_widen_f16)(void *to_, const void *from_, int64_t n)
{
    float *to = to_;
    const uint16_t *from = from_;
    int64_t i = 0;
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i))));
#endif
    for (; i < n; ++i)
        to[i] = fc_f32_of_f16(from[i]);
}

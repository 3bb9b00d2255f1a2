/*
 * Products of complex numbers in registers: the order of fold.h. Levels v3 and v4.
 * re(x) a and im(x) a', a' being a with its parts exchanged, are subtracted beside real parts and added beside imaginary ones: the two products
 * and the sum of fold_complex.c, bit for bit. gcc makes them fma at v4, and four products of two at v3.
 */
#include "fold_cell_type.h"

#if FC_ISA_NUM >= 3
#include <immintrin.h>

#if FC_ISA_NUM == 4
#define REGISTER 64
#define V_f32 __m512
#define V_f64 __m512d
#define RE_f32(x) _mm512_moveldup_ps(x)
#define IM_f32(x) _mm512_movehdup_ps(x)
#define EXCHANGED_f32(x) _mm512_permute_ps(x, 0xb1)
#define JOINED_f32(a, b) _mm512_add_ps(a, _mm512_xor_ps(b, (__m512)_mm512_set1_epi64(1ll << 31))) /* a - b is a + -b; of real parts */
#define RE_f64(x) _mm512_movedup_pd(x)
#define IM_f64(x) _mm512_permute_pd(x, 0xff)
#define EXCHANGED_f64(x) _mm512_permute_pd(x, 0x55)
#define JOINED_f64(a, b) _mm512_add_pd(a, _mm512_xor_pd(b, (__m512d)_mm512_set_epi64(0, INT64_MIN, 0, INT64_MIN, 0, INT64_MIN, 0, INT64_MIN)))
#define MASK uint32_t
#define FIRST_f32(n) ((1u << 2 * (n)) - 1)
#define SOME_f32(x, mask) _mm512_maskz_loadu_ps((__mmask16)(mask), x)
#define CHOSEN_f32(mask, a, b) _mm512_mask_blend_ps((__mmask16)(mask), b, a)
#define KEEP_f32(x, mask, v) _mm512_mask_storeu_ps(x, (__mmask16)(mask), v)
#define FIRST_f64 FIRST_f32
#define SOME_f64(x, mask) _mm512_maskz_loadu_pd((__mmask8)(mask), x)
#define CHOSEN_f64(mask, a, b) _mm512_mask_blend_pd((__mmask8)(mask), b, a)
#define KEEP_f64(x, mask, v) _mm512_mask_storeu_pd(x, (__mmask8)(mask), v)
#else
#define REGISTER 32
#define V_f32 __m256
#define V_f64 __m256d
#define RE_f32(x) _mm256_moveldup_ps(x)
#define IM_f32(x) _mm256_movehdup_ps(x)
#define EXCHANGED_f32(x) _mm256_permute_ps(x, 0xb1)
#define JOINED_f32(a, b) _mm256_addsub_ps(a, b)
#define RE_f64(x) _mm256_movedup_pd(x)
#define IM_f64(x) _mm256_permute_pd(x, 15)
#define EXCHANGED_f64(x) _mm256_permute_pd(x, 5)
#define JOINED_f64(a, b) _mm256_addsub_pd(a, b)
#define MASK __m256i
#define FIRST_f32(n) _mm256_loadu_si256((const __m256i *)(masks + 8 - 2 * (n)))
#define SOME_f32(x, mask) _mm256_maskload_ps(x, mask)
#define CHOSEN_f32(mask, a, b) _mm256_blendv_ps(b, a, _mm256_castsi256_ps(mask))
#define KEEP_f32(x, mask, v) _mm256_maskstore_ps(x, mask, v)
#define FIRST_f64(n) FIRST_f32(2 * (n))
#define SOME_f64(x, mask) _mm256_maskload_pd(x, mask)
#define CHOSEN_f64(mask, a, b) _mm256_blendv_pd(b, a, _mm256_castsi256_pd(mask))
#define KEEP_f64(x, mask, v) _mm256_maskstore_pd(x, mask, v)
static const int32_t masks[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
#endif

#define INLINE static inline __attribute__((always_inline))

#define FOLD_PASTE_(a, b) a##_##b
#define FOLD_PASTE(a, b) FOLD_PASTE_(a, b)

#define R f32
#define S c64
#include "fold_complex_product.h"

#define R f64
#define S c128
#include "fold_complex_product.h"

#if FC_ISA_NUM == 4
const fc_fold_cells fc_fold_complex_v4[2] = {{.prod = &fc_fold_prod_c64_v4}, {.prod = &fc_fold_prod_c128_v4}};
#endif
#endif

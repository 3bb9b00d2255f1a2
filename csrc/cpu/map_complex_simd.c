/* Products of complex numbers in registers. gcc takes the parts of a line apart and puts them together again, six permutations for what here
 * are three. Only level v3 has complex cells with AVX. */
#include "map_registers.h"

#if FC_ISA_NUM == 3
#include <immintrin.h>

#include "../core/mathfn.h"

/* re(x) y + im(x) y', y' being y with its parts exchanged, and im(x) negative beside the real part: (a c - b d, a d + b c) as fc_mul_c64 has it */
#define PRODUCT(C, R, V, P, STEP, RE, IM, TURN)                                                                                 \
    void fc_map_mul_##C(void *out_, const void *x_, const void *y_, const void *z, const fc_scalar *s, int *fault, int64_t n)   \
    {                                                                                                                           \
        C *out = out_;                                                                                                          \
        const C *xs = x_, *ys = y_;                                                                                             \
        const V sign = TURN(_mm256_set1_##P(0), -(R)0);                                                                         \
        int64_t i = 0;                                                                                                          \
        (void)z, (void)s, (void)fault;                                                                                          \
        for (; i + STEP <= n; i += STEP) {                                                                                      \
            const V x = _mm256_loadu_##P((const R *)(xs + i)), y = _mm256_loadu_##P((const R *)(ys + i));                       \
            const V im = _mm256_xor_##P(IM(x), sign);                                                                           \
            _mm256_storeu_##P((R *)(out + i), _mm256_add_##P(_mm256_mul_##P(RE(x), y), _mm256_mul_##P(im, EXCHANGED_##P(y))));  \
        }                                                                                                                       \
        for (; i < n; ++i)                                                                                                      \
            out[i] = fc_mul_##C(xs[i], ys[i]);                                                                                  \
    }
#define EXCHANGED_ps(v) _mm256_permute_ps(v, 0xb1)
#define EXCHANGED_pd(v) _mm256_permute_pd(v, 5)
#define ODD_pd(v) _mm256_permute_pd(v, 15)
#define FIRST_ps(v, r) _mm256_blend_ps(v, _mm256_set1_ps(r), 0x55)
#define FIRST_pd(v, r) _mm256_blend_pd(v, _mm256_set1_pd(r), 5)
PRODUCT(c64, f32, __m256, ps, 4, _mm256_moveldup_ps, _mm256_movehdup_ps, FIRST_ps)
PRODUCT(c128, f64, __m256d, pd, 2, _mm256_movedup_pd, ODD_pd, FIRST_pd)
#else
extern int fc_map_complex_unused;
#endif

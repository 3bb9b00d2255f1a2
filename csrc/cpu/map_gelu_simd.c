/* gelu of float32 in registers: core/mathfn_f32_gelu.h word by word, whose table gcc would gather element by element. Permutations read it here:
 * of a row of 16 at level v4; of two rows of 8, one of which is taken, at v3. */
#include "map_registers.h"

#if FC_ISA_NUM > 2
#include <immintrin.h>
#include <string.h>

#include "../core/mathfn.h"

#if FC_ISA_NUM == 4
typedef __m512 reals;
typedef __m512i words;
enum { STEP = 16 };
#define OP(name) _mm512_##name
#define BITS(v) _mm512_castps_si512(v)
#define REALS(v) _mm512_castsi512_ps(v)
static inline reals size_of(reals x) { return _mm512_abs_ps(x); }
static inline reals above(reals x)   { return _mm512_mask_mov_ps(_mm512_sub_ps(x, x), _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_GT_OQ), x); }
static inline reals look(int row, words column) { return _mm512_permutexvar_ps(column, _mm512_load_ps(fc_gelu_table[row])); }
#else
typedef __m256 reals;
typedef __m256i words;
enum { STEP = 8 };
#define OP(name) _mm256_##name
#define BITS(v) _mm256_castps_si256(v)
#define REALS(v) _mm256_castsi256_ps(v)
static inline reals size_of(reals x) { return _mm256_andnot_ps(_mm256_set1_ps(-0.f), x); }
static inline reals above(reals x)   { return _mm256_blendv_ps(_mm256_sub_ps(x, x), x, _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_GT_OQ)); }
static inline reals look(int row, words column)
{
    const f32 *const from = fc_gelu_table[row];
    const reals low = _mm256_permutevar8x32_ps(_mm256_load_ps(from), column), high = _mm256_permutevar8x32_ps(_mm256_load_ps(from + 8), column);
    return _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(column, 28)));
}
#endif
#define ALL(c) OP(set1_ps)(c)
#define FMA(a, b, c) OP(fmadd_ps)(a, b, c)
#define MINUS(a, b, c) OP(fnmadd_ps)(a, b, c) /* c - a b */

/* The two polynomials in turn: neither waits for its own last step. */
static inline reals gelu(reals x)
{
    const reals a = OP(min_ps)(ALL(14.5f), size_of(x));
    const words column = OP(srli_epi32)(BITS(OP(max_ps)(a, ALL(0.0625f))), 22);
    const reals d = OP(sub_ps)(a, look(FC_GELU_CENTER, column)), half = OP(mul_ps)(ALL(0.5f), a), s = OP(mul_ps)(half, a);
    const reals lost = OP(fmsub_ps)(half, a, s), turn = MINUS(s, ALL(0x1.715476p+0f), ALL(0x1.8p23f)), n = OP(sub_ps)(turn, ALL(0x1.8p23f));
    const reals r = OP(sub_ps)(OP(fnmsub_ps)(n, ALL(0x1.62e4p-1f), s), FMA(n, ALL(0x1.7f7d1cp-20f), lost));
    reals p = look(FC_GELU_LAST, column), t = ALL(0x1.6a5138p-10f);
    p = FMA(p, d, look(FC_GELU_FIRST + 4, column)), t = FMA(t, r, ALL(0x1.12397cp-7f));
    p = FMA(p, d, look(FC_GELU_FIRST + 3, column)), t = FMA(t, r, ALL(0x1.5558acp-5f));
    p = FMA(p, d, look(FC_GELU_FIRST + 2, column)), t = FMA(t, r, ALL(0x1.555492p-3f));
    p = FMA(p, d, look(FC_GELU_FIRST + 1, column)), t = FMA(t, r, ALL(0x1.fffffcp-2f));
    p = FMA(p, d, look(FC_GELU_FIRST, column));
    const reals w = FMA(t, OP(mul_ps)(r, r), r), rest = OP(mul_ps)(d, p), value = look(FC_GELU_VALUE, column);
    const reals y = OP(add_ps)(value, FMA(value, w, FMA(rest, w, rest)));
    const words power = OP(add_epi32)(OP(slli_epi32)(BITS(turn), 23), OP(set1_epi32)((int)(UINT32_C(191) << 23)));
    return MINUS(OP(mul_ps)(y, REALS(power)), ALL(0x1p-64f), above(x));
}

void FC_ISA_NAME(fc_map_gelu)(void *out_, const void *x_, const void *y, const void *z, const fc_scalar *s, int *fault, int64_t n)
{
    f32 *out = out_;
    const f32 *x = x_;
    (void)y, (void)z, (void)s, (void)fault;
    for (; n >= STEP; n -= STEP, x += STEP, out += STEP)
        OP(storeu_ps)(out, gelu(OP(loadu_ps)(x)));
    if (n) {
        f32 few[STEP] = {0};
        memcpy(few, x, (size_t)n * sizeof *x);
        OP(storeu_ps)(few, gelu(OP(loadu_ps)(few)));
        memcpy(out, few, (size_t)n * sizeof *x);
    }
}
#else
extern int fc_map_gelu_unused;
#endif

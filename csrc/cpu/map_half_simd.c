/* Cells of float16 and bfloat16 that widen and narrow in registers: rows so cheap that staging (core/stage.c) costs more than they do.
 * Both operands are halves; a number beside them stays float and is staged. The bits are those of the staged float32 cell, but of sin and cos.
 * neg, abs and copysign are the sign bit, nextafter is a step of the others. Level v4 runs these of v3; v2 stages all but these. */
#include <string.h>

#include "../core/isa.h"
#include "../core/mathfn.h"
#include "../core/ops_map.h"
#include "map.h"

#if FC_ISA_NUM < 4

#define CELL(name)                                                                                                         \
    static void name(void *out_, const void *x_, const void *y_, const void *z, const fc_scalar *s, int *fault, int64_t n)

#define SIGN_CELL(name, body)                                                                                              \
    CELL(name)                                                                                                             \
    {                                                                                                                      \
        uint16_t *out = out_;                                                                                              \
        const uint16_t *x = x_, *y = y_;                                                                                   \
        (void)y, (void)z, (void)s, (void)fault;                                                                            \
        _Pragma("GCC ivdep")                                                                                               \
        for (int64_t i = 0; i < n; ++i)                                                                                    \
            out[i] = (uint16_t)(body);                                                                                     \
    }
SIGN_CELL(neg_half, x[i] ^ 0x8000)
SIGN_CELL(abs_half, x[i] & 0x7fff)
SIGN_CELL(copysign_half, (x[i] & 0x7fff) | (y[i] & 0x8000))

/* The neighbour of x towards y, a step of its bits: away from zero, if y is further out on its side. inf: the dtype's infinity, quiet: the highest bit of
 * what is less than one. */
static inline uint16_t next_half(uint16_t x, uint16_t y, uint16_t inf, uint16_t quiet)
{
    const int16_t size = x & 0x7fff, from = (int16_t)(x & 0x8000 ? -size : size), to = (int16_t)(y & 0x8000 ? -(y & 0x7fff) : y);
    const uint16_t moved = (uint16_t)((to > from) == (from > 0) ? x + 1 : x - 1), step = size ? moved : (uint16_t)((y & 0x8000) | 1);
    return (uint16_t)((size > inf) | ((y & 0x7fff) > inf) ? inf | quiet : to == from ? y : step);
}
SIGN_CELL(next_f16, next_half(x[i], y[i], 0x7c00, 0x200))
SIGN_CELL(next_bf16, next_half(x[i], y[i], 0x7f80, 0x40))
#define SIGNS(dt) [FC_CELL_neg] = neg_half, [FC_CELL_abs] = abs_half, [FC_CELL_copysign] = copysign_half, [FC_CELL_nextafter] = next_##dt
#undef SIGN_CELL

#if FC_ISA_NUM == 3
#include <immintrin.h>

typedef __m256 v8;
enum { STEP = 16 };

/* A step, in two registers: of float16 the first and the last half, of bfloat16 what packing puts in order again. */
static inline void load_f16(v8 to[2], const uint16_t *p)
{
    to[0] = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
    to[1] = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(p + 8)));
}

static inline void load_bf16(v8 to[2], const uint16_t *p)
{
    const __m256i step = _mm256_loadu_si256((const __m256i *)p), zero = _mm256_setzero_si256();
    to[0] = _mm256_castsi256_ps(_mm256_unpacklo_epi16(zero, step));
    to[1] = _mm256_castsi256_ps(_mm256_unpackhi_epi16(zero, step));
}

static inline void store_f16(uint16_t *p, v8 a, v8 b)
{
    _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
    _mm_storeu_si128((__m128i *)(p + 8), _mm256_cvtps_ph(b, _MM_FROUND_TO_NEAREST_INT));
}

/* as fc_bf16_of_f32, in the low half of each word */
static inline __m256i narrowed_bf16(v8 a)
{
    const __m256i bits = _mm256_castps_si256(a), odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i up = _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd), 16);
    return _mm256_blendv_epi8(up, _mm256_set1_epi32(0x7fc0), _mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_UNORD_Q)));
}

static inline void store_bf16(uint16_t *p, v8 a, v8 b)
{
    _mm256_storeu_si256((__m256i *)p, _mm256_packus_epi32(narrowed_bf16(a), narrowed_bf16(b)));
}

/* mathfn_select.h's maximum and minimum */
static inline v8 larger(v8 x, v8 y)  { return _mm256_blendv_ps(_mm256_max_ps(y, x), y, _mm256_cmp_ps(y, y, _CMP_UNORD_Q)); }
static inline v8 smaller(v8 x, v8 y) { return _mm256_blendv_ps(_mm256_min_ps(y, x), y, _mm256_cmp_ps(y, y, _CMP_UNORD_Q)); }

/* sin, or cos (a quadrant further), in float32, which is 13 bits more than is kept. pi / 2 is three floats; what they leave of x below 2**16, a sixteenth of
 * whose ulp is far from every multiple, is right to 2**-20. Beyond, which only bfloat16 has, one by one as float32 does. Polynomials: mathfn_f32_trig.h's. */
static FC_NOINLINE v8 circular_far(v8 x, v8 near, int cosine)
{
    float xs[8], ys[8];
    _mm256_storeu_ps(xs, x);
    _mm256_storeu_ps(ys, near);
    for (int k = 0; k < 8; ++k)
        if (!(fabsf(xs[k]) <= 0x1p16f))
            ys[k] = cosine ? fc_cos_f32(xs[k]) : fc_sin_f32(xs[k]);
    return _mm256_loadu_ps(ys);
}

static inline v8 circular(v8 x, int cosine)
{
#define OF(c) _mm256_set1_ps(c)
    const v8 n = _mm256_round_ps(x * OF(0x1.45f306p-1f), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const v8 r = _mm256_fnmadd_ps(n, OF(-0x1.ee59dap-50f), _mm256_fnmadd_ps(n, OF(-0x1.777a5cp-25f), _mm256_fnmadd_ps(n, OF(0x1.921fb6p+0f), x))), z = r * r;
    const __m256i quadrant = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(cosine));
    v8 s = _mm256_fmadd_ps(OF(-0x1.a00f8p-13f), z, OF(0x1.111108p-7f)), c = _mm256_fmadd_ps(OF(0x1.9a0298p-16f), z, OF(-0x1.6c0c8ep-10f));
    s = _mm256_fmadd_ps(s, z, OF(-0x1.555556p-3f));
    c = _mm256_fmadd_ps(c, z, OF(0x1.55554ap-5f));
    s = _mm256_fmadd_ps(z * r, s, r);
    c = _mm256_fmadd_ps(z * z, c, _mm256_fmadd_ps(OF(-0.5f), z, OF(1)));
    const v8 sign = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_srli_epi32(quadrant, 1), 31));
    v8 y = _mm256_xor_ps(_mm256_blendv_ps(s, c, _mm256_castsi256_ps(_mm256_slli_epi32(quadrant, 31))), sign);
    if (!cosine)
        y = _mm256_blendv_ps(y, x, _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_EQ_OQ));
    const int far = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_andnot_ps(OF(-0.f), x), OF(0x1p16f), _CMP_NLE_UQ));
    return __builtin_expect(far, 0) ? circular_far(x, y, cosine) : y;
#undef OF
}

/* Fewer than a step: memcpy, of which gcc would write four copies into each cell. */
static FC_NOINLINE uint16_t *few(uint16_t *to, const uint16_t *from, int64_t n)
{
    return memcpy(to, from, (size_t)n * 2);
}

/* operands: 1, 2, or 3 with a, the row's alpha. The last elements, fewer than a step, go through room of a whole step. */
#define HALF_CELL(name, dt, operands, body)                                                                                \
    CELL(name##_##dt)                                                                                                      \
    {                                                                                                                      \
        uint16_t *out = out_, room[3][STEP] = {{0}};                                                                       \
        const uint16_t *xs = x_, *ys = operands > 1 ? y_ : x_;                                                             \
        const v8 a = _mm256_set1_ps(operands > 2 ? (float)s[0].re : 0);                                                    \
        (void)z, (void)fault, (void)a;                                                                                     \
        for (; n > 0; n -= STEP, out += STEP, xs += STEP, ys += STEP) {                                                    \
            uint16_t *to = out;                                                                                            \
            if (n < STEP) {                                                                                                \
                xs = few(room[1], xs, n);                                                                                  \
                ys = few(room[2], ys, n);                                                                                  \
                to = room[0];                                                                                              \
            }                                                                                                              \
            v8 x2[2], y2[2], made[2];                                                                                      \
            load_##dt(x2, xs);                                                                                             \
            load_##dt(y2, ys);                                                                                             \
            for (int k = 0; k < 2; ++k) {                                                                                  \
                const v8 x = x2[k], y = y2[k];                                                                             \
                (void)y;                                                                                                   \
                made[k] = body;                                                                                            \
            }                                                                                                              \
            store_##dt(to, made[0], made[1]);                                                                              \
            if (n < STEP)                                                                                                  \
                few(out, to, n);                                                                                           \
        }                                                                                                                  \
    }

#define ROWS(dt)                                                                                                           \
    HALF_CELL(add, dt, 3, x + a * y)                                                                                       \
    HALF_CELL(sub, dt, 3, x - a * y)                                                                                       \
    HALF_CELL(mul, dt, 2, x * y)                                                                                           \
    HALF_CELL(div, dt, 2, x / y)                                                                                           \
    HALF_CELL(maximum, dt, 2, larger(x, y))                                                                                \
    HALF_CELL(minimum, dt, 2, smaller(x, y))                                                                               \
    HALF_CELL(relu, dt, 1, _mm256_max_ps(_mm256_setzero_ps(), x))                                                          \
    HALF_CELL(_prelu, dt, 2, _mm256_blendv_ps(x * y, x, _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_GT_OQ)))                 \
    HALF_CELL(sin, dt, 1, circular(x, 0))                                                                                  \
    HALF_CELL(cos, dt, 1, circular(x, 1))                                                                                  \
    HALF_CELL(square, dt, 1, x * x)                                                                                        \
    HALF_CELL(sqrt, dt, 1, _mm256_sqrt_ps(x))                                                                              \
    HALF_CELL(reciprocal, dt, 1, _mm256_set1_ps(1) / x)                                                                    \
    HALF_CELL(floor, dt, 1, _mm256_round_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC))                                 \
    HALF_CELL(ceil, dt, 1, _mm256_round_ps(x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC))                                  \
    HALF_CELL(trunc, dt, 1, _mm256_round_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC))                                    \
    HALF_CELL(round, dt, 1, _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC))
ROWS(f16)
ROWS(bf16)
#undef ROWS
#undef HALF_CELL

#define NAMES(dt)                                                                                                          \
    [FC_CELL_add] = add_##dt, [FC_CELL_sub] = sub_##dt, [FC_CELL_mul] = mul_##dt, [FC_CELL_div] = div_##dt,                \
    [FC_CELL_maximum] = maximum_##dt, [FC_CELL_minimum] = minimum_##dt, [FC_CELL_relu] = relu_##dt, [FC_CELL__prelu] = _prelu_##dt, \
    [FC_CELL_sin] = sin_##dt, [FC_CELL_cos] = cos_##dt, [FC_CELL_square] = square_##dt, [FC_CELL_sqrt] = sqrt_##dt, [FC_CELL_reciprocal] = reciprocal_##dt,                    \
    [FC_CELL_floor] = floor_##dt, [FC_CELL_ceil] = ceil_##dt, [FC_CELL_trunc] = trunc_##dt, [FC_CELL_round] = round_##dt,
#else
#define NAMES(dt)
#endif

extern const fc_map_cell FC_ISA_NAME(fc_map_cells_half)[2][FC_NCELLS];
const fc_map_cell FC_ISA_NAME(fc_map_cells_half)[2][FC_NCELLS] = {
    { SIGNS(f16), NAMES(f16) },
    { SIGNS(bf16), NAMES(bf16) },
};

#undef CELL
#undef SIGNS
#undef NAMES
#endif

/* Cells of float16 and bfloat16 that widen and narrow in registers: rows so cheap that staging (core/stage.c) costs more than they do.
 * Both operands are halves; a number beside them stays float and is staged. The bits are those of the staged float32 cell, but of sin and cos.
 * neg, abs and copysign are the sign bit, nextafter is a step of the others; these v2 has alone, and v4 not at all, which runs v3's. */
#include <string.h>

#include "../core/isa.h"
#include "../core/mathfn.h"
#include "../core/ops_map.h"
#include "map.h"

#define CELL(name)                                                                                                         \
    static void name(void *out_, const void *x_, const void *y_, const void *z, const fc_scalar *s, int *fault, int64_t n)

#if FC_ISA_NUM < 4
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
#define SIGNS(dt) [FC_CELL_neg] = neg_half, [FC_CELL_abs] = abs_half, [FC_CELL_copysign] = copysign_half, [FC_CELL_nextafter] = next_##dt,
#undef SIGN_CELL
#else
#define SIGNS(dt)
#endif

#if FC_ISA_NUM >= 3
#include <immintrin.h>

/* Two sizes of register: lanes, comparisons and what they choose by name, the rest by V. */
#if FC_ISA_NUM == 4
typedef __m512 vec;
typedef __m512i bits;
typedef __m256i packed; /* as many halves as a register has floats */
enum { LANES = 16 };
#define V(name) _mm512_##name
#define AS_BITS(x) _mm512_castps_si512(x)
#define AS_FLOATS(x) _mm512_castsi512_ps(x)
#define CHOOSE(how, a, b, yes, no) _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, how), no, yes)
#define SIGN_CHOOSES(word, yes, no) _mm512_mask_blend_ps(_mm512_movepi32_mask(word), no, yes)
#define ANY(how, a, b) _mm512_cmp_ps_mask(a, b, how)
#define ROUNDED(x, how) _mm512_roundscale_ps(x, (how) | _MM_FROUND_NO_EXC)
#define LOADED(p) _mm512_loadu_si512(p)
#define STORED(p, x) _mm512_storeu_si512(p, x)
#define ZERO _mm512_setzero_si512()
#define AND _mm512_and_si512
#define XOR _mm512_xor_si512
#else
typedef __m256 vec;
typedef __m256i bits;
typedef __m128i packed;
enum { LANES = 8 };
#define V(name) _mm256_##name
#define AS_BITS(x) _mm256_castps_si256(x)
#define AS_FLOATS(x) _mm256_castsi256_ps(x)
#define CHOOSE(how, a, b, yes, no) _mm256_blendv_ps(no, yes, _mm256_cmp_ps(a, b, how))
#define SIGN_CHOOSES(word, yes, no) _mm256_blendv_ps(no, yes, _mm256_castsi256_ps(word))
#define ANY(how, a, b) _mm256_movemask_ps(_mm256_cmp_ps(a, b, how))
#define ROUNDED(x, how) _mm256_round_ps(x, (how) | _MM_FROUND_NO_EXC)
#define LOADED(p) _mm256_loadu_si256((const __m256i *)(p))
#define STORED(p, x) _mm256_storeu_si256((__m256i *)(p), x)
#define ZERO _mm256_setzero_si256()
#define AND _mm256_and_si256
#define XOR _mm256_xor_si256
#endif
enum { STEP = 2 * LANES };

/* A step, in two registers: of float16 the first and the last half, of bfloat16 what packing puts in order again. */
static inline void load_f16(vec to[2], const uint16_t *p)
{
    packed first, last;
    memcpy(&first, p, sizeof first);
    memcpy(&last, p + LANES, sizeof last);
    to[0] = V(cvtph_ps)(first);
    to[1] = V(cvtph_ps)(last);
}

static inline void load_bf16(vec to[2], const uint16_t *p)
{
    const bits step = LOADED(p);
    to[0] = AS_FLOATS(V(unpacklo_epi16)(ZERO, step));
    to[1] = AS_FLOATS(V(unpackhi_epi16)(ZERO, step));
}

static inline void store_f16(uint16_t *p, vec a, vec b)
{
    const packed first = V(cvtps_ph)(a, _MM_FROUND_TO_NEAREST_INT), last = V(cvtps_ph)(b, _MM_FROUND_TO_NEAREST_INT);
    memcpy(p, &first, sizeof first);
    memcpy(p + LANES, &last, sizeof last);
}

/* as fc_bf16_of_f32, in the low half of each word */
static inline bits narrowed_bf16(vec a)
{
    const bits word = AS_BITS(a), odd = AND(V(srli_epi32)(word, 16), V(set1_epi32)(1));
    const bits up = V(srli_epi32)(V(add_epi32)(V(add_epi32)(word, V(set1_epi32)(0x7fff)), odd), 16);
    return AS_BITS(CHOOSE(_CMP_UNORD_Q, a, a, AS_FLOATS(V(set1_epi32)(0x7fc0)), AS_FLOATS(up)));
}

static inline void store_bf16(uint16_t *p, vec a, vec b) { STORED(p, V(packus_epi32)(narrowed_bf16(a), narrowed_bf16(b))); }

/* mathfn_select.h's maximum and minimum */
static inline vec larger(vec x, vec y)  { return CHOOSE(_CMP_UNORD_Q, y, y, y, V(max_ps)(y, x)); }
static inline vec smaller(vec x, vec y) { return CHOOSE(_CMP_UNORD_Q, y, y, y, V(min_ps)(y, x)); }

/* sin, or cos (a quadrant further), in float32, which is 13 bits more than is kept. pi / 2 is three floats; what they leave of x below 2**16, a sixteenth of
 * whose ulp is far from every multiple, is right to 2**-20. Beyond, which only bfloat16 has, one by one as float32 does. Polynomials: mathfn_f32_trig.h's. */
static FC_NOINLINE vec circular_far(vec x, vec near, int cosine)
{
    float xs[LANES], ys[LANES];
    V(storeu_ps)(xs, x);
    V(storeu_ps)(ys, near);
    for (int k = 0; k < LANES; ++k)
        if (!(fabsf(xs[k]) <= 0x1p16f))
            ys[k] = cosine ? fc_cos_f32(xs[k]) : fc_sin_f32(xs[k]);
    return V(loadu_ps)(ys);
}

static inline vec circular(vec x, int cosine)
{
#define OF(c) V(set1_ps)(c)
    const vec n = ROUNDED(x * OF(0x1.45f306p-1f), _MM_FROUND_TO_NEAREST_INT);
    const vec r = V(fnmadd_ps)(n, OF(-0x1.ee59dap-50f), V(fnmadd_ps)(n, OF(-0x1.777a5cp-25f), V(fnmadd_ps)(n, OF(0x1.921fb6p+0f), x))), z = r * r;
    const bits quadrant = V(add_epi32)(V(cvtps_epi32)(n), V(set1_epi32)(cosine));
    vec s = V(fmadd_ps)(OF(-0x1.a00f8p-13f), z, OF(0x1.111108p-7f)), c = V(fmadd_ps)(OF(0x1.9a0298p-16f), z, OF(-0x1.6c0c8ep-10f));
    s = V(fmadd_ps)(s, z, OF(-0x1.555556p-3f));
    c = V(fmadd_ps)(c, z, OF(0x1.55554ap-5f));
    s = V(fmadd_ps)(z * r, s, r);
    c = V(fmadd_ps)(z * z, c, V(fmadd_ps)(OF(-0.5f), z, OF(1)));
    const bits sign = V(slli_epi32)(V(srli_epi32)(quadrant, 1), 31);
    vec y = AS_FLOATS(XOR(AS_BITS(SIGN_CHOOSES(V(slli_epi32)(quadrant, 31), c, s)), sign));
    if (!cosine)
        y = CHOOSE(_CMP_EQ_OQ, x, V(setzero_ps)(), x, y);
    const vec size = AS_FLOATS(AND(AS_BITS(x), V(set1_epi32)(0x7fffffff)));
    const int far = ANY(_CMP_NLE_UQ, size, OF(0x1p16f));
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
        const vec a = V(set1_ps)(operands > 2 ? (float)s[0].re : 0);                                                    \
        (void)z, (void)fault, (void)a;                                                                                     \
        for (; n > 0; n -= STEP, out += STEP, xs += STEP, ys += STEP) {                                                    \
            uint16_t *to = out;                                                                                            \
            if (n < STEP) {                                                                                                \
                xs = few(room[1], xs, n);                                                                                  \
                ys = few(room[2], ys, n);                                                                                  \
                to = room[0];                                                                                              \
            }                                                                                                              \
            vec x2[2], y2[2], made[2];                                                                                     \
            load_##dt(x2, xs);                                                                                             \
            load_##dt(y2, ys);                                                                                             \
            for (int k = 0; k < 2; ++k) {                                                                                  \
                const vec x = x2[k], y = y2[k];                                                                            \
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
    HALF_CELL(relu, dt, 1, V(max_ps)(V(setzero_ps)(), x))                                                          \
    HALF_CELL(_prelu, dt, 2, CHOOSE(_CMP_GT_OQ, x, V(setzero_ps)(), x, x * y))                 \
    HALF_CELL(sin, dt, 1, circular(x, 0))                                                                                  \
    HALF_CELL(cos, dt, 1, circular(x, 1))                                                                                  \
    HALF_CELL(square, dt, 1, x * x)                                                                                        \
    HALF_CELL(sqrt, dt, 1, V(sqrt_ps)(x))                                                                              \
    HALF_CELL(reciprocal, dt, 1, V(set1_ps)(1) / x)                                                                    \
    HALF_CELL(floor, dt, 1, ROUNDED(x, _MM_FROUND_TO_NEG_INF))                                 \
    HALF_CELL(ceil, dt, 1, ROUNDED(x, _MM_FROUND_TO_POS_INF))                                  \
    HALF_CELL(trunc, dt, 1, ROUNDED(x, _MM_FROUND_TO_ZERO))                                    \
    HALF_CELL(round, dt, 1, ROUNDED(x, _MM_FROUND_TO_NEAREST_INT))
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
    { SIGNS(f16) NAMES(f16) },
    { SIGNS(bf16) NAMES(bf16) },
};

#undef CELL
#undef SIGNS
#undef NAMES

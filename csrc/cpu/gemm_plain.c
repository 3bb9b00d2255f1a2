/*
 * The matrix product in plain C99: the order of gemm.h written down once per dtype, one element at a time.
 * It is what the fast engine is tested against, and what runs for dtypes and sizes that the engine leaves alone.
 */
#include "gemm_blocks.h"

#include <math.h>
#include <string.h>

#include "../core/denormal.h"
#include "../core/half.h"

static int64_t min64(int64_t x, int64_t y) { return x < y ? x : y; }

static float  fma_f32(float x, float y, float z)     { return fmaf(x, y, z); }
static double fma_f64(double x, double y, double z)  { return fma(x, y, z); }

#define SAME(x) (x)
#define CHAINS_OF(g, steps) (fc_gemm_splits(g, steps) ? FC_GEMM_CHAINS : 1)

/* Steps [from, end) of a block of a row x and a column y. T: as stored; A: what is accumulated; IN: to it; EACH: elements of a step, of which the last
 * comes first, and 0 for none */
#define BLOCK_SUM(name, T, A, IN, FMA, EACH)                                                                          \
static A block_##name(const fc_gemm_args *g, const T *x, int64_t x_step, const T *y, int64_t y_step, int64_t from, int64_t end) \
{                                                                                                                     \
    const int chains = CHAINS_OF(g, end - from);                                                                      \
    A block = 0;                                                                                                      \
    for (int r = 0; r < chains; ++r) {                                                                                \
        A chain = 0;                                                                                                  \
        for (int64_t step = from + r; step < end; step += chains)                                                     \
            for (int64_t at = (step + 1) * EACH; at-- > step * EACH;)                                                 \
                chain = FMA(at < g->K ? IN(x[at * x_step]) : 0, at < g->K ? IN(y[at * y_step]) : 0, chain);           \
        block = r == 0 ? chain : block + chain;                                                                       \
    }                                                                                                                 \
    return block;                                                                                                     \
}
BLOCK_SUM(f32,  float,    float,  SAME, fma_f32, 1)
BLOCK_SUM(f64,  double,   double, SAME, fma_f64, 1)
BLOCK_SUM(f16,  uint16_t, float,  fc_f32_of_f16, fma_f32, 1)
BLOCK_SUM(bf16, uint16_t, float,  fc_f32_of_bf16, fma_f32, 2)
#undef BLOCK_SUM

#define BLOCK_COMPLEX(name, T, R, real)                                                                               \
static T block_##name(const fc_gemm_args *g, const T *x_, int64_t x_step, const T *y_, int64_t y_step, int64_t from, int64_t end) \
{                                                                                                                     \
    const R *x = (const R *)x_, *y = (const R *)y_;                                                                   \
    R part[2][2];                                                                                                     \
    for (int i = 0; i < 2; ++i)                                                                                       \
        for (int j = 0; j < 2; ++j)                                                                                   \
            part[i][j] = block_##real(g, x + i, 2 * x_step, y + j, 2 * y_step, from, end);                            \
    const R parts[2] = { part[0][0] - part[1][1], part[0][1] + part[1][0] };                                          \
    T sum;                                                                                                            \
    memcpy(&sum, parts, sizeof sum); /* C99 has no CMPLX; re + im * I would lose signs of zero and NaN */             \
    return sum;                                                                                                       \
}
BLOCK_COMPLEX(c64, c64, float, f32)
BLOCK_COMPLEX(c128, c128, double, f64)
#undef BLOCK_COMPLEX

#define FLOATING(name, T, A, IN, OUT, EACH)                                                                           \
static void product_##name(const fc_gemm_args *g, const T *a, const T *b, T *c, const T *bias)                        \
{                                                                                                                     \
    for (int64_t m = 0; m < g->M; ++m)                                                                                \
        for (int64_t n = 0; n < g->N; ++n) {                                                                          \
            T *z = c + m * g->c_row + n * g->c_col;                                                                   \
            A total = 0;                                                                                              \
            int64_t k = 0;                                                                                            \
            const int64_t steps = (g->K + EACH - 1) / EACH;                                                           \
            for (int s = 0; s == 0 || k < steps; ++s) {                                                               \
                const int64_t super_end = min64(steps, k + FC_GEMM_SUPER * FC_GEMM_BLOCK);                            \
                A super = s == 0 && g->accumulate ? IN(*z) : (A)0;                                                    \
                for (int j = 0; k < super_end; ++j) {                                                                 \
                    const int64_t end = min64(super_end, k + FC_GEMM_BLOCK);                                          \
                    const A block = block_##name(g, a + m * g->a_row, g->a_col, b + n * g->b_col, g->b_row, k, end);  \
                    k = end;                                                                                          \
                    super = j == 0 && !(s == 0 && g->accumulate) ? block : super + block;                             \
                }                                                                                                     \
                total = s == 0 ? super : total + super;                                                               \
            }                                                                                                         \
            if (bias) {                                                                                               \
                const A more = IN(bias[m * g->bias_row + n * g->bias_col]);                                           \
                total = g->factors ? (A)g->factors[0] * total + (A)g->factors[1] * more : total + more;               \
            }                                                                                                         \
            *z = OUT(total);                                                                                          \
        }                                                                                                             \
}
FLOATING(f32,  float,    float,  SAME, SAME, 1)
FLOATING(f64,  double,   double, SAME, SAME, 1)
FLOATING(c64,  c64,      c64,    SAME, SAME, 1)
FLOATING(c128, c128,     c128,   SAME, SAME, 1)
FLOATING(f16,  uint16_t, float,  fc_f32_of_f16, fc_f16_of_f32, 1)
FLOATING(bf16, uint16_t, float,  fc_f32_of_bf16, fc_bf16_of_f32, 2)
#undef FLOATING
#undef CHAINS_OF

/* Modulo 2^bits, so any order gives the same bits: rows of b are walked along memory where that is possible. */
#define INTEGER(name, T)                                                                                              \
static void product_##name(const fc_gemm_args *g, const T *a, const T *b, T *c, const T *bias)                        \
{                                                                                                                     \
    for (int64_t m = 0; m < g->M; ++m) {                                                                              \
        const T *x = a + m * g->a_row;                                                                                \
        T *z = c + m * g->c_row;                                                                                      \
        if (!g->accumulate)                                                                                           \
            for (int64_t n = 0; n < g->N; ++n) z[n * g->c_col] = 0;                                                   \
        if (g->b_col == 1 && g->c_col == 1)                                                                           \
            for (int64_t k = 0; k < g->K; ++k) {                                                                      \
                const T x_k = x[k * g->a_col];                                                                        \
                const T *y = b + k * g->b_row;                                                                        \
                for (int64_t n = 0; n < g->N; ++n) z[n] = (T)(z[n] + x_k * y[n]);                                     \
            }                                                                                                         \
        else                                                                                                          \
            for (int64_t n = 0; n < g->N; ++n) {                                                                      \
                const T *y = b + n * g->b_col;                                                                        \
                T sum = 0;                                                                                            \
                for (int64_t k = 0; k < g->K; ++k) sum = (T)(sum + x[k * g->a_col] * y[k * g->b_row]);                \
                z[n * g->c_col] = (T)(z[n * g->c_col] + sum);                                                         \
            }                                                                                                         \
        if (bias)                                                                                                     \
            for (int64_t n = 0; n < g->N; ++n)                                                                        \
                z[n * g->c_col] = (T)(z[n * g->c_col] + bias[m * g->bias_row + n * g->bias_col]);                  \
    }                                                                                                                 \
}

/* uint16 squares overflow int as promoted operands; -fwrapv defines that, and the low 16 bits are right */
INTEGER(u8, uint8_t)  INTEGER(i8, int8_t)    INTEGER(i16, int16_t) INTEGER(i32, int32_t)
INTEGER(i64, int64_t) INTEGER(u16, uint16_t) INTEGER(u32, uint32_t) INTEGER(u64, uint64_t)
#undef INTEGER

void fc_gemm_plain(const fc_gemm_args *g, int64_t first, int64_t last)
{
    const unsigned before = g->dtype == FC_BF16 ? fc_flush() : 0;
    for (int64_t i = first; i < last; ++i)
        switch (g->dtype) {
#define CASE(DT, name, T)                                                                                             \
        case DT: product_##name(g, (const T *)g->a + i * g->a_batch, (const T *)g->b + i * g->b_batch,                \
                                (T *)g->c + i * g->c_batch, g->bias ? (const T *)g->bias + i * g->bias_batch : NULL); break;
        CASE(FC_U8, u8, uint8_t)   CASE(FC_I8, i8, int8_t)      CASE(FC_I16, i16, int16_t) CASE(FC_I32, i32, int32_t)
        CASE(FC_I64, i64, int64_t) CASE(FC_U16, u16, uint16_t)  CASE(FC_U32, u32, uint32_t) CASE(FC_U64, u64, uint64_t)
        CASE(FC_F16, f16, uint16_t) CASE(FC_BF16, bf16, uint16_t)
        CASE(FC_F32, f32, float)   CASE(FC_F64, f64, double)    CASE(FC_C64, c64, c64)     CASE(FC_C128, c128, c128)
#undef CASE
        }
    if (g->dtype == FC_BF16)
        fc_unflush(before);
}
#undef SAME

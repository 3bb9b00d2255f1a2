/* The product engine against the plain product, bit for bit: every dtype, layout, path, number of threads, ISA level >= v3. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../core/sanitized.h"
#include "../cpu/gemm_args.h"
#include "../include/facula.h"
#include "check.h"

static int level;
int fc_isa_level(void) { return level; }

static uint64_t seed = 88172645463325252u;
static uint64_t next(void) { return seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17; }

/* Under a sanitizer, which slows each access twentyfold, products beyond this many fma are left out, and only every LAYOUT_STRIDE-th
 * pair of layouts is tried: every path is taken by a smaller one. */
#if FC_TSAN || FC_ASAN
#define MOST_WORK 3000000
#define LAYOUT_STRIDE 3
#else
#define MOST_WORK INT64_MAX
#define LAYOUT_STRIDE 1
#endif

static const int size_of[] = { 1, 1, 1, 2, 4, 8, 2, 4, 8, 2, 2, 4, 8, 8, 16 };

/* Values of one binade around 1, both signs: rounding shows any change of order. */
static int tiny; /* or, of bfloat16, ones whose products are denormal numbers and their neighbours */
static void fill(char *x, int dtype, int64_t n)
{
    for (int64_t i = 0; i < n; ++i) {
        const double v = (double)(int64_t)next() * 0x1p-63;
        switch (dtype) {
        case FC_F32: ((float *)x)[i] = (float)v; break;
        case FC_F64: ((double *)x)[i] = v; break;
        case FC_C64: ((float *)x)[2 * i] = (float)v; ((float *)x)[2 * i + 1] = (float)((double)(int64_t)next() * 0x1p-63); break;
        case FC_C128: ((double *)x)[2 * i] = v; ((double *)x)[2 * i + 1] = (double)(int64_t)next() * 0x1p-63; break;
        case FC_F16: ((uint16_t *)x)[i] = (uint16_t)(0x3800 | (next() & 0x83ff)); break;
        case FC_BF16: ((uint16_t *)x)[i] = (uint16_t)((tiny ? 50 + next() % 30 : 126) << 7 | (next() & 0x807f)); break;
        default: memcpy(x + i * size_of[dtype], &(uint64_t){ next() }, (size_t)size_of[dtype]);
        }
    }
}

enum { ROWS, TURNED, GAPS, REPEATED, LAYOUTS };

/* Strides of a (batch, rows, cols) operand; returns its room in elements. */
static int64_t lay(int layout, int64_t batch, int64_t rows, int64_t cols, int64_t *stride)
{
    const int64_t gap = layout == GAPS ? 2 : 1;
    stride[2] = layout == TURNED ? rows : gap;
    stride[1] = layout == TURNED ? 1 : cols * gap + (layout == GAPS);
    stride[0] = layout == REPEATED ? 0 : rows * cols * gap * gap + rows;
    return batch * (rows * cols * gap * gap + rows) + cols + 1;
}

enum { NONE, COLUMNS, WHOLE, OVER }; /* biases: none, one for each column, one for each element with factors, and c itself so */

static void compare(int dtype, const int64_t *dims, int a_layout, int b_layout, int c_layout, int with_bias, int accumulate)
{
    const int64_t batch = dims[0], M = dims[1], N = dims[2], K = dims[3];
    tiny = a_layout == b_layout;
    int64_t as[3], bs[3], cs[3];
    const int64_t na = lay(a_layout, batch, M, K, as), nb = lay(b_layout, batch, K, N, bs), nc = lay(c_layout, batch, M, N, cs);
    const size_t size = (size_t)size_of[dtype];
    char *a = malloc((size_t)na * size), *b = malloc((size_t)nb * size), *c = malloc((size_t)nc * size);
    char *want = malloc((size_t)nc * size), *bias = malloc((size_t)nc * size);
    fill(a, dtype, na), fill(b, dtype, nb), fill(c, dtype, nc), fill(bias, dtype, nc);
    static const double factors[2] = { 0.75, -1.5 };
    memcpy(want, c, (size_t)nc * size);

    fc_gemm_args g = { .dtype = dtype, .accumulate = accumulate, .split = 1, .batch = batch, .M = M, .N = N, .K = K,
        .a = a, .a_batch = as[0], .a_row = as[1], .a_col = as[2], .b = b, .b_batch = bs[0], .b_row = bs[1], .b_col = bs[2],
        .c = want, .c_batch = cs[0], .c_row = cs[1], .c_col = cs[2], .bias = with_bias ? bias : NULL, .bias_col = with_bias == COLUMNS };
    if (with_bias >= WHOLE) {
        g.factors = factors;
        g.bias = with_bias == OVER ? want : bias;
        g.bias_batch = cs[0], g.bias_row = cs[1], g.bias_col = cs[2];
    }
    fc_gemm_plain(&g, 0, batch);

    static const int threads[] = { 1, 2, 3, 8 };
    char *out = malloc((size_t)nc * size);
    for (level = 3; level <= (__builtin_cpu_supports("avx512bw") ? 4 : 3); ++level)
        for (int t = 0; t < (M * N * K > 20000 ? 4 : 1); ++t) {
            fc_set_num_threads(threads[t]);
            memcpy(out, c, (size_t)nc * size);
            fc_gemm_args call = g;
            call.c = out;
            if (with_bias == OVER)
                call.bias = out;
            CHECK(0 == (with_bias >= WHOLE ? fc_gemm_shaped(&call) : fc_gemm(dtype, batch, M, N, K, a, as[0], as[1], as[2], b, bs[0], bs[1], bs[2], out, cs[0], cs[1], cs[2],
                               g.bias, g.bias_col, accumulate)));
            const int same = memcmp(out, want, (size_t)nc * size) == 0;
            CHECK(same);
            if (!same)
                printf("  dtype %d, %ld x (%ld, %ld, %ld), layouts %d %d %d, bias %d, accumulate %d, level v%d, threads %d\n", dtype,
                       (long)batch, (long)M, (long)N, (long)K, a_layout, b_layout, c_layout, with_bias, accumulate, level, threads[t]);
        }
    free(a), free(b), free(c), free(want), free(bias), free(out);
}

int main(void)
{
    static const int64_t dims[][4] = { /* batch, M, N, K */
        { 1, 1, 1, 0 }, { 1, 2, 3, 0 }, { 1, 1, 1, 1 }, { 2, 3, 2, 4 }, { 1, 7, 9, 3 }, { 1, 16, 16, 16 }, { 3, 14, 32, 8 },
        { 1, 15, 33, 17 }, { 2, 29, 47, 65 }, { 1, 1, 40, 300 }, { 1, 2, 130, 257 }, { 1, 3, 17, 700 }, { 1, 4, 33, 255 },
        { 1, 5, 300, 31 }, { 1, 14, 64, 512 }, { 1, 40, 1, 300 }, { 1, 300, 2, 70 }, { 1, 130, 4, 256 }, { 1, 1, 1, 511 },
        { 1, 1, 1, 512 }, { 1, 1, 1, 4096 }, { 1, 1, 1, 9000 }, { 1, 1, 3, 4097 }, { 1, 3, 40, 8500 }, { 1, 20, 35, 4400 },
        { 1, 64, 96, 128 }, { 9, 6, 70, 50 }, { 2, 180, 40, 300 }, { 1, 200, 530, 260 }, { 5, 1, 33, 20 }, { 6, 33, 1, 20 },
        { 1, 1, 4200, 37 }, { 1, 2, 2100, 61 }, { 1, 1, 530, 600 }, { 1, 12, 9, 13000 }, { 1, 5, 4, 300000 },
        { 70, 1, 1, 7 }, { 5, 3, 3, 1000 }, { 3, 2, 4, 4700 }, { 1, 9, 20, 4200 }, { 2, 300, 6, 400 }, { 40, 3, 2, 7 }, { 30, 2, 4, 250 }, { 3, 16, 1, 255 },
    };
    for (size_t d = 0; d < sizeof dims / sizeof *dims; ++d)
        for (int dtype = FC_U8; dtype <= FC_C128 && dims[d][0] * dims[d][1] * dims[d][2] * dims[d][3] <= MOST_WORK; ++dtype)
            for (int k = (int)d % LAYOUT_STRIDE; k < LAYOUTS * LAYOUTS; k += LAYOUT_STRIDE) {
                if (fc_is_int(dtype) && k % 5) continue;
                if (dims[d][1] * dims[d][2] * dims[d][3] > 400000 && (k % 3 || (dtype != FC_F32 && dtype != FC_C128))) continue;
                compare(dtype, dims[d], k / LAYOUTS, k % LAYOUTS, (k + (int)d) % 3, (k + (int)d) % 2, (k / 2 + (int)d) % 2);
                if (dtype == FC_F32 || dtype == FC_F64 || dtype == FC_C64 || dtype == FC_C128)
                    compare(dtype, dims[d], k / LAYOUTS, k % LAYOUTS, (k + (int)d) % 3, dims[d][3] <= FC_GEMM_BLOCK && k % 2 ? OVER : WHOLE, 0);
            }
    return report("gemm");
}

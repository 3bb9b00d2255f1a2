/* Dot products of float16: those of float32, widened on the way. Included by gemm_simd.c behind gemm_along_simd.h of float: no guard. */

#define BLOCKS (2 * PER) /* at once: one sum would wait for itself */

/* PER lines, LANES steps each, to vectors of FC_GEMM_CHAINS steps of every line. */
INLINE void gather_f16(T(V) *out, const uint16_t *const *line, int64_t k)
{
#pragma GCC unroll 4
    for (int s = 0; s < PER; ++s) {
        int64_t four[PER];
#pragma GCC unroll 4
        for (int l = 0; l < PER; ++l)
            memcpy(four + l, line[l] + k + s * FC_GEMM_CHAINS, sizeof *four);
#if FC_ISA_NUM == 4
        out[s] = (T(V))_mm512_cvtph_ps(_mm256_set_epi64x(four[3], four[2], four[1], four[0]));
#else
        out[s] = (T(V))_mm256_cvtph_ps(_mm_set_epi64x(four[1], four[0]));
#endif
    }
}

static void dots_f16(void *result, int64_t blocks, const void *a, const void *b)
{
    for (int64_t j = 0; j < blocks; j += BLOCKS) {
        const uint16_t *const next_a = (const uint16_t *)a + (j + BLOCKS) * FC_GEMM_BLOCK, *const next_b = (const uint16_t *)b + (j + BLOCKS) * FC_GEMM_BLOCK;
        const uint16_t *x[BLOCKS], *y[BLOCKS];
        T(V) sum[2] = { { 0 }, { 0 } };
        float out[BLOCKS];
#pragma GCC unroll 8
        for (int l = 0; l < BLOCKS; ++l) { /* in the place of those that are not there the last */
            const int64_t at = (j + l < blocks ? j + l : blocks - 1) * FC_GEMM_BLOCK;
            x[l] = (const uint16_t *)a + at;
            y[l] = (const uint16_t *)b + at;
        }
#pragma GCC unroll 1
        for (int64_t k = 0; k < FC_GEMM_BLOCK; k += LANES) {
            FC_GEMM_AHEAD(next_a + BLOCKS * k, BLOCKS * LANES);
            FC_GEMM_AHEAD(next_b + BLOCKS * k, BLOCKS * LANES);
#pragma GCC unroll 2
            for (int h = 0; h < 2; ++h) {
                T(V) u[PER], v[PER];
                gather_f16(u, x + h * PER, k);
                gather_f16(v, y + h * PER, k);
#pragma GCC unroll 4
                for (int s = 0; s < PER; ++s)
                    sum[h] = FMA(u[s], v[s], sum[h]);
            }
        }
        T(add_chains)(out, (const R *)sum, BLOCKS);
        memcpy((float *)result + j, out, (size_t)(blocks - j < BLOCKS ? blocks - j : BLOCKS) * sizeof *out);
    }
}
#undef BLOCKS

/* The float32 loops of the random fills, compiled once per ISA level (random_simd.c). All levels give the same bits. */
#ifndef FC_RANDOM_BLOCK_H
#define FC_RANDOM_BLOCK_H

#include <stdint.h>

/* out[k] = fma(u_k, to - from, from), u_k the 24-bit uniform of word[k]; where rounding reaches `to` it is `from` */
typedef void (*fc_uniform_f32_fn)(float *out, const uint32_t *word, int64_t n, float from, float to);

/* Uniforms to normals in place, by blocks of 16: Box-Muller of d[j] and d[j + 8]. blocks * 16 elements. */
typedef void (*fc_normal_f32_fn)(float *d, int64_t blocks, float mean, float std);

/* out[k] = fc_draw53(word + 2 k) < limit */
typedef void (*fc_below_f32_fn)(float *out, const uint32_t *word, int64_t n, int64_t limit);

static inline int64_t fc_draw53(const uint32_t *word) /* of two words the high one comes first */
{
    return (int64_t)(word[0] & 0x1fffff) << 32 | word[1];
}

void fc_uniform_f32_v2(float *out, const uint32_t *word, int64_t n, float from, float to);
void fc_uniform_f32_v3(float *out, const uint32_t *word, int64_t n, float from, float to);
void fc_uniform_f32_v4(float *out, const uint32_t *word, int64_t n, float from, float to);
void fc_below_f32_v2(float *out, const uint32_t *word, int64_t n, int64_t limit);
void fc_below_f32_v3(float *out, const uint32_t *word, int64_t n, int64_t limit);
void fc_below_f32_v4(float *out, const uint32_t *word, int64_t n, int64_t limit);
void fc_normal_f32_v2(float *d, int64_t blocks, float mean, float std);
void fc_normal_f32_v3(float *d, int64_t blocks, float mean, float std);
void fc_normal_f32_v4(float *d, int64_t blocks, float mean, float std);

#endif

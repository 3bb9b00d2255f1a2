/* The random generator: mt19937 (Matsumoto and Nishimura 1998) with PyTorch's seeding, stream and 5056-byte state.
 *
 * One mutex per generator: a fill holds it from its first draw to its last, so two threads never share a stretch of the
 * stream. The draw functions below expect the caller to hold it. A fork waits for fills that are under way. */
#ifndef FC_GENERATOR_H
#define FC_GENERATOR_H

#include <pthread.h>
#include <stdint.h>

#include "../include/facula.h"

#define FC_MT_WORDS 624

struct fc_generator {
    pthread_mutex_t lock;
    fc_generator *next_known, *prev_known;
    uint64_t seed;
    uint32_t state[FC_MT_WORDS];
    uint32_t word[FC_MT_WORDS]; /* the state, tempered: what draws return */
    int left;                   /* 1 + draws left in this block */
    int next;                   /* the next draw is word[next] */
    double normal;              /* the second half of the last pair of normals, and whether there is one */
    int normal_valid;
    uint8_t tail[8];            /* the state's last 8 bytes: kept, not used */
};

static inline void fc_generator_lock(fc_generator *g)   { pthread_mutex_lock(&g->lock); }
static inline void fc_generator_unlock(fc_generator *g) { pthread_mutex_unlock(&g->lock); }

static inline uint32_t fc_tempered(uint32_t y)
{
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

/* One step of the state, and its words tempered (generator_simd.c). The same bits at every level. */
void fc_twist_v2(uint32_t *state, uint32_t *word);
void fc_twist_v3(uint32_t *state, uint32_t *word);
void fc_twist_v4(uint32_t *state, uint32_t *word);

/* Makes the next block of words; afterwards left = 624, next = 0. */
void fc_generator_refill(fc_generator *g);

static inline uint32_t fc_draw32(fc_generator *g)
{
    if (--g->left == 0)
        fc_generator_refill(g);
    return g->word[g->next++];
}

static inline uint64_t fc_draw64(fc_generator *g)
{
    const uint64_t high = fc_draw32(g);
    return high << 32 | fc_draw32(g);
}

static inline double fc_draw_f64(fc_generator *g) /* [0, 1) */
{
    return (double)(fc_draw64(g) & (((uint64_t)1 << 53) - 1)) * 0x1p-53;
}

static inline float fc_draw_f32(fc_generator *g) /* [0, 1) */
{
    return (float)(fc_draw32(g) & 0xffffff) * 0x1p-24f;
}

/* The next n words as one array: inside the generator where they lie there already, else gathered into `room`. */
const uint32_t *fc_draw_words(fc_generator *g, uint32_t *room, int n);

#endif

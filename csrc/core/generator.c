#include "generator.h"

#include <string.h>

#include "alloc.h"
#include "status.h"

int fc_isa_level(void);

enum { STATE_BYTES = 5056, WORDS_AT = 24, NORMAL_AT = WORDS_AT + 8 * FC_MT_WORDS };

/* ---- the engine ---- */

void fc_generator_refill(fc_generator *g)
{
    const int level = fc_isa_level();
    (level >= 4 ? fc_twist_v4 : level == 3 ? fc_twist_v3 : fc_twist_v2)(g->state, g->word);
    g->left = FC_MT_WORDS;
    g->next = 0;
}

const uint32_t *fc_draw_words(fc_generator *g, uint32_t *room, int n)
{
    if (g->left > n) {
        const uint32_t *const here = g->word + g->next;
        g->left -= n;
        g->next += n;
        return here;
    }
    for (int k = 0; k < n;) {
        if (--g->left == 0)
            fc_generator_refill(g);
        const int run = n - k < g->left ? n - k : g->left;
        memcpy(room + k, g->word + g->next, (size_t)run * sizeof *room);
        g->left -= run - 1;
        g->next += run;
        k += run;
    }
    return room;
}

static void seed_words(fc_generator *g, uint64_t seed)
{
    g->seed = seed;
    g->state[0] = (uint32_t)seed;
    for (uint32_t k = 1; k < FC_MT_WORDS; ++k)
        g->state[k] = 1812433253u * (g->state[k - 1] ^ g->state[k - 1] >> 30) + k;
    g->left = 1;
    g->next = 0;
    g->normal = 0;
    g->normal_valid = 0;
    memset(g->tail, 0, sizeof g->tail);
}

/* ---- forks: a child that inherited a lock from a thread which it lacks would wait for ever, and a half-written state is none ---- */

static struct {
    pthread_mutex_t lock;
    fc_generator *first;
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    pthread_mutex_lock(&known.lock);
    for (fc_generator *g = known.first; g; g = g->next_known)
        fc_generator_lock(g);
}

static void after_fork(void)
{
    for (fc_generator *g = known.first; g; g = g->next_known)
        fc_generator_unlock(g);
    pthread_mutex_unlock(&known.lock);
}

static void first_use(void) { pthread_atfork(before_fork, after_fork, after_fork); }

/* ---- the API ---- */

fc_generator *fc_generator_new(uint64_t seed)
{
    fc_generator *const g = fc_alloc(sizeof *g);
    if (!g) {
        fc_fail(FC_MEMORY, sizeof *g, 0, 0, 0);
        return NULL;
    }
    pthread_mutex_init(&g->lock, NULL);
    seed_words(g, seed);
    pthread_once(&once, first_use); /* after the allocator's: who locks a generator may wait for memory, so it is to be waited for first */
    pthread_mutex_lock(&known.lock);
    g->prev_known = NULL;
    g->next_known = known.first;
    if (g->next_known)
        g->next_known->prev_known = g;
    known.first = g;
    pthread_mutex_unlock(&known.lock);
    return g;
}

void fc_generator_free(fc_generator *g)
{
    if (!g)
        return;
    pthread_mutex_lock(&known.lock);
    *(g->prev_known ? &g->prev_known->next_known : &known.first) = g->next_known;
    if (g->next_known)
        g->next_known->prev_known = g->prev_known;
    pthread_mutex_unlock(&known.lock);
    pthread_mutex_destroy(&g->lock);
    fc_dealloc(g, sizeof *g);
}

void fc_generator_seed(fc_generator *g, uint64_t seed)
{
    fc_generator_lock(g);
    seed_words(g, seed);
    fc_generator_unlock(g);
}

uint64_t fc_generator_initial_seed(fc_generator *g)
{
    fc_generator_lock(g);
    const uint64_t seed = g->seed;
    fc_generator_unlock(g);
    return seed;
}

/* The state's bytes, little-endian: u64 seed, i32 left, i32 seeded, u64 next, 624 words as u64, f64 unused,
 * f64 cached normal, f64 unused, i32 cache valid, 4 bytes of padding, 8 bytes unused. */

static void put(uint8_t *to, uint64_t x, int bytes)
{
    for (int k = 0; k < bytes; ++k)
        to[k] = (uint8_t)(x >> 8 * k);
}

static uint64_t get(const uint8_t *from, int bytes)
{
    uint64_t x = 0;
    for (int k = 0; k < bytes; ++k)
        x |= (uint64_t)from[k] << 8 * k;
    return x;
}

void fc_generator_get_state(fc_generator *g, void *bytes5056)
{
    uint8_t *const b = bytes5056;
    uint64_t normal;
    fc_generator_lock(g);
    memcpy(&normal, &g->normal, 8);
    memset(b, 0, STATE_BYTES);
    put(b, g->seed, 8);
    put(b + 8, (uint32_t)g->left, 4);
    put(b + 12, 1, 4);
    put(b + 16, (uint32_t)g->next, 8);
    for (int k = 0; k < FC_MT_WORDS; ++k)
        put(b + WORDS_AT + 8 * k, g->state[k], 8);
    put(b + NORMAL_AT + 8, g->normal_valid ? normal : 0, 8);
    put(b + NORMAL_AT + 24, (uint32_t)g->normal_valid, 4);
    memcpy(b + STATE_BYTES - 8, g->tail, 8);
    fc_generator_unlock(g);
}

/* A state made by hand is accepted where its position lies within the words. */
int fc_generator_set_state(fc_generator *g, const void *bytes5056)
{
    const uint8_t *const b = bytes5056;
    const int64_t left = (int32_t)get(b + 8, 4), seeded = (int32_t)get(b + 12, 4);
    const uint64_t next = get(b + 16, 8);
    if (!seeded || left < 1 || left > FC_MT_WORDS || next > FC_MT_WORDS || left - 1 + (int64_t)next > FC_MT_WORDS)
        return fc_fail(FC_ARG, 0, left, FC_MT_WORDS, 0);
    const uint64_t normal = get(b + NORMAL_AT + 8, 8);
    fc_generator_lock(g);
    g->seed = get(b, 8);
    g->left = (int)left;
    g->next = (int)next;
    for (int k = 0; k < FC_MT_WORDS; ++k)
        g->state[k] = (uint32_t)get(b + WORDS_AT + 8 * k, 8);
    for (int k = 0; k < FC_MT_WORDS; ++k)
        g->word[k] = fc_tempered(g->state[k]);
    g->normal_valid = get(b + NORMAL_AT + 24, 4) != 0;
    memcpy(&g->normal, &normal, 8);
    memcpy(g->tail, b + STATE_BYTES - 8, 8);
    fc_generator_unlock(g);
    return FC_OK;
}

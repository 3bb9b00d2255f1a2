/* The engine is mt19937, a state continues its stream wherever it was taken, threads share a generator safely. */
#include <stdlib.h>
#include <string.h>

#include "../core/generator.h"
#include "check.h"

static void test_ten_thousandth_word_of_the_reference_seed(void)
{
    fc_generator *g = fc_generator_new(5489); /* the standard's test of std::mt19937 */
    uint32_t word = 0;
    for (int k = 0; k < 10000; ++k)
        word = fc_draw32(g);
    CHECK(word == 4123659995u);
    fc_generator_free(g);
}

static void test_state_continues_the_stream(void)
{
    fc_generator *g = fc_generator_new(7), *h = fc_generator_new(8);
    uint8_t state[5056], again[5056];
    for (int drawn = 0; drawn < 1300; drawn += 13) {
        fc_generator_seed(g, ((uint64_t)1 << 40) + 3);
        for (int k = 0; k < drawn; ++k)
            fc_draw32(g);
        fc_generator_get_state(g, state);
        CHECK(fc_generator_set_state(h, state) == 0);
        fc_generator_get_state(h, again);
        CHECK(memcmp(state, again, sizeof state) == 0);
        CHECK(fc_generator_initial_seed(h) == ((uint64_t)1 << 40) + 3);
        int same = 1;
        for (int k = 0; k < 700; ++k)
            same &= fc_draw32(g) == fc_draw32(h);
        CHECK(same);
    }
    fc_generator_free(g);
    fc_generator_free(h);
}

static void test_words_in_bulk_are_words_one_by_one(void)
{
    fc_generator *g = fc_generator_new(1), *h = fc_generator_new(1);
    uint32_t room[2000];
    for (int n = 0; n < 2000; n += 37) {
        const uint32_t *const words = fc_draw_words(g, room, n);
        int same = 1;
        for (int k = 0; k < n; ++k)
            same &= words[k] == fc_draw32(h);
        CHECK(same);
    }
    fc_generator_free(g);
    fc_generator_free(h);
}

/* left and next of any value either are refused or never lead outside the words */
static void test_states_made_by_hand(void)
{
    fc_generator *g = fc_generator_new(1);
    uint8_t state[5056];
    fc_generator_get_state(g, state);
    for (int left = -2; left < 700; left += 3)
        for (int next = -2; next < 700; next += 3) {
            memcpy(state + 8, &left, 4);
            memcpy(state + 16, &(int64_t){next}, 8);
            const int taken = fc_generator_set_state(g, state) == 0;
            CHECK(taken == (left >= 1 && left <= 624 && next >= 0 && next <= 624 && left - 1 + next <= 624));
            for (int k = 0; k < 30; ++k)
                fc_draw32(g);
        }
    memset(state, 0, sizeof state);
    CHECK(fc_generator_set_state(g, state) != 0);
    fc_generator_free(g);
}

static uint64_t draw_locked(fc_generator *g)
{
    fc_generator_lock(g);
    const uint64_t x = fc_draw64(g);
    fc_generator_unlock(g);
    return x;
}

static void *draw(void *generator)
{
    for (int k = 0; k < 1000; ++k)
        draw_locked(generator);
    return NULL;
}

static void test_threads(void)
{
    fc_generator *g = fc_generator_new(3), *h = fc_generator_new(3);
    pthread_t threads[4];
    for (int k = 0; k < 4; ++k)
        pthread_create(&threads[k], NULL, draw, g);
    for (int k = 0; k < 4; ++k)
        pthread_join(threads[k], NULL);
    for (int k = 0; k < 4000; ++k)
        draw_locked(h);
    CHECK(draw_locked(g) == draw_locked(h));
    fc_generator_free(g);
    fc_generator_free(h);
}

int main(void)
{
    test_ten_thousandth_word_of_the_reference_seed();
    test_state_continues_the_stream();
    test_words_in_bulk_are_words_one_by_one();
    test_states_made_by_hand();
    test_threads();
    return report("generator");
}

/* Blocks are aligned, apart from one another, reused, and may be given back by any thread; the statistics add up. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../core/alloc.h"
#include "../core/sanitized.h"
#include "../include/facula.h"
#include "check.h"

#define SLOTS 400

static void *slot[SLOTS];
static int64_t size[SLOTS];

/* Random takes and gives; every block carries its slot's number from end to end. */
static int churn(unsigned seed, int rounds, int64_t largest)
{
    void *p[SLOTS] = {0};
    int64_t bytes[SLOTS];
    int right = 1;
    for (int k = 0; k < rounds; ++k) {
        seed = seed * 1664525u + 1013904223u;
        const int s = (int)((seed >> 8) % SLOTS);
        if (p[s]) {
            right &= ((unsigned char *)p[s])[0] == (s & 255) && ((unsigned char *)p[s])[bytes[s] - 1] == (s & 255);
            fc_dealloc(p[s], bytes[s]);
            p[s] = NULL;
        } else {
            bytes[s] = 1 + (int64_t)((seed >> 4) * 2654435761u) % (seed % 7 ? 2000 : largest);
            p[s] = fc_alloc(bytes[s]);
            right &= p[s] && (uintptr_t)p[s] % 64 == 0;
            memset(p[s], s & 255, (size_t)bytes[s]);
        }
    }
    for (int s = 0; s < SLOTS; ++s)
        if (p[s])
            fc_dealloc(p[s], bytes[s]);
    return right;
}

static void *churn_thread(void *seed)
{
    char *a = fc_arena(100);
    a[99] = 1;
    return churn((unsigned)(uintptr_t)seed, 5000, 100000) && fc_arena(1 << 20) ? NULL : seed;
}

static void *give_back(void *unused)
{
    for (int s = 0; s < SLOTS; ++s)
        fc_dealloc(slot[s], size[s]);
    return unused;
}

static void test_every_size_holds_its_bytes(void)
{
    int right = 1;
    for (int64_t bytes = 0; bytes < 300000; bytes += bytes < 5000 ? 1 : 997) {
        char *a = fc_alloc(bytes), *b = fc_alloc(bytes);
        right &= a && b && (uintptr_t)a % 64 == 0 && (a + bytes <= b || b + bytes <= a);
        memset(a, 1, (size_t)bytes);
        memset(b, 2, (size_t)bytes);
        right &= bytes == 0 || a[bytes - 1] == 1;
        fc_dealloc(a, bytes);
        fc_dealloc(b, bytes);
    }
    CHECK(right);
}

static void test_statistics_add_up(void)
{
    const int64_t before = fc_alloc_stat(0), count = fc_alloc_stat(3), hits = fc_alloc_stat(4);
    void *p = fc_alloc(1 << 20);
    CHECK(fc_alloc_stat(0) - before >= 1 << 20);
    CHECK(fc_alloc_stat(1) >= fc_alloc_stat(0));
    fc_dealloc(p, 1 << 20);
    CHECK(fc_alloc_stat(0) == before);
    p = fc_alloc((1 << 20) - 5);
    fc_dealloc(p, (1 << 20) - 5);
    CHECK(fc_alloc_stat(3) == count + 2);
#if !FC_ASAN
    CHECK(fc_alloc_stat(4) >= hits + 1);
    CHECK(fc_alloc_stat(2) >= 1 << 20);
#endif
    fc_alloc_trim();
    CHECK(fc_alloc_stat(2) < 100 << 20);
    CHECK(fc_alloc_stat(-1) == -1 && fc_alloc_stat(5) == -1);
    (void)hits;
}

static void test_refusals(void)
{
    CHECK(fc_alloc(-1) == NULL);
    CHECK(fc_alloc(INT64_MAX) == NULL);
    CHECK(fc_alloc((int64_t)1 << 46) == NULL);
    CHECK(fc_arena((size_t)1 << 62) == NULL);
    fc_dealloc(NULL, 0);
}

static void test_threads(void)
{
    pthread_t threads[4];
    void *failed;
    const int64_t before = fc_alloc_stat(0);
    for (uintptr_t k = 0; k < 4; ++k)
        pthread_create(&threads[k], NULL, churn_thread, (void *)(k + 1));
    for (int k = 0; k < 4; ++k) {
        pthread_join(threads[k], &failed);
        CHECK(!failed);
    }
    CHECK(fc_alloc_stat(0) == before);
    for (int s = 0; s < SLOTS; ++s)
        slot[s] = fc_alloc(size[s] = 1 + s * 100);
    pthread_create(&threads[0], NULL, give_back, NULL);
    pthread_join(threads[0], NULL);
    CHECK(fc_alloc_stat(0) == before);
}

static void test_fork(void)
{
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(churn(7, 2000, 300000) ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
}

int main(void)
{
    test_every_size_holds_its_bytes();
    CHECK(churn(1, 10000, 1000000));
    test_statistics_add_up();
    test_refusals();
    test_threads();
    test_fork();
    test_threads();
    return report("alloc");
}

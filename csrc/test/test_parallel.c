/* The pool covers every index once, and every step after the one before, whoever calls: alone, nested, from several threads, after fork. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../core/atomic.h"
#include "../core/sanitized.h"
#include "../cpu/parallel.h"
#include "../include/facula.h"
#include "check.h"

#define N 10007

static void mark(void *ctx, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; ++i)
        ++((int *)ctx)[i];
}

static int covered(int64_t n, int64_t grain)
{
    int *seen = calloc((size_t)n + 1, sizeof *seen);
    fc_parallel(n, grain, mark, seen);
    int right = seen[n] == 0;
    for (int64_t i = 0; i < n; ++i)
        right &= seen[i] == 1;
    free(seen);
    return right;
}

static void nested(void *ctx, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; ++i)
        if (!covered(100, 1))
            *(int *)ctx = 1;
}

static void use_scratch(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    memset(scratch, (int)(begin & 127), 1000);
    for (int k = 0; k < 1000; ++k)
        if (((char *)scratch)[k] != (begin & 127))
            fc_atomic_set((int *)ctx, 1);
    if ((uintptr_t)scratch % 64)
        fc_atomic_set((int *)ctx, 1);
    (void)end;
}

/* Workers may run on every core that the caller may, but for the one where it is. */
typedef struct { pthread_t caller; int cpus, met, wrong; } cores;

static void look_around(void *ctx, int64_t begin, int64_t end)
{
    cores *c = ctx;
    cpu_set_t set;
    (void)end;
    if (!pthread_equal(pthread_self(), c->caller)) {
        fc_atomic_set(&c->met, 1);
        if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != (c->cpus > 1 ? c->cpus - 1 : 1))
            fc_atomic_set(&c->wrong, 1);
    } else if (begin > 0) {
        usleep(100); /* so that a worker comes in time */
    }
}

static int keeps_off(void)
{
    cpu_set_t set;
    cores c = {.caller = pthread_self()};
    sched_getaffinity(0, sizeof set, &set);
    c.cpus = CPU_COUNT(&set);
    for (int k = 0; k < 1000 && !c.met; ++k)
        fc_parallel(64, 1, look_around, &c);
    return c.met && !c.wrong;
}

static void *caller(void *failed)
{
    for (int k = 0; k < 300; ++k)
        if (!covered(1 + k * 7, 1 + k % 13))
            fc_atomic_set((int *)failed, 1);
    return NULL;
}

/* ---- steps: each part reads what every part wrote in the step before, in plain memory, so a step that began early is a race ---- */

enum { ROOM = 8 }; /* distance between the parts' values */

typedef struct {
    int parts, wrong;
    int64_t seen[FC_MOST_PARTS * ROOM], values[2][FC_MOST_PARTS * ROOM];
} stairs;

static void step_up(void *ctx, int64_t step, int part)
{
    stairs *s = ctx;
    const int64_t *before = s->values[step % 2];
    int64_t sum = 0;
    for (int p = 0; p < s->parts; ++p)
        sum += before[p * ROOM];
    if (sum != step * s->parts || s->seen[part * ROOM] != step)
        fc_atomic_set(&s->wrong, 1);
    ++s->seen[part * ROOM];
    s->values[(step + 1) % 2][part * ROOM] = step + 1;
}

static int climbed(int64_t steps, int parts)
{
    stairs *s = calloc(1, sizeof *s);
    s->parts = parts;
    fc_parallel_steps(steps, parts, step_up, s);
    int right = !s->wrong;
    for (int p = 0; p < FC_MOST_PARTS; ++p)
        right &= s->seen[p * ROOM] == (p < parts ? steps : 0);
    free(s);
    return right;
}

static void nested_steps(void *ctx, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; ++i)
        if (fc_parts(100) != 1 || !climbed(5, 1 + (int)(i % FC_MOST_PARTS)))
            fc_atomic_set((int *)ctx, 1);
}

/* a step whose part runs loops of its own, as a cell's product does */
static void step_with_loops(void *ctx, int64_t step, int part)
{
    if (!covered(50 + step, 1 + part))
        fc_atomic_set((int *)ctx, 1);
}

static void *climber(void *failed)
{
    for (int k = 0; k < 60; ++k)
        if (!climbed(1 + k % 9, 1 + k % FC_MOST_PARTS) || !covered(1 + k * 7, 1 + k % 13))
            fc_atomic_set((int *)failed, 1);
    return NULL;
}

static void test_steps(void)
{
    int failed = 0;
    for (int threads = 1; threads <= 9; threads += 2) {
        fc_set_num_threads(threads);
        CHECK(fc_parts(1) == 1 && fc_parts(3) == (threads < 3 ? threads : 3) && fc_parts(1000) == threads);
        for (int parts = 1; parts <= FC_MOST_PARTS; parts += 3)
            CHECK(climbed(0, parts) && climbed(1, parts) && climbed(100, parts));
        fc_parallel_steps(7, 3, step_with_loops, &failed);
    }
    fc_set_num_threads(100);
    CHECK(fc_parts(1000) == FC_MOST_PARTS);
    fc_set_num_threads(4);
    fc_parallel(40, 1, nested_steps, &failed);
    CHECK(!failed);

    pthread_t threads[3];
    for (int k = 0; k < 3; ++k)
        pthread_create(&threads[k], NULL, climber, &failed);
    CHECK(climbed(300, 4));
    for (int k = 0; k < 3; ++k)
        pthread_join(threads[k], NULL);
    CHECK(!failed);
}

static void test_threads_call_at_once(void)
{
    pthread_t threads[4];
    int failed = 0;
    for (int k = 0; k < 4; ++k)
        pthread_create(&threads[k], NULL, caller, &failed);
    for (int k = 0; k < 20; ++k)
        fc_set_num_threads(1 + k % 6);
    for (int k = 0; k < 4; ++k)
        pthread_join(threads[k], NULL);
    CHECK(!failed);
}

static void test_child_starts_afresh(void)
{
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(covered(N, 10) && covered(N, 1) && climbed(50, 4) ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK(covered(N, 10) && climbed(50, 4));
}

#if !FC_TSAN && !FC_ASAN
static void *busy(void *stop)
{
    while (!fc_atomic_get((int *)stop))
        covered(N, 1);
    return NULL;
}

/* While another thread has the pool, perhaps its lock: what that thread held does not exist in the child. (Not under TSan, which
 * dies in such a child when the C library gives the lost thread's stack to a new one, nor under ASan, whose own locks gcc's runtime does
 * not release in a child.) */
static void test_child_of_a_busy_pool(void)
{
    pthread_t thread;
    int stop = 0;
    pthread_create(&thread, NULL, busy, &stop);
    for (int k = 0; k < 10; ++k)
        test_child_starts_afresh();
    fc_atomic_set(&stop, 1);
    pthread_join(thread, NULL);
}
#endif

/* A piece that forks: its child is not inside the pool's work, which stayed with the parent. */
static void fork_once(void *ctx, int64_t begin, int64_t end)
{
    if (begin > 0 || end < 1)
        return;
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(fc_parts(4) == 4 && covered(N, 10) && climbed(20, 4) ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    fc_atomic_set((int *)ctx, status);
}

int main(void)
{
    CHECK(fc_get_num_threads() >= 1);
    CHECK(fc_set_num_threads(0) != 0);
    for (int threads = 1; threads <= 9; threads += 2) {
        CHECK(fc_set_num_threads(threads) == 0);
        CHECK(fc_get_num_threads() == threads);
        for (int64_t n = 0; n < 70; ++n)
            CHECK(covered(n, 1) && covered(n, 7) && covered(n, 1000));
        CHECK(covered(N, 0) && covered(N, 64));
    }
    int failed = 0;
    fc_parallel(50, 1, nested, &failed);
    CHECK(!failed);
    CHECK(fc_parallel_scratch(N, 10, 1000, use_scratch, &failed) == 0);
    CHECK(fc_parallel_scratch(3, 10, 1000, use_scratch, &failed) == 0);
    CHECK(fc_parallel_scratch(N, 10, (size_t)1 << 60, use_scratch, &failed) != 0);
    CHECK(!failed);
    test_steps();
    test_threads_call_at_once();
    test_child_starts_afresh();
    test_threads_call_at_once();
#if !FC_TSAN && !FC_ASAN
    test_child_of_a_busy_pool();
#endif
    fc_set_num_threads(4);
    CHECK(keeps_off());
    fc_parallel(8, 1, fork_once, &failed);
    CHECK(!failed);
    return report("parallel");
}

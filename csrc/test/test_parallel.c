/* The pool covers every index once, whoever calls: alone, nested, from several threads, after fork. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../core/atomic.h"
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

static void *caller(void *failed)
{
    for (int k = 0; k < 300; ++k)
        if (!covered(1 + k * 7, 1 + k % 13))
            fc_atomic_set((int *)failed, 1);
    return NULL;
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
        _exit(covered(N, 10) && covered(N, 1) ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK(covered(N, 10));
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
    test_threads_call_at_once();
    test_child_starts_afresh();
    test_threads_call_at_once();
    return report("parallel");
}

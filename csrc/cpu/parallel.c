/*
 * The thread pool.
 *
 * One job at a time. A caller publishes it with a number of *seats*; workers that are awake take a seat, pull pieces, and
 * leave. The caller pulls pieces too, and when none is left it closes the seats and waits only for workers that sat down:
 * one that the system was slow to wake is never waited for. That keeps a busy machine fast.
 * Each thread has a share of the pieces, the same one in job after job, so that what it wrote is in its core's cache when
 * the next kernel reads it; when its share is done it helps with the others.
 *
 * A caller that finds the pool taken, or is itself inside a piece, runs its pieces alone, so nothing can deadlock.
 * Workers start at the first job that wants them, with every signal blocked (signals are Python's), and sleep on a
 * condition variable after a bounded spin, longer where that has paid. They run on any core the caller may use but the one it is on:
 * a system that packs threads onto few cores (virtual machines do) queues a woken worker behind its caller, for tens of
 * milliseconds. A forked child begins with an empty pool.
 */
#define _GNU_SOURCE
#include "parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../core/alloc.h"
#include "../core/atomic.h"
#include "../core/denormal.h"
#include "../core/sanitized.h"
#include "../core/status.h"
#include "../include/facula.h"

#define MAX_THREADS 256
#define PIECES_PER_THREAD 4 /* so that a thread that is late or slow costs a quarter of its share */
#define SPINS_LEAST 256     /* about 5 us of `pause`: longer than a gap between two kernels of one op, shorter than a time slice */
#define SPINS_MOST 4096     /* about 80 us: what lies between two ops of a network; waking a sleeper costs its caller half of that */
#define SPINS_TO_YIELD 32   /* a yield to nobody costs as much as a dozen of them */
#define JOBS_TO_LOOK 64     /* a system call for as many jobs is nothing, and they last no time slice */
#define LINE 64             /* bytes: what one thread writes often lies apart from what the others read */
#define MOST_SHARES 16      /* of a job; more threads than that have them in common */
#define NAP_NS 120000       /* who slept for less than this would have done better to wait awake */

typedef struct {
    fc_range_fn fn;
    fc_scratch_fn scratch_fn; /* one of the two */
    void *ctx;
    char *scratch;
    size_t stride; /* scratch bytes from one participant to the next */
    int64_t n, piece, pieces;
    int shares;
    int flushes; /* the caller's mode, which is its workers' then */
    struct {
        char apart_[LINE];
        int64_t next; /* atomic: the share's next piece */
    } share[MOST_SHARES];
} job;

static struct {
    pthread_mutex_t lock; /* guards everything below but `taken`, which is atomic */
    pthread_cond_t work, done;
    int seats, running, sleeping, workers, tickets;
    int64_t jobs; /* so far: what tests ask, to know that a kernel was shared out */
    job *job;
    int taken;
    pid_t pid;
    int kept_off;      /* the core that workers leave to the caller, and one more; 0: none yet */
    cpu_set_t allowed; /* where they run; none: not said yet */
    pthread_t thread[MAX_THREADS];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static int threads_wanted; /* atomic; 0: not asked for yet */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static FC_TLS int inside_tls;

static inline void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* The same in a long wait. Whoever is waited for may be queued behind the waiting thread on its own core, where other threads are as many
 * as cores: then it must get the core, or the wait lasts until patience or a time slice ends. */
static inline void wait_a_little(int spin)
{
    if (spin % SPINS_TO_YIELD == SPINS_TO_YIELD - 1)
        sched_yield();
    else
        pause_cpu();
}

/* ---- how many ---- */

static int usable_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

int fc_get_num_threads(void)
{
    int n = fc_atomic_peek(&threads_wanted);
    if (n)
        return n;
    const char *text = getenv("FACULA_NUM_THREADS");
    const long asked = text ? strtol(text, NULL, 10) : 0;
    n = asked > 0 ? (asked < MAX_THREADS ? (int)asked : MAX_THREADS) : usable_cpus();
    n = n < MAX_THREADS ? n : MAX_THREADS;
    fc_atomic_poke(&threads_wanted, n);
    return n;
}

int fc_set_num_threads(int n)
{
    if (n < 1)
        return fc_fail(FC_ARG, 0, n, 1, 0);
    fc_atomic_poke(&threads_wanted, n < MAX_THREADS ? n : MAX_THREADS);
    return FC_OK;
}

int64_t fc_pool_jobs(void)
{
    pthread_mutex_lock(&pool.lock);
    const int64_t jobs = pool.jobs;
    pthread_mutex_unlock(&pool.lock);
    return jobs;
}

/* ---- fork ---- */

static void after_fork(void)
{
    if (pool.pid == getpid())
        return;
    memset(&pool, 0, sizeof pool); /* the threads it knew are in the parent */
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.work, NULL);
    pthread_cond_init(&pool.done, NULL);
    pool.pid = getpid();
    inside_tls = 0;
}

static void first_use(void)
{
    pool.pid = getpid();
    pthread_atfork(NULL, NULL, after_fork);
}

/* ---- work ---- */

static int64_t share_begin(const job *j, int k) { return j->pieces * k / j->shares; }

/* seat: whose scratch; thread: whose share comes first, 0 for the caller. */
static void run_pieces(job *j, int seat, int thread)
{
    for (int k = 0; k < j->shares; ++k) {
        const int s = (thread + k) % j->shares;
        const int64_t last = share_begin(j, s + 1);
        while (fc_atomic_peek(&j->share[s].next) < last) {
            const int64_t begin = fc_atomic_count(&j->share[s].next, 1) * j->piece;
            if (begin >= last * j->piece)
                break;
            const int64_t end = j->n - begin < j->piece ? j->n : begin + j->piece;
            if (j->fn)
                j->fn(j->ctx, begin, end);
            else
                j->scratch_fn(j->ctx, begin, end, j->scratch + (size_t)seat * j->stride);
        }
    }
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *worker(void *number)
{
    const int thread = (int)(intptr_t)number;
    inside_tls = 1;
    int flushes = fc_flushes();
    int patience = SPINS_LEAST; /* the most, once it would have paid; half as long each time it did not */
    for (;;) {
        int spin = 0;
        while (spin < patience && fc_atomic_peek(&pool.seats) == 0)
            wait_a_little(spin++);
        pthread_mutex_lock(&pool.lock);
        if (pool.seats == 0) {
            const int64_t asleep = now_ns();
            ++pool.sleeping;
            pthread_cond_wait(&pool.work, &pool.lock);
            --pool.sleeping;
            patience = now_ns() - asleep < NAP_NS ? SPINS_MOST : patience / 2 > SPINS_LEAST ? patience / 2 : SPINS_LEAST;
            if (pool.seats == 0) { /* too late: the job is done. The next one finds this worker awake */
                pthread_mutex_unlock(&pool.lock);
                continue;
            }
        }
        fc_atomic_poke(&pool.seats, pool.seats - 1);
        const int seat = ++pool.tickets; /* the caller is participant 0 */
        fc_atomic_poke(&pool.running, pool.running + 1);
        job *const j = pool.job;
        pthread_mutex_unlock(&pool.lock);

        if (j->flushes != flushes)
            fc_set_flush_denormal(flushes = j->flushes);
        run_pieces(j, seat, thread);

        pthread_mutex_lock(&pool.lock);
        fc_atomic_poke(&pool.running, pool.running - 1);
        if (pool.running == 0)
            pthread_cond_signal(&pool.done);
        pthread_mutex_unlock(&pool.lock);
    }
    return NULL;
}

/* Up to `wanted` workers; fewer where the system refuses. Called with the lock held. */
static int hire(int wanted)
{
    if (pool.workers < wanted) {
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        for (pthread_t *thread = pool.thread + pool.workers; pool.workers < wanted; ++pool.workers, ++thread) {
            if (pthread_create(thread, NULL, worker, (void *)(intptr_t)(pool.workers + 1)) != 0)
                break;
            pthread_detach(*thread);
        }
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        pool.kept_off = 0; /* the new ones do not know yet */
        CPU_ZERO(&pool.allowed);
    }
    return pool.workers < wanted ? pool.workers : wanted;
}

/* Workers keep off the caller's core, where it may use another. Called with the lock held, before they are woken; a caller seldom moves.
 * What cores it may use seldom changes either, so that is asked at a move and now and then. */
static void leave_the_core(void)
{
    const int cpu = sched_getcpu();
    cpu_set_t set;
    if (cpu < 0 || (cpu + 1 == pool.kept_off && pool.jobs % JOBS_TO_LOOK))
        return;
    pool.kept_off = cpu + 1;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    CPU_CLR(cpu, &set);
    if (CPU_COUNT(&set) == 0 || CPU_EQUAL(&set, &pool.allowed))
        return;
    pool.allowed = set;
    for (int k = 0; k < pool.workers; ++k)
        pthread_setaffinity_np(pool.thread[k], sizeof set, &set);
}

/* As many pieces as make each thread's share the same: three of a grain and a rest would keep one thread for two thirds of the work.
 * Long pieces end where lines do. */
static int64_t piece_for(int64_t n, int64_t grain, int threads)
{
    const int64_t worth = (n - 1) / grain + 1, most = (int64_t)threads * PIECES_PER_THREAD;
    const int64_t pieces = worth < most ? (worth + threads - 1) / threads * threads : most;
    const int64_t share = (n - 1) / pieces + 1;
    return share < 2048 ? share : (share + 63) / 64 * 64;
}

/* j: what runs, on what, in which scratch. The rest is set here. */
static void run_together(job *j, int64_t n, int64_t grain, int threads)
{
    const int helpers = threads - 1;
    j->n = n;
    j->piece = piece_for(n, grain, threads);
    j->pieces = (j->n - 1) / j->piece + 1;
    j->flushes = fc_flushes();
    j->shares = helpers < MOST_SHARES ? helpers + 1 : MOST_SHARES;
    for (int k = 0; k < j->shares; ++k)
        j->share[k].next = share_begin(j, k);
    pthread_mutex_lock(&pool.lock);
    pool.job = j;
    ++pool.jobs;
    pool.tickets = 0;
    const int seats = hire(helpers);
    leave_the_core();
    fc_atomic_poke(&pool.seats, seats);
    for (int woken = 0; woken < pool.seats && woken < pool.sleeping; ++woken)
        pthread_cond_signal(&pool.work);
    pthread_mutex_unlock(&pool.lock);

    inside_tls = 1;
    run_pieces(j, 0, 0);
    inside_tls = 0;

    pthread_mutex_lock(&pool.lock);
    fc_atomic_poke(&pool.seats, 0);
    if (pool.running) {
        pthread_mutex_unlock(&pool.lock);
        for (int spin = 0; spin < SPINS_MOST && fc_atomic_peek(&pool.running); ++spin)
            wait_a_little(spin);
        pthread_mutex_lock(&pool.lock);
        while (pool.running)
            pthread_cond_wait(&pool.done, &pool.lock);
    }
    pool.job = NULL;
    pthread_mutex_unlock(&pool.lock);
    fc_atomic_set(&pool.taken, 0);
}

/* How many threads [0, n) is worth. */
static int crew(int64_t n, int64_t grain)
{
    if (n <= grain || inside_tls)
        return 1;
    const int64_t pieces = (n - 1) / grain + 1;
    const int threads = fc_get_num_threads();
    return pieces < threads ? (int)pieces : threads;
}

/* Takes the pool for the caller; 0 if another thread has it. */
static int take_pool(void)
{
    pthread_once(&once, first_use);
    return !fc_atomic_swap(&pool.taken, 1);
}

void fc_parallel(int64_t n, int64_t grain, fc_range_fn fn, void *ctx)
{
    if (n <= 0)
        return;
    grain = grain > 1 ? grain : 1;
    const int threads = crew(n, grain);
    if (threads == 1 || !take_pool()) {
        fn(ctx, 0, n);
        return;
    }
    job j; /* a kilobyte, of which as much is set as there are threads */
    j.fn = fn;
    j.ctx = ctx;
    run_together(&j, n, grain, threads);
}

int fc_parallel_scratch(int64_t n, int64_t grain, size_t bytes, fc_scratch_fn fn, void *ctx)
{
    if (n <= 0)
        return FC_OK;
    grain = grain > 1 ? grain : 1;
    int threads = crew(n, grain);
    if (threads > 1 && !take_pool())
        threads = 1;
    const size_t stride = (bytes + 127) & ~(size_t)63; /* one line of distance, so that neighbours share none */
    const int64_t room = (int64_t)stride * threads;
    char *const scratch = fc_alloc(room);
    if (!scratch) {
        if (threads > 1)
            fc_atomic_set(&pool.taken, 0);
        return fc_fail(FC_MEMORY, room, 0, 0, 0);
    }
    for (int t = 0; t < threads; ++t)
        FC_CLOSE(scratch + t * stride + bytes, stride - bytes);
    if (threads == 1) {
        fn(ctx, 0, n, scratch);
    } else {
        job j;
        j.fn = NULL;
        j.scratch_fn = fn;
        j.ctx = ctx;
        j.scratch = scratch;
        j.stride = stride;
        run_together(&j, n, grain, threads);
    }
    fc_dealloc(scratch, room);
    return FC_OK;
}

/* ---- steps ---- */

typedef struct {
    fc_step_fn fn;
    void *ctx;
    int64_t steps;
    int parts;
    char apart_[LINE];
    int64_t done; /* atomic: parts finished, of all steps */
    struct {
        char apart_[LINE];
        int64_t step; /* atomic: how many of this part's steps are somebody's */
    } taken[FC_MOST_PARTS];
} ladder;

static void climb(void *ctx, int64_t first, int64_t end)
{
    (void)end;
    ladder *const l = ctx;
    for (int64_t step = fc_atomic_get(&l->done) / l->parts; step < l->steps; ++step) {
        for (int j = 0; j < l->parts; ++j) {
            const int part = (int)((first + j) % l->parts);
            if (fc_atomic_peek(&l->taken[part].step) != step || !fc_atomic_turn(&l->taken[part].step, step, step + 1))
                continue;
            l->fn(l->ctx, step, part);
            fc_atomic_finish(&l->done, 1);
        }
        const int64_t all = (step + 1) * l->parts;
        for (int spin = 0; fc_atomic_get(&l->done) < all; ++spin)
            if (spin < SPINS_MOST)
                wait_a_little(spin);
            else
                sched_yield(); /* whoever has the last part is not on a core */
    }
}

int fc_parts(int64_t worth)
{
    const int threads = crew(worth, 1);
    return threads < FC_MOST_PARTS ? threads : FC_MOST_PARTS;
}

void fc_parallel_steps(int64_t steps, int parts, fc_step_fn fn, void *ctx)
{
    ladder l = {.fn = fn, .ctx = ctx, .steps = steps, .parts = parts};
    if (parts == 1)
        for (int64_t step = 0; step < steps; ++step)
            fn(ctx, step, 0);
    else
        fc_parallel(parts, 1, climb, &l);
}

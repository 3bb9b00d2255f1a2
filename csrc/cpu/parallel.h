/* The thread pool's one door: run fn over [0, n) in pieces of about `grain` or more, at least half of it.
 *
 * Pieces depend on n, grain and the number of threads; so no result may depend on where a piece begins (the promise of
 * docs/numerics.md). Nested calls run serially in the caller, and so does a call made while another thread has the pool.
 * fn must not fail: report through ctx. */
#ifndef FC_PARALLEL_H
#define FC_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

#include "../core/status.h"

typedef void (*fc_range_fn)(void *ctx, int64_t begin, int64_t end);
typedef void (*fc_scratch_fn)(void *ctx, int64_t begin, int64_t end, void *scratch);

void fc_parallel(int64_t n, int64_t grain, fc_range_fn fn, void *ctx);

/* The same with room for each participant: `bytes`, 64-byte aligned, uninitialised, valid until fn returns.
 * All of it is allocated before the first piece starts: FC_OK, or FC_MEMORY and fn was never called. */
FC_CHECKED int fc_parallel_scratch(int64_t n, int64_t grain, size_t bytes, fc_scratch_fn fn, void *ctx);

/* Steps one after the other, each of them `parts` (at most FC_MOST_PARTS) that may run side by side: fn(ctx, step, part) for all.
 * A step begins when all parts of the one before are done and their writes are seen. A part tends to stay with its thread from
 * step to step, so what it reads each time stays in that core's cache; a thread that is late is not waited for before its part
 * has begun. No pool is woken between steps: a step costs a few hundred nanoseconds of waiting. */
#define FC_MOST_PARTS 16
int fc_parts(int64_t worth); /* how many parts to cut a step into that could use `worth` threads; at least 1 */
typedef void (*fc_step_fn)(void *ctx, int64_t step, int part);

void fc_parallel_steps(int64_t steps, int parts, fc_step_fn fn, void *ctx);

#endif

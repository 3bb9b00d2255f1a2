/* The thread pool's one door: run fn over [0, n) in pieces of at least `grain`.
 *
 * Pieces depend on n, grain and the number of threads; so no result may depend on where a piece begins (the promise of
 * docs/numerics.md). Nested calls run serially in the caller. fn must not fail: report through ctx. */
#ifndef FC_PARALLEL_H
#define FC_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

typedef void (*fc_range_fn)(void *ctx, int64_t begin, int64_t end);

void fc_parallel(int64_t n, int64_t grain, fc_range_fn fn, void *ctx);

/* Scratch for one worker inside fn: a per-thread arena block, 64-byte aligned, valid until fn returns; NULL never
 * (the pool grows arenas before it starts: ask the caller for the size up front with fc_parallel_scratch). */
void fc_parallel_scratch(int64_t n, int64_t grain, size_t bytes, void (*fn)(void *ctx, int64_t begin, int64_t end, void *scratch), void *ctx);

#endif

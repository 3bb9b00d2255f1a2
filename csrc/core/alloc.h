/* Memory for storages, descriptors and scratch: a caching allocator. Blocks are 64-byte aligned and uninitialised.
 * Any thread may give back what another took; the size given back must be the size taken. */
#ifndef FC_ALLOC_H
#define FC_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/* NULL where memory is exhausted or bytes < 0 (the caller sets FC_MEMORY). Zero bytes is a block like any other. */
void *fc_alloc(int64_t bytes);
void fc_dealloc(void *block, int64_t bytes);

/* This thread's scratch: one block that grows, valid until the next fc_arena of this thread. NULL where memory is exhausted. */
void *fc_arena(size_t bytes);

enum { FC_LINE = 64 }; /* bytes: a multiple of this is where memory begins */

/* Exact when the other threads are quiet, but for the peak: see alloc.c. fc_alloc_stat itself is in facula_api.h. */
enum { FC_STAT_IN_USE, FC_STAT_PEAK, FC_STAT_CACHED, FC_STAT_ALLOCATIONS, FC_STAT_HITS };

#endif

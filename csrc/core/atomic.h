/* Atomic operations and thread-local storage on GCC/Clang builtins (a compiler extension, hence a file of its own).
 * Relaxed ones (inc, load, peek, poke, count) are for counters that nobody orders by; get acquires, set releases. */
#ifndef FC_ATOMIC_H
#define FC_ATOMIC_H

#include <stdint.h>

#define FC_TLS __thread

static inline void fc_atomic_inc(int64_t *n)            { __atomic_fetch_add(n, 1, __ATOMIC_RELAXED); }
/* true when this was the last reference; acquire-release so that the freeing thread sees every write */
static inline int fc_atomic_dec(int64_t *n)             { return __atomic_fetch_sub(n, 1, __ATOMIC_ACQ_REL) == 1; }
static inline int64_t fc_atomic_load(const int64_t *n)  { return __atomic_load_n(n, __ATOMIC_RELAXED); }

/* of any integer or pointer type */
#define fc_atomic_get(p)      __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define fc_atomic_set(p, v)   __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define fc_atomic_peek(p)     __atomic_load_n((p), __ATOMIC_RELAXED)
#define fc_atomic_poke(p, v)  __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define fc_atomic_swap(p, v)  __atomic_exchange_n((p), (v), __ATOMIC_ACQ_REL)
#define fc_atomic_count(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED) /* the value before */

/* from `old` to `new`, if it still is `old`: true if so. What an earlier holder released is seen */
static inline int fc_atomic_turn(int64_t *p, int64_t old, int64_t new)
{
    return __atomic_compare_exchange_n(p, &old, new, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
/* adds, and releases what was written before */
static inline void fc_atomic_finish(int64_t *p, int64_t d) { __atomic_fetch_add(p, d, __ATOMIC_ACQ_REL); }

#endif

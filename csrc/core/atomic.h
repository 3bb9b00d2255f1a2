/* The few atomic operations the library uses, over the compiler's builtins (C99 has none).
 * Relaxed ones are for counters that nobody orders by; the others acquire on load and release on store. */
#ifndef FC_ATOMIC_H
#define FC_ATOMIC_H

#define FC_THREAD_LOCAL __thread

#define fc_atomic_get(p)         __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define fc_atomic_set(p, v)      __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define fc_atomic_peek(p)        __atomic_load_n((p), __ATOMIC_RELAXED)
#define fc_atomic_poke(p, v)     __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define fc_atomic_swap(p, v)     __atomic_exchange_n((p), (v), __ATOMIC_ACQ_REL)

/* value before the addition; take() orders like the last release of a reference count must */
#define fc_atomic_count(p, v)    __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define fc_atomic_take(p, v)     __atomic_fetch_sub((p), (v), __ATOMIC_ACQ_REL)

#endif

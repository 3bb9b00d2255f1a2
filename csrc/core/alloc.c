/*
 * The caching allocator.
 *
 * Small blocks (up to 32 KB: descriptors, scalars, small tensors) are cut from slabs and live on per-thread lists, one per
 * size class: no lock, no atomic, a few ns. A list that is too long gives half to the class's shared list, an empty one
 * takes a batch from there; so memory that one thread frees and another takes still circulates.
 *
 * Large blocks are pages of their own. Freed ones stay mapped and warm, because faulting a page in (about 0.25 us per
 * 4 KB) costs as much as the arithmetic on it; the oldest go back to the system when the cache passes its bound.
 *
 * Size classes divide each doubling by 8, so at most an eighth is wasted. Slabs are never given back.
 */
#define _GNU_SOURCE
#include "alloc.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../include/facula.h"
#include "atomic.h"
#include "sanitized.h"

#define SMALL_BITS 15
#define SMALL_MAX ((int64_t)1 << SMALL_BITS)
#define LARGE_MAX_BITS 47
#define SMALL_CLASSES 56 /* 16 by line up to 1 KB, then 8 per doubling */
#define CLASSES (SMALL_CLASSES + (LARGE_MAX_BITS - SMALL_BITS) * 8)
#define SLAB ((int64_t)1 << 18)
#define LIST_BYTES ((int64_t)1 << 17) /* a thread keeps at most this much per class, ... */
#define LIST_BLOCKS 128               /* ... and at most this many blocks */
#define HUGE_PAGE ((int64_t)1 << 21)
#define FLUSH ((int64_t)1 << 18) /* the peak is blind to what a thread takes and gives back within this many bytes */

typedef struct block {
    struct block *next; /* of the same class */
    /* large ones only: */
    struct block *prev, *newer, *older;
    int size_class;
} block;

typedef struct {
    block *head;
    int64_t count;
} list;

/* Counters have one writer, their thread; others read them, so both sides use relaxed atomics (plain moves). */
typedef struct cache {
    list lists[SMALL_CLASSES];
    int64_t in_use; /* not yet in `shared.in_use` */
    int64_t cached, allocations, hits;
    void *arena;
    int64_t arena_bytes;
    struct cache *next, *prev;
} cache;

static struct {
    pthread_mutex_t lock;
    list lists[CLASSES];
    block *newest, *oldest; /* of the large ones */
    char *slab;
    int64_t slab_left;
    int64_t large_cached, small_cached, limit;
    int64_t in_use, peak, allocations, hits; /* in_use and peak are atomic: threads flush into them without the lock */
    cache *caches;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static FC_TLS cache *cache_tls; /* a pointer: the loader has little room for thread-local blocks of modules opened late */
static cache others; /* between fork's first and last half, under the lock */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

#define ADD(counter, v) fc_atomic_poke(&(counter), (counter) + (v))

/* ---- size classes ---- */

static inline int class_of(int64_t bytes)
{
    if (bytes <= 1024)
        return bytes ? (int)((bytes - 1) / FC_LINE) : 0;
    const int top = 63 - __builtin_clzll((uint64_t)(bytes - 1)); /* 2^top < bytes <= 2^(top+1) */
    const int eighth = (int)(((uint64_t)(bytes - 1) >> (top - 3)) & 7);
    return 16 + (top - 10) * 8 + eighth;
}

static inline int64_t class_bytes(int c)
{
    if (c < 16)
        return (int64_t)(c + 1) * FC_LINE;
    const int top = 10 + (c - 16) / 8;
    return ((int64_t)1 << top) + ((int64_t)((c - 16) % 8 + 1) << (top - 3));
}

/* ---- counting ---- */

static void flush_in_use(cache *mine)
{
    const int64_t now = fc_atomic_count(&shared.in_use, mine->in_use) + mine->in_use;
    fc_atomic_poke(&mine->in_use, 0);
    int64_t peak = fc_atomic_peek(&shared.peak);
    while (now > peak && !__atomic_compare_exchange_n(&shared.peak, &peak, now, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static inline void count_in_use(cache *mine, int64_t bytes)
{
    ADD(mine->in_use, bytes);
    if (mine->in_use > FLUSH || mine->in_use < -FLUSH)
        flush_in_use(mine);
}

/* ---- threads come, go and fork ---- */

static void push(list *l, block *b)
{
    b->next = l->head;
    l->head = b;
    ++l->count;
}

static block *pop(list *l)
{
    block *b = l->head;
    l->head = b->next;
    --l->count;
    return b;
}

/* Moves n blocks of a small class; the caller holds the lock. */
static void move(list *to, list *from, int64_t n)
{
    for (; n > 0; --n)
        push(to, pop(from));
}

static void leave(void *unused)
{
    (void)unused;
    cache *const mine = cache_tls;
    if (mine->arena)
        fc_dealloc(mine->arena, mine->arena_bytes);
    mine->arena = NULL;
    mine->arena_bytes = 0;
    flush_in_use(mine);
    pthread_mutex_lock(&shared.lock);
    for (int c = 0; c < SMALL_CLASSES; ++c)
        move(&shared.lists[c], &mine->lists[c], mine->lists[c].count);
    shared.small_cached += mine->cached;
    shared.allocations += mine->allocations;
    shared.hits += mine->hits;
    mine->cached = mine->allocations = mine->hits = 0;
    *(mine->prev ? &mine->prev->next : &shared.caches) = mine->next;
    if (mine->next)
        mine->next->prev = mine->prev;
    pthread_mutex_unlock(&shared.lock);
    cache_tls = NULL; /* another destructor may still allocate: the thread then joins again, and this runs again */
    free(mine);
}

/* Only the forking thread lives on in the child. The others' lists are lost there; what they counted joins the totals. */
static void before_fork(void)
{
    pthread_mutex_lock(&shared.lock);
    others = (cache){0};
    for (cache *c = shared.caches; c; c = c->next)
        if (c != cache_tls) {
            others.in_use += fc_atomic_peek(&c->in_use);
            others.allocations += fc_atomic_peek(&c->allocations);
            others.hits += fc_atomic_peek(&c->hits);
        }
}

static void after_fork(void) { pthread_mutex_unlock(&shared.lock); }

static void after_fork_child(void)
{
    shared.in_use += others.in_use;
    shared.allocations += others.allocations;
    shared.hits += others.hits;
    shared.caches = cache_tls;
    if (cache_tls)
        cache_tls->next = cache_tls->prev = NULL;
    pthread_mutex_unlock(&shared.lock);
}

static void first_use(void)
{
    pthread_key_create(&key, leave);
    pthread_atfork(before_fork, after_fork, after_fork_child);
    const int64_t ram = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    const int64_t least = (int64_t)256 << 20;
    shared.limit = ram / 8 > least ? ram / 8 : least;
}

/* This thread's cache, made at its first call; NULL where there is no memory. */
static cache *join(void)
{
    cache *const mine = calloc(1, sizeof *mine);
    if (!mine)
        return NULL;
    pthread_once(&once, first_use);
    pthread_mutex_lock(&shared.lock);
    mine->prev = NULL;
    mine->next = shared.caches;
    if (mine->next)
        mine->next->prev = mine;
    shared.caches = mine;
    pthread_mutex_unlock(&shared.lock);
    pthread_setspecific(key, mine); /* any value but NULL: it makes `leave` run */
    return cache_tls = mine;
}

/* ---- pages ---- */

static void *map_pages(int64_t bytes)
{
    const int64_t room = bytes >= 2 * HUGE_PAGE ? bytes + HUGE_PAGE : bytes;
    char *p = mmap(NULL, (size_t)room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (room > bytes) { /* begin on a huge page: one fault instead of 512 */
        const int64_t head = -(int64_t)(uintptr_t)p & (HUGE_PAGE - 1);
        if (head)
            munmap(p, (size_t)head);
        if (HUGE_PAGE - head)
            munmap(p + head + bytes, (size_t)(HUGE_PAGE - head));
        p += head;
        madvise(p, (size_t)bytes, MADV_HUGEPAGE);
    }
    return p;
}

/* Takes a cached large block off its list and off the age list. */
static void unlink_large(block *b)
{
    list *const l = &shared.lists[b->size_class];
    *(b->prev ? &b->prev->next : &l->head) = b->next;
    if (b->next)
        b->next->prev = b->prev;
    *(b->newer ? &b->newer->older : &shared.newest) = b->older;
    *(b->older ? &b->older->newer : &shared.oldest) = b->newer;
    --l->count;
    shared.large_cached -= class_bytes(b->size_class);
}

/* Gives the oldest cached blocks back to the system until at most `keep` bytes remain. The caller holds the lock. */
static void evict(int64_t keep)
{
    while (shared.large_cached > keep) {
        block *const b = shared.oldest;
        const int64_t bytes = class_bytes(b->size_class);
        unlink_large(b);
        munmap(b, (size_t)bytes);
    }
}

void fc_alloc_trim(void)
{
    pthread_mutex_lock(&shared.lock);
    evict(0);
    pthread_mutex_unlock(&shared.lock);
}

static void *large_alloc(cache *mine, int c)
{
    if (c >= CLASSES)
        return NULL;
    pthread_mutex_lock(&shared.lock);
    block *b = shared.lists[c].head;
    if (b)
        unlink_large(b);
    pthread_mutex_unlock(&shared.lock);
    if (b) {
        ADD(mine->hits, 1);
    } else if (!(b = map_pages(class_bytes(c)))) {
        fc_alloc_trim();
        if (!(b = map_pages(class_bytes(c))))
            return NULL;
    }
    ADD(mine->allocations, 1);
    count_in_use(mine, class_bytes(c));
    return b;
}

static void large_dealloc(cache *mine, block *b, int c)
{
    const int64_t bytes = class_bytes(c);
    count_in_use(mine, -bytes);
    if (bytes > shared.limit) {
        munmap(b, (size_t)bytes);
        return;
    }
    pthread_mutex_lock(&shared.lock);
    evict(shared.limit - bytes);
    list *const l = &shared.lists[c];
    *b = (block){.next = l->head, .older = shared.newest, .size_class = c};
    if (l->head)
        l->head->prev = b;
    l->head = b;
    ++l->count;
    *(shared.newest ? &shared.newest->newer : &shared.oldest) = b;
    shared.newest = b;
    shared.large_cached += bytes;
    pthread_mutex_unlock(&shared.lock);
}

/* ---- small blocks ---- */

static int64_t batch(int c)
{
    const int64_t by_bytes = LIST_BYTES / 2 / class_bytes(c);
    return by_bytes < LIST_BLOCKS / 2 ? by_bytes : LIST_BLOCKS / 2;
}

/* Fills an empty list from the shared one, else from the slab. Returns how many came from the shared list, -1 for no memory. */
static int64_t refill(cache *mine, int c)
{
    list *const l = &mine->lists[c];
    const int64_t bytes = class_bytes(c), wanted = batch(c);
    pthread_mutex_lock(&shared.lock);
    list *const depot = &shared.lists[c];
    const int64_t ready = depot->count < wanted ? depot->count : wanted;
    move(l, depot, ready);
    shared.small_cached -= ready * bytes;
    int64_t cut = 0;
    if (!ready) {
        if (shared.slab_left < bytes) { /* the tail that is lost is smaller than one block */
            shared.slab = map_pages(SLAB);
            shared.slab_left = shared.slab ? SLAB : 0;
        }
        for (; cut < wanted && shared.slab_left >= bytes; ++cut) {
            push(l, (block *)(void *)shared.slab);
            shared.slab += bytes;
            shared.slab_left -= bytes;
        }
    }
    pthread_mutex_unlock(&shared.lock);
    ADD(mine->cached, (ready + cut) * bytes);
    return ready + cut ? ready : -1;
}

static void spill(cache *mine, int c)
{
    const int64_t n = batch(c);
    pthread_mutex_lock(&shared.lock);
    move(&shared.lists[c], &mine->lists[c], n);
    shared.small_cached += n * class_bytes(c);
    pthread_mutex_unlock(&shared.lock);
    ADD(mine->cached, -n * class_bytes(c));
}

#ifndef FC_DIRECT         /* 1: malloc and free without lists, and allocations that fail on request (tools/sanitize memory) */
#define FC_DIRECT FC_ASAN /* so that the sanitizer sees every block's end and life */
#endif

static int64_t until_failure; /* atomic; of direct builds: which allocation is to fail, for tests of what happens then */

int64_t fc_alloc_fail_after(int64_t n)
{
    return FC_DIRECT ? __atomic_exchange_n(&until_failure, n, __ATOMIC_RELAXED) : -1;
}

void *fc_alloc(int64_t bytes)
{
    cache *const mine = cache_tls ? cache_tls : join();
    if (!mine || bytes < 0 || bytes > (int64_t)1 << LARGE_MAX_BITS)
        return NULL;
    if (FC_DIRECT) {
        void *p = NULL;
        if (fc_atomic_peek(&until_failure) > 0 && fc_atomic_count(&until_failure, -1) == 1)
            return NULL;
        if (posix_memalign(&p, FC_LINE, bytes ? (size_t)bytes : 1))
            return NULL;
        ADD(mine->allocations, 1);
        count_in_use(mine, bytes);
        return p;
    }
    const int c = class_of(bytes);
    if (bytes > SMALL_MAX)
        return large_alloc(mine, c);
    list *const l = &mine->lists[c];
    int64_t hit = 1;
    if (!l->head && (hit = refill(mine, c)) < 0)
        return NULL;
    const int64_t size = class_bytes(c);
    ADD(mine->hits, hit != 0);
    ADD(mine->allocations, 1);
    ADD(mine->cached, -size);
    count_in_use(mine, size);
    return pop(l);
}

void fc_dealloc(void *p, int64_t bytes)
{
    cache *const mine = cache_tls ? cache_tls : join();
    if (!p || !mine)
        return; /* without memory for the list the block is lost, not the program */
    if (FC_DIRECT) {
        free(p);
        count_in_use(mine, -bytes);
        return;
    }
    const int c = class_of(bytes);
    if (bytes > SMALL_MAX) {
        large_dealloc(mine, p, c);
        return;
    }
    list *const l = &mine->lists[c];
    const int64_t size = class_bytes(c);
    push(l, p);
    ADD(mine->cached, size);
    count_in_use(mine, -size);
    if (l->count > LIST_BLOCKS || l->count * size > LIST_BYTES)
        spill(mine, c);
}

void *fc_arena(size_t bytes)
{
    cache *const mine = cache_tls ? cache_tls : join();
    if (!mine || bytes > (size_t)1 << LARGE_MAX_BITS)
        return NULL;
    if (!mine->arena || mine->arena_bytes < (int64_t)bytes) {
        fc_dealloc(mine->arena, mine->arena_bytes);
        const int64_t room = class_bytes(class_of((int64_t)bytes));
        mine->arena = fc_alloc(room);
        mine->arena_bytes = mine->arena ? room : 0;
    }
    if (mine->arena) {
        FC_OPEN(mine->arena, bytes);
        FC_CLOSE((char *)mine->arena + bytes, (size_t)mine->arena_bytes - bytes);
    }
    return mine->arena;
}

int64_t fc_alloc_stat(int which)
{
    pthread_mutex_lock(&shared.lock);
    int64_t in_use = fc_atomic_peek(&shared.in_use), cached = shared.large_cached + shared.small_cached;
    int64_t allocations = shared.allocations, hits = shared.hits;
    for (cache *c = shared.caches; c; c = c->next) {
        in_use += fc_atomic_peek(&c->in_use);
        cached += fc_atomic_peek(&c->cached);
        allocations += fc_atomic_peek(&c->allocations);
        hits += fc_atomic_peek(&c->hits);
    }
    const int64_t peak = fc_atomic_peek(&shared.peak);
    pthread_mutex_unlock(&shared.lock);
    const int64_t stats[] = {in_use, peak > in_use ? peak : in_use, cached, allocations, hits};
    return which >= 0 && which <= FC_STAT_HITS ? stats[which] : -1;
}

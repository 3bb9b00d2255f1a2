/* The table of interned shapes: open addressing, entries never move or go, so look-ups take no lock. */
#include <pthread.h>
#include <string.h>

#include "facula.h"
#include "alloc.h"
#include "shape.h"

enum { FC_SHAPES = 1 << 18, FC_SLOTS = 1 << 19 };

typedef struct { int ndim; int64_t dim[]; } fc_shape_entry;

static fc_shape_entry *fc_entries[FC_SHAPES]; /* by id; untouched pages of these tables cost nothing */
static int32_t fc_slots[FC_SLOTS];            /* id + 1, 0 = free */
static int fc_shape_count;
static pthread_mutex_t fc_shape_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fc_shape_once = PTHREAD_ONCE_INIT;

static void fc_shape_before_fork(void) { pthread_mutex_lock(&fc_shape_lock); }
static void fc_shape_after_fork(void) { pthread_mutex_unlock(&fc_shape_lock); }

static void fc_shape_first_use(void)
{
    fc_dealloc(fc_alloc(0), 0); /* the allocator registers first, so at a fork its lock, wanted under this one, is taken after this one */
    pthread_atfork(fc_shape_before_fork, fc_shape_after_fork, fc_shape_after_fork);
}

static uint64_t fc_hash(int ndim, const int64_t *shape)
{
    uint64_t h = (uint64_t)ndim + 1;
    for (int d = 0; d < ndim; ++d) {
        h = (h ^ (uint64_t)shape[d]) * 0x9E3779B97F4A7C15u;
        h ^= h >> 29;
    }
    return h;
}

static int fc_find(uint64_t h, int ndim, const int64_t *shape, uint32_t *slot)
{
    uint32_t k = (uint32_t)(h >> 20) % FC_SLOTS;
    for (;; k = (k + 1) % FC_SLOTS) {
        const int32_t id = __atomic_load_n(&fc_slots[k], __ATOMIC_ACQUIRE);
        if (!id)
            break;
        const fc_shape_entry *e = fc_entries[id - 1];
        int same = e->ndim == ndim;
        for (int d = 0; same && d < ndim; ++d)
            same = e->dim[d] == shape[d];
        if (same)
            return id - 1;
    }
    *slot = k;
    return -1;
}

int fc_shape_intern(int ndim, const int64_t *shape)
{
    const uint64_t h = fc_hash(ndim, shape);
    uint32_t slot = 0;
    int id = fc_find(h, ndim, shape, &slot);
    if (id >= 0)
        return id;
    pthread_once(&fc_shape_once, fc_shape_first_use);
    pthread_mutex_lock(&fc_shape_lock);
    id = fc_find(h, ndim, shape, &slot);
    if (id < 0 && fc_shape_count < FC_SHAPES) {
        const size_t bytes = (size_t)ndim * sizeof(int64_t);
        fc_shape_entry *e = fc_alloc((int64_t)(sizeof *e + bytes));
        if (e) {
            e->ndim = ndim;
            memcpy(e->dim, shape, bytes);
            id = fc_shape_count++;
            fc_entries[id] = e;
            __atomic_store_n(&fc_slots[slot], id + 1, __ATOMIC_RELEASE);
        }
    }
    pthread_mutex_unlock(&fc_shape_lock);
    return id;
}

int fc_shape_ndim(int shape_id) { return fc_entries[shape_id]->ndim; }
int64_t fc_shape_dim(int shape_id, int dim) { return fc_entries[shape_id]->dim[dim]; }

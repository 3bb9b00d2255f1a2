#include "parallel.h"
#include "sort_side.h"

int fc_isa_level(void);

int64_t fc_side_room(const fc_lines *f)
{
    return f->n <= FC_SIDE_LONGEST && f->count > 1 && !f->repeated && fc_isa_level() >= 3 ? f->n * FC_SIDE * 2 : 0;
}

fc_side fc_sort_side(int dtype, const void *x, const int64_t *at, int64_t count, int64_t n, int64_t step, int descending, int64_t *room)
{
    const int size = fc_dt_size[dtype], wide = size == 8;
    const uint64_t top = (uint64_t)1 << 63, flip = (descending ? ~(uint64_t)0 >> (64 - 8 * size) : 0) ^ (wide ? top : 0);
    const int64_t lanes = (count + 7) / 8 * 8;
    int64_t *const word = room, *const place = wide ? room + n * FC_SIDE : NULL;
    uint64_t key[FC_SIDE_LONGEST * FC_SIDE];
    int beside = 1, behind = step == 1;
    for (int64_t l = 1; l < count; ++l) {
        beside &= at[l] == at[0] + l;
        behind &= at[l] == at[0] + l * n;
    }
#define PUT(k, l, key) word[(k) * FC_SIDE + (l)] = (int64_t)(wide ? (key) ^ flip : (((key) ^ flip) << 32 | (uint64_t)(k)) ^ top)
    if (beside)
        for (int64_t k = 0; k < n; ++k) {
            fc_plain_keys(key, dtype, (const char *)x + (at[0] + k * step) * size, count, 1);
            for (int64_t l = 0; l < count; ++l)
                PUT(k, l, key[l]);
        }
    else {
        if (behind)
            fc_plain_keys(key, dtype, (const char *)x + at[0] * size, count * n, 1);
        for (int64_t l = 0; l < count && !behind; ++l)
            fc_plain_keys(key + l * n, dtype, (const char *)x + at[l] * size, n, step);
        for (int64_t k = 0; k < n; ++k)
            for (int64_t l = 0; l < count; ++l)
                PUT(k, l, key[l * n + k]);
    }
#undef PUT
    for (int64_t k = 0; k < n; ++k) {
        for (int64_t l = count; l < lanes; ++l)
            word[k * FC_SIDE + l] = 0;
        for (int64_t l = 0; wide && l < lanes; ++l)
            place[k * FC_SIDE + l] = k;
    }
    (fc_isa_level() >= 4 ? fc_side_network_v4 : fc_isa_level() == 3 ? fc_side_network_v3 : fc_side_network_v2)(word, place, n, lanes);
    return (fc_side){word, wide ? place : word, wide ? 0 : 0xffffffff};
}

/* Results that lie side by side are written row by row. */
#define DELIVER(T)                                                                                             \
    if (f->inner == 1)                                                                                         \
        for (int64_t l = 0; l < count; ++l)                                                                    \
            for (int64_t k = 0; k < m; ++k) {                                                                  \
                const int64_t p = fc_side_at(s, k, l);                                                         \
                ((T *)value)[to[l] + k] = ((const T *)x)[at[l] + p * f->step];                                 \
                index[to[l] + k] = p;                                                                          \
            }                                                                                                  \
    else                                                                                                       \
        for (int64_t k = 0; k < m; ++k)                                                                        \
            for (int64_t l = 0; l < count; ++l) {                                                              \
                const int64_t p = fc_side_at(s, k, l);                                                         \
                ((T *)value)[to[l] + k * f->inner] = ((const T *)x)[at[l] + p * f->step];                      \
                index[to[l] + k * f->inner] = p;                                                               \
            }

/* The first m of each of `count` lines, with their places, to a contiguous result whose line l begins at to[l]. */
static void deliver(fc_side s, const fc_lines *f, int size, char *value, int64_t *index, const int64_t *to, const char *x, const int64_t *at,
                    int64_t count, int64_t m)
{
    switch (size) {
    case 1: DELIVER(uint8_t) break;
    case 2: DELIVER(uint16_t) break;
    case 4: DELIVER(uint32_t) break;
    default: DELIVER(uint64_t)
    }
}
#undef DELIVER

typedef struct { const fc_lines *f; const fc_tensor *x; fc_tensor *value, *index; int64_t m; int descending; } job;

static void some_lines(void *ctx, int64_t begin, int64_t end, void *room)
{
    const job *q = ctx;
    const int dtype = q->x->dtype;
    for (int64_t l = begin, some; l < end; l += some) {
        int64_t at[FC_SIDE], to[FC_SIDE];
        some = end - l < FC_SIDE ? end - l : FC_SIDE;
        fc_lines_from(q->f, l, some, q->m, at, to);
        const fc_side s = fc_sort_side(dtype, q->x->data, at, some, q->f->n, q->f->step, q->descending, room);
        deliver(s, q->f, fc_dt_size[dtype], q->value->data, FC_DATA(int64_t, q->index), to, q->x->data, at, some, q->m);
    }
}

int fc_side_lines(const fc_lines *f, const fc_tensor *x, fc_tensor *value, fc_tensor *index, int64_t m, int descending, int64_t room)
{
    job q = {f, x, value, index, m, descending};
    return fc_parallel_scratch(f->count, FC_SIDE + 8192 / f->n, (size_t)room * sizeof(int64_t), some_lines, &q);
}

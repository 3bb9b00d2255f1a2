/*
 * topk(input, k, dim, largest, sorted) -> (values, indices) of the k largest or smallest of each line, in order.
 * Of equal elements the one with the lower index comes first. A small k is kept in order while the line passes once; of a larger one of many
 * elements, what may be among them is collected, and cut down to the k best where it becomes too much.
 */
#include "../core/copy_nest.h"
#include "../core/levels.h"
#include "select.h"
#include "sort_side.h"

enum { KEPT = 64, RUN = 32, SIDE = 16, /* up to here insertion beats sorting the line */
       FEW_OF = 16 /* one of more than so many: insertion beats a network of short lines */ };

typedef struct { const fc_tensor *x; fc_tensor *value, *index; fc_lines f; int64_t k; int largest; } job;

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

#if FC_ISA_ONCE
/* input; k, dim, largest, sorted */
int fc_infer__topk(fc_call *c)
{
    const fc_tensor *x = c->t[0];
    const int bad = fc_check_sort(x, c->i[1]);
    if (bad)
        return bad;
    const int64_t d = fc_wrap_dim(c->i[1], x->ndim), k = c->i[0], n = x->ndim ? x->shape[d] : 1;
    if (k < 0 || k > n)
        return fc_fail(FC_ARG, 1, k, n, 0);
    int64_t shape[FC_MAX_DIMS];
    for (int j = 0; j < x->ndim; ++j)
        shape[j] = j == d ? k : x->shape[j];
    const int late = fc_declare(c, 0, x->dtype, x->ndim, shape);
    return late ? late : fc_declare(c, 1, FC_I64, x->ndim, shape);
}
#endif

typedef struct { uint64_t key; int64_t at; } kept;
typedef struct { kept best[KEPT]; int64_t count; uint64_t last; } few;

/* Of equal keys the earlier stays in front. `last` is what a key must be below, once k are kept. */
static void keep(few *w, uint64_t key, int64_t at, int64_t k)
{
    int64_t j = w->count < k ? w->count++ : k - 1;
    for (; j > 0 && w->best[j - 1].key > key; --j)
        w->best[j] = w->best[j - 1];
    w->best[j] = (kept){key, at};
    if (w->count == k)
        w->last = w->best[k - 1].key;
}

static void deliver(const job *q, int64_t l, const char *x, const kept *best)
{
    const fc_lines *f = &q->f;
    const int size = fc_dt_size[q->x->dtype];
    const int64_t to = fc_line_to(f, l, q->k);
    for (int64_t k = 0; k < q->k; ++k) {
        fc_move(q->value->data + to * size, k * f->inner, x, best[k].at * f->step, size);
        FC_DATA(int64_t, q->index)[to + k * f->inner] = best[k].at;
    }
}

enum { GLANCE = 8 };

/* Is one of so many perhaps better than `worst`, the last that is kept? NaN is, or is not: keys will tell. Most are not, and need no key. */
static inline int better(const f32 *x, f32 worst, int largest)
{
    int some = 0;
    if (largest)
        _Pragma("GCC unroll 1")
        for (int j = 0; j < GLANCE; ++j)
            some |= !(x[j] <= worst);
    else
        _Pragma("GCC unroll 1")
        for (int j = 0; j < GLANCE; ++j)
            some |= !(x[j] >= worst);
    return some;
}

/* The same of RUN halves, whose keys have sixteen bits: is one below the last that is kept? */
static inline int better_half(const uint16_t *x, uint16_t last, uint16_t flip, uint16_t infinity)
{
    uint16_t some = 0;
    _Pragma("GCC unroll 1")
    for (int j = 0; j < RUN; ++j) {
        const uint16_t key = (uint16_t)fc_key_half(x[j], infinity) ^ flip;
        some |= key < last;
    }
    return some;
}

enum { ONE_BY_ONE, FLOATS, HALVES }; /* how a line is glanced at */

static int glance_of(const job *q)
{
    return q->f.step != 1 ? ONE_BY_ONE : q->x->dtype == FC_F32 ? FLOATS : fc_is_half(q->x->dtype) ? HALVES : ONE_BY_ONE;
}

/* How many elements of x, of which `left` are left, are none of the best: 0 where one may be. worst, last: the element and the key that they would be before. */
static inline int64_t passed_over(const job *q, const char *x, int64_t left, int glance, int64_t worst_from_x, uint64_t last, uint64_t flip)
{
    if (glance == FLOATS && left >= GLANCE)
        return better((const f32 *)x, ((const f32 *)x)[worst_from_x], q->largest) ? 0 : GLANCE;
    if (glance == HALVES && left >= RUN)
        return better_half((const uint16_t *)x, (uint16_t)last, (uint16_t)flip, q->x->dtype == FC_F16 ? 0x7c00 : 0x7f80) ? 0 : RUN;
    return 0;
}

/* The k least of a line pass once through a short list. A run of elements of which none is good enough costs a comparison each. */
static void few_of_line(const job *q, int64_t l, const char *x)
{
    const fc_lines *f = &q->f;
    const int dtype = q->x->dtype, size = fc_dt_size[dtype];
    const uint64_t flip = q->largest ? ~(uint64_t)0 >> (64 - 8 * size) : 0;
    few w = {.count = 0};
    uint64_t key[RUN];
    const int glance = glance_of(q);
    for (int64_t i = 0, m; i < f->n; i += m) {
        if (w.count == q->k && (m = passed_over(q, x + i * f->step * size, f->n - i, glance, w.best[q->k - 1].at - i, w.last, flip)))
            continue;
        m = min64(f->n - i, glance == FLOATS && w.count == q->k ? GLANCE : RUN);
        int good = w.count < q->k;
        fc_plain_keys(key, dtype, x + i * f->step * size, m, f->step);
        for (int64_t j = 0; j < m; ++j) {
            key[j] ^= flip;
            good |= key[j] < w.last;
        }
        for (int64_t j = 0; good && j < m; ++j)
            if (w.count < q->k || key[j] < w.last)
                keep(&w, key[j], i + j, q->k);
    }
    deliver(q, l, x, w.best);
}

/* The same of SIDE lines, each with its own worst. */
static inline int any_better(const f32 *x, const f32 *worst, int largest)
{
    int some = 0;
    if (largest)
        _Pragma("GCC unroll 1")
        for (int c = 0; c < SIDE; ++c)
            some |= !(x[c] <= worst[c]);
    else
        _Pragma("GCC unroll 1")
        for (int c = 0; c < SIDE; ++c)
            some |= !(x[c] >= worst[c]);
    return some;
}

/* Lines of which every one has k: the elements from `from` on. */
static void glance_along(const job *q, few *w, const f32 *x, int64_t from, uint64_t flip)
{
    const int64_t step = q->f.step, k = q->k;
    f32 worst[SIDE];
    for (int c = 0; c < SIDE; ++c)
        worst[c] = x[w[c].best[k - 1].at * step + c];
    for (int64_t i = from; i < q->f.n; ++i) {
        const f32 *row = x + i * step;
        if (!any_better(row, worst, q->largest))
            continue;
        for (int c = 0; c < SIDE; ++c) {
            if (q->largest ? row[c] <= worst[c] : row[c] >= worst[c])
                continue;
            const uint64_t key = fc_key(FC_F32, row, c) ^ flip;
            if (key < w[c].last) {
                keep(&w[c], key, i, k);
                worst[c] = x[w[c].best[k - 1].at * step + c];
            }
        }
    }
}

/* The same for `width` neighbouring lines whose elements lie side by side. */
static void few_of_lines(const job *q, int64_t l, const char *x, int64_t width)
{
    const fc_lines *f = &q->f;
    const int dtype = q->x->dtype, size = fc_dt_size[dtype];
    const uint64_t flip = q->largest ? ~(uint64_t)0 >> (64 - 8 * size) : 0;
    few w[SIDE];
    uint64_t key[SIDE];
    for (int64_t c = 0; c < width; ++c) {
        w[c].count = 0;
        w[c].last = 0;
    }
    const int64_t full = dtype == FC_F32 && width == SIDE ? q->k : f->n; /* after k elements every line has k */
    for (int64_t i = 0; i < full; ++i) {
        fc_plain_keys(key, dtype, x + i * f->step * size, width, 1);
        for (int64_t c = 0; c < width; ++c)
            if (w[c].count < q->k || (key[c] ^ flip) < w[c].last)
                keep(&w[c], key[c] ^ flip, i, q->k);
    }
    if (full < f->n)
        glance_along(q, w, (const f32 *)x, full, flip);
    for (int64_t c = 0; c < width; ++c)
        deliver(q, l + c, x + c * size, w[c].best);
}

/* Elements that may be among the k best, in the order of the line; left: room for as many keys. */
typedef struct { uint64_t *key, *left; int64_t *at, count, worst; } collected; /* worst: place of the k-th in the line */

/* The k best of them: of those that equal the last, the first ones. */
static uint64_t cut_down(collected *c, int64_t k)
{
    const uint64_t last = c->key[fc_place_of(c->key, c->left, c->count, k - 1)];
    int64_t equal = k, kept = 0;
    for (int64_t i = 0; i < c->count; ++i)
        equal -= c->key[i] < last;
    for (int64_t i = 0; i < c->count; ++i) {
        const int same = c->key[i] == last, take = c->key[i] < last || (same && equal > 0);
        equal -= same;
        c->worst = same && take ? c->at[i] : c->worst;
        c->key[kept] = c->key[i];
        c->at[kept] = c->at[i];
        kept += take;
    }
    c->count = kept;
    return last;
}

enum { COLLECTED = 4, /* times k elements, from MANY on */
       MANY = 2048 };

/* room: 3 n words */
static void best_of_many(const job *q, int64_t l, const char *x, uint64_t *room)
{
    const fc_lines *f = &q->f;
    const int dtype = q->x->dtype, size = fc_dt_size[dtype], glance = glance_of(q);
    const uint64_t flip = q->largest ? ~(uint64_t)0 >> (64 - 8 * size) : 0;
    const int64_t most = q->k > MANY / (2 * COLLECTED) ? COLLECTED * q->k : MANY / 2;
    collected c = {.key = room, .left = room + most, .at = (int64_t *)(room + 2 * most), .count = most};
    fc_plain_keys(c.key, dtype, x, most, f->step);
    for (int64_t i = 0; i < most; ++i) {
        c.key[i] ^= flip;
        c.at[i] = i;
    }
    uint64_t last = cut_down(&c, q->k), key[RUN];
    for (int64_t i = most, m; i < f->n; i += m) {
        if ((m = passed_over(q, x + i * f->step * size, f->n - i, glance, c.worst - i, last, flip)))
            continue;
        m = min64(f->n - i, glance == FLOATS ? GLANCE : RUN);
        fc_plain_keys(key, dtype, x + i * f->step * size, m, f->step);
        for (int64_t j = 0; j < m; ++j) {
            c.key[c.count] = key[j] ^ flip;
            c.at[c.count] = i + j;
            c.count += (key[j] ^ flip) < last;
        }
        if (c.count > most - RUN)
            last = cut_down(&c, q->k);
    }
    if (c.count > q->k)
        cut_down(&c, q->k);
    /* sorted as a line of their own */
    char *const line = (char *)(room + 3 * most);
    for (int64_t k = 0; k < q->k; ++k)
        fc_move(line, k, x, c.at[k] * f->step, size);
    const fc_sorted s = fc_sort_line(dtype, line, q->k, 1, q->largest, q->k, room + 3 * most + q->k);
    const int64_t to = fc_line_to(f, l, q->k);
    for (int64_t k = 0; k < q->k; ++k) {
        const int64_t at = fc_sorted_at(s, k);
        fc_move(q->value->data + to * size, k * f->inner, line, at, size);
        FC_DATA(int64_t, q->index)[to + k * f->inner] = c.at[at];
    }
}

#if FC_ISA_NUM >= 3
/* Short lines, eight abreast: an element of each, the best so far in registers, and what is better changes places with them, without a branch. */
enum { ABREAST = 8, SHORT = 1024 /* of longer ones a glance finds little */, PLACES = 5 };
typedef int32_t lanes __attribute__((vector_size(4 * ABREAST)));
typedef f32 float_lanes __attribute__((vector_size(4 * ABREAST)));

/* What is larger is better: the order of floats as that of integers, NaN above all. */
static inline lanes better_first(lanes raw, const int floats, int largest)
{
    lanes key = raw;
    if (floats) {
        const float_lanes x = (float_lanes)raw + 0.0f; /* -0 is 0 */
        const lanes nan = (lanes)(x != x), u = (lanes)x;
        key = ((u ^ ((u >> 31) & INT32_MAX)) & ~nan) | (nan & INT32_MAX);
    }
    return largest ? key : ~key;
}

/* From where it is better on, what was there moves on by one, also past what equals it: `moved`. */
#define CHANGE(j, always) {                                                    \
        moved |= (v > k##j) | (always);                                        \
        const lanes a = (v ^ k##j) & moved, b = (at ^ p##j) & moved;           \
        k##j ^= a, v ^= a, p##j ^= b, at ^= b;                                 \
    }
#define EACH_OF_1(X) X(0)
#define EACH_OF_2(X) EACH_OF_1(X) X(1)
#define EACH_OF_3(X) EACH_OF_2(X) X(2)
#define EACH_OF_4(X) EACH_OF_3(X) X(3)
#define EACH_OF_5(X) EACH_OF_4(X) X(4)
#define BEGIN(j) lanes k##j = {0}, p##j = {0};
#define FILL(j) CHANGE(j, -(int32_t)(j >= i))
#define KEEP(j) CHANGE(j, 0)
#define STORE(j) memcpy(place[j], &p##j, sizeof p##j);
#define PICK(K)                                                                                                    \
    static inline void pick_##K(int32_t (*place)[ABREAST], const char *x, int64_t n, const int floats, int largest) \
    {                                                                                                              \
        EACH_OF_##K(BEGIN)                                                                                         \
        for (int32_t i = 0; i < n; ++i) {                                                                          \
            lanes v, at = (lanes){0} + i, moved = {0};                                                             \
            memcpy(&v, x + i * (int64_t)sizeof v, sizeof v);                                                       \
            v = better_first(v, floats, largest);                                                                  \
            if (i < K) {                                                                                           \
                EACH_OF_##K(FILL)                                                                                  \
                continue;                                                                                          \
            }                                                                                                      \
            EACH_OF_##K(KEEP)                                                                                      \
        }                                                                                                          \
        EACH_OF_##K(STORE)                                                                                         \
    }
PICK(1) PICK(2) PICK(3) PICK(4) PICK(5)

static void pick(int32_t (*place)[ABREAST], const char *x, int64_t n, int64_t k, const int floats, int largest)
{
    switch (k) {
    case 1: pick_1(place, x, n, floats, largest); break;
    case 2: pick_2(place, x, n, floats, largest); break;
    case 3: pick_3(place, x, n, floats, largest); break;
    case 4: pick_4(place, x, n, floats, largest); break;
    default: pick_5(place, x, n, floats, largest);
    }
}
#undef CHANGE
#undef BEGIN
#undef FILL
#undef KEEP
#undef STORE
#undef PICK

/* As many lines from l on, each `apart` elements behind the one before. */
static void few_of_short_lines(const job *q, int64_t l, const char *x, int64_t apart)
{
    const int64_t n = q->f.n;
    _Alignas(32) char turned[SHORT * sizeof(lanes)];
    int32_t place[PLACES][ABREAST];
    fc_turn(turned, sizeof(lanes), x, apart * 4, ABREAST, n, 4);
    if (q->x->dtype == FC_F32)
        pick(place, turned, n, q->k, 1, q->largest);
    else
        pick(place, turned, n, q->k, 0, q->largest);
    for (int64_t c = 0; c < ABREAST; ++c) {
        kept best[PLACES];
        for (int64_t k = 0; k < q->k; ++k)
            best[k].at = place[k][c];
        deliver(q, l + c, x + c * apart * 4, best);
    }
}

static int goes_abreast(const job *q)
{
    const int dtype = q->x->dtype;
    return q->k <= PLACES && q->f.step == 1 && q->f.n <= SHORT && q->f.count >= ABREAST && (dtype == FC_F32 || dtype == FC_I32);
}

/* How far apart the lines from l on are, of which ABREAST follow one another at equal distances; 0 where they do not. */
static int64_t apart_of(const job *q, int64_t l, int64_t end)
{
    const fc_lines *f = &q->f;
    int64_t source, first = fc_line_at(f, l, &source), apart = 0;
    const int few = goes_abreast(q);
    for (int64_t c = 1; few && c < ABREAST; ++c) {
        const int64_t at = l + c < end ? fc_line_at(f, l + c, &source) : first;
        if (l + c >= end || source != l + c || (c > 1 && at - first != c * apart))
            return 0;
        apart = c == 1 ? at - first : apart;
    }
    return few && apart > 0 ? apart : 0;
}
#else
enum { ABREAST = 1 };
static int goes_abreast(const job *q) { return (void)q, 0; }
static int64_t apart_of(const job *q, int64_t l, int64_t end) { return (void)q, (void)l, (void)end, 0; }
static void few_of_short_lines(const job *q, int64_t l, const char *x, int64_t apart) { (void)apart, few_of_line(q, l, x); }
#endif

static void lines(void *ctx, int64_t begin, int64_t end, void *room)
{
    const job *q = ctx;
    const fc_lines *f = &q->f;
    const int dtype = q->x->dtype, size = fc_dt_size[dtype];
    const int few_pay = q->k <= KEPT && q->k < f->n && (f->n <= SIDE || 3 * q->k <= f->n); /* 20 of 40: 14 us, sorted 10 */
    for (int64_t l = begin, width = 1; l < end; l += width) {
        int64_t source;
        const char *x = q->x->data + fc_line_at(f, l, &source) * size;
        width = 1;
        if (source != l)
            continue;
        if (few_pay) {
            width = fc_lines_beside(f, l, end - l < SIDE ? end - l : SIDE);
            const int64_t apart = width == 1 ? apart_of(q, l, end) : 0;
            if (apart) {
                few_of_short_lines(q, l, x, apart);
                width = ABREAST;
            } else if (width == 1)
                few_of_line(q, l, x);
            else
                few_of_lines(q, l, x, width);
            continue;
        }
        if (q->k && f->n >= MANY && 4 * COLLECTED * q->k <= f->n) {
            best_of_many(q, l, x, room);
            continue;
        }
        const fc_sorted s = fc_sort_line(dtype, x, f->n, f->step, q->largest, q->k, room);
        const int64_t to = fc_line_to(f, l, q->k);
        for (int64_t k = 0; k < q->k; ++k) {
            const int64_t at = fc_sorted_at(s, k);
            fc_move(q->value->data + to * size, k * f->inner, x, at * f->step, size);
            FC_DATA(int64_t, q->index)[to + k * f->inner] = at;
        }
    }
}

int FC_ISA_NAME(fc_cpu__topk)(fc_call *c)
{
    const int64_t k = c->t[0]->ndim ? c->i[0] : 1; /* of a number there is the number alone, also where none is asked for */
    job q = {c->t[0], c->out[0], c->out[1], fc_lines_of(c->t[0], c->i[1]), k, (int)c->i[2]};
    if (!q.value->numel)
        return FC_OK;
    const int one_by_one = q.f.n > FEW_OF && (q.k * FEW_OF < q.f.n || (3 * q.k <= q.f.n && goes_abreast(&q)));
    const int64_t room = one_by_one ? 0 : fc_side_room(&q.f);
    if (room)
        return fc_side_lines(&q.f, q.x, q.value, q.index, q.k, q.largest, room);
    const int bad = fc_parallel_scratch(q.f.count, 1 + 2048 / q.f.n, (size_t)q.f.n * 3 * sizeof(uint64_t), lines, &q);
    if (!bad) {
        fc_lines_again(&q.f, q.value, q.k);
        fc_lines_again(&q.f, q.index, q.k);
    }
    return bad;
}

FC_OWN_TWO_LEVELS(_topk)

/*
 * Where a tensor is not zero: nonzero's indices, masked_select's elements. Two passes: count, then write. Eight truth values are looked at
 * as one word, so what is rare costs little; where many are true, all eight elements are written, and those that are not over again.
 */
#include <string.h>

#include "facula.h"
#include "verb.h"

/* Bit 7 of each byte that is not 0. */
static inline uint64_t fc_true_bytes(const uint8_t *p)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7full;
    uint64_t w;
    memcpy(&w, p, sizeof w);
    return (((w & low) + low) | w) & ~low;
}

enum { FC_WORD = 8, FC_MOST_WORDS = 255 }; /* of which a byte of a sum holds the count */

static int64_t fc_count_true(const uint8_t *p, int64_t n)
{
    int64_t count = 0, i = 0;
    while (i + FC_WORD <= n) {
        const int64_t words = (n - i) / FC_WORD < FC_MOST_WORDS ? (n - i) / FC_WORD : FC_MOST_WORDS;
        uint64_t sums = 0;
        for (int64_t k = 0; k < words; ++k)
            sums += fc_true_bytes(p + i + k * FC_WORD) >> 7;
        for (int k = 0; k < FC_WORD; ++k)
            count += (int64_t)(sums >> 8 * k & 0xff);
        i += words * FC_WORD;
    }
    for (; i < n; ++i)
        count += p[i] != 0;
    return count;
}

static inline int fc_are_many(uint64_t w)
{
    const uint64_t most = w & (w - 1);
    return (most & (most - 1)) != 0;
}

/* to[k++] = ITEM(i) for each i in [0, n) of which p is true; none is written at `end`. */
#define FC_TRUE_ITEMS(ITEM)                                                    \
    int64_t i = 0, k = 0;                                                      \
    for (; i + FC_WORD <= n; i += FC_WORD) {                                   \
        uint64_t w = fc_true_bytes(p + i);                                     \
        if (fc_are_many(w) && k + FC_WORD <= end)                              \
            for (int j = 0; j < FC_WORD; ++j) {                                \
                to[k] = ITEM(i + j);                                           \
                k += (int64_t)(w >> (8 * j + 7) & 1);                          \
            }                                                                  \
        else                                                                   \
            for (; w; w &= w - 1)                                              \
                to[k++] = ITEM(i + __builtin_ctzll(w) / 8);                    \
    }                                                                          \
    for (; i < n; ++i)                                                         \
        if (p[i])                                                              \
            to[k++] = ITEM(i)

/* Positions of the true among p[0 .. n), plus `first`, step 1; answers how many. There is room for `end`. */
static int64_t fc_true_places(int64_t *to, int64_t end, const uint8_t *p, int64_t n, int64_t first)
{
#define FC_PLACE(i) first + (i)
    FC_TRUE_ITEMS(FC_PLACE);
#undef FC_PLACE
    return k;
}

#define FC_FROM(i) from[i]
#define FC_CHOOSE(T)                                                                                 \
    static void fc_choose_##T(T *restrict to, int64_t end, const T *restrict from, const uint8_t *restrict p, int64_t n) \
    {                                                                                                \
        FC_TRUE_ITEMS(FC_FROM);                                                                      \
    }
FC_CHOOSE(uint8_t)
FC_CHOOSE(uint16_t)
FC_CHOOSE(uint32_t)
FC_CHOOSE(uint64_t)
FC_CHOOSE(c128)
#undef FC_CHOOSE
#undef FC_FROM
#undef FC_TRUE_ITEMS

/* (count, ndim) indices of the nonzero elements, in logical order; one dim's indices lie together, as PyTorch's do */
fc_tensor *fc_nonzero(fc_tensor *x)
{
    if (x->device == FC_META) {
        fc_fail(FC_DEVICE, FC_META, FC_CPU, 0, 0);
        return NULL;
    }
    fc_tensor *dense = fc_dense(x, FC_BOOL);
    if (!dense)
        return NULL;
    const uint8_t *p = (const uint8_t *)dense->data;
    const int64_t count = fc_count_true(p, dense->numel), shape[2] = { count, x->ndim }, stride[2] = { 1, count };
    fc_tensor *t = fc_new_strided(FC_I64, x->device, 2, shape, stride);
    const int last = x->ndim - 1;
    if (t && x->ndim && count) {
        int64_t at[FC_MAX_DIMS] = { 0 }, *to = (int64_t *)t->data, room = count;
        const int64_t n = x->shape[last];
        for (int64_t i = 0; i < dense->numel; i += n) {
            const int64_t found = fc_true_places(to + last * count, room, p + i, n, 0);
            room -= found;
            for (int d = 0; d < last; ++d)
                for (int64_t k = 0; k < found; ++k)
                    to[d * count + k] = at[d];
            to += found;
            for (int d = last - 1; d >= 0; --d) {
                if (++at[d] < x->shape[d])
                    break;
                at[d] = 0;
            }
        }
    }
    fc_free(dense);
    return t;
}

/* The elements of x where mask, of the same shape. */
fc_tensor *fc_masked_select(fc_tensor *x, fc_tensor *mask)
{
    fc_tensor *both[2] = { x, mask }, *from_t = NULL, *dense = NULL, *out = NULL;
    int device;
    if (fc_check_operands(2, both, &device))
        return NULL;
    if (device == FC_META) {
        fc_fail(FC_DEVICE, FC_META, FC_CPU, 0, 0);
        return NULL;
    }
    from_t = fc_dense(x, x->dtype);
    dense = fc_dense(mask, FC_BOOL);
    if (from_t && dense && from_t->numel == dense->numel) {
        const uint8_t *p = (const uint8_t *)dense->data;
        const int64_t n = dense->numel, count = fc_count_true(p, n);
        out = fc_new(x->dtype, device, 1, &count);
        void *const to = out ? out->data : NULL, *const from = from_t->data;
        switch (out ? fc_dt_size[x->dtype] : 0) {
        case 1: fc_choose_uint8_t(to, count, from, p, n); break;
        case 2: fc_choose_uint16_t(to, count, from, p, n); break;
        case 4: fc_choose_uint32_t(to, count, from, p, n); break;
        case 8: fc_choose_uint64_t(to, count, from, p, n); break;
        case 16: fc_choose_c128(to, count, from, p, n); break;
        default: break;
        }
    } else if (from_t && dense) {
        fc_fail(FC_SHAPE, 0, from_t->numel, dense->numel, 1);
    }
    fc_free(from_t);
    fc_free(dense);
    return out;
}

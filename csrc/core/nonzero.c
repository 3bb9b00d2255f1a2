/*
 * Where a tensor is not zero: nonzero's indices, masked_select's elements. Two passes: count, then write. Eight truth values are looked at
 * as one word, so what is rare costs little.
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

static int64_t fc_count_true(const uint8_t *p, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; ++i)
        count += p[i] != 0;
    return count;
}

/* Positions of the true among p[0 .. n), plus `first`, step 1; answers how many. */
static int64_t fc_true_places(int64_t *to, const uint8_t *p, int64_t n, int64_t first)
{
    int64_t *at = to, i = 0;
    for (; i + 8 <= n; i += 8)
        for (uint64_t w = fc_true_bytes(p + i); w; w &= w - 1)
            *at++ = first + i + __builtin_ctzll(w) / 8;
    for (; i < n; ++i)
        if (p[i])
            *at++ = first + i;
    return at - to;
}

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
        int64_t at[FC_MAX_DIMS] = { 0 }, *to = (int64_t *)t->data;
        const int64_t n = x->shape[last];
        for (int64_t i = 0; i < dense->numel; i += n) {
            const int64_t found = fc_true_places(to + last * count, p + i, n, 0);
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

#define FC_CHOOSE(T)                                                           \
    for (; i + 8 <= n; i += 8)                                                 \
        for (uint64_t w = fc_true_bytes(p + i); w; w &= w - 1)                 \
            ((T *)to)[k++] = ((const T *)from)[i + __builtin_ctzll(w) / 8];    \
    for (; i < n; ++i)                                                         \
        if (p[i])                                                              \
            ((T *)to)[k++] = ((const T *)from)[i];                             \
    break

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
        const char *from = from_t->data;
        char *to = out ? out->data : NULL;
        int64_t i = 0, k = 0;
        switch (out ? fc_dt_size[x->dtype] : 0) {
        case 1: FC_CHOOSE(uint8_t);
        case 2: FC_CHOOSE(uint16_t);
        case 4: FC_CHOOSE(uint32_t);
        case 8: FC_CHOOSE(uint64_t);
        case 16: FC_CHOOSE(c128);
        default: break;
        }
    } else if (from_t && dense) {
        fc_fail(FC_SHAPE, 0, from_t->numel, dense->numel, 1);
    }
    fc_free(from_t);
    fc_free(dense);
    return out;
}

#undef FC_CHOOSE

/*
 * Sorting by keys: every real dtype is mapped to unsigned integers that compare as its values do, so there is one sort.
 *
 * NaN is greater than every number (all NaNs are equal), -0 equals 0; descending turns every key over, so NaN comes first then.
 * Sorts are stable: equal keys keep their order, ascending or descending. Lines and their sort: sort_line.h.
 */
#ifndef FC_SORT_KEYS_H
#define FC_SORT_KEYS_H

#include <string.h>

#include "../core/call.h"
#include "../core/half.h"
#include "parallel.h"

static inline uint64_t fc_key_f32(f32 x)
{
    const uint32_t u = fc_bits_f32(x + 0.0f); /* -0 + 0 is 0 */
    return x != x ? 0xffffffffu : u & 0x80000000u ? ~u : u | 0x80000000u;
}

static inline uint64_t fc_key_f64(f64 x)
{
    const uint64_t u = fc_bits_f64(x + 0.0), top = (uint64_t)1 << 63;
    return x != x ? ~(uint64_t)0 : u & top ? ~u : u | top;
}

/* A half whose magnitude is above `infinity` is NaN. */
static inline uint64_t fc_key_half(uint16_t u, uint16_t infinity)
{
    const uint16_t plain = u == 0x8000 ? 0 : u;
    return (u & 0x7fff) > infinity ? 0xffff : (uint16_t)(plain & 0x8000 ? ~plain : plain | 0x8000);
}

/* The key of element i of x: a number of as many bits. */
static inline uint64_t fc_key(int dtype, const void *x, int64_t i)
{
    switch (dtype) {
    case FC_BOOL: return ((const uint8_t *)x)[i] != 0;
    case FC_U8: return ((const uint8_t *)x)[i];
    case FC_I8: return (uint8_t)(((const int8_t *)x)[i] + 0x80);
    case FC_I16: return (uint16_t)(((const int16_t *)x)[i] + 0x8000);
    case FC_I32: return (uint32_t)((const int32_t *)x)[i] ^ 0x80000000u;
    case FC_I64: return (uint64_t)((const int64_t *)x)[i] ^ (uint64_t)1 << 63;
    case FC_U16: return ((const uint16_t *)x)[i];
    case FC_U32: return ((const uint32_t *)x)[i];
    case FC_U64: return ((const uint64_t *)x)[i];
    case FC_F16: return fc_key_half(((const uint16_t *)x)[i], 0x7c00);
    case FC_BF16: return fc_key_half(((const uint16_t *)x)[i], 0x7f80);
    case FC_F32: return fc_key_f32(((const f32 *)x)[i]);
    default: return fc_key_f64(((const f64 *)x)[i]);
    }
}

static inline int fc_sortable(int dtype) { return !fc_is_complex(dtype); }

/* key[k] of n elements `step` apart, ascending */
static inline void fc_plain_keys(uint64_t *key, int dtype, const void *x, int64_t n, int64_t step)
{
#define FC_EACH(case_dtype)                                \
    if (dtype == (case_dtype)) {                           \
        for (int64_t k = 0; k < n; ++k)                    \
            key[k] = fc_key((case_dtype), x, k * step);    \
        return;                                            \
    }
    FC_EACH(FC_F32) /* a loop of their own for the usual ones, without the switch in it */
    FC_EACH(FC_F64)
    FC_EACH(FC_I64)
    FC_EACH(FC_I32)
    FC_EACH(FC_U8)
    FC_EACH(FC_F16)
    FC_EACH(FC_BF16)
    for (int64_t k = 0; k < n; ++k)
        key[k] = fc_key(dtype, x, k * step);
#undef FC_EACH
}

/* FC_DTYPE for complex, FC_DIM for a dim that x does not have. */
static inline int fc_check_sort(const fc_tensor *x, int64_t dim)
{
    if (!fc_sortable(x->dtype))
        return fc_fail(FC_DTYPE, x->dtype, 0, 0, 0);
    const int64_t d = fc_wrap_dim(dim, x->ndim);
    return d < 0 || d >= (x->ndim ? x->ndim : 1) ? fc_fail(FC_DIM, dim, x->ndim, 0, 0) : FC_OK;
}

/* x[to] = y[from], elements of `size` bytes */
static inline void fc_move(void *x, int64_t to, const void *y, int64_t from, int size)
{
    switch (size) {
    case 1: ((uint8_t *)x)[to] = ((const uint8_t *)y)[from]; break;
    case 2: ((uint16_t *)x)[to] = ((const uint16_t *)y)[from]; break;
    case 4: ((uint32_t *)x)[to] = ((const uint32_t *)y)[from]; break;
    default: ((uint64_t *)x)[to] = ((const uint64_t *)y)[from];
    }
}

#endif

/*
 * Sorting by keys: every real dtype is mapped to unsigned integers that compare as its values do, so there is one sort.
 *
 * NaN is greater than every number (all NaNs are equal), -0 equals 0; descending turns every key over, so NaN comes first then.
 * Sorts are stable: equal keys keep their order, ascending or descending. Lines are the middle of (outer, n, inner).
 */
#ifndef FC_SORT_KEYS_H
#define FC_SORT_KEYS_H

#include <string.h>

#include "../core/call.h"
#include "../core/half.h"
#include "parallel.h"

typedef struct { uint64_t key; int64_t at; } fc_keyed;

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

/* The key of element i of x, and for each dtype how many of its low bytes differ between keys. */
static inline uint64_t fc_key(int dtype, const void *x, int64_t i)
{
    switch (dtype) {
    case FC_BOOL: case FC_U8: return ((const uint8_t *)x)[i];
    case FC_I8: return (uint8_t)(((const int8_t *)x)[i] + 0x80);
    case FC_I16: return (uint16_t)(((const int16_t *)x)[i] + 0x8000);
    case FC_I32: return (uint32_t)((const int32_t *)x)[i] ^ 0x80000000u;
    case FC_I64: return (uint64_t)((const int64_t *)x)[i] ^ (uint64_t)1 << 63;
    case FC_U16: return ((const uint16_t *)x)[i];
    case FC_U32: return ((const uint32_t *)x)[i];
    case FC_U64: return ((const uint64_t *)x)[i];
    case FC_F32: return fc_key_f32(((const f32 *)x)[i]);
    default: return fc_key_f64(((const f64 *)x)[i]);
    }
}

static inline int fc_sortable(int dtype) { return !fc_is_complex(dtype); }

static inline int fc_key_is_nan(int dtype, uint64_t key)
{
    return (dtype == FC_F32 && key == 0xffffffffu) || (dtype == FC_F64 && key == ~(uint64_t)0);
}

/* line[k] = (key, k) of n elements `step` apart */
static inline void fc_keys(fc_keyed *line, int dtype, const void *x, int64_t n, int64_t step, int descending)
{
    const int bits = 8 * fc_dt_size[dtype];
    const uint64_t flip = descending ? bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1 : 0;
#define FC_EACH(case_dtype)                                                    \
    if (dtype == (case_dtype)) {                                               \
        for (int64_t k = 0; k < n; ++k)                                        \
            line[k] = (fc_keyed){fc_key((case_dtype), x, k * step) ^ flip, k}; \
        return;                                                                \
    }
    FC_EACH(FC_F32) /* a loop of their own for the usual ones, without the switch in it */
    FC_EACH(FC_F64)
    FC_EACH(FC_I64)
    for (int64_t k = 0; k < n; ++k)
        line[k] = (fc_keyed){fc_key(dtype, x, k * step) ^ flip, k};
#undef FC_EACH
}

/* key[k] of n elements `step` apart, ascending */
static inline void fc_plain_keys(uint64_t *key, int dtype, const void *x, int64_t n, int64_t step)
{
#define FC_EACH(case_dtype)                                \
    if (dtype == (case_dtype)) {                           \
        for (int64_t k = 0; k < n; ++k)                    \
            key[k] = fc_key((case_dtype), x, k * step);    \
        return;                                            \
    }
    FC_EACH(FC_F32)
    FC_EACH(FC_F64)
    FC_EACH(FC_I64)
    for (int64_t k = 0; k < n; ++k)
        key[k] = fc_key(dtype, x, k * step);
#undef FC_EACH
}

enum { FC_INSERTION = 24, FC_RADIX_FROM = 512 };

static inline void fc_sort_insertion(fc_keyed *a, int64_t n)
{
    for (int64_t i = 1; i < n; ++i) {
        const fc_keyed v = a[i];
        int64_t j = i;
        for (; j > 0 && a[j - 1].key > v.key; --j)
            a[j] = a[j - 1];
        a[j] = v;
    }
}

static inline void fc_sort_merge(fc_keyed *a, fc_keyed *room, int64_t n)
{
    for (int64_t k = 0; k < n; k += FC_INSERTION)
        fc_sort_insertion(a + k, n - k < FC_INSERTION ? n - k : FC_INSERTION);
    fc_keyed *from = a, *to = room;
    for (int64_t width = FC_INSERTION; width < n; width *= 2) {
        for (int64_t lo = 0; lo < n; lo += 2 * width) {
            const int64_t mid = lo + width < n ? lo + width : n, hi = lo + 2 * width < n ? lo + 2 * width : n;
            for (int64_t i = lo, j = mid, k = lo; k < hi; ++k)
                to[k] = i < mid && (j >= hi || from[i].key <= from[j].key) ? from[i++] : from[j++];
        }
        fc_keyed *const other = from;
        from = to;
        to = other;
    }
    if (from != a)
        memcpy(a, from, (size_t)n * sizeof *a);
}

/* Least significant byte first; a byte that is the same in every key costs only its count. */
static inline void fc_sort_radix(fc_keyed *a, fc_keyed *room, int64_t n, int bytes)
{
    fc_keyed *from = a, *to = room;
    for (int b = 0; b < bytes; ++b) {
        int64_t at[256] = {0};
        for (int64_t k = 0; k < n; ++k)
            ++at[from[k].key >> 8 * b & 255];
        if (at[from[0].key >> 8 * b & 255] == n)
            continue;
        for (int64_t sum = 0, d = 0; d < 256; ++d) {
            const int64_t count = at[d];
            at[d] = sum;
            sum += count;
        }
        for (int64_t k = 0; k < n; ++k)
            to[at[from[k].key >> 8 * b & 255]++] = from[k];
        fc_keyed *const other = from;
        from = to;
        to = other;
    }
    if (from != a)
        memcpy(a, from, (size_t)n * sizeof *a);
}

/* room: n more. What is in order already costs one look. */
static inline void fc_sort_line(fc_keyed *a, fc_keyed *room, int64_t n, int dtype)
{
    int64_t k = 1;
    while (k < n && a[k - 1].key <= a[k].key)
        ++k;
    if (k >= n)
        return;
    if (n < FC_RADIX_FROM)
        fc_sort_merge(a, room, n);
    else
        fc_sort_radix(a, room, n, fc_dt_size[dtype]);
}

/* The (outer, n, inner) form of x along dim. */
typedef struct { int64_t outer, n, inner; } fc_line_form;

static inline fc_line_form fc_form(const fc_tensor *x, int64_t dim)
{
    const int64_t d = fc_wrap_dim(dim, x->ndim);
    fc_line_form f = {1, 1, 1};
    for (int k = 0; k < x->ndim; ++k)
        *(k < d ? &f.outer : k == d ? &f.n : &f.inner) *= x->shape[k];
    return f;
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

/*
 * Sorting a line: least significant byte first, which is stable, over the bytes that are not the same in every key.
 * Keys of up to 32 bits, or of a range below 2**32, share a word with their place; others are pairs of words.
 */
#include "sort_line.h"

enum { MERGED = 128, INSERTED = 16 }; /* below MERGED elements, runs of INSERTED are merged: counting 256 digits costs more */

fc_lines fc_lines_of(const fc_tensor *x, int64_t dim)
{
    const int64_t d = fc_wrap_dim(dim, x->ndim);
    fc_lines f = {.n = x->ndim ? x->shape[d] : 1, .step = x->ndim ? x->stride[d] : 1, .count = 1, .inner = 1};
    for (int k = x->ndim - 1; k >= 0; --k) {
        if (k == d)
            continue;
        f.count *= x->shape[k];
        f.inner *= k > d ? x->shape[k] : 1;
        if (x->shape[k] == 1)
            continue;
        f.repeated |= x->stride[k] == 0;
        if (f.ndim && f.stride[f.ndim - 1] * f.size[f.ndim - 1] == x->stride[k]) {
            f.size[f.ndim - 1] *= x->shape[k];
            continue;
        }
        f.size[f.ndim] = x->shape[k];
        f.stride[f.ndim++] = x->stride[k];
    }
    return f;
}

int64_t fc_line_at(const fc_lines *f, int64_t l, int64_t *source)
{
    int64_t at = 0, run = 1;
    *source = 0;
    for (int k = 0; k < f->ndim; ++k) {
        const int64_t i = l % f->size[k];
        l /= f->size[k];
        at += i * f->stride[k];
        *source += f->stride[k] ? i * run : 0;
        run *= f->size[k];
    }
    return at;
}

int64_t fc_lines_beside(const fc_lines *f, int64_t l, int64_t most)
{
    if (!f->ndim || f->stride[0] != 1)
        return 1;
    const int64_t left = f->size[0] - l % f->size[0];
    return left < most ? left : most;
}

void fc_lines_again(const fc_lines *f, fc_tensor *t, int64_t m)
{
    const int size = fc_dt_size[t->dtype];
    for (int64_t l = 0; f->repeated && l < f->count; ++l) {
        int64_t source;
        fc_line_at(f, l, &source);
        if (source == l)
            continue;
        char *to = t->data + fc_line_to(f, l, m) * size;
        const char *from = t->data + fc_line_to(f, source, m) * size;
        if (f->inner == 1)
            memcpy(to, from, (size_t)(m * size));
        else
            for (int64_t k = 0; k < m; ++k)
                fc_move(to, k * f->inner, from, k * f->inner, size);
    }
}

/* --- small lines ----------------------------------------------------------------------------------------------------- */

#define M_NAME words
#define M_T uint64_t
#define M_KEY(v) (v)
#include "sort_merge.h"

/* Pairs begin in the order of their places. */
typedef struct { uint64_t key, place; } pair;

#define M_NAME pairs
#define M_T pair
#define M_KEY(v) (v).key
#include "sort_merge.h"

/* --- long ones ------------------------------------------------------------------------------------------------------- */

/* Keys are word[k * wide] >> shift; `varies` has the bits in which they differ. */
static inline uint64_t *radix(uint64_t *a, uint64_t *room, int64_t n, const int wide, int shift, uint64_t varies)
{
    for (int b = shift; b < 64; b += 8) {
        if (!(varies >> b & 255))
            continue;
        int64_t at[256] = {0}, other[256] = {0}; /* two, because neighbours that count in one place wait for each other */
        for (int64_t k = 0; k + 1 < n; k += 2) {
            ++at[a[k * wide] >> b & 255];
            ++other[a[(k + 1) * wide] >> b & 255];
        }
        if (n % 2)
            ++at[a[(n - 1) * wide] >> b & 255];
        for (int64_t sum = 0, d = 0; d < 256; ++d) {
            const int64_t count = at[d] + other[d];
            at[d] = sum;
            sum += count;
        }
        for (int64_t k = 0; k < n; ++k) {
            const int64_t to = at[a[k * wide] >> b & 255]++ * wide;
            room[to] = a[k * wide];
            if (wide == 2)
                room[to + 1] = a[2 * k + 1];
        }
        uint64_t *const swap = a;
        a = room;
        room = swap;
    }
    return a;
}

fc_sorted fc_sort_line(int dtype, const void *x, int64_t n, int64_t step, int descending, uint64_t *room)
{
    const int bits = 8 * fc_dt_size[dtype];
    const uint64_t flip = descending ? ~(uint64_t)0 >> (64 - bits) : 0;
    uint64_t *a = room, *b = room + n, low = ~(uint64_t)0, high = 0, varies = 0;
    fc_plain_keys(a, dtype, x, n, step);
    int sorted = 1;
    a[0] ^= flip;
    for (int64_t k = 1; k < n; ++k) {
        a[k] ^= flip;
        sorted &= a[k - 1] <= a[k];
    }
    for (int64_t k = 0; k < n; ++k) {
        low = a[k] < low ? a[k] : low;
        high = a[k] > high ? a[k] : high;
        varies |= a[k] ^ a[0];
    }
    if ((high - low) >> 32 || n >> 32) {
        for (int64_t k = n - 1; k >= 0; --k) {
            a[2 * k] = a[k];
            a[2 * k + 1] = (uint64_t)k;
        }
        if (!sorted)
            a = n < MERGED ? (uint64_t *)merge_pairs((pair *)a, (pair *)(a + 2 * n), n) : radix(a, a + 2 * n, n, 2, 0, varies);
        return (fc_sorted){a, 2};
    }
    if (bits == 64)
        varies = ~(uint64_t)0 >> __builtin_clzll((high - low) | 1);
    for (int64_t k = 0; k < n; ++k)
        a[k] = (bits == 64 ? a[k] - low : a[k]) << 32 | (uint64_t)k;
    return (fc_sorted){sorted ? a : n < MERGED ? merge_words(a, b, n) : radix(a, b, n, 1, 32, varies << 32), 0};
}

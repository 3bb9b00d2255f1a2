/*
 * Sorting a line. A word holds the 32 highest bits that tell the line's keys apart, and below them the key's place, so that no two words are
 * equal and every way to sort them is stable: least significant byte first, over the bytes that are not the same in every word, or, where
 * they are few, by merging. Runs whose keys the word does not tell apart, which only 64 bits have, are sorted by the bits that follow.
 */
#include "sort_line.h"

enum {
    MERGED = 128, EXCHANGED = 8,  /* below MERGED elements, runs of EXCHANGED are merged: counting 256 digits costs more */
    DIGIT = 10, DIGITS = 1 << DIGIT
};

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

void fc_lines_from(const fc_lines *f, int64_t l, int64_t count, int64_t m, int64_t *at, int64_t *to)
{
    int64_t index[FC_MAX_DIMS], left = l, x_at = 0, out_at = fc_line_to(f, l, m), column = l % f->inner;
    for (int d = 0; d < f->ndim; ++d) {
        index[d] = left % f->size[d];
        left /= f->size[d];
        x_at += index[d] * f->stride[d];
    }
    for (int64_t k = 0; k < count; ++k) {
        at[k] = x_at;
        to[k] = out_at++;
        for (int d = 0; d < f->ndim; ++d) {
            x_at += f->stride[d];
            if (++index[d] < f->size[d])
                break;
            x_at -= index[d] * f->stride[d];
            index[d] = 0;
        }
        if (++column == f->inner) {
            column = 0;
            out_at += (m - 1) * f->inner;
        }
    }
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

static void insert(uint64_t *a, int64_t n)
{
    for (int64_t i = 1; i < n; ++i) {
        const uint64_t v = a[i];
        int64_t j = i;
        for (; j > 0 && a[j - 1] > v; --j)
            a[j] = a[j - 1];
        a[j] = v;
    }
}

/* Eight words by a network of 19 exchanges: no branch to guess. */
static void exchange(uint64_t *a)
{
    uint64_t v0 = a[0], v1 = a[1], v2 = a[2], v3 = a[3], v4 = a[4], v5 = a[5], v6 = a[6], v7 = a[7];
#define LESS(x, y) do { const uint64_t low = x < y ? x : y; y = x < y ? y : x; x = low; } while (0)
    LESS(v0, v2); LESS(v1, v3); LESS(v4, v6); LESS(v5, v7);
    LESS(v0, v4); LESS(v1, v5); LESS(v2, v6); LESS(v3, v7);
    LESS(v0, v1); LESS(v2, v3); LESS(v4, v5); LESS(v6, v7);
    LESS(v2, v4); LESS(v3, v5);
    LESS(v1, v4); LESS(v3, v6);
    LESS(v1, v2); LESS(v3, v4); LESS(v5, v6);
#undef LESS
    a[0] = v0, a[1] = v1, a[2] = v2, a[3] = v3, a[4] = v4, a[5] = v5, a[6] = v6, a[7] = v7;
}

/* Two runs to one, from both ends: as many steps as the shorter run has words leave neither, so that none asks whether one is over. */
static void join(uint64_t *restrict to, const uint64_t *x, int64_t n, const uint64_t *y, int64_t m)
{
    while (n && m) {
        const int64_t steps = n < m ? n : m;
        const uint64_t *x_last = x + n - 1, *y_last = y + m - 1;
        uint64_t *end = to + n + m - 1;
        for (int64_t k = 0; k < steps; ++k) {
            const uint64_t u = *x, v = *y, u_last = *x_last, v_last = *y_last;
            const int64_t first = u < v, last = u_last > v_last;
            *to++ = first ? u : v;
            x += first;
            y += 1 - first;
            *end-- = last ? u_last : v_last;
            x_last -= last;
            y_last -= 1 - last;
        }
        n = x_last + 1 - x;
        m = y_last + 1 - y;
    }
    memcpy(to, n ? x : y, (size_t)(n + m) * sizeof *to);
}

/* In a or in room, whichever is the answer. */
static uint64_t *merge(uint64_t *a, uint64_t *room, int64_t n)
{
    int64_t k = 0;
    for (; k + EXCHANGED <= n; k += EXCHANGED)
        exchange(a + k);
    insert(a + k, n - k);
    for (int64_t width = EXCHANGED; width < n; width *= 2) {
        for (int64_t lo = 0; lo < n; lo += 2 * width) {
            const int64_t mid = lo + width < n ? lo + width : n, hi = lo + 2 * width < n ? lo + 2 * width : n;
            join(room + lo, a + lo, mid - lo, a + mid, hi - mid);
        }
        uint64_t *const other = a;
        a = room;
        room = other;
    }
    return a;
}

/* Bytes from bit `low` on in which words differ, as `varies` says. */
static uint64_t *radix(uint64_t *a, uint64_t *room, int64_t n, int low, uint64_t varies)
{
    for (int b = low; b < 64; b += 8) {
        if (!(varies >> b & 255))
            continue;
        int64_t at[256] = {0}, other[256] = {0}; /* two, because neighbours that count in one place wait for each other */
        for (int64_t k = 0; k + 1 < n; k += 2) {
            ++at[a[k] >> b & 255];
            ++other[a[k + 1] >> b & 255];
        }
        if (n % 2)
            ++at[a[n - 1] >> b & 255];
        for (int64_t sum = 0, d = 0; d < 256; ++d) {
            const int64_t count = at[d] + other[d];
            at[d] = sum;
            sum += count;
        }
        for (int64_t k = 0; k < n; ++k)
            room[at[a[k] >> b & 255]++] = a[k];
        uint64_t *const swap = a;
        a = room;
        room = swap;
    }
    return a;
}

/* Leaves out, of n words, most that are not among the first `most`: those whose leading digit is above that of the last that is.
 * top: the highest bit in which words differ. Answers how many stay, in the order they were in. */
static int64_t leading(uint64_t *a, int64_t n, int top, int64_t most)
{
    const int shift = top + 1 - DIGIT;
    int64_t count[DIGITS] = {0}, kept = 0;
    uint64_t last = 0;
    for (int64_t k = 0; k < n; ++k)
        ++count[a[k] >> shift & (DIGITS - 1)];
    for (int64_t sum = count[0]; sum < most; sum += count[last])
        ++last;
    for (int64_t k = 0; k < n; ++k) {
        a[kept] = a[k];
        kept += (a[k] >> shift & (DIGITS - 1)) <= last;
    }
    return kept;
}

/* At least the first `most` of n words whose places are in order now: in a or in room; *n says how many there are. */
static uint64_t *in_order(uint64_t *a, uint64_t *room, int64_t *n, int place_bits, int64_t most)
{
    int sorted = 1;
    for (int64_t k = 1; k < *n; ++k)
        sorted &= a[k - 1] < a[k];
    if (sorted)
        return a;
    if (*n < MERGED)
        return merge(a, room, *n);
    uint64_t varies = 0;
    for (int64_t k = 1; k < *n; ++k)
        varies |= a[k] ^ a[0];
    if (most < *n / 4 * 3)
        *n = leading(a, *n, 63 - __builtin_clzll(varies), most);
    return *n < MERGED ? merge(a, room, *n) : radix(a, room, *n, place_bits, varies);
}

/* Runs of words that are the same above their places, by the `below` bits of their keys that no word had yet. */
static void refine(const uint64_t *key, uint64_t *a, uint64_t *room, int64_t n, int place_bits, int below)
{
    const int next = below > 64 - place_bits ? below - (64 - place_bits) : 0;
    for (int64_t start = 0, end; start < n; start = end) {
        for (end = start + 1; end < n && (a[end] ^ a[start]) >> place_bits == 0; ++end)
            ;
        int64_t run = end - start;
        if (run == 1)
            continue;
        for (int64_t k = start; k < end; ++k) {
            const uint64_t place = a[k] & (((uint64_t)1 << place_bits) - 1);
            a[k] = key[place] >> next << place_bits | place;
        }
        const uint64_t *const from = in_order(a + start, room, &run, place_bits, run);
        if (from != a + start)
            memcpy(a + start, from, (size_t)run * sizeof *a);
        if (next)
            refine(key, a + start, room, run, place_bits, next);
    }
}

fc_sorted fc_sort_line(int dtype, const void *x, int64_t n, int64_t step, int descending, int64_t most, uint64_t *room)
{
    const int bits = 8 * fc_dt_size[dtype], place_bits = n >> 32 ? 40 : 32;
    const uint64_t flip = descending ? ~(uint64_t)0 >> (64 - bits) : 0;
    uint64_t *const key = room, *const word = room + n, *const other = room + 2 * n;
    int below = 0; /* bits of a key that have no room in its word */
    fc_plain_keys(key, dtype, x, n, step);
    if (bits <= 32 && n < MERGED) {
        for (int64_t k = 0; k < n; ++k)
            word[k] = (key[k] ^ flip) << 32 | (uint64_t)k;
    } else {
        uint64_t low = ~(uint64_t)0, high = 0;
        for (int64_t k = 0; k < n; ++k) {
            key[k] ^= flip;
            low = key[k] < low ? key[k] : low;
            high = key[k] > high ? key[k] : high;
        }
        const int used = 64 - __builtin_clzll((high - low) | 1);
        below = used > 64 - place_bits ? used - (64 - place_bits) : 0;
        for (int64_t k = 0; k < n; ++k) {
            key[k] -= low;
            word[k] = key[k] >> below << place_bits | (uint64_t)k;
        }
    }
    uint64_t *const sorted = in_order(word, other, &n, place_bits, most);
    if (below)
        refine(key, sorted, sorted == word ? other : word, n, place_bits, below);
    return (fc_sorted){sorted, below ? key : NULL, ((uint64_t)1 << place_bits) - 1};
}

/*
 * Which of several equal elements an unstable selection names.
 *
 * PyTorch selects with the C++ library and with a loop of its own, so the place that it gives for a value that occurs more than once
 * follows from how those exchange elements. Here the same exchanges are made; only lines with such values come here.
 *
 * fc_tied_select: Hoare's selection with the median of three at the front (Numerical Recipes, section 8.5), as kthvalue's.
 * fc_tied_sorted: the partitions of introsort that a rank lies in, down to 16 elements, which are sorted stably; as std::sort (libstdc++).
 */
#ifndef FC_TIED_H
#define FC_TIED_H

#include <stdint.h>

typedef struct { uint64_t *key; int64_t *place; } fc_tied;

static inline void fc_tied_swap(fc_tied a, int64_t i, int64_t j)
{
    const uint64_t key = a.key[i];
    const int64_t place = a.place[i];
    a.key[i] = a.key[j], a.place[i] = a.place[j];
    a.key[j] = key, a.place[j] = place;
}

static inline void fc_tied_order(fc_tied a, int64_t i, int64_t j)
{
    if (a.key[i] > a.key[j])
        fc_tied_swap(a, i, j);
}

/* The place of rank k after the selection. */
static int64_t fc_tied_select(fc_tied a, int64_t n, int64_t k)
{
    int64_t low = 0, high = n - 1;
    while (high > low + 1) {
        fc_tied_swap(a, low + (high - low) / 2, low + 1);
        fc_tied_order(a, low + 1, high);
        fc_tied_order(a, low, high);
        fc_tied_order(a, low + 1, low);
        const uint64_t pivot = a.key[low];
        int64_t i = low + 1, j = high;
        for (;;) {
            do ++i; while (a.key[i] < pivot);
            do --j; while (a.key[j] > pivot);
            if (j < i)
                break;
            fc_tied_swap(a, i, j);
        }
        fc_tied_swap(a, low, j);
        low = j <= k ? i : low;
        high = j >= k ? j - 1 : high;
    }
    if (high == low + 1)
        fc_tied_order(a, low, high);
    return a.place[k];
}

/* Of i, j and k, which has the median key? */
static inline int64_t fc_tied_median(fc_tied a, int64_t i, int64_t j, int64_t k)
{
    const uint64_t x = a.key[i], y = a.key[j], z = a.key[k];
    return x < y ? y < z ? j : x < z ? k : i : x < z ? i : y < z ? k : j;
}

static int64_t fc_tied_sorted(fc_tied a, int64_t n, int64_t k)
{
    int64_t first = 0, last = n;
    while (last - first > 16) {
        fc_tied_swap(a, first, fc_tied_median(a, first + 1, first + (last - first) / 2, last - 1));
        const uint64_t pivot = a.key[first];
        int64_t i = first + 1, j = last;
        for (;;) {
            while (a.key[i] < pivot) ++i;
            do --j; while (a.key[j] > pivot);
            if (i >= j)
                break;
            fc_tied_swap(a, i++, j);
        }
        if (i <= k)
            first = i;
        else
            last = i;
    }
    for (int64_t i = first + 1; i < last; ++i)
        for (int64_t j = i; j > first && a.key[j - 1] > a.key[j]; --j)
            fc_tied_swap(a, j - 1, j);
    return a.place[k];
}

#endif

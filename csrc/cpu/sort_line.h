/* The lines of a tensor along one dim, whatever its strides, and the sort of one. */
#ifndef FC_SORT_LINE_H
#define FC_SORT_LINE_H

#include "sort_keys.h"

typedef struct {
    int64_t n, step;        /* of a line, in elements of the input */
    int64_t count, inner;   /* lines, in the order of the results; inner: elements from one of a result's line to the next */
    int ndim;               /* of the other dims, last first */
    int repeated;           /* some have stride 0: their lines are those at 0, seen again */
    int64_t size[FC_MAX_DIMS], stride[FC_MAX_DIMS];
} fc_lines;

fc_lines fc_lines_of(const fc_tensor *x, int64_t dim);

/* Where line l begins in x. source: the first line that is the same. */
int64_t fc_line_at(const fc_lines *f, int64_t l, int64_t *source);

/* Where line l of a contiguous result begins whose lines have m elements. */
static inline int64_t fc_line_to(const fc_lines *f, int64_t l, int64_t m) { return l / f->inner * m * f->inner + l % f->inner; }

/* The same for `count` lines from l on, and where they begin in a contiguous result whose lines have m elements. */
void fc_lines_from(const fc_lines *f, int64_t l, int64_t count, int64_t m, int64_t *at, int64_t *to);

/* How many lines from l on lie side by side in x, at most `most`. */
int64_t fc_lines_beside(const fc_lines *f, int64_t l, int64_t most);

/* Lines of t, a contiguous result with m elements each, that are others again. */
void fc_lines_again(const fc_lines *f, fc_tensor *t, int64_t m);

/* A sorted line: words with places below; above them what is the same in equal elements only, unless keys, by place, say more. */
typedef struct { const uint64_t *word, *key; uint64_t place; } fc_sorted;

static inline int64_t fc_sorted_at(fc_sorted s, int64_t k) { return (int64_t)(s.word[k] & s.place); }
/* Equal elements? */
static inline int fc_sorted_same(fc_sorted s, int64_t j, int64_t k)
{
    return s.key ? s.key[fc_sorted_at(s, j)] == s.key[fc_sorted_at(s, k)] : (s.word[j] ^ s.word[k]) <= s.place;
}

/* The first `most` (at least one) in the order of the n elements of x, `step` apart. room: 3 n words, which the answer lies in. */
fc_sorted fc_sort_line(int dtype, const void *x, int64_t n, int64_t step, int descending, int64_t most, uint64_t *room);

#endif

/*
 * Short lines, sorted side by side: lane l of every row belongs to line l, and a network of exchanges of whole rows sorts them all at once.
 * No branch is guessed and no line waits for its own last step. Stable: what is exchanged is the key with its place below.
 */
#ifndef FC_SORT_SIDE_H
#define FC_SORT_SIDE_H

#include "sort_line.h"

enum { FC_SIDE = 32 /* lines at once */, FC_SIDE_LONGEST = 128 /* elements: FC_SIDE words of each fit L1; merging takes 4 times as long there */ };

/* Row k, lane l: word[k * FC_SIDE + l] has the k-th key of line l, alone or above its place; place, in its lowest byte, where it was. */
typedef struct { const int64_t *word, *place; uint64_t below; } fc_side;

static inline int64_t fc_side_at(fc_side s, int64_t k, int64_t l) { return s.place[k * FC_SIDE + l] & 255; }
static inline int fc_side_same(fc_side s, int64_t j, int64_t k, int64_t l)
{
    return (uint64_t)(s.word[j * FC_SIDE + l] ^ s.word[k * FC_SIDE + l]) <= s.below;
}

/* Words that fc_sort_side needs for lines of n elements; 0: these lines go one by one. */
int64_t fc_side_room(const fc_lines *f);

/* `count` lines, at most FC_SIDE, that begin at[l] elements into x. */
fc_side fc_sort_side(int dtype, const void *x, const int64_t *at, int64_t count, int64_t n, int64_t step, int descending, int64_t *room);

/* All lines of x, on all threads: the first m of each, with their places, to value and index. room: what fc_side_room says. */
int fc_side_lines(const fc_lines *f, const fc_tensor *x, fc_tensor *value, fc_tensor *index, int64_t m, int descending, int64_t room);

/* The network of one ISA level. place: NULL if words hold places. lanes: a multiple of 8. */
void fc_side_network_v2(int64_t *word, int64_t *place, int64_t n, int64_t lanes);
void fc_side_network_v3(int64_t *word, int64_t *place, int64_t n, int64_t lanes);
void fc_side_network_v4(int64_t *word, int64_t *place, int64_t n, int64_t lanes);

#endif

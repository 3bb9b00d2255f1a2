/* The innermost loops of gather.c: a rectangle of positions. */
#ifndef FC_GATHER_LOOPS_H
#define FC_GATHER_LOOPS_H

#include <stdint.h>

/* `rows` lines of `count` positions; how far the operands go from one position to the next, and from one line to the next, in elements. */
typedef struct {
    int64_t count, big_next, flat_next, index_next;
    int64_t rows, big_row, flat_row, index_row;
    int64_t big_step, n; /* of big along the dim that the index goes by */
} fc_through_box;

/* For each position, flat there with big there + index there * big_step. Answers where in `index` the first one outside [0, n) is, or -1. */
typedef int64_t (*fc_through_lines)(const fc_through_box *box, char *big, char *flat, const int64_t *index);

fc_through_lines fc_through_lines_of(int dtype, int how);

#endif

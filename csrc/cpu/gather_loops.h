/* The innermost loops of gather.c: one line of positions. */
#ifndef FC_GATHER_LOOPS_H
#define FC_GATHER_LOOPS_H

#include <stdint.h>

/* For k < count: flat[k * flat_step] with big[index[k] * big_step + k * big_next], steps in elements. Answers the first k whose index is
 * not in [0, n), or -1. */
typedef int64_t (*fc_through_line)(char *big, int64_t big_step, int64_t big_next, char *flat, int64_t flat_step, const int64_t *index, int64_t n, int64_t count);

fc_through_line fc_through_line_of(int dtype, int how);

#endif

/* Loops that read or write through an index; operands contiguous, int64 indices. A negative or too large index stops the loop,
 * is left in bad[0], and the answer is not 0; nothing out of bounds is touched. */
#ifndef FC_GATHER_H
#define FC_GATHER_H

#include <stdint.h>

#include "../core/dtype.h"

typedef struct {
    int dtype, ndim, dim, scalar;
    int64_t outer, n, inner; /* x around dim */
    int64_t count;           /* elements of index */
    const int64_t *x_shape, *index_shape, *src_shape;
    const int64_t *index;
} fc_gather_job;

int fc_cpu_gather(const fc_gather_job *job, char *out, const char *x, int64_t *bad);
int fc_cpu_scatter(const fc_gather_job *job, char *x, const char *src, int add, int64_t *bad);
int fc_cpu_index_select(const fc_gather_job *job, char *out, const char *x, int64_t *bad);
int fc_cpu_index_write(const fc_gather_job *job, char *x, const char *src, int add, int64_t *bad);

/* n elements, steps in elements */
void fc_cpu_strided_copy(int size, char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n);
void fc_cpu_accumulate(int dtype, char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n);

#endif

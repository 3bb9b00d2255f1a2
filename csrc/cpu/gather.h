/* Loops that read or write through an index. A negative or too large index stops the loop, is left in bad[0], and the answer is not 0;
 * nothing out of bounds is touched. */
#ifndef FC_GATHER_H
#define FC_GATHER_H

#include <stdint.h>

#include "../core/dtype.h"

/* Bytes of a slice from which threads share writes by the places that slices go to, each looking at the whole index. */
enum { FC_LONG_SLICE = 2048 };

enum { FC_THROUGH_READ, FC_THROUGH_WRITE, FC_THROUGH_ADD, FC_THROUGH_MUL, FC_THROUGH_MAX, FC_THROUGH_MIN };

/* gather, scatter: position (.., p, ..) of `flat` goes with (.., index[.., p, ..], ..) of `big`. Strides in elements; an index that is the
 * same along some dims (stride 0) selects slices, of tensors of any layout. */
typedef struct {
    int dtype, ndim, dim, how;
    int64_t n; /* size of big along dim */
    const int64_t *shape, *big_stride, *flat_stride, *index_stride; /* shape: index's, ndim >= 1 */
    const int64_t *index;
    char *big, *flat;
} fc_through;

int fc_cpu_through(const fc_through *job, int64_t *bad);

/* slices along a dim of contiguous tensors: index has `count` positions in [0, n). What is read may lie in another way, as long as each
 * slice's inner elements are dense: far is from one of outer to the next, step from one slice to the next, in elements. */
typedef struct {
    int dtype;
    int64_t outer, n, inner, count;
    const int64_t *index;
    int64_t far, step;
} fc_slices;

int fc_cpu_index_select(const fc_slices *job, char *out, const char *x, int64_t *bad);
int fc_cpu_index_write(const fc_slices *job, char *x, const char *src, int add, int64_t *bad);

/* The place of the first index outside [low, high), -1 where there is none. */
int64_t fc_cpu_outside(const int64_t *index, int64_t count, int64_t low, int64_t high);

/* to[r * to_far + k] = from[r * from_far + index[k] * step], in elements: indices that were looked at before */
void fc_cpu_choose(int size, char *to, int64_t to_far, const char *from, int64_t from_far, int64_t rows, int64_t step,
                   const int64_t *index, int64_t count);

/* n elements, steps in elements */
void fc_cpu_strided_copy(int size, char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n);
void fc_cpu_accumulate(int dtype, char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n);

/* Products and extremes of n elements side by side, of float32 and float64. */
void fc_cpu_combine(int dtype, int how, char *to, const char *from, int64_t n);

#endif

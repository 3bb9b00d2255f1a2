/* Copies between layouts and dtypes: the loops behind fc_copy, fc_to and fc_fill. */
#ifndef FC_COPY_NEST_H
#define FC_COPY_NEST_H

#include "tensor.h"

/* out[...] = x, which broadcasts to out's shape; converted. Both are checked, on the CPU, and share no memory but element by element. */
void fc_copy_nest(fc_tensor *out, fc_tensor *x);
void fc_copy_nest_v2(fc_tensor *out, fc_tensor *x);
void fc_copy_nest_v3(fc_tensor *out, fc_tensor *x);
void fc_copy_nest_v4(fc_tensor *out, fc_tensor *x);

/* to[j][i] = from[i][j] for i < rows, j < cols: elements of `size` bytes; rows are `to_row` and `from_row` bytes apart. */
void fc_turn(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t rows, int64_t cols, int size);
void fc_turn_v2(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t rows, int64_t cols, int size);
void fc_turn_v3(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t rows, int64_t cols, int size);
void fc_turn_v4(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t rows, int64_t cols, int size);

#endif

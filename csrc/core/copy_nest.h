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

/* `count` dense rows of `bytes`, as few as that may be; rows are to_row and from_row bytes apart. */
void fc_packs(char *restrict to, int64_t to_row, const char *restrict from, int64_t from_row, int64_t bytes, int64_t count);
void fc_packs_v2(char *restrict to, int64_t to_row, const char *restrict from, int64_t from_row, int64_t bytes, int64_t count);
void fc_packs_v3(char *restrict to, int64_t to_row, const char *restrict from, int64_t from_row, int64_t bytes, int64_t count);
void fc_packs_v4(char *restrict to, int64_t to_row, const char *restrict from, int64_t from_row, int64_t bytes, int64_t count);

/* Dense rows, one after the other, of n times an element each; those are from_row bytes apart. */
void fc_fill_rows(char *restrict to, int64_t n, const char *restrict from, int64_t from_row, int size, int64_t rows);
void fc_fill_rows_v2(char *restrict to, int64_t n, const char *restrict from, int64_t from_row, int size, int64_t rows);
void fc_fill_rows_v3(char *restrict to, int64_t n, const char *restrict from, int64_t from_row, int size, int64_t rows);
void fc_fill_rows_v4(char *restrict to, int64_t n, const char *restrict from, int64_t from_row, int size, int64_t rows);

/* n elements, every second of those from `from` on. */
void fc_seconds(char *restrict to, const char *restrict from, int size, int64_t n);
void fc_seconds_v2(char *restrict to, const char *restrict from, int size, int64_t n);
void fc_seconds_v3(char *restrict to, const char *restrict from, int size, int64_t n);
void fc_seconds_v4(char *restrict to, const char *restrict from, int size, int64_t n);

/* Rows of n elements, read backwards: to[r][i] = from[r][-i]; `from` is where the last element of row 0 lies, size at most 8, and a row has
 * FC_LEAST_MIRRORED bytes at least. */
#define FC_LEAST_MIRRORED 16
void fc_mirror_v2(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t n, int size, int64_t rows);
void fc_mirror_v3(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t n, int size, int64_t rows);
void fc_mirror_v4(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t n, int size, int64_t rows);

#endif

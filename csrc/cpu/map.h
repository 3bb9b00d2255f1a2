/* Elementwise cells: one contiguous loop per (row, compute dtype, ISA level), stamped from ops.def by cpu/map.c. */
#ifndef FC_MAP_H
#define FC_MAP_H

#include "../core/dtype.h"

/* s: the row's named scalars. *fault is set where an integer was divided by zero. out may be exactly x, y or z. */
typedef void (*fc_map_cell)(void *out, const void *x, const void *y, const void *z, const fc_scalar *s, int *fault, int64_t n);

/* NULL where the row has no cell for this compute dtype. */
fc_map_cell fc_cpu_map_cell(int op, int dtype);

/* Of a row of truth values: the cell that writes 0 and 1 in this compute dtype; NULL where there is none. */
fc_map_cell fc_cpu_map_number_cell(int op, int dtype);

/* x to the power of this number, of one operand, for the numbers that have a formula of their own; else NULL. */
fc_map_cell fc_cpu_pow_cell(int dtype, double exponent);

#endif

/* Cells written in registers: map_gelu_simd.c, map_complex_simd.c. */
#ifndef FC_MAP_REGISTERS_H
#define FC_MAP_REGISTERS_H

#include "../core/isa.h"
#include "map.h"

#define FC_CELL_IN_REGISTERS(name) void name(void *out, const void *x, const void *y, const void *z, const fc_scalar *s, int *fault, int64_t n)
FC_CELL_IN_REGISTERS(fc_map_gelu_v3); /* float32 */
FC_CELL_IN_REGISTERS(fc_map_gelu_v4);
FC_CELL_IN_REGISTERS(fc_map_mul_c64); /* level v3 */
FC_CELL_IN_REGISTERS(fc_map_mul_c128);
#undef FC_CELL_IN_REGISTERS

#endif

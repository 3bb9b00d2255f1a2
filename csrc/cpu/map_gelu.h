/* gelu of float32 at levels v3 and v4: map_gelu_simd.c. */
#ifndef FC_MAP_GELU_H
#define FC_MAP_GELU_H

#include "../core/isa.h"
#include "map.h"

void fc_map_gelu_v3(void *out, const void *x, const void *y, const void *z, const fc_scalar *s, int *fault, int64_t n);
void fc_map_gelu_v4(void *out, const void *x, const void *y, const void *z, const fc_scalar *s, int *fault, int64_t n);

#endif

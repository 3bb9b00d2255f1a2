/* Runs a contiguous loop over a nest: what is strided, broadcast or of another dtype goes block by block through L1. */
#ifndef FC_STAGE_H
#define FC_STAGE_H

#include "../cpu/map.h"
#include "nest.h"

/* cell computes in `compute` and stores `stored`; operand k of the nest has memory dtype nest->dtype[k]. Operands whose bit is in `rounded` are
 * rounded to the dtype `half` on their way. light: the cell waits for memory more than it computes. Returns the fault flag. */
int fc_stage_run(const fc_nest *nest, fc_map_cell cell, int light, int compute, int stored, int rounded, int half, const fc_scalar *s);

#endif

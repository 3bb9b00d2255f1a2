/* The two functions of every OWN row, by op number. */
#ifndef FC_OWN_H
#define FC_OWN_H

#include "call.h"
#include "ops.h"

extern const fc_own_fn fc_own_infer[FC_NOPS];
extern const fc_own_fn fc_own_cpu[FC_NOPS];

#endif

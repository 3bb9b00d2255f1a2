/* Collects fc_infer_<name> and fc_cpu_<name> of every OWN row. */
#include "own.h"

#define FC_OWN(name, ...) int fc_infer_##name(fc_call *c); int fc_cpu_##name(fc_call *c);
#include "ops_skip.h"
#include "../ops.def"
#include "ops_done.h"

const fc_own_fn fc_own_infer[FC_NOPS] = {
#define FC_OWN(name, ...) [FC_OP_##name] = fc_infer_##name,
#include "ops_skip.h"
#include "../ops.def"
#include "ops_done.h"
};

const fc_own_fn fc_own_cpu[FC_NOPS] = {
#define FC_OWN(name, ...) [FC_OP_##name] = fc_cpu_##name,
#include "ops_skip.h"
#include "../ops.def"
#include "ops_done.h"
};

/* All cells of one integer type: S, T_NAME, LOWEST, HIGHEST defined by fold_exact.c. No guard on purpose. */
#define SUM_T int64_t
#define MAX_T S
#include "fold_ops.h"

#undef S
#undef T_NAME
#undef LOWEST
#undef HIGHEST
#undef SUM_T
#undef MAX_T

/* All cells of one integer type: S, T_NAME, LOWEST, HIGHEST defined by fold_exact.c. No guard on purpose. */
#define SUM_T int64_t
#define MAX_T S
#define EXACT_T
#include "fold_ops.h"

#undef S
#undef T_NAME
#undef LOWEST
#undef HIGHEST
#undef SUM_T
#undef MAX_T
#undef EXACT_T

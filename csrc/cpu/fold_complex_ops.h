/* All cells of one complex type: S, its real type R, T_NAME, ABS, POW defined by fold_exact.c. No guard on purpose. */
#define SUM_T S
#include "fold_ops.h"

static inline R FOLD_T(greater)(R a, R b)
{
    const R m = b > a ? b : a;
    return b == b ? m : b;
}

static inline R FOLD_T(less)(R a, R b)
{
    const R m = b < a ? b : a;
    return b == b ? m : b;
}

#define F_NAME sumabs
#define A R
#define INIT 0
#define MAP(v, p) ABS(v)
#define OP(a, b) ((a) + (b))
#include "fold_cell.h"

#define F_NAME sumsq
#define A R
#define INIT 0
#define MAP(v, p) (RE(v) * RE(v) + IM(v) * IM(v))
#define OP(a, b) ((a) + (b))
#include "fold_cell.h"

#define F_NAME maxabs
#define A R
#define INIT 0
#define MAP(v, p) ABS(v)
#define OP(a, b) FOLD_T(greater)(a, b)
#include "fold_cell.h"

#define F_NAME minabs
#define A R
#define INIT INFINITY
#define MAP(v, p) ABS(v)
#define OP(a, b) FOLD_T(less)(a, b)
#include "fold_cell.h"

#define F_NAME sumpow
#define A R
#define INIT 0
#define MAP(v, p) ((p) == 0 ? (A)(ABS(v) != 0) : POW(ABS(v), p)) /* the 0-norm counts, and 0**0 is 1 */
#define OP(a, b) ((a) + (b))
#include "fold_cell.h"

#undef S
#undef T_NAME
#undef R
#undef RE
#undef IM
#undef ABS
#undef POW
#undef SUM_T

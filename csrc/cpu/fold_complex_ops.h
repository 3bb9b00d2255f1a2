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
#define MAP(v, p) (isinf(RE(v)) || isinf(IM(v)) ? (R)INFINITY : RE(v) * RE(v) + IM(v) * IM(v)) /* beside a NaN, too */
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

static void FOLD_T(raise)(void *restrict to, const void *restrict x, int64_t n, double p)
{
    for (int64_t k = 0; k < n; ++k)
        ((R *)to)[k] = POW(ABS(((const S *)x)[k]), (R)p);
}

#undef S
#undef T_NAME
#undef FOLD_PARTS
#undef R
#undef RE
#undef IM
#undef ABS
#undef POW
#undef SUM_T

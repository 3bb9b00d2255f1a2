/* All cells of one real float type: S, T_NAME, LOAD, FOLD_PARTS defined by fold_float.c; ACC is f64 for f64, else f32. No guard on purpose. */
#ifdef FOLD_F64
#define ACC f64
#define ABS(v) fabs(v)
#define EXP(v) fc_exp_f64(v)
#define POW(v, p) fc_pow_f64(v, p)
#else
#define ACC f32
#define ABS(v) fabsf(v)
#define EXP(v) fc_exp_f32(v)
#define POW(v, p) fc_pow_f32(v, p)
#endif
#define SUM_T ACC
#define MAX_T ACC
#include "fold_ops.h"

#define F_NAME sumsq
#define A ACC
#define INIT 0
#define MAP(v, p) ((v) * (v))
#define OP(a, b) ((a) + (b))
#include "fold_cell.h"

#define F_NAME devsq
#define F_PAIRS
#define A ACC
#define INIT 0
#define MAP(v, p) (((v) - (p)) * ((v) - (p)))
#define OP(a, b) ((a) + (b))
#include "fold_cell.h"

#define F_NAME sumexp
#define F_HEAVY
#define A ACC
#define INIT 0
#define MAP(v, p) EXP((v) - (p))
#define OP(a, b) ((a) + (b))
#include "fold_cell.h"

/* Apart from the sum, where it would be compiled for every row and not vectorise. */
static void FOLD_T(raise)(void *restrict to, const void *restrict x, int64_t n, double p)
{
    for (int64_t k = 0; p == 3 && k < n; ++k) {
        const ACC size = ABS(((const S *)x)[k]);
        ((ACC *)to)[k] = size * size * size;
    }
    for (int64_t k = 0; p != 3 && k < n; ++k)
        ((ACC *)to)[k] = POW(ABS(((const S *)x)[k]), (ACC)p);
}

#define F_NAME nansum
#define A ACC
#define INIT 0
#define MAP(v, p) ((v) != (v) ? 0 : (v))
#define OP(a, b) ((a) + (b))
#include "fold_cell.h"

#ifndef FOLD_WIDE
#define F_NAME sumabs
#define A ACC
#define INIT 0
#define MAP(v, p) ABS(v)
#define OP(a, b) ((a) + (b))
#include "fold_cell.h"

#define F_NAME maxabs
#define A ACC
#define INIT 0
#define MAP(v, p) ABS(v)
#define OP(a, b) FOLD_T(greater)(a, b)
#include "fold_cell.h"

#define F_NAME minabs
#define A ACC
#define INIT HIGHEST
#define MAP(v, p) ABS(v)
#define OP(a, b) FOLD_T(less)(a, b)
#include "fold_cell.h"
#endif

#undef S
#undef T_NAME
#undef FOLD_PARTS
#undef LOAD
#undef ACC
#undef ABS
#undef EXP
#undef POW
#undef SUM_T
#undef MAX_T

/* All cells of one real float type: S, T_NAME, LOAD defined by fold_float.c; ACC is f64 for f64, else f32. No guard on purpose. */
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
#define HOT_T
#define SUM_T ACC
#define MAX_T ACC
#include "fold_ops.h"

#define F_NAME nansum
#define A ACC
#define INIT 0
#define MAP(v, p) ((v) != (v) ? 0 : (v))
#define OP(a, b) ((a) + (b))
#include "fold_cell.h"

#define F_NAME sumabs
#define A ACC
#define INIT 0
#define MAP(v, p) ABS(v)
#define OP(a, b) ((a) + (b))
#include "fold_cell.h"

#define F_NAME sumsq
#define F_HOT
#define A ACC
#define INIT 0
#define MAP(v, p) ((v) * (v))
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

#define F_NAME sumpow
#define A ACC
#define INIT 0
#define MAP(v, p) ((p) == 0 ? (A)((v) != 0) : POW(ABS(v), p)) /* the 0-norm counts, and 0**0 is 1 */
#define OP(a, b) ((a) + (b))
#include "fold_cell.h"

#define F_NAME devsq
#define F_HOT
#define A ACC
#define INIT 0
#define MAP(v, p) (((v) - (p)) * ((v) - (p)))
#define OP(a, b) ((a) + (b))
#include "fold_cell.h"

#define F_NAME sumexp
#define F_HOT
#define A ACC
#define INIT 0
#define MAP(v, p) EXP((v) - (p))
#define OP(a, b) ((a) + (b))
#include "fold_cell.h"

#undef S
#undef T_NAME
#undef LOAD
#undef ACC
#undef ABS
#undef EXP
#undef POW
#undef SUM_T
#undef MAX_T
#undef HOT_T
#undef TRUTH

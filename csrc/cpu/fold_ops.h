/* The operations that every element type folds with: included once per type, after S, T_NAME, LOAD and the accumulators
 * SUM_T (sums, products), MAX_T (extremes), the least and greatest LOWEST and HIGHEST, and ISNAN(v) are defined.
 * EXACT_T: no order matters. FOLD_WIDE: only those that have a copy for v4. No guard on purpose. */

#ifndef NO_SUM
#ifndef ONLY_PROD
#define F_NAME sum
#define F_PAIRS
#ifdef EXACT_T
#define F_EXACT
#ifdef FOLD_PARTS
#define F_APART
#endif
#else
#define F_FEW
#endif
#define A SUM_T
#define INIT 0
#define MAP(v, p) (v)
#define OP(a, b) ((a) + (b))
#include "fold_cell.h"
#endif

#define F_NAME prod
#ifdef EXACT_T
#define F_EXACT
#ifdef FOLD_PARTS
#define F_APART
#endif
#else
#define F_FEW
#endif
#define A SUM_T
#define INIT 1
#define MAP(v, p) (v)
#define OP(a, b) ((a) * (b))
#include "fold_cell.h"
#endif

#if !defined NO_TRUTH && !defined FOLD_WIDE
#define F_NAME any
#define F_EXACT
#define A uint8_t
#define INIT 0
#define MAP(v, p) ((v) != 0)
#define OP(a, b) ((a) | (b))
#include "fold_cell.h"

#define F_NAME all
#define F_EXACT
#define A uint8_t
#define INIT 1
#define MAP(v, p) ((v) != 0)
#define OP(a, b) ((a) & (b))
#include "fold_cell.h"

#define F_NAME count
#define F_EXACT
#define A int64_t
#define INIT 0
#define MAP(v, p) ((v) != 0)
#define OP(a, b) ((a) + (b))
#include "fold_cell.h"
#endif

#ifdef MAX_T
/* The number wins over what it beats, a NaN over everything: two plain selects, which vectorise. */
static inline MAX_T FOLD_T(greater)(MAX_T a, MAX_T b)
{
    const MAX_T m = b > a ? b : a;
    return ISNAN(b) ? b : m;
}

static inline MAX_T FOLD_T(less)(MAX_T a, MAX_T b)
{
    const MAX_T m = b < a ? b : a;
    return ISNAN(b) ? b : m;
}

#define F_NAME amax
#ifdef EXACT_T
#define F_EXACT
#ifdef FOLD_PARTS
#define F_APART
#endif
#else
#define F_FEW
#endif
#define A MAX_T
#define INIT LOWEST
#define MAP(v, p) (v)
#define OP(a, b) FOLD_T(greater)(a, b)
#include "fold_cell.h"

#define F_NAME amin
#ifdef EXACT_T
#define F_EXACT
#ifdef FOLD_PARTS
#define F_APART
#endif
#else
#define F_FEW
#endif
#define A MAX_T
#define INIT HIGHEST
#define MAP(v, p) (v)
#define OP(a, b) FOLD_T(less)(a, b)
#include "fold_cell.h"

#if !defined FOLD_WIDE || defined FOLD_F64 /* of float32 v3 takes 9 us for 1e5, v4 14 */
/* Both of n > 0 elements, which are read once. */
static void FOLD_T(extremes)(void *restrict least, void *restrict greatest, const void *restrict x_, int64_t n)
{
    const S *restrict x = x_;
    MAX_T low = LOAD(x[0]), high = low;
#ifdef EXACT_T
    int64_t i = 0;
#else
    MAX_T lows[FC_FOLD_LANES], highs[FC_FOLD_LANES];
    const int64_t whole = n - n % FC_FOLD_LANES;
    int64_t i = whole;
    for (int j = 0; j < FC_FOLD_LANES; ++j)
        lows[j] = highs[j] = low;
    for (int64_t k = 0; k < whole; k += FC_FOLD_LANES) {
        FOLD_EACH(lows[j] = FOLD_T(less)(lows[j], LOAD(x[k + j])))
        FOLD_EACH(highs[j] = FOLD_T(greater)(highs[j], LOAD(x[k + j])))
    }
    for (int j = 0; j < FC_FOLD_LANES; ++j) {
        low = FOLD_T(less)(low, lows[j]);
        high = FOLD_T(greater)(high, highs[j]);
    }
#endif
    for (; i < n; ++i) {
        const MAX_T v = LOAD(x[i]);
        low = FOLD_T(less)(low, v);
        high = FOLD_T(greater)(high, v);
    }
    *(MAX_T *)least = low;
    *(MAX_T *)greatest = high;
}
#endif
#endif

#if !defined NO_TRUTH && !defined FOLD_WIDE
#ifdef MAX_T
static FC_NOINLINE int FOLD_T(holds)(const S *x, int64_t n, MAX_T v)
{
    int hits = 0;
    for (int64_t i = 0; i < n; ++i) {
        const MAX_T u = LOAD(x[i]);
        hits |= (u == v) | (ISNAN(u) & ISNAN(v));
    }
    return hits;
}

/* One row, or columns; one column where step is not 1. */
static void FOLD_T(find)(int64_t *restrict index, const void *restrict x_, int64_t base, int64_t n, int64_t step, int64_t width,
                         const void *restrict value_)
{
    const S *x = x_;
    const MAX_T *value = value_;
    if (width == 1 && step == 1) {
        const MAX_T v = value[0];
        int64_t i = 0;
        for (; i + 256 <= n && !FOLD_T(holds)(x + i, 256, v); i += 256)
            ;
        for (; i < n; ++i) {
            const MAX_T u = LOAD(x[i]);
            if (u == v || (ISNAN(u) && ISNAN(v))) {
                index[0] = base + i;
                return;
            }
        }
        return;
    }
    for (int64_t i = n - 1; i >= 0; --i) /* backwards: the last to write is the first that fits */
        for (int64_t c = 0; c < width; ++c) {
            const MAX_T u = LOAD(x[i * step + c]), v = value[c];
            index[c] = (u == v) | (ISNAN(u) & ISNAN(v)) ? base + i : index[c];
        }
}
#endif
#endif

/* What a fold kernel is to fold.c: functions over one block, and the size of its accumulator. */
#ifndef FC_FOLD_CELL_TYPE_H
#define FC_FOLD_CELL_TYPE_H

#include <string.h>

#include "../core/dtype.h"
#include "../core/isa.h"
#include "fold.h"

typedef struct {
    void (*rows)(void *restrict out, const void *restrict x, int64_t rows, int64_t n, int64_t step, const void *restrict param);
    void (*cols)(void *restrict out, const void *restrict x, int64_t n, int64_t step, int64_t width,
                 const void *restrict param, void *restrict acc);
    void (*join)(void *restrict a, const void *restrict b, int64_t n);
    int64_t size;
} fc_fold_cell;

/* Where a value first occurs: index[c] = least i with x[i * step + c] equal to value[c] (NaN equals NaN). */
typedef void (*fc_fold_find)(int64_t *restrict index, const void *restrict x, int64_t n, int64_t step, int64_t width,
                             const void *restrict value);

/* The cells of one element type; NULL where there is none. */
#define FC_FOLD_CELLS(X) X(sum) X(nansum) X(prod) X(amax) X(amin) X(any) X(all) X(count) \
                         X(sumabs) X(sumsq) X(maxabs) X(minabs) X(sumpow) X(devsq) X(sumexp)
#define X(name) const fc_fold_cell *name;
typedef struct { FC_FOLD_CELLS(X) fc_fold_find find; } fc_fold_cells;
#undef X

extern const fc_fold_cells fc_fold_exact[FC_NDTYPES]; /* integers and complex: fold_exact.c */
extern const fc_fold_cells fc_fold_float_v2[4], fc_fold_float_v3[4], fc_fold_float_v4[4]; /* f16 bf16 f32 f64: fold_float.c */

#endif

/* What the files fold*.c share: a fold that has been chosen and measured, and the way from accumulators to results. */
#ifndef FC_FOLD_JOB_H
#define FC_FOLD_JOB_H

#include "fold_cell_type.h"

enum {
    TILE_BYTES = 1024,       /* accumulators of a column tile: 16 lanes of it are 16 KB, within L1 */
    AT_ONCE = 4,             /* blocks of one row whose chains of additions run side by side */
    CELL = 16                /* bytes that hold any accumulator */
};

typedef struct {
    const fc_fold_cell *cell, *first;   /* first: a pass that makes the parameters of the second; or NULL */
    fc_fold_find find;
    fc_fold_rows direct;                /* rows of what is stored, which need no stage, or NULL */
    fc_fold_stage stage;                /* what makes numbers of what is stored, or NULL */
    int which, dtype, out_dtype;        /* dtype: of the cells */
    int64_t es, staged;                 /* bytes of a stored element, and of one that a cell reads */
    int pairs;                          /* 2 where complex numbers are seen as two columns of reals, else 1 */
    int64_t outer, reduce, inner, outer_step, step, run, run_step; /* in stored elements */
    char *out, *out2;
    const char *x;
    double param;
    int64_t nblocks, tile, tiles;
    int streams;                        /* more than caches hold, in the order of memory */
    char *part, *params;                /* in scratch, when one reduction is cut into blocks */
} fc_fold_job;

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

/* The job's cells and stage, by its operation and dtype; 0 where there are none. */
int fc_fold_choose(fc_fold_job *q);

/* dst[r] = fold of x[r * step + 0 .. n); n is a block's at most. */
void fc_fold_row_block(const fc_fold_job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t rows, int64_t n, int64_t step,
                       const char *params);

/* dst[c] = fold of x[i * step + c], i in [0, n), for c in [0, width): a tile at most. */
void fc_fold_column_block(const fc_fold_job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t n, int64_t step, int64_t width,
                          const char *params);

/* dst[b] = fold of block b of n elements that lie one after the other (pairs of reals: dst has two for each block). */
void fc_fold_blocks(const fc_fold_job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t n, const char *params);

/* Joins count values, `row` bytes apart, each of width accumulators, to the first: the tree of fold.h. */
void fc_fold_tree(const fc_fold_cell *cell, char *part, int64_t count, int64_t width);

/* Tiles begin .. end of a job, from elements to results. */
void fc_fold_tiles(void *job, int64_t begin, int64_t end);

/* A job whose part and params have room for every block. */
void fc_fold_split(fc_fold_job *q);

/* From accumulators to results: values, and the indices of those of the `width` results at `at`, whose elements begin at x. */
void fc_fold_conclude(const fc_fold_job *q, char *acc, const char *x, int64_t at, int64_t width, const char *params);

/* Accumulators 0 .. n to results at .. at + n (columns, where a complex number is two). */
void fc_fold_finish(const fc_fold_job *q, void *acc, int64_t at, int64_t n, const void *params);

/* Parameters of the second pass from the accumulators of the first, in place. */
void fc_fold_parameters(const fc_fold_job *q, void *acc, int64_t at, int64_t n);

/* A job with run != 0. part: outer * nblocks * pairs accumulators of room. FC_OK or FC_MEMORY. */
int fc_fold_runs(fc_fold_job *q);

#endif

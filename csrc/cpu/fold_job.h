/* What the files fold*.c share: a fold that has been chosen and measured, and the way from accumulators to results. */
#ifndef FC_FOLD_JOB_H
#define FC_FOLD_JOB_H

#include "fold_cell_type.h"

enum {
    TILE_BYTES = 1024,       /* accumulators of a column tile: 16 lanes of it are 16 KB, within L1 */
    TILE_LEVELS = 40,        /* of the tree of blocks: 2**40 blocks are more than memory */
    AT_MOST = TILE_BYTES / 8, /* results that are concluded at once */
    AT_ONCE = 4,             /* blocks of one row whose chains of additions run side by side */
    MOST_AT_ONCE = 64,       /* of one that comes from memory: four streams, far apart */
    CELL = 16,               /* bytes that hold any accumulator */
    FC_FOLD_TURNED = 64      /* short rows that are turned at once */
};

typedef struct {
    const fc_fold_cell *cell, *first;   /* first: a pass that makes the parameters of the second; or NULL */
    fc_fold_find find;
    fc_fold_stage stage;                /* what makes numbers of what is stored, or NULL */
    int second;                         /* every second place, and none of the others */
    int which, dtype, out_dtype;        /* dtype: of the cells */
    int64_t es, staged;                 /* bytes from a stored element to the next, and of one that a cell reads */
    int pairs;                          /* 2 where complex numbers are seen as two columns of reals, else 1 */
    int64_t outer, reduce, inner, outer_step, step, run, run_step; /* in stored elements */
    char *out, *out2;
    const char *x;
    double param;
    int64_t nblocks, tile, tiles, tile_bytes;
    int streams;                        /* more than caches hold, in the order of memory */
    int raw;                            /* the accumulators are the result, and `given` are their parameters or NULL */
    const char *given;
    char *part, *params;                /* in scratch, when one reduction is cut into blocks */
} fc_fold_job;

/* What folding a tile of `bytes` accumulators needs. */
typedef struct {
    char *lanes, *staged;               /* sixteen times bytes each */
    char *value, *params;
    char *tree;                         /* bytes for each level */
    int64_t bytes;
} fc_fold_room;

static inline int64_t fc_fold_room_bytes(int64_t tile, int64_t levels) { return (2 * FC_FOLD_LANES + 2 + levels) * tile; }

static inline fc_fold_room fc_fold_room_at(char *memory, int64_t tile)
{
    char *const value = memory + 2 * FC_FOLD_LANES * tile;
    return (fc_fold_room){memory, memory + FC_FOLD_LANES * tile, value, value + tile, value + 2 * tile, tile};
}

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

/* The job's cells and stage, by its operation and dtype; 0 where there are none. */
int fc_fold_choose(fc_fold_job *q);

/* Whether cells read what is stored where it is; where not, n elements as they read them. */
static inline int fc_fold_is_read(const fc_fold_job *q) { return !q->stage && !q->second; }
void fc_fold_lay(const fc_fold_job *q, void *to, const void *x, int64_t n);

/* dst[r] = fold of x[r * step + 0 .. n); n is a block's at most. */
void fc_fold_row_block(const fc_fold_job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t rows, int64_t n, int64_t step,
                       const char *params);

/* The first of these rows of n elements, FC_FOLD_TURNED at most, as columns side by side in room; answers how many. */
int64_t fc_fold_turn_rows(const char *x, int64_t es, int64_t rows, int64_t n, int64_t step, char *room);

/* The lanes `first` .. first + count of a fold of `width` columns that lie one after the other, n elements each, added to acc. */
void fc_fold_some_lanes(const fc_fold_cell *cell, char *acc, const char *x, int64_t es, int64_t n, int64_t width, int64_t first, int64_t count);

/* Lanes that lie one after the other, of columns of n elements, joined to the first: l[j] with l[j + 8], then + 4, + 2, + 1. */
void fc_fold_join_lanes(const fc_fold_cell *cell, char *acc, int64_t lanes, int64_t width);

/* dst[c] = fold of x[i * step + c], i in [0, n), for c in [0, width): a tile of the room at most. */
void fc_fold_column_block(const fc_fold_job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t n, int64_t step, int64_t width,
                          const char *params, const fc_fold_room *room);

/* Blocks of one row that are handed over together. */
static inline int64_t fc_fold_at_once(const fc_fold_job *q, const fc_fold_cell *cell) { return q->streams && cell->abreast == AT_ONCE ? MOST_AT_ONCE : AT_ONCE; }

/* dst[b] = fold of block b of n elements that lie one after the other (pairs of reals: dst has two for each block). */
void fc_fold_blocks(const fc_fold_job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t n, const char *params);

/* Joins count values, `row` bytes apart, each of width accumulators, to the first: the tree of fold.h. */
void fc_fold_tree(const fc_fold_cell *cell, char *part, int64_t count, int64_t width);

/* Joins count values, each of width accumulators, by halves, to the first. */
void fc_fold_halves(const fc_fold_cell *cell, char *part, int64_t count, int64_t width);

/* Tiles begin .. end of a job, from elements to results, in the calling thread: no wide ones. */
void fc_fold_tiles(void *job, int64_t begin, int64_t end);

/* All of them, `grain` at least for each thread. FC_OK or FC_MEMORY. */
int fc_fold_all_tiles(fc_fold_job *q, int64_t tiles, int64_t grain);

/* The one or two passes of a job whose part and params have room for every block, to its results. A pass leaves the `width` accumulators
 * of each outer index in the place of its first block. FC_OK or FC_MEMORY. */
typedef int (*fc_fold_pass)(const fc_fold_job *q, const fc_fold_cell *cell, const char *params);
int fc_fold_passes(fc_fold_job *q, int64_t width, fc_fold_pass pass);

/* Columns whose rows are walked whole, each thread adding some of the lanes; those of all of them have room in q->part. FC_OK. */
int fc_fold_by_lanes(fc_fold_job *q, int parts);

/* A job whose part and params have room for every block. FC_OK or FC_MEMORY. */
int fc_fold_split(fc_fold_job *q);

/* A job without runs, measured, on all threads. scratch: what fc_fold_plain_scratch says, or NULL. FC_OK or FC_MEMORY. */
int fc_fold_plain(fc_fold_job *q, char *scratch);
int64_t fc_fold_plain_scratch(const fc_fold_job *q);

/* A job from its form; its cells are to be chosen, then it is measured. */
fc_fold_job fc_fold_job_of(int which, int dtype, const fc_fold_form *form, double param);
void fc_fold_measure(fc_fold_job *q);

/* From accumulators to results: values, and the indices of those of the `width` results at `at`, whose elements begin at x. */
void fc_fold_conclude(const fc_fold_job *q, char *acc, const char *x, int64_t at, int64_t width, const char *params);

/* Accumulators 0 .. n, AT_MOST of them at most, to results at .. at + n (columns, where a complex number is two). */
void fc_fold_finish(const fc_fold_job *q, void *acc, int64_t at, int64_t n, const void *params);

/* Parameters of the second pass from the accumulators of the first, in place. */
void fc_fold_parameters(const fc_fold_job *q, void *acc, int64_t at, int64_t n);

/* Reductions of runs of FC_FOLD_RUN elements and more. scratch: fc_fold_runs_scratch bytes. FC_OK or FC_MEMORY. */
int fc_fold_runs(fc_fold_job *q, int dtype, const fc_fold_form *form, char *scratch);
int64_t fc_fold_runs_scratch(const fc_fold_job *q, int dtype, const fc_fold_form *form);

/* A job of shorter runs. part: outer * nblocks * pairs accumulators of room. FC_OK or FC_MEMORY. */
int fc_fold_strips(fc_fold_job *q);

#endif

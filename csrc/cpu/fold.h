/*
 * Folds: reduce the middle of an (outer, reduce, inner) array; the result is (outer, inner), contiguous.
 *
 * THE ORDER. Element i of the reduced extent goes to lane i % 16 of block i / 4096. A block's lanes are combined by halves
 * (l[j] with l[j + 8], then + 4, + 2, + 1); blocks are combined pairwise, level by level, an odd one moving up unchanged.
 * Over several dims, the last of them, as few as have FC_FOLD_RUN elements together, are a run; each run is folded so, and the n runs are combined by
 * halves (run k with run k + (n + 1) / 2, until one is left). Of several such dims the first is the run alone if it has FC_FOLD_RUN elements, and if either
 * no dim is before it or sums are folded and those behind it have FC_FOLD_SPREAD. So a matrix with one long side is folded as rows or as columns,
 * whichever way it lies, and so are the channels of small planes.
 * Nothing else decides it: rows (inner == 1) run the 16 lanes in vector registers, columns run the vector along inner, threads
 * take rows, columns or whole blocks, and the bits are the same. Kernels that fold inside (softmax, norms) use fold_rows.h,
 * which is the same order.
 *
 * argmax, argmin and the *_index folds answer the FIRST index of the extreme value; NaN is more extreme than any number.
 */
#ifndef FC_FOLD_H
#define FC_FOLD_H

#include <stddef.h>
#include <stdint.h>

#define FC_FOLD_LANES 16
#define FC_FOLD_BLOCK 4096
#define FC_FOLD_FEW (2 * FC_FOLD_LANES)
#define FC_FOLD_ABREAST 64
#define FC_FOLD_SPREAD 32 /* of fewer columns a fold of its own would show */
#define FC_FOLD_RUN 256 /* of shorter rows the lanes' end would show in the time */

/*        name            result: see fc_fold_result */
#define FC_FOLDS(X)                                                                                                          \
    X(sum)          /* SAME; integers and bool accumulate and answer int64 */                                                 \
    X(nansum)       /* sum that counts NaN as 0 */                                                                            \
    X(mean)         /* floats and complex: sum / reduce */                                                                    \
    X(prod)         /* as sum */                                                                                              \
    X(amax)         /* SAME, not complex */                                                                                   \
    X(amin)                                                                                                                   \
    X(any)          /* bool; NaN is true */                                                                                   \
    X(all)                                                                                                                    \
    X(count_nonzero)/* int64 */                                                                                               \
    X(argmax)       /* int64 */                                                                                               \
    X(argmin)                                                                                                                 \
    X(max_index)    /* value to out, int64 index to out2 */                                                                   \
    X(min_index)                                                                                                              \
    X(_aminmax)     /* amin to out, amax to out2; see fc_fold_values */                                                       \
    X(logsumexp)    /* floats */                                                                                              \
    X(var)          /* floats, complex -> real; param = correction. Two passes. */                                            \
    X(std)                                                                                                                    \
    X(norm_p)       /* floats, complex -> real; param = p, also 0, inf and -inf */

#define X(name) FC_FOLD_##name,
typedef enum { FC_FOLDS(X) FC_NFOLDS } fc_fold_kind;
#undef X

/*
 * Where the elements are, in elements of x: (o, i, c) is x[o * outer_step + i * step + c]; where inner is 1, step is 1 too.
 * run != 0: the reduced dims are two, and i is at (i / run) * run_step + i % run * step. Where inner is 1 one of the steps is 1 then;
 * run_step 0 shows the same run again and again. Runs of FC_FOLD_RUN and more are folded one by one, shorter ones, which are the case
 * only with inner 1, in the order of i.
 * second: all of this is said of every second place, of which x is the first; runs are long then, and the dtype is not complex.
 */
typedef struct {
    const void *x;
    int64_t outer, reduce, inner, outer_step, step, run, run_step;
    int second;
} fc_fold_form;

/* A dense array. */
static inline fc_fold_form fc_fold_dense(const void *x, int64_t outer, int64_t reduce, int64_t inner)
{
    return (fc_fold_form){x, outer, reduce, inner, reduce * inner, inner, 0, 0, 0};
}

/* dtype of the result of `which` on dtype, or -1 where there is no such kernel. */
int fc_fold_result(int which, int dtype);

/* Whether it has a value over no elements; where not, an empty extent is the caller's FC_EMPTY. */
int fc_fold_has_identity(int which);

/* Whether its result is the same in any order of the elements (on floats: but for the sign of a zero), and if each occurs twice. */
int fc_fold_is_free(int which, int dtype);
int fc_fold_is_idempotent(int which);

/* The least and the greatest of n > 0 elements one after the other, but for the sign of a zero; 0 where the dtype has no loop for both. */
int fc_fold_both(int dtype, void *least, void *greatest, const void *x, int64_t n);

/* Whether reduced dims may be runs: positions are looked for in one line. */
int fc_fold_takes_runs(int which);

/* Whether the fold of runs that are results of a fold (sums for mean) is that of all their elements: fc_fold_join makes it. */
int fc_fold_joins(int which);

/* out (width results) from part: `runs` sums or products of width columns each, of `reduce` elements together, joined by halves. part's
 * elements are of the accumulators' type, and it is written to. */
void fc_fold_join(int which, int dtype, int out_dtype, void *out, void *part, int64_t runs, int64_t width, int64_t reduce);

/* Bytes of scratch that fc_fold_run wants; 0 for everything small. */
size_t fc_fold_scratch(int which, int dtype, const fc_fold_form *form, double param);

/* out_dtype: fc_fold_result's, or float32 from halves. out2: int64 indices (max_index, min_index) or the mean of the accumulator's
 * type (var, std; optional), else NULL. scratch: fc_fold_scratch bytes, 64-byte aligned. FC_OK, FC_DTYPE or FC_MEMORY. */
int fc_fold_run(int which, int dtype, int out_dtype, void *out, void *out2, const fc_fold_form *form, double param, void *scratch);

#endif

/*
 * Scans along the middle of a contiguous (outer, n, inner) array; the result has the same shape.
 *
 * Strictly in order, one line after the other; threads take lines. Sums and products of float32 run in float64, of halves in
 * float32, of complex64 in complex128 (as PyTorch's CPU kernels do), and are rounded for every element stored.
 * cummax and cummin answer the LAST index of equal extremes; NaN, once met, stays, with the index of the latest one.
 */
#ifndef FC_SCAN_H
#define FC_SCAN_H

#include <stdint.h>

#define FC_SCANS(X)                                                                    \
    X(cumsum)       /* integers and bool -> int64 */                                    \
    X(cumprod)                                                                         \
    X(logcumsumexp) /* floats */                                                       \
    X(cummax)       /* every real dtype; int64 indices to out2 */                      \
    X(cummin)

#define X(name) FC_SCAN_##name,
typedef enum { FC_SCANS(X) FC_NSCANS } fc_scan_kind;
#undef X

/* dtype of the result of `which` on dtype, or -1 where there is no such scan. */
int fc_scan_result(int which, int dtype);
static inline int fc_scan_has_index(int which) { return which == FC_SCAN_cummax || which == FC_SCAN_cummin; }

/* FC_OK, FC_DTYPE where the dtype has no such scan, or FC_MEMORY. out and x share no memory.
 * across != 0: x is a transposed matrix. Where inner is 1 its lines lie side by side, their elements `across` apart; where outer is 1 they are
 * rows of memory, `across` apart, and those of the result columns. */
int fc_scan_run(int which, int dtype, void *out, int64_t *out2, const void *x, int64_t outer, int64_t n, int64_t inner, int64_t across);

/* Whether lines of n elements are read across memory: else the caller copies. */
int fc_scan_takes_across(int dtype, int64_t n);

#endif

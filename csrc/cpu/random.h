/* Random fills of contiguous memory, in PyTorch's CPU streams: docs in random.c. */
#ifndef FC_RANDOM_H
#define FC_RANDOM_H

#include <stdint.h>

#include "../core/generator.h"

typedef enum {
    FC_R_UNIFORM,     /* d0 <= x < d1 */
    FC_R_NORMAL,      /* mean d0, standard deviation d1; of 16 and more elements the block order */
    FC_R_NORMAL_EACH, /* the same, one by one whatever the size: for outputs that are not contiguous */
    FC_R_BERNOULLI,   /* 1 with probability d0 */
    FC_R_RANGE,       /* integers i0 <= x < i1; i1 = INT64_MIN stands for 2^63 */
    FC_R_FULL,        /* integers 0 <= x <= the dtype's largest (floats: up to 2^digits) */
    FC_R_PERM,        /* a permutation of 0 .. n - 1 */
    FC_R_EXPONENTIAL, /* rate d0 */
    FC_R_GEOMETRIC,   /* number of trials, probability d0 */
    FC_R_CAUCHY,      /* median d0, scale d1 */
    FC_R_LOG_NORMAL,  /* exp of a normal with mean d0, standard deviation d1 */
    /* with a parameter per element, of out's dtype unless said otherwise: */
    FC_R_BERNOULLI_OF, /* probabilities, of a real floating dtype of their own */
    FC_R_POISSON_OF,   /* rates */
    FC_R_GAMMA_OF,     /* shapes; scale 1 */
    FC_R_BINOMIAL_OF   /* pairs (count, probability): the first of each is replaced */
} fc_random_kind;

/* Fills out[0..n). FC_OK, FC_DTYPE, or FC_ARG with (argument, value as an integer) where a parameter is out of range;
 * nothing has been drawn then. Locks g. */
int fc_random_fill(int kind, fc_generator *g, void *out, int dtype, int64_t n, int64_t i0, int64_t i1, double d0, double d1);

/* Is the kind defined for the dtype? */
int fc_random_takes(int kind, int dtype);

/* The kinds with a parameter per element. out may be param. */
int fc_random_fill_of(int kind, fc_generator *g, void *out, int dtype, const void *param, int param_dtype, int64_t n);

#endif

/* The loops of a fold: how x is walked, with a copy only where it must be. */
#ifndef FC_FOLD_FORM_H
#define FC_FOLD_FORM_H

#include "tensor.h"

/* Fills value (and index, where the fold has a second result) with the fold of x over the dims in mask. Both are new, contiguous, and of the
 * fold's result dtype; x has elements, or value has none, or the fold an identity. */
int fc_fold_values(int which, fc_tensor *value, fc_tensor *index, fc_tensor *x, uint64_t mask, double param);

/* x without repetition: dims of stride 0 that mask does not name have size 1; they are the bits of `repeated`. A new reference. */
fc_tensor *fc_distinct(fc_tensor *x, uint64_t mask, uint64_t *repeated);

/* t, of x's shape without the dims `gone`, from small, which has one element for all along the dims `repeated`. Both contiguous. */
void fc_spread(fc_tensor *t, fc_tensor *small, const fc_tensor *x, uint64_t gone, uint64_t repeated);

#endif

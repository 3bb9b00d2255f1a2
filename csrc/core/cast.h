/* Conversion between element types, one function for every pair, defined for every input. */
#ifndef FC_CAST_H
#define FC_CAST_H

#include "dtype.h"

/* n contiguous elements; to and from must not overlap unless they are the same type at the same place. */
void fc_convert(int to_dtype, void *to, int from_dtype, const void *from, int64_t n);
/* One scalar, stored as `dtype`. */
void fc_store_scalar(int dtype, void *to, const fc_scalar *s);

#endif

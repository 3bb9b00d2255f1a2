/* Shapes are interned: one small integer per distinct shape, so that Python keeps one tuple for each. */
#ifndef FC_SHAPE_H
#define FC_SHAPE_H

#include <stdint.h>

/* -1 where the table is full (FC_SHAPES shapes are known) or memory is: the caller then reads the dims one by one. */
int fc_shape_intern(int ndim, const int64_t *shape);

#endif

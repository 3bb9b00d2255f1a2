/* The elementwise rows numbered among themselves: the place of a cell in its table. A row of any other kind changes no cell's text, so none is compiled again. */
#ifndef FC_OPS_MAP_H
#define FC_OPS_MAP_H

enum {
#define FC_MAP1(name, ...) FC_CELL_##name,
#define FC_MAP2(name, ...) FC_CELL_##name,
#define FC_MAP3(name, ...) FC_CELL_##name,
#include "ops_skip.h"
#include "../ops.def"
#include "ops_done.h"
    FC_NCELLS
};

#endif

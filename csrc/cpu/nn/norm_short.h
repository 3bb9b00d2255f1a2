/*
 * Normalisation of short rows, sixteen to a strip (strip.h): turned, a register holds an element of every row, so a row of one or five costs
 * no more an element than a row of a hundred. Bits are those of a row alone.
 *
 * For dw and db the rows of a strip are the lanes of tally.h's sums: what was added goes to it block by block.
 */
#ifndef FC_NORM_SHORT_H
#define FC_NORM_SHORT_H

#include "lines.h"

enum { FC_SHORT_TALLY = 32 }; /* longer rows fill registers as they lie */

/* Rows that are turned together. */
static inline int64_t fc_short_width(int64_t rows, int64_t n)
{
    const int64_t strips = (rows + FC_LINES - 1) / FC_LINES, most = 4 * FC_LINES / n + 1;
    return FC_LINES * (strips < most ? strips : most);
}

/* Not on machines without AVX, where it gains little: the library would grow. */
static inline int fc_is_short(int64_t rows, int64_t n) { return FC_ISA_NUM >= 3 && n > 0 && n <= FC_SHORT_ROW && rows >= FC_LINES / 4; }

/* `rows` rows from `at` as a tile of `width` lines; lines that are spare are zero. */
static inline void fc_short_tile(void *tile, const void *x, int64_t at, int64_t rows, int64_t width, int64_t n, int64_t es)
{
    if (rows < width)
        memset(tile, 0, (size_t)(n * width * es));
    FC_ISA_NAME(fc_turn)(tile, width * es, (const char *)x + at * n * es, n * es, rows, n, (int)es);
}

static inline void fc_short_rows(void *out, const void *tile, int64_t at, int64_t rows, int64_t width, int64_t n, int64_t es)
{
    FC_ISA_NAME(fc_turn)((char *)out + at * n * es, n * es, tile, width * es, n, rows, (int)es);
}

#endif

/* Folds within a block: rows and columns of stored or staged elements. The order of fold.h is made here and in fold_cell.h, nowhere else. */
#include "../core/copy_nest.h"
#include "fold_job.h"

enum {
    LONG = 256,              /* elements of a row that is worth a call */
    SHORT = 32,              /* of one that is not worth the end of its lanes, where there are many */
    MANY = 16,               /* rows */
    APART = 16,              /* of which four go side by side, far from one another */
    STAGED_BYTES = 4 * FC_FOLD_BLOCK /* of what is staged at once: stays in the first cache */
};

/* Where a column has fewer elements than lanes, the others are left out: they would change nothing. */
void fc_fold_join_lanes(const fc_fold_cell *cell, char *acc, int64_t lanes, int64_t width)
{
    for (int64_t half = FC_FOLD_LANES / 2; half; half /= 2)
        if (lanes > half) {
            cell->join(acc, acc + half * width * cell->size, (lanes - half) * width);
            lanes = half;
        }
}

int64_t fc_fold_turn_rows(const char *x, int64_t es, int64_t rows, int64_t n, int64_t step, char *room)
{
    const int64_t some = min64(rows, FC_FOLD_TURNED);
    fc_turn(room, some * es, x, step * es, some, n, (int)es);
    return some;
}

/* Many short rows are turned, some at a time, and folded as columns; es: bytes of what the cell reads. */
static FC_NOINLINE void short_rows(const fc_fold_cell *cell, char *dst, const char *x, int64_t es, int64_t rows, int64_t n, int64_t step, const char *params)
{
    char room[SHORT * FC_FOLD_TURNED * CELL] __attribute__((aligned(64))), lanes[FC_FOLD_LANES * FC_FOLD_TURNED * CELL] __attribute__((aligned(64)));
    for (int64_t r = 0; r < rows;) {
        const int64_t some = fc_fold_turn_rows(x + r * step * es, es, rows - r, n, step, room), used = cell->exact ? 1 : min64(n, FC_FOLD_LANES);
        if (cell->few && some % FC_FOLD_ABREAST == 0) { /* whose MAP has no parameter */
            r += cell->few(dst + r * cell->size, room, n, some, some);
            continue;
        }
        cell->begin(lanes, used * some);
        for (int64_t i = 0; i < n; ++i)
            cell->one(lanes + i % (cell->exact ? 1 : FC_FOLD_LANES) * some * cell->size, room + i * some * es, some, params ? params + r * cell->size : NULL);
        fc_fold_join_lanes(cell, lanes, used, some);
        memcpy(dst + r * cell->size, lanes, (size_t)(some * cell->size));
        r += some;
    }
}

static void some_rows(const fc_fold_cell *cell, char *dst, const char *x, int64_t es, int64_t rows, int64_t n, int64_t step, const char *params)
{
    if (n < SHORT && n > 0 && rows >= MANY)
        short_rows(cell, dst, x, es, rows, n, step, params);
    else
        cell->rows(dst, x, rows, n, step, params);
}

/* Rows that are not stored as the cell reads them, a few at a time. */
static FC_NOINLINE void staged_rows(const fc_fold_job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t rows, int64_t n,
                                    int64_t step, const char *params)
{
    char room[2 * STAGED_BYTES] __attribute__((aligned(64))); /* a block of float64, or as many rows as stay in the first cache */
    const int64_t fit = !n ? rows : STAGED_BYTES / q->staged / n > 0 ? STAGED_BYTES / q->staged / n : 1;
    for (int64_t r = 0; r < rows; r += fit) {
        const int64_t some = min64(fit, rows - r);
        for (int64_t k = 0; k < (n == step ? 1 : some); ++k)
            fc_fold_lay(q, room + k * n * q->staged, x + (r + k) * step * q->es, n == step ? some * n : n);
        some_rows(cell, dst + r * cell->size, room, q->staged, some, n, n, params ? params + r * cell->size : NULL);
    }
}

/* Rows from memory, four at a time that lie far apart: long streams, of which there are more than one. Neighbours would end too soon to be read ahead. */
static FC_NOINLINE void rows_apart(const fc_fold_cell *cell, char *dst, const char *x, int64_t es, int64_t rows, int64_t n, int64_t step, const char *params)
{
    const int64_t quarter = rows / AT_ONCE, size = cell->size;
    char four[AT_ONCE * CELL], given[AT_ONCE * CELL];
    for (int64_t r = 0; r < quarter; ++r) {
        for (int k = 0; params && k < AT_ONCE; ++k)
            memcpy(given + k * size, params + (r + k * quarter) * size, (size_t)size);
        cell->rows(four, x + r * step * es, AT_ONCE, n, step * quarter, params ? given : NULL);
        for (int k = 0; k < AT_ONCE; ++k)
            memcpy(dst + (r + k * quarter) * size, four + k * size, (size_t)size);
    }
    const int64_t done = AT_ONCE * quarter;
    if (done < rows)
        cell->rows(dst + done * size, x + done * step * es, rows - done, n, step, params ? params + done * size : NULL);
}

void fc_fold_row_block(const fc_fold_job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t rows, int64_t n, int64_t step,
                        const char *params)
{
    if (q->second && cell->seconds && !q->stage)
        for (int64_t r = 0; r < rows; ++r)
            cell->seconds(dst + r * cell->size, x + r * step * q->es, n, params ? params + r * cell->size : NULL);
    else if (!fc_fold_is_read(q))
        staged_rows(q, cell, dst, x, rows, n, step, params);
    else if (q->streams && n >= LONG && cell->abreast == AT_ONCE && rows >= APART)
        rows_apart(cell, dst, x, q->es, rows, n, step, params);
    else if (q->streams && n >= LONG) /* from memory, and not four abreast: one stream after the other */
        for (int64_t r = 0; r < rows; ++r)
            cell->rows(dst + r * cell->size, x + r * step * q->es, 1, n, n, params ? params + r * cell->size : NULL);
    else
        some_rows(cell, dst, x, q->es, rows, n, step, params);
}

void fc_fold_some_lanes(const fc_fold_cell *cell, char *acc, const char *x, int64_t es, int64_t n, int64_t width, int64_t first, int64_t count)
{
    int64_t i = 0;
    for (; i + 4 * FC_FOLD_LANES <= n; i += 4 * FC_FOLD_LANES)
        cell->four(acc, x + (i + first) * width * es, FC_FOLD_LANES * width, count * width, NULL);
    for (; i + first < n; i += FC_FOLD_LANES)
        cell->one(acc, x + (i + first) * width * es, min64(count, n - i - first) * width, NULL);
}

/* Element i of each column goes to lane i % 16; acc has the lanes one after the other. n is a multiple of 16, or there is no more. */
static void add_columns(const fc_fold_cell *cell, char *acc, const char *x, int64_t es, int64_t n, int64_t step, int64_t width, const char *params)
{
    const int64_t row = width * cell->size;
    if (cell->exact) { /* any order gives the same: one lane */
        int64_t k = 0;
        for (; k + 4 <= n; k += 4)
            cell->four(acc, x + k * step * es, step, width, params);
        for (; k < n; ++k)
            cell->one(acc, x + k * step * es, width, params);
        return;
    }
    if (step == width && !params) { /* whole rows lie one after the other: sixteen of them are one long row of all lanes */
        fc_fold_some_lanes(cell, acc, x, es, n, width, 0, FC_FOLD_LANES);
        return;
    }
    int64_t i = 0;
    for (; i + 4 * FC_FOLD_LANES <= n; i += 4 * FC_FOLD_LANES)
        for (int64_t j = 0; j < FC_FOLD_LANES; ++j)
            cell->four(acc + j * row, x + (i + j) * step * es, FC_FOLD_LANES * step, width, params);
    for (; i < n; ++i)
        cell->one(acc + i % FC_FOLD_LANES * row, x + i * step * es, width, params);
}

/* Every element of a column is the same: so are the lanes that have as many of them. */
static void add_repeated(const fc_fold_cell *cell, char *acc, const char *x, int64_t n, int64_t width, const char *params)
{
    const int64_t row = width * cell->size, full = n / FC_FOLD_LANES;
    int64_t i = 0;
    for (; i + 4 <= full; i += 4)
        cell->four(acc, x, 0, width, params);
    for (; i < full; ++i)
        cell->one(acc, x, width, params);
    for (int64_t j = 1; j < FC_FOLD_LANES; ++j)
        memcpy(acc + j * row, acc, (size_t)row);
    for (int64_t j = 0; j < n % FC_FOLD_LANES; ++j)
        cell->one(acc + j * row, x, width, params);
}

static void add_staged_columns(const fc_fold_job *q, const fc_fold_cell *cell, const fc_fold_room *memory, const char *x, int64_t n, int64_t step,
                               int64_t width, const char *params)
{
    char *const room = memory->staged, *const acc = memory->lanes;
    const int64_t fit = memory->bytes / (width * q->staged) * FC_FOLD_LANES;
    if (step == 0) {
        fc_fold_lay(q, room, x, width);
        add_repeated(cell, acc, room, n, width, params);
        return;
    }
    for (int64_t i = 0; i < n; i += fit) {
        const int64_t some = min64(fit, n - i);
        for (int64_t k = 0; k < (step == width ? 1 : some); ++k)
            fc_fold_lay(q, room + k * width * q->staged, x + (i + k) * step * q->es, step == width ? some * width : width);
        add_columns(cell, acc, room, q->staged, some, width, width, params);
    }
}

void fc_fold_column_block(const fc_fold_job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t n, int64_t step, int64_t width, const char *params,
                          const fc_fold_room *room)
{
    char *const acc = room->lanes;
    if (width == 2 && step == 2 && cell->pairs && fc_fold_is_read(q)) {
        cell->pairs(dst, x, n, params);
        return;
    }
    if (cell->few && n > 0 && n <= FC_FOLD_FEW && step && fc_fold_is_read(q)) {
        const int64_t done = cell->few(dst, x, n, step, width);
        dst += done * cell->size;
        x += done * q->es;
        width -= done;
        if (!width)
            return;
    }
    const int64_t lanes = step == 0 ? FC_FOLD_LANES : n > 0 && !cell->exact ? min64(n, FC_FOLD_LANES) : 1;
    cell->begin(acc, lanes * width);
    if (!fc_fold_is_read(q))
        add_staged_columns(q, cell, room, x, n, step, width, params);
    else if (step == 0)
        add_repeated(cell, acc, x, n, width, params);
    else
        add_columns(cell, acc, x, q->es, n, step, width, params);
    fc_fold_join_lanes(cell, acc, lanes, width);
    memcpy(dst, acc, (size_t)(width * cell->size));
}

void fc_fold_blocks(const fc_fold_job *q, const fc_fold_cell *cell, char *dst, const char *x, int64_t n, const char *params)
{
    const int64_t at_once = fc_fold_at_once(q, cell);
    char same[MOST_AT_ONCE * CELL];
    for (int64_t k = 0; params && k < at_once; ++k)
        memcpy(same + k * cell->size, params, (size_t)cell->size);
    const int64_t block = FC_FOLD_BLOCK * q->pairs;
    for (int64_t i = 0; i < n; i += at_once * FC_FOLD_BLOCK) {
        const int64_t some = min64(n - i, at_once * FC_FOLD_BLOCK), full = some / FC_FOLD_BLOCK, rest = some % FC_FOLD_BLOCK;
        const char *at = x + i * q->pairs * q->es;
        char *to = dst + i / FC_FOLD_BLOCK * q->pairs * cell->size;
        if (q->pairs == 2) {
            for (int64_t b = 0; b < full + (rest > 0); ++b)
                cell->pairs(to + 2 * b * cell->size, at + b * block * q->es, b < full ? FC_FOLD_BLOCK : rest, params);
            continue;
        }
        if (full)
            fc_fold_row_block(q, cell, to, at, full, FC_FOLD_BLOCK, FC_FOLD_BLOCK, params ? same : NULL);
        if (rest)
            fc_fold_row_block(q, cell, to + full * cell->size, at + full * block * q->es, 1, rest, rest, params);
    }
}

void fc_fold_tree(const fc_fold_cell *cell, char *part, int64_t count, int64_t width)
{
    const int64_t row = width * cell->size;
    for (int64_t step = 1; step < count; step *= 2)
        for (int64_t b = 0; b + step < count; b += 2 * step)
            cell->join(part + b * row, part + (b + step) * row, width);
}

void fc_fold_halves(const fc_fold_cell *cell, char *part, int64_t count, int64_t width)
{
    for (int64_t half; count > 1; count = half) {
        half = (count + 1) / 2;
        cell->join(part, part + half * width * cell->size, (count - half) * width);
    }
}

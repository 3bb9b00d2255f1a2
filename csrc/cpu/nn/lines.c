/*
 * Where the lines of lines.h lie, and what that makes of them.
 *
 * Long rows go to the row kernel as they are. Short lines are turned into tiles, many blocks of n * inner at a time; lines across memory are
 * copied into tiles, stretch by stretch. What is left, few or very long lines, is turned into rows. Halves are widened on the way into rows
 * and tiles, and narrowed on the way out.
 */
#include "lines.h"

#include "../../core/cast.h"

enum {
    SHORT_BLOCK = 512, /* n * inner of blocks that are turned: sixteen are 32 KB of f32 */
    FEW = 15,          /* elements of a row of a gradient that is turned, which takes three turns: 16 or more end sooner than they are turned */
    AT_ONCE = 1024,    /* elements of rows that go to the kernel together */
    TILE_WIDTH = 64,   /* lines of a tile that is copied */
    TILE_BYTES = 128 << 10
};

typedef struct {
    fc_line_fn row;
    fc_tile_fn tile;
    fc_turn_fn turn;
    char *out;
    const char *in[FC_LINES_IN];
    int nin;
    int64_t outer, n, inner, groups, es;
    int half;      /* the dtype in memory, if it is one; else 0 */
    int64_t ms;    /* bytes of an element in memory; es: of one that is computed with */
    int64_t pitch; /* from one copied row to the next: not a power of two, or all sixteen would meet in one set of L1 */
    int64_t width; /* blocks that are turned together; lines of a tile that is copied */
} job;

/* `count` rows of n elements: from memory, and to it. */
static inline void bring(const job *q, char *to, int64_t to_row, const char *from, int64_t from_row, int64_t n, int64_t count)
{
    for (int64_t i = 0; i < count; ++i, to += to_row, from += from_row)
        if (q->half)
            fc_convert(FC_F32, to, q->half, from, n);
        else
            memcpy(to, from, (size_t)(n * q->es));
}

static inline void take(const job *q, char *to, int64_t to_row, const char *from, int64_t from_row, int64_t n, int64_t count)
{
    for (int64_t i = 0; i < count; ++i, to += to_row, from += from_row)
        if (q->half)
            fc_convert(q->half, to, FC_F32, from, n);
        else
            memcpy(to, from, (size_t)(n * q->es));
}

/* Rows that go to the kernel together. */
static inline int64_t at_once(const job *q) { return q->n > AT_ONCE / 2 ? 1 : q->n > AT_ONCE / FC_LINE_ROWS ? AT_ONCE / q->n : FC_LINE_ROWS; }

static void half_rows(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const int64_t most = at_once(q), room = most * q->n * q->es;
    for (int64_t r = begin, count; r < end; r += count) {
        const void *in[FC_LINES_IN];
        count = end - r < most ? end - r : most;
        for (int k = 0; k < q->nin; ++k) {
            char *const to = (char *)scratch + (k + 1) * room;
            bring(q, to, 0, q->in[k] + r * q->n * q->ms, 0, count * q->n, 1);
            in[k] = to;
        }
        q->row(scratch, in, q->n, count);
        take(q, q->out + r * q->n * q->ms, 0, scratch, 0, count * q->n, 1);
    }
}

static void rows(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t row = q->n * q->es;
    const int64_t most = at_once(q);
    for (int64_t r = begin; r < end; r += most) {
        const void *in[FC_LINES_IN];
        for (int k = 0; k < q->nin; ++k)
            in[k] = q->in[k] + r * row;
        q->row(q->out + r * row, in, q->n, end - r < most ? end - r : most);
    }
}

static void columns(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const int64_t row = q->pitch * q->es;
    char *out = scratch, *row_of[FC_LINES_IN], *const wide = out + (q->nin + 1) * FC_LINES * row; /* rows of halves, widened */
    const int64_t across = q->half ? FC_LINES * q->es : q->inner * q->es;
    for (int k = 0; k < q->nin; ++k)
        row_of[k] = out + (k + 1) * FC_LINES * row;
    for (int64_t g = begin; g < end; ++g) {
        const int64_t c = g % q->groups * FC_LINES, at = (g / q->groups * q->n * q->inner + c) * q->ms;
        const int64_t width = q->inner - c < FC_LINES ? q->inner - c : FC_LINES;
        for (int k = 0; k < q->nin; ++k) {
            if (q->half)
                bring(q, wide, across, q->in[k] + at, q->inner * q->ms, width, q->n);
            q->turn(row_of[k], row, q->half ? wide : q->in[k] + at, across, q->n, width, (int)q->es);
        }
        for (int64_t l = 0; l < width; ++l) {
            const void *in[FC_LINES_IN];
            for (int k = 0; k < q->nin; ++k)
                in[k] = row_of[k] + l * row;
            q->row(out + l * row, in, q->n, 1);
        }
        q->turn(q->half ? wide : q->out + at, across, out, row, width, q->n, (int)q->es);
        if (q->half)
            take(q, q->out + at, q->inner * q->ms, wide, across, width, q->n);
    }
}

/* Blocks of n * inner elements, `width` of them: turned, their lines lie side by side, inner * width of them. */
static void turned(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const int64_t block = q->n * q->inner, bytes = block * q->es, pitch = q->width * q->es;
    void *tile[FC_LINES_IN];
    char *const wide = (char *)scratch + q->nin * block * pitch;
    for (int64_t g = begin; g < end; ++g) {
        const int64_t at = g * q->width, blocks = q->outer - at < q->width ? q->outer - at : q->width;
        for (int k = 0; k < q->nin; ++k) {
            tile[k] = (char *)scratch + k * block * pitch;
            if (blocks < q->width)
                memset(tile[k], 0, (size_t)(block * pitch));
            if (q->half)
                bring(q, wide, 0, q->in[k] + at * block * q->ms, 0, blocks * block, 1);
            q->turn(tile[k], pitch, q->half ? wide : q->in[k] + at * bytes, bytes, blocks, block, (int)q->es);
        }
        q->tile(tile, q->n, q->inner * q->width, q->inner * q->width);
        q->turn(q->half ? wide : q->out + at * bytes, bytes, tile[0], pitch, block, blocks, (int)q->es);
        if (q->half)
            take(q, q->out + at * block * q->ms, 0, wide, 0, blocks * block, 1);
    }
}

/* Lines across memory. Rows of a tile follow each other: far apart as they lie they would meet in few sets of a cache. */
static void copied(void *ctx, int64_t begin, int64_t end, void *scratch)
{
    const job *q = ctx;
    const int64_t step = q->inner * q->ms;
    void *tile[FC_LINES_IN];
    for (int64_t g = begin; g < end; ++g) {
        const int64_t c = g % q->groups * q->width, at = (g / q->groups * q->n * q->inner + c) * q->ms;
        const int64_t width = q->inner - c < q->width ? q->inner - c : q->width, pitch = (width + FC_LINES - 1) / FC_LINES * FC_LINES;
        const size_t used = (size_t)(width * q->es), spare = (size_t)((pitch - width) * q->es);
        for (int k = 0; k < q->nin; ++k) {
            char *to = tile[k] = (char *)scratch + k * q->n * q->width * q->es;
            for (int64_t i = 0; i < q->n; ++i, to += used + spare) {
                bring(q, to, 0, q->in[k] + at + i * step, 0, width, 1);
                memset(to + used, 0, spare);
            }
        }
        q->tile(tile, q->n, pitch, pitch);
        take(q, q->out + at, step, tile[0], pitch * q->es, width, q->n);
    }
}

/* A strip of so many lines would be empty by half. */
static inline int are_odd(int64_t inner) { return inner < 2 * FC_LINES && inner % FC_LINES; }

int fc_lines_run(fc_line_fn row, fc_tile_fn tile, fc_turn_fn turn, fc_tensor *out, int nin, fc_tensor *const *in, int64_t dim)
{
    job q = {.row = row, .tile = tile, .turn = turn, .out = out->data, .nin = nin, .outer = 1, .n = 1, .inner = 1, .ms = fc_dt_size[out->dtype], .half = fc_is_half(out->dtype) ? out->dtype : 0};
    q.es = q.half ? (int64_t)sizeof(f32) : q.ms;
    const int64_t d = fc_wrap_dim(dim, out->ndim);
    for (int k = 0; k < out->ndim; ++k)
        *(k < d ? &q.outer : k == d ? &q.n : &q.inner) *= out->shape[k];
    for (int k = 0; k < nin; ++k)
        q.in[k] = in[k]->data;
    if (out->numel == 0)
        return FC_OK;
    if (q.n == 1) { /* lines of one element: all of them side by side */
        q.inner *= q.outer;
        q.outer = 1;
    }
    const int64_t block = q.n * q.inner;
    if (tile && (q.inner == 1 ? q.n <= (nin == 1 ? FC_SHORT_ROW : FEW) && q.outer >= FC_LINES / 4 : block <= SHORT_BLOCK && q.outer >= FC_LINES / 2 && are_odd(q.inner))) {
        const int64_t strips = (q.outer + FC_LINES - 1) / FC_LINES, most = 4 * FC_LINES / block + 1;
        q.width = FC_LINES * (strips < most ? strips : most);
        return fc_parallel_scratch((q.outer + q.width - 1) / q.width, 1 + FC_LINES_SERIAL / (block * q.width), (size_t)((nin + !!q.half) * block * q.width * q.es),
                                   turned, &q);
    }
    if (tile && q.inner > 1 && q.n <= (q.inner < FC_LINES / 2 ? 2 * FC_LINES : FC_FOLD_BLOCK)) {
        q.width = TILE_WIDTH;
        while (q.width > FC_LINES && (q.n * q.width * q.es > TILE_BYTES || q.inner <= q.width / 2))
            q.width /= 2;
        q.groups = (q.inner + q.width - 1) / q.width;
        return fc_parallel_scratch(q.outer * q.groups, 1 + FC_LINES_SERIAL / (q.n * q.width), (size_t)(nin * q.n * q.width * q.es), copied, &q);
    }
    const int64_t grain = 1 + FC_LINES_SERIAL / q.n;
    q.pitch = q.n + 16 + q.n % 2;
    q.groups = (q.inner + FC_LINES - 1) / FC_LINES;
    if (q.inner > 1)
        return fc_parallel_scratch(q.outer * q.groups, 1 + grain / FC_LINES, (size_t)((1 + nin + !!q.half) * FC_LINES * q.pitch * q.es), columns, &q);
    if (q.half)
        return fc_parallel_scratch(q.outer, grain, (size_t)((1 + nin) * at_once(&q) * q.n * q.es), half_rows, &q);
    if (out->numel <= FC_LINES_SERIAL)
        rows(&q, 0, q.outer);
    else
        fc_parallel(q.outer, grain, rows, &q);
    return FC_OK;
}

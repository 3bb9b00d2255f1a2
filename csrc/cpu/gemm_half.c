/* float16 and bfloat16 at the edges of the engine: float32 or pairs inside, one rounding at the end. */
#include "../core/atomic.h"
#include "../core/cast.h"
#include "../core/denormal.h"
#include "../core/status.h"
#include "../include/facula.h"
#include "gemm_blocks.h"
#include "parallel.h"

enum {
    WIDEST = 32,      /* lines of the widest panel */
    SUPER = FC_GEMM_SUPER * FC_GEMM_BLOCK,
    ROOM = 64 << 10,  /* floats of a piece, which stay in L2 */
    PIECE = 16 << 10, /* and of several products, so that threads get shares */
    STACK = 8 << 10,  /* floats that need no allocation */
    GATHERED = 512,   /* elements that lie apart are widened together */
    NEIGHBOURS = 64,  /* columns side by side that a piece should have */
    LONG = 16         /* neighbours worth a call of their own */
};
#define WORK_PER_PIECE (32 << 10)

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

/* out, dense: sizes n[0] .. n[2], the last fastest, of x with steps s */
static void widen(float *out, int dtype, const uint16_t *x, const int64_t *n, const int64_t *s)
{
    int64_t size[3] = { n[0], n[1], n[2] }, step[3] = { s[0], s[1], s[2] };
    for (int d = 0; d < 2; ++d) /* dims that follow each other are one */
        if (size[d + 1] == 1 || step[d] == size[d + 1] * step[d + 1] || size[d] == 1) {
            step[d + 1] = size[d + 1] == 1 ? step[d] : step[d + 1];
            size[d + 1] *= size[d];
            for (int e = d; e > 0; --e) {
                size[e] = size[e - 1];
                step[e] = step[e - 1];
            }
            size[0] = 1;
            step[0] = 0;
        }
    uint16_t gathered[GATHERED];
    int64_t held = 0;
    for (int64_t i = 0; i < size[0]; ++i)
        for (int64_t j = 0; j < size[1]; ++j) {
            const uint16_t *line = x + i * step[0] + j * step[1];
            if (step[2] == 1 && size[2] >= LONG) {
                fc_convert(FC_F32, out, dtype, line, size[2]);
                out += size[2];
                continue;
            }
            for (int64_t k = 0, some; k < size[2]; k += some) {
                some = least(size[2] - k, GATHERED - held);
                for (int64_t l = 0; l < some; ++l)
                    gathered[held + l] = line[(k + l) * step[2]];
                held += some;
                if (held == GATHERED) {
                    fc_convert(FC_F32, out, dtype, gathered, held);
                    out += held;
                    held = 0;
                }
            }
        }
    if (held)
        fc_convert(FC_F32, out, dtype, gathered, held);
}

void fc_gemm_pack_half(const fc_gemm_kernel *kernel, void *panels, int width, const uint16_t *x, int64_t line, int64_t step, int64_t lines,
                       int64_t depth)
{
    float wide[WIDEST * FC_GEMM_BLOCK];
    float *out = panels;
    for (int64_t l = 0; l < lines; l += width, out += width * depth) {
        const int64_t count = least(lines - l, width);
        if (line == 1) { /* along memory, whichever way that runs */
            widen(wide, FC_F16, x + l, (int64_t[]){ 1, depth, count }, (int64_t[]){ 0, step, 1 });
            kernel->pack(out, width, wide, 1, count, count, depth);
        } else {
            widen(wide, FC_F16, x + l * line, (int64_t[]){ 1, count, depth }, (int64_t[]){ 0, line, step });
            kernel->pack(out, width, wide, depth, 1, count, depth);
        }
    }
}

void fc_gemm_widen(const fc_gemm_args *g, int64_t i, int64_t m0, int64_t rows, int64_t n0, int64_t cols, float *sums)
{
    const uint16_t *c = (const uint16_t *)g->c + i * g->c_batch + m0 * g->c_row + n0 * g->c_col;
    widen(sums, g->dtype, c, (int64_t[]){ 1, rows, cols }, (int64_t[]){ 0, g->c_row, g->c_col });
}

void fc_gemm_widen_bias(const fc_gemm_args *g, int64_t n0, int64_t cols, float *bias)
{
    widen(bias, g->dtype, (const uint16_t *)g->bias + n0 * g->bias_col, (int64_t[]){ 1, 1, cols }, (int64_t[]){ 0, 0, g->bias_col });
}

void fc_gemm_narrow(const fc_gemm_args *g, int64_t i, int64_t m0, int64_t rows, int64_t n0, int64_t cols, const float *sums)
{
    uint16_t *c = (uint16_t *)g->c + i * g->c_batch + m0 * g->c_row + n0 * g->c_col;
    if (!g->bias && g->c_col == 1 && g->c_row == cols) {
        fc_convert(g->dtype, c, FC_F32, sums, rows * cols);
        return;
    }
    const float alpha = g->factors ? (float)g->factors[0] : 1, beta = g->factors ? (float)g->factors[1] : 1;
    float line[FC_GEMM_BLOCK], bias[FC_GEMM_BLOCK];
    uint16_t narrow[FC_GEMM_BLOCK];
    const int64_t chunks = (cols + FC_GEMM_BLOCK - 1) / FC_GEMM_BLOCK;
    for (int64_t t = 0; t < rows * chunks; ++t) { /* along rows, which are read and written ahead; but one bias for all of them is widened once */
        const int64_t m = g->bias_row ? t / chunks : t % rows, n = (g->bias_row ? t % chunks : t / rows) * FC_GEMM_BLOCK, count = least(cols - n, FC_GEMM_BLOCK);
        const float *x = sums + m * cols + n;
        if (g->bias) {
            const uint16_t *const from = (const uint16_t *)g->bias + i * g->bias_batch + (m0 + m) * g->bias_row + (n0 + n) * g->bias_col;
            if (g->bias_row && g->bias_col == 1)
                FC_GEMM_AHEAD(from + 2 * g->bias_row, count);
            if ((m == 0 || g->bias_row) && g->bias_col == 1)
                fc_convert(FC_F32, bias, g->dtype, from, count);
            else if (m == 0 || g->bias_row)
                widen(bias, g->dtype, from, (int64_t[]){ 1, 1, count }, (int64_t[]){ 0, 0, g->bias_col });
            if (g->factors)
                for (int64_t j = 0; j < count; ++j)
                    line[j] = alpha * x[j] + beta * bias[j];
            else
                for (int64_t j = 0; j < count; ++j)
                    line[j] = x[j] + bias[j];
            x = line;
        }
        uint16_t *z = c + m * g->c_row + n * g->c_col;
        fc_convert(g->dtype, g->c_col == 1 ? z : narrow, FC_F32, x, count);
        if (g->c_col != 1)
            for (int64_t j = 0; j < count; ++j)
                z[j * g->c_col] = narrow[j];
    }
}

/*
 * Products of which little meets little: `some` whole ones, or, of a few rows, `cols` columns of one, are a piece. It is widened (bfloat16:
 * made pairs, unless it lies so), multiplied to float32, in the same order, and rounded. Long lines go by super-blocks.
 */
typedef struct {
    const fc_gemm_args *g;
    int64_t some, cols, across, depth; /* products or columns of a piece, pieces of a product; steps that are widened at once */
    int lines;                         /* b is read as it lies */
    int bad;
} pieces;

static int in_pairs(const fc_gemm_args *g) { return g->dtype == FC_BF16; }

/* float16 whose columns run along k, against few rows. */
static int reads_lines(const fc_gemm_args *g)
{
    const fc_gemm_kernel *kernel = fc_gemm_kernel_for(FC_F16);
    return g->dtype == FC_F16 && kernel->along_f16 && g->split && g->K >= FC_GEMM_BLOCK && g->M <= kernel->along_rows && g->b_row == 1 && g->N > 1;
}
static int64_t steps_of(const fc_gemm_args *g) { return in_pairs(g) ? (g->K + 1) / 2 : g->K; }

/* One operand of a piece: `lines` lines of `depth` steps, where it lies or in out; and how it lies (batch, line, step). */
static const void *side(float *out, int64_t *lies, int pairs, const fc_gemm_halves *h, int64_t count, int64_t lines, int64_t depth)
{
    const int along_lines = fc_gemm_pairs_of_rows(h);
    const int64_t once = h->batch ? count : 1;
    if (pairs && fc_gemm_has_pairs(h)) {
        lies[0] = h->batch / 2, lies[1] = h->line / 2, lies[2] = 1;
        return h->x;
    }
    fc_gemm_halves one = *h;
    for (int64_t i = 0; pairs && i < once; ++i, one.x += h->batch)
        fc_gemm_lay_pairs(fc_gemm_kernel_for(FC_BF16), out + i * lines * depth, along_lines ? lines : depth, &one, lines, depth);
    if (!pairs && along_lines)
        widen(out, FC_F16, h->x, (int64_t[]){ once, depth, lines }, (int64_t[]){ h->batch, h->step, h->line });
    else if (!pairs)
        widen(out, FC_F16, h->x, (int64_t[]){ once, lines, depth }, (int64_t[]){ h->batch, h->line, h->step });
    lies[0] = h->batch ? lines * depth : 0;
    lies[1] = along_lines || lines == 1 ? 1 : depth;
    lies[2] = along_lines ? lines : 1;
    return out;
}

/* w: what is not of a and b, which come from left and right; room for what of them is widened. */
static int multiply(const pieces *p, fc_gemm_args *w, const fc_gemm_halves *left, const fc_gemm_halves *right, float *room)
{
    int64_t lies[3];
    if (p->lines) {
        widen(room, FC_F16, left->x, (int64_t[]){ w->batch, w->M, w->K }, (int64_t[]){ left->batch, left->line, left->step });
        w->b_halves = 1;
        w->a = room, w->a_batch = w->M * w->K, w->a_row = w->K, w->a_col = 1;
        w->b = right->x, w->b_batch = right->batch, w->b_col = right->line, w->b_row = 1;
        return !fc_gemm_thin(w);
    }
    w->a = side(room, lies, w->pairs, left, w->batch, w->M, w->K);
    w->a_batch = lies[0], w->a_row = lies[1], w->a_col = lies[2];
    w->b = side(room + w->batch * w->M * p->depth, lies, w->pairs, right, w->batch, w->N, w->K);
    w->b_batch = lies[0], w->b_col = lies[1], w->b_row = lies[2];
    return fc_gemm_shaped(w);
}

static void piece(pieces *p, int64_t i, int64_t count, int64_t n0, int64_t cols, float *room)
{
    const fc_gemm_args *g = p->g;
    const int pairs = in_pairs(g);
    const int64_t M = g->M, steps = steps_of(g);
    float *const sums = room, *const part = sums + count * M * cols, *const sides = part + (steps > SUPER ? M * cols : 0);
    for (int64_t j = 0; g->accumulate && j < count; ++j)
        fc_gemm_widen(g, i + j, 0, M, n0, cols, sums + j * M * cols);
    int64_t k = 0;
    do {
        const int64_t within = k % SUPER, depth = least(least(steps - k, p->depth), SUPER - within), at = k * (1 + pairs);
        float *const to = k < SUPER ? sums : part;
        const fc_gemm_halves left = { (const uint16_t *)g->a + i * g->a_batch + at * g->a_col, g->batch > 1 ? g->a_batch : 0, M > 1 ? g->a_row : 0, g->a_col, g->K - at };
        const fc_gemm_halves right = { (const uint16_t *)g->b + i * g->b_batch + n0 * g->b_col + at * g->b_row, g->batch > 1 ? g->b_batch : 0,
                                       cols > 1 ? g->b_col : 0, g->b_row, g->K - at }; /* strides of what there is one of keep no pairs apart */
        fc_gemm_args wide = { .dtype = pairs ? FC_BF16 : FC_F32, .pairs = pairs, .wide = pairs, .accumulate = within || (g->accumulate && !k),
                              .split = g->split, .batch = count, .M = M, .N = cols, .K = depth, .c = to, .c_batch = M * cols, .c_row = cols, .c_col = 1 };
        if (multiply(p, &wide, &left, &right, sides))
            fc_atomic_poke(&p->bad, 1);
        k += depth;
        for (int64_t j = 0; to == part && (k % SUPER == 0 || k == steps) && j < M * cols; ++j)
            sums[j] += part[j];
    } while (k < steps);
    if (!g->bias && g->c_col == 1 && g->c_row == cols && g->c_batch == M * cols)
        fc_convert(g->dtype, (uint16_t *)g->c + i * g->c_batch, FC_F32, sums, count * M * cols);
    else
        for (int64_t j = 0; j < count; ++j)
            fc_gemm_narrow(g, i + j, 0, M, n0, cols, sums + j * M * cols);
}

static void some_pieces(void *ctx, int64_t begin, int64_t end, void *room)
{
    pieces *p = ctx;
    const fc_gemm_args *g = p->g;
    const unsigned before = in_pairs(g) ? fc_flush() : 0;
    for (int64_t t = begin; t < end; ++t) {
        const int64_t i = t / p->across * p->some, n0 = t % p->across * p->cols;
        piece(p, i, least(g->batch - i, p->some), n0, least(g->N - n0, p->cols), room);
    }
    if (in_pairs(g))
        fc_unflush(before);
}

/* A dot product of float16, or of bfloat16 whose pairs lie as they are wanted, needs no room for what is widened. */
static int dot(const fc_gemm_args *g)
{
    float sum = 0;
    fc_gemm_args one = *g;
    one.wide = 1, one.c = &sum, one.bias = NULL, one.factors = NULL;
    if (in_pairs(g)) {
        const fc_gemm_halves a = { g->a, 0, 0, g->a_col, g->K }, b = { g->b, 0, 0, g->b_row, g->K };
        if (g->M * g->N > 1 || !fc_gemm_has_pairs(&a) || !fc_gemm_has_pairs(&b))
            return 0;
        one.pairs = 1, one.K /= 2;
    }
    if (g->accumulate)
        fc_gemm_widen(g, 0, 0, 1, 0, 1, &sum);
    const unsigned before = in_pairs(g) ? fc_flush() : 0;
    const int done = fc_gemm_dot(&one);
    if (done)
        fc_gemm_narrow(g, 0, 0, 1, 0, 1, &sum);
    if (in_pairs(g))
        fc_unflush(before);
    return done;
}

int fc_gemm_half_pieces(const fc_gemm_args *g, int *status)
{
    *status = FC_OK;
    if (dot(g))
        return 1;
    const int lines = reads_lines(g);
    const int64_t M = g->M, N = g->N, K = steps_of(g), depth = least(K, SUPER), threads = fc_get_num_threads();
    const int64_t share = (N + threads - 1) / threads < NEIGHBOURS ? NEIGHBOURS : (N + threads - 1) / threads; /* columns */
    const int64_t whole = (M + (lines ? 0 : N)) * depth + M * N * (1 + (K > SUPER)); /* floats */
    if (in_pairs(g) && M > FC_GEMM_FEW_ROWS && whole > PIECE / 2) /* the engine packs what is not in pairs, and need not do so twice */
        return 0;
    if (g->pack_a || g->pack_b || g->c_at || g->a_at || g->b_at || g->a_packed || (whole > ROOM && M > FC_GEMM_FEW_ROWS))
        return 0;
    pieces p = { .g = g, .some = 1, .cols = N, .across = 1, .depth = depth, .lines = lines };
    if (lines) {
        p.cols = least(N, least((ROOM - M * depth) / (2 * M), share));
        p.across = (N + p.cols - 1) / p.cols;
    } else if (whole > ROOM && g->b_col == 1 && g->b_row != 1) { /* columns side by side: fewer steps at a time, of as many as each thread has */
        p.cols = least(N, least((ROOM - M * FC_GEMM_BLOCK) / (FC_GEMM_BLOCK + 2 * M), share));
        p.across = (N + p.cols - 1) / p.cols;
        const int64_t blocks = (ROOM - 2 * M * p.cols) / (M + p.cols) / FC_GEMM_BLOCK;
        p.depth = least(depth, blocks * FC_GEMM_BLOCK);
    } else if (whole > ROOM) { /* a few rows: at least seven columns */
        p.cols = (ROOM - M * depth) / (depth + 2 * M);
        p.across = (N + p.cols - 1) / p.cols;
    } else if (g->batch < threads && whole > PIECE && M <= FC_GEMM_FEW_ROWS) { /* a share of the columns for each thread */
        p.cols = least(N, share);
        p.across = (N + p.cols - 1) / p.cols;
    } else if (K <= SUPER) {
        const int64_t fit = PIECE / (whole + 1);
        p.some = fit < 1 ? 1 : least(g->batch, fit);
    }
    const int64_t floats = p.some * (M * p.cols * (1 + (K > SUPER)) + (M + (lines ? 0 : p.cols)) * p.depth), count = (g->batch + p.some - 1) / p.some * p.across;
    if (floats <= STACK) {
        float room[STACK];
        if (count == 1) {
            some_pieces(&p, 0, 1, room);
            *status = p.bad ? fc_fail(FC_MEMORY, 0, 0, 0, 0) : FC_OK;
            return 1;
        }
    }
    *status = fc_parallel_scratch(count, 1 + WORK_PER_PIECE / (p.some * (M + p.cols) * p.depth * (1 + in_pairs(g)) + 1), (size_t)floats * sizeof(float), some_pieces, &p);
    if (!*status && p.bad)
        *status = fc_fail(FC_MEMORY, floats * (int64_t)sizeof(float), 0, 0, 0);
    return 1;
}

/*
 * Softmax and its logarithm of short rows, sixteen at a time.
 *
 * A row of twenty fills one register and leaves four elements over, and its extreme and its sum are chains of steps that wait for each
 * other. Turned, a register holds an element of every row, and nothing is left over. What is computed is what softmax.c and log_softmax.c
 * compute, in the order of fold_rows.h: the lanes of a sum are registers here.
 */
#ifndef T
#include "../../core/copy_nest.h"
#include "../../core/levels.h"
#include "../../core/mathfn.h"
#include "../fold_rows.h"
#include "lines.h"

/* Unrolled before it is vectorised, the loop would be scalars. */
#define FOR_ROWS _Pragma("GCC unroll 1") for (int r = 0; r < ROWS; ++r)

enum { SHORT = 128, ROWS = 16 }; /* elements of a short row; rows that are worked on together */
typedef struct { void *out; const void *x; int64_t rows, n; int logarithm; } job;

#define T f32
#include "softmax_rows_simd.c"
#define T f64
#include "softmax_rows_simd.c"

int FC_ISA_NAME(fc_softmax_short)(fc_call *c, int logarithm)
{
    const fc_tensor *x = c->t[0];
    const int64_t n = x->ndim ? x->shape[x->ndim - 1] : 1;
    if (!x->ndim || fc_wrap_dim(c->i[0], x->ndim) != x->ndim - 1 || n > SHORT || !x->numel)
        return 0;
    job q = {c->out[0]->data, x->data, x->numel / n, n, logarithm};
    fc_parallel((q.rows - 1) / ROWS + 1, 1 + FC_LINES_SERIAL / (n * ROWS), x->dtype == FC_F32 ? short_rows_f32 : short_rows_f64, &q);
    return 1;
}

#else
#include "../typed.h"

static void N(short_rows)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t n = q->n, size = sizeof(T), row = n * size;
    T x[SHORT][ROWS] = {0}, peak[ROWS], lane[FC_FOLD_LANES][ROWS];
    for (int64_t g = begin; g < end; ++g) {
        const int64_t rows = q->rows - g * ROWS < ROWS ? q->rows - g * ROWS : ROWS;
        FC_ISA_NAME(fc_turn)((char *)x, sizeof *x, (const char *)q->x + g * ROWS * row, row, rows, n, (int)size);
        FOR_ROWS
            peak[r] = -INFINITY;
        for (int64_t i = 0; i < n; ++i)
            FOR_ROWS
                peak[r] = M(greater)(peak[r], x[i][r]);
        memset(lane, 0, sizeof lane);
        for (int64_t i = 0; i < n; ++i)
            FOR_ROWS {
                const T d = x[i][r] - peak[r], e = M(exp)(d);
                x[i][r] = q->logarithm ? d : e;
                lane[i % FC_FOLD_LANES][r] += e;
            }
        for (int half = FC_FOLD_LANES / 2; half; half /= 2)
            for (int j = 0; j < half; ++j)
                FOR_ROWS
                    lane[j][r] += lane[j + half][r];
        if (q->logarithm)
            FOR_ROWS
                lane[0][r] = M(log)(lane[0][r]);
        for (int64_t i = 0; i < n; ++i)
            FOR_ROWS
                x[i][r] = q->logarithm ? x[i][r] - lane[0][r] : x[i][r] / lane[0][r];
        FC_ISA_NAME(fc_turn)((char *)q->out + g * ROWS * row, row, (const char *)x, sizeof *x, n, rows, (int)size);
    }
}

#include "../typed_done.h"
#endif

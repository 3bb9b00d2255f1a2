/*
 * Softmax and its logarithm of short rows, sixteen at a time, once for each T: no guard, on purpose.
 *
 * A row of twenty fills one register and leaves four elements over, and its extreme and its sum are chains of steps that wait for each
 * other. Turned, a register holds an element of every row, and nothing is left over. What is computed is what softmax.c and log_softmax.c
 * compute, in the order of fold_rows.h: the lanes of a sum are registers here.
 */
static void N(short_rows)(void *ctx, int64_t begin, int64_t end)
{
    const short_job *q = ctx;
    const int64_t n = q->n;
    T x[SHORT][WIDTH], e[SHORT][WIDTH], peak[WIDTH], lane[FC_FOLD_LANES][WIDTH];
    memset(x, 0, sizeof x);
    for (int64_t g = begin; g < end; ++g) {
        const int64_t rows = q->rows - g * WIDTH < WIDTH ? q->rows - g * WIDTH : WIDTH;
        const T *from = (const T *)q->x + g * WIDTH * n;
        T *to = (T *)q->out + g * WIDTH * n;
        for (int64_t r = 0; r < rows; ++r)
            for (int64_t i = 0; i < n; ++i)
                x[i][r] = from[r * n + i];
        for (int r = 0; r < WIDTH; ++r)
            peak[r] = -INFINITY;
        for (int64_t i = 0; i < n; ++i)
            for (int r = 0; r < WIDTH; ++r)
                peak[r] = M(greater)(peak[r], x[i][r]);
        memset(lane, 0, sizeof lane);
        for (int64_t i = 0; i < n; ++i)
            for (int r = 0; r < WIDTH; ++r) {
                e[i][r] = M(exp)(x[i][r] - peak[r]);
                lane[i % FC_FOLD_LANES][r] += e[i][r];
            }
        for (int half = FC_FOLD_LANES / 2; half; half /= 2)
            for (int j = 0; j < half; ++j)
                for (int r = 0; r < WIDTH; ++r)
                    lane[j][r] += lane[j + half][r];
        if (q->logarithm) {
            for (int r = 0; r < WIDTH; ++r)
                lane[0][r] = M(log)(lane[0][r]);
            for (int64_t i = 0; i < n; ++i)
                for (int r = 0; r < WIDTH; ++r)
                    e[i][r] = (x[i][r] - peak[r]) - lane[0][r];
        } else {
            for (int64_t i = 0; i < n; ++i)
                for (int r = 0; r < WIDTH; ++r)
                    e[i][r] /= lane[0][r];
        }
        for (int64_t r = 0; r < rows; ++r)
            for (int64_t i = 0; i < n; ++i)
                to[r * n + i] = e[i][r];
    }
}

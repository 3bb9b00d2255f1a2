/*
 * Included by grid_sample.c once per type: images of two dims, linear or nearest taps. POINTS places at a time go through every step side
 * by side; the formulas are those of taps_at, and so are their orders. Taps outside have index 0, weight 0 and read as 0. No guard.
 */
typedef struct {
    int taps, outside;             /* 4 or 1; whether any tap of any place is */
    int32_t at[4][POINTS], in[4][POINTS];
    T w[4][POINTS], dw[2][4][POINTS];
} N(block);

/* Taps along dim d: index of the first, and how far the place is past it. */
static inline void N(block_along)(const job *q, int d, const T *grid, T *low, T *past, T *slope)
{
    const T size = (T)q->size[d];
    T place[POINTS];
    for (int p = 0; p < POINTS; ++p) {
        const T u = grid[2 * p + 1 - d];
        place[p] = q->align ? (u + 1) / 2 * (size - 1) : ((u + 1) * size - 1) / 2;
        slope[p] = q->align ? (size - 1) / 2 : size / 2;
    }
    if (q->padding == REFLECTION)
        for (int p = 0; p < POINTS; ++p) place[p] = N(inside)(q, REFLECTION, d, place[p], slope + p);
    else if (q->padding == BORDER)
        for (int p = 0; p < POINTS; ++p) place[p] = N(inside)(q, BORDER, d, place[p], slope + p);
    for (int p = 0; p < POINTS; ++p) {
        low[p] = q->mode == NEAREST ? M(round)(place[p]) : M(floor)(place[p]);
        past[p] = place[p] - low[p];
    }
}

static void N(block_at)(const job *q, int64_t n, int64_t p0, int64_t points, int slopes, N(block) *s)
{
    T grid[2 * POINTS], low[2][POINTS], side[2][2][POINTS], slope[2][POINTS]; /* side: weights along a dim */
    const T *from = (const T *)q->grid + (n * q->places + p0) * 2;
    memcpy(grid, from, (size_t)points * 2 * sizeof(T));
    for (int64_t i = 2 * points; i < 2 * POINTS; ++i) grid[i] = 0;
    for (int d = 0; d < 2; ++d) {
        N(block_along)(q, d, grid, low[d], side[d][1], slope[d]);
        for (int p = 0; p < POINTS; ++p) side[d][0][p] = 1 - side[d][1][p];
    }
    const T last0 = (T)(q->size[0] - 1), last1 = (T)(q->size[1] - 1);
    const int32_t width = (int32_t)q->size[1];
    int32_t outside = 0;
    s->taps = q->mode == NEAREST ? 1 : 4;
    for (int k = 0; k < s->taps; ++k) {
        const T a = (T)(k >> 1), b = (T)(k & 1);
        for (int p = 0; p < POINTS; ++p) {
            const T i = low[0][p] + a, j = low[1][p] + b;
            const int in = (i >= 0) & (i <= last0) & (j >= 0) & (j <= last1);
            s->in[k][p] = in;
            s->at[k][p] = (int32_t)(in ? i : 0) * width + (int32_t)(in ? j : 0);
            outside |= p < points && !in;
        }
        if (s->taps == 1) {
            for (int p = 0; p < POINTS; ++p) s->w[0][p] = s->in[0][p] ? 1 : 0;
            continue;
        }
        const T *w0 = side[0][k >> 1], *w1 = side[1][k & 1], sign0 = k >> 1 ? 1 : -1, sign1 = k & 1 ? 1 : -1;
        for (int p = 0; p < POINTS; ++p) s->w[k][p] = s->in[k][p] ? w0[p] * w1[p] : 0;
        for (int p = 0; slopes && p < POINTS; ++p) {
            s->dw[0][k][p] = sign0 * slope[0][p] * w1[p];
            s->dw[1][k][p] = w0[p] * (sign1 * slope[1][p]);
        }
    }
    s->outside = outside;
}

/* Whether an image is for these loops. */
static inline int N(plane)(const job *q) { return q->dims == 2 && q->mode != CUBIC && q->plane < INT32_MAX; }

static void N(plane_values)(const job *q, int64_t n, int64_t p0, int64_t points)
{
    N(block) s;
    N(block_at)(q, n, p0, points, 0, &s);
    for (int64_t c = 0; c < q->channels; ++c) {
        const T *x = (const T *)q->x + (n * q->channels + c) * q->plane;
        T sum[POINTS];
        for (int k = 0; k < s.taps; ++k)
            for (int p = 0; p < POINTS; ++p) {
                const T v = x[s.at[k][p]];
                sum[p] = M(fma)(s.w[k][p], s.in[k][p] ? v : 0, k ? sum[p] : 0);
            }
        memcpy((T *)q->out + (n * q->channels + c) * q->places + p0, sum, (size_t)points * sizeof(T));
    }
}

static void N(plane_image)(const job *q, int64_t n, int64_t p0, int64_t points, T *dx, const T *g, int64_t channels)
{
    N(block) s;
    N(block_at)(q, n, p0, points, 0, &s);
    for (int64_t c = 0; c < channels; ++c, dx += q->plane, g += q->places)
        for (int p = 0; p < points; ++p)
            for (int k = 0; k < s.taps; ++k) {
                T *to = dx + s.at[k][p];
                if (!s.outside || s.in[k][p])
                    *to = M(fma)(s.w[k][p], g[p], *to);
            }
}

static void N(plane_places)(const job *q, int64_t n, int64_t p0, int64_t points)
{
    T *out = (T *)q->dgrid + (n * q->places + p0) * 2;
    if (q->mode == NEAREST) { /* steps have no slope */
        memset(out, 0, (size_t)points * 2 * sizeof(T));
        return;
    }
    N(block) s;
    T dot[4][POINTS], g[POINTS];
    N(block_at)(q, n, p0, points, 1, &s);
    memset(dot, 0, sizeof dot);
    memset(g, 0, sizeof g);
    for (int64_t c = 0; c < q->channels; ++c) {
        const T *x = (const T *)q->x + (n * q->channels + c) * q->plane;
        memcpy(g, (const T *)q->g + (n * q->channels + c) * q->places + p0, (size_t)points * sizeof(T));
        for (int k = 0; k < 4; ++k)
            for (int p = 0; p < POINTS; ++p) dot[k][p] = M(fma)(x[s.at[k][p]], g[p], dot[k][p]);
    }
    for (int p = 0; p < points; ++p)
        for (int d = 0; d < 2; ++d) {
            T sum = 0;
            for (int k = 0; k < 4; ++k) sum = M(fma)(s.dw[d][k][p], s.in[k][p] ? dot[k][p] : 0, sum);
            out[2 * p + 1 - d] = sum;
        }
}

/*
 * Included by grid_sample.c once per type. POINTS places at a time go through every step side by side; the formulas are those of taps_at,
 * and so are their orders. Taps outside have index 0 and read as 0; in a plane they keep their weights, for NaN among these tells of a
 * place that is nowhere. No guard.
 */
typedef struct {
    int taps, outside;             /* whether any tap of any place is */
    int32_t at[TAPS][POINTS], in[TAPS][POINTS];
    T w[TAPS][POINTS], dw[3][TAPS][POINTS];
} N(block);

/* The taps along one dim: index (0: outside), whether inside, weight and the weight's derivative. */
typedef struct { int32_t index[4][POINTS], in[4][POINTS]; T w[4][POINTS], dw[4][POINTS]; } N(dim);

static void N(block_along)(const job *q, int d, const T *grid, N(dim) *s)
{
    const T size = (T)q->size[d], last = size - 1;
    const int dims = q->dims, taps = q->mode == LINEAR ? 2 : q->mode == NEAREST ? 1 : 4;
    T place[POINTS], slope[POINTS], low[POINTS], past[POINTS];
    for (int p = 0; p < POINTS; ++p) {
        const T u = grid[dims * p + dims - 1 - d];
        place[p] = N(place_of)(q, u, size);
        slope[p] = q->align ? (size - 1) / 2 : size / 2;
    }
    if (q->mode == CUBIC)
        ;
    else if (q->padding == REFLECTION)
        for (int p = 0; p < POINTS; ++p) place[p] = N(inside)(q, REFLECTION, d, place[p], slope + p);
    else if (q->padding == BORDER)
        for (int p = 0; p < POINTS; ++p) place[p] = N(inside)(q, BORDER, d, place[p], slope + p);
    for (int p = 0; p < POINTS; ++p) {
        low[p] = q->mode == NEAREST ? M(round)(place[p]) : M(floor)(place[p]);
        past[p] = place[p] - low[p];
    }
    if (q->mode == CUBIC)
        for (int j = 0; j < 4; ++j)
            for (int p = 0; p < POINTS; ++p) {
                T dw;
                N(keys)(j, past[p], &s->w[j][p], &dw);
                s->dw[j][p] = dw * slope[p];
            }
    else if (q->mode == LINEAR)
        for (int p = 0; p < POINTS; ++p) {
            s->w[0][p] = 1 - past[p], s->w[1][p] = past[p];
            s->dw[0][p] = -slope[p], s->dw[1][p] = slope[p];
        }
    else
        for (int p = 0; p < POINTS; ++p) s->w[0][p] = 1, s->dw[0][p] = 0;
    for (int j = 0; j < taps; ++j) {
        const T by = (T)(q->mode == CUBIC ? j - 1 : j);
        for (int p = 0; p < POINTS; ++p) place[p] = low[p] + by;
        if (q->mode == CUBIC && q->padding != ZEROS)
            for (int p = 0; p < POINTS; ++p) {
                T unused = 1;
                place[p] = M(floor)(N(inside)(q, q->padding, d, place[p], &unused));
            }
        for (int p = 0; p < POINTS; ++p) {
            const int in = (place[p] >= 0) & (place[p] <= last);
            s->in[j][p] = in;
            s->index[j][p] = (int32_t)(in ? place[p] : 0);
        }
    }
}

static void N(block_at)(const job *q, int64_t n, int64_t p0, int64_t points, int slopes, N(block) *s)
{
    T grid[3 * POINTS];
    N(dim) along[3];
    const int dims = q->dims, taps = q->mode == LINEAR ? 2 : q->mode == NEAREST ? 1 : 4;
    memcpy(grid, (const T *)q->grid + (n * q->places + p0) * dims, (size_t)(points * dims) * sizeof(T));
    for (int64_t i = dims * points; i < dims * POINTS; ++i) grid[i] = 0;
    for (int d = 0; d < dims; ++d) N(block_along)(q, d, grid, along + d);
    int32_t outside = 0;
    s->taps = 0;
    for (int a = 0; a < taps; ++a)
        for (int b = 0; b < taps; ++b)
            for (int c = 0; c < (dims == 3 ? taps : 1); ++c) {
                const int k = s->taps++, j[3] = { a, b, c };
                int32_t *at = s->at[k], *in = s->in[k];
                T *w = s->w[k];
                memcpy(at, along[0].index[a], sizeof s->at[k]);
                memcpy(in, along[0].in[a], sizeof s->in[k]);
                memcpy(w, along[0].w[a], sizeof s->w[k]);
                for (int d = 1; d < dims; ++d) {
                    const int32_t size = (int32_t)q->size[d], *index = along[d].index[j[d]], *here = along[d].in[j[d]];
                    const T *more = along[d].w[j[d]];
                    for (int p = 0; p < POINTS; ++p) {
                        at[p] = at[p] * size + index[p];
                        in[p] &= here[p];
                        w[p] *= more[p];
                    }
                }
                for (int p = 0; p < POINTS; ++p) {
                    outside |= p < points && !in[p];
                    at[p] = in[p] ? at[p] : 0;
                    w[p] = in[p] || dims == 2 ? w[p] : 0;
                }
                for (int e = 0; slopes && e < dims; ++e) {
                    T *dw = s->dw[e][k];
                    memcpy(dw, e ? along[0].w[a] : along[0].dw[a], sizeof s->dw[e][k]);
                    for (int d = 1; d < dims; ++d) {
                        const T *more = e == d ? along[d].dw[j[d]] : along[d].w[j[d]];
                        for (int p = 0; p < POINTS; ++p) dw[p] *= more[p];
                    }
                }
            }
    s->outside = outside;
}

/* Whether an image is for these loops. */
static inline int N(plane)(const job *q) { return q->plane < INT32_MAX; }

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
        for (int p = 0; p < points; ++p) {
            if (s.taps == 1) { /* of weight 1 */
                if (!s.outside || s.in[0][p]) dx[s.at[0][p]] += g[p];
                continue;
            }
            for (int k = 0; k < s.taps; ++k) {
                T *to = dx + s.at[k][p];
                if (!s.outside || s.in[k][p])
                    *to = M(fma)(s.w[k][p], g[p], *to);
            }
        }
}

static void N(plane_places)(const job *q, int64_t n, int64_t p0, int64_t points)
{
    const int dims = q->dims;
    T *out = (T *)q->dgrid + (n * q->places + p0) * dims;
    if (q->mode == NEAREST) { /* steps have no slope */
        memset(out, 0, (size_t)(points * dims) * sizeof(T));
        return;
    }
    N(block) s;
    T dot[TAPS][POINTS], g[POINTS];
    N(block_at)(q, n, p0, points, 1, &s);
    memset(dot, 0, (size_t)s.taps * sizeof dot[0]);
    memset(g, 0, sizeof g);
    for (int64_t c = 0; c < q->channels; ++c) {
        const T *x = (const T *)q->x + (n * q->channels + c) * q->plane;
        memcpy(g, (const T *)q->g + (n * q->channels + c) * q->places + p0, (size_t)points * sizeof(T));
        for (int k = 0; k < s.taps; ++k)
            for (int p = 0; p < POINTS; ++p) dot[k][p] = M(fma)(x[s.at[k][p]], g[p], dot[k][p]);
    }
    for (int d = 0; d < dims; ++d) {
        T sum[POINTS] = { 0 };
        for (int k = 0; k < s.taps; ++k)
            for (int p = 0; p < POINTS; ++p) sum[p] = M(fma)(s.dw[d][k][p], s.in[k][p] ? dot[k][p] : 0, sum[p]);
        for (int p = 0; p < points; ++p) out[dims * p + dims - 1 - d] = sum[p];
    }
}

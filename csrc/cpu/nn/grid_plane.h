/*
 * Included by grid_sample.c once per type. POINTS places at a time go through every step side by side; the formulas are those of taps_at,
 * and so are their orders. Taps outside have index 0 and read as 0; in a plane they keep their weights, for NaN among these tells of a
 * place that is nowhere. What is the same for all places is asked outside the loops, which gcc does not do by itself. No guard.
 */
typedef struct {
    int taps, outside;             /* whether any tap of any place is */
    int32_t at[TAPS][POINTS], in[TAPS][POINTS];
    T w[TAPS][POINTS], dw[3][TAPS][POINTS];
} N(block);

/* The taps along one dim: index (0: outside), whether inside, weight and the weight's derivative. */
typedef struct { int32_t index[4][POINTS], in[4][POINTS]; T w[4][POINTS], dw[4][POINTS]; } N(dim);

#define EACH for (int p = 0; p < POINTS; ++p)

/* place_of, for all of them; place[p] comes as the coordinate. */
static inline void N(places_of)(const job *q, T *place, T size)
{
    const T half = size / 2, last = size - 1;
    if (q->align)
        EACH place[p] = (place[p] + 1) / 2 * last;
    else if (q->dims == 2)
        EACH place[p] = M(fma)(place[p] + 1, half, K(-0.5));
    else
        EACH place[p] = ((place[p] + 1) * size - 1) / 2;
}

/* inside, for all of them */
static void N(all_inside)(const job *q, int d, T *restrict place, T *restrict slope)
{
    const N(bounds) b = N(bounds_of)(q, d);
#define MOVE(padding)                                              \
    EACH {                                                         \
        T by = slope[p];                                           \
        place[p] = N(inside)(b, padding, place[p], &by);           \
        slope[p] = by;                                             \
    }
    if (q->padding == REFLECTION)
        MOVE(REFLECTION)
    else
        MOVE(BORDER)
#undef MOVE
}

static void N(block_along)(const job *q, int d, const T *grid, int slopes, N(dim) *s)
{
    const T size = (T)q->size[d], last = size - 1, along = q->align ? last / 2 : size / 2;
    const int taps = q->mode == LINEAR ? 2 : q->mode == NEAREST ? 1 : 4, x = q->dims - 1 - d;
    T place[POINTS], slope[POINTS], low[POINTS], past[POINTS];
    EACH place[p] = grid[q->dims * p + x];
    N(places_of)(q, place, size);
    EACH slope[p] = along;
    if (q->mode != CUBIC && q->padding != ZEROS)
        N(all_inside)(q, d, place, slope);
    if (q->mode == NEAREST)
        EACH low[p] = M(round)(place[p]), s->w[0][p] = 1;
    else
        EACH low[p] = M(floor)(place[p]), past[p] = place[p] - low[p];
#define KEYS(j)                                       \
    EACH {                                            \
        T w, dw;                                      \
        N(keys)(j, past[p], &w, &dw);                 \
        s->w[j][p] = w, s->dw[j][p] = dw * slope[p];  \
    }
    if (q->mode == CUBIC) {
        KEYS(0) KEYS(1) KEYS(2) KEYS(3)
#undef KEYS
    } else if (q->mode == LINEAR) {
        EACH s->w[0][p] = 1 - past[p], s->w[1][p] = past[p];
        if (slopes)
            EACH s->dw[0][p] = -slope[p], s->dw[1][p] = slope[p];
    }
    for (int j = 0; j < taps; ++j) {
        const T by = (T)(q->mode == CUBIC ? j - 1 : j);
        EACH place[p] = low[p] + by;
        if (q->mode == CUBIC && q->padding != ZEROS) {
            N(all_inside)(q, d, place, slope);
            EACH place[p] = M(floor)(place[p]);
        }
        EACH {
            const int in = (place[p] >= 0) & (place[p] <= last);
            s->in[j][p] = in;
            s->index[j][p] = (int32_t)(in ? place[p] : 0);
        }
    }
}

/* The whole of block_at for linear taps or the nearest in a plane, in one loop. */
static inline __attribute__((always_inline)) void N(in_one)(const job *q, const T *restrict grid, const int mode, const int padding, const int slopes, N(block) *restrict s)
{
    const T rows = (T)q->size[0], cols = (T)q->size[1], shift = q->align ? 0 : K(-0.5);
    const T last_row = rows - 1, last_col = cols - 1, by_row = (q->align ? last_row : rows) / 2, by_col = (q->align ? last_col : cols) / 2;
    const int32_t wide = (int32_t)q->size[1];
    const N(bounds) down = N(bounds_of)(q, 0), across = N(bounds_of)(q, 1);
    int32_t outside = 0;
    EACH {
        T dy = by_row, dx = by_col, y = M(fma)(grid[2 * p + 1] + 1, by_row, shift), x = M(fma)(grid[2 * p] + 1, by_col, shift);
        if (padding != ZEROS) {
            y = N(inside)(down, padding, y, &dy);
            x = N(inside)(across, padding, x, &dx);
        }
        const T top = mode == NEAREST ? M(round)(y) : M(floor)(y), left = mode == NEAREST ? M(round)(x) : M(floor)(x);
        const int32_t top_in = (top >= 0) & (top <= last_row), left_in = (left >= 0) & (left <= last_col);
        const int32_t row = (int32_t)(top_in ? top : 0) * wide, col = (int32_t)(left_in ? left : 0), in = top_in & left_in;
        s->in[0][p] = in;
        s->at[0][p] = (row + col) & -in;
        outside |= !in;
        if (mode == NEAREST) {
            s->w[0][p] = 1;
            continue;
        }
        const T under = top + 1, right = left + 1;
        const int32_t under_in = (under >= 0) & (under <= last_row), right_in = (right >= 0) & (right <= last_col);
        const int32_t row_1 = (int32_t)(under_in ? under : 0) * wide, col_1 = (int32_t)(right_in ? right : 0);
        const int32_t in_1 = top_in & right_in, in_2 = under_in & left_in, in_3 = under_in & right_in;
        s->in[1][p] = in_1;
        s->in[2][p] = in_2;
        s->in[3][p] = in_3;
        s->at[1][p] = (row + col_1) & -in_1;
        s->at[2][p] = (row_1 + col) & -in_2;
        s->at[3][p] = (row_1 + col_1) & -in_3;
        outside |= !(in_1 & in_2 & in_3);
        const T v = y - top, u = x - left, above = 1 - v, before = 1 - u;
        s->w[0][p] = above * before;
        s->w[1][p] = above * u;
        s->w[2][p] = v * before;
        s->w[3][p] = v * u;
        if (slopes) {
            s->dw[0][0][p] = -dy * before;
            s->dw[0][1][p] = -dy * u;
            s->dw[0][2][p] = dy * before;
            s->dw[0][3][p] = dy * u;
            s->dw[1][0][p] = above * -dx;
            s->dw[1][1][p] = above * dx;
            s->dw[1][2][p] = v * -dx;
            s->dw[1][3][p] = v * dx;
        }
    }
    s->outside = outside;
    s->taps = mode == NEAREST ? 1 : 4;
}

static void N(in_one_of)(const job *q, const T *grid, int slopes, N(block) *s)
{
#define FOR(mode, slopes)                                                                         \
    if (q->padding == ZEROS) N(in_one)(q, grid, mode, ZEROS, slopes, s);                          \
    else if (q->padding == BORDER) N(in_one)(q, grid, mode, BORDER, slopes, s);                   \
    else N(in_one)(q, grid, mode, REFLECTION, slopes, s)
    if (q->mode == NEAREST) {
        FOR(NEAREST, 0);
    } else if (slopes) {
        FOR(LINEAR, 1);
    } else {
        FOR(LINEAR, 0);
    }
#undef FOR
}

static void N(block_at)(const job *q, int64_t n, int64_t p0, int64_t points, int slopes, N(block) *s)
{
    T grid[3 * POINTS];
    N(dim) along[3];
    const int dims = q->dims, taps = q->mode == LINEAR ? 2 : q->mode == NEAREST ? 1 : 4;
    memcpy(grid, (const T *)q->grid + (n * q->places + p0) * dims, (size_t)(points * dims) * sizeof(T));
    for (int64_t i = dims * points; i < dims * POINTS; ++i) grid[i] = grid[i - dims]; /* no place of its own */
    if (dims == 2 && q->mode != CUBIC) {
        N(in_one_of)(q, grid, slopes, s);
        return;
    }
    for (int d = 0; d < dims; ++d) N(block_along)(q, d, grid, slopes, along + d);
    int32_t outside = 0;
    s->taps = 0;
    for (int a = 0; a < taps; ++a)
        for (int b = 0; b < taps; ++b)
            for (int c = 0; c < (dims == 3 ? taps : 1); ++c) {
                const int k = s->taps++, j[3] = { a, b, c };
                int32_t *restrict at = s->at[k], *restrict in = s->in[k];
                T *restrict w = s->w[k];
                const int32_t *restrict row = along[0].index[a], *restrict col = along[1].index[b], *restrict row_in = along[0].in[a], *restrict col_in = along[1].in[b];
                const int32_t cols = (int32_t)q->size[1];
                const T *restrict row_w = along[0].w[a], *restrict col_w = along[1].w[b];
                EACH {
                    const int32_t here = row_in[p] & col_in[p];
                    in[p] = here;
                    at[p] = (row[p] * cols + col[p]) & -here;
                    outside |= !here;
                    w[p] = row_w[p] * col_w[p];
                }
                if (dims == 3) {
                    const int32_t *restrict deep = along[2].index[c], *restrict deep_in = along[2].in[c], depth = (int32_t)q->size[2];
                    const T *restrict deep_w = along[2].w[c];
                    EACH {
                        const int32_t here = in[p] & deep_in[p];
                        in[p] = here;
                        at[p] = (at[p] * depth + deep[p]) & -here;
                        outside |= !here;
                        w[p] = here ? w[p] * deep_w[p] : 0;
                    }
                }
                for (int e = 0; slopes && e < dims; ++e) {
                    T *restrict dw = s->dw[e][k];
                    const T *restrict first = e == 0 ? along[0].dw[a] : along[0].w[a], *restrict second = e == 1 ? along[1].dw[b] : along[1].w[b];
                    EACH dw[p] = first[p] * second[p];
                    if (dims == 3) {
                        const T *restrict third = e == 2 ? along[2].dw[j[2]] : along[2].w[j[2]];
                        EACH dw[p] *= third[p];
                    }
                }
            }
    s->outside = outside;
}

/* Whether an image is for these loops. Without AVX2 its places go one by one. */
static inline int N(plane)(const job *q) { return FC_ISA_NUM > 2 && q->plane < INT32_MAX; }

static void N(plane_values)(const job *q, int64_t n, int64_t p0, int64_t points)
{
    N(block) s;
    N(block_at)(q, n, p0, points, 0, &s);
    for (int64_t c = 0; c < q->channels; ++c) {
        const T *restrict x = (const T *)q->x + (n * q->channels + c) * q->plane;
        T sum[POINTS] = { 0 };
        for (int k = 0; k < s.taps; ++k) {
            const int32_t *restrict at = s.at[k], *restrict in = s.in[k];
            const T *restrict w = s.w[k];
            if (s.outside)
                EACH {
                    const T v = x[at[p]];
                    sum[p] = M(fma)(w[p], in[p] ? v : 0, sum[p]);
                }
            else
                EACH sum[p] = M(fma)(w[p], x[at[p]], sum[p]);
        }
        memcpy((T *)q->out + (n * q->channels + c) * q->places + p0, sum, (size_t)points * sizeof(T));
    }
}

static void N(plane_image)(const job *q, int64_t n, int64_t p0, int64_t points, T *dx, const T *g, int64_t channels)
{
    N(block) s;
    N(block_at)(q, n, p0, points, 0, &s);
    T nowhere[TAPS] = { 0 }; /* what goes outside; each tap its own, so that no sum waits for the one before */
    for (int64_t c = 0; c < channels; ++c, dx += q->plane, g += q->places)
        for (int p = 0; p < points; ++p)
            if (q->mode == NEAREST) /* of weight 1 */
                dx[s.at[0][p]] += s.in[0][p] ? g[p] : 0;
            else
                for (int k = 0; k < s.taps; ++k) {
                    T *const to[2] = { nowhere + k, dx + s.at[k][p] };
                    T *const sum = to[s.in[k][p]];
                    *sum = M(fma)(s.w[k][p], g[p], *sum);
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
        const T *restrict x = (const T *)q->x + (n * q->channels + c) * q->plane;
        memcpy(g, (const T *)q->g + (n * q->channels + c) * q->places + p0, (size_t)points * sizeof(T));
        for (int k = 0; k < s.taps; ++k) {
            const int32_t *restrict at = s.at[k];
            T *restrict dot_k = dot[k];
            EACH dot_k[p] = M(fma)(x[at[p]], g[p], dot_k[p]);
        }
    }
    for (int d = 0; d < dims; ++d) {
        T sum[POINTS] = { 0 };
        for (int k = 0; k < s.taps; ++k) {
            const T *restrict dw = s.dw[d][k], *restrict dot_k = dot[k];
            const int32_t *restrict in = s.in[k];
            EACH sum[p] = M(fma)(dw[p], in[p] ? dot_k[p] : 0, sum[p]);
        }
        for (int p = 0; p < points; ++p) out[dims * p + dims - 1 - d] = sum[p];
    }
}
#undef EACH

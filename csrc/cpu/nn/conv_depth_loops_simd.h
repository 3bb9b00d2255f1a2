/* Included by conv_depth_simd.c once per type, which defines R, MASK, FMA and T(): no guard. */

#define WIDTH ((int)(VECTOR_BYTES / sizeof(R)))
#define PER_ROW ((int)(FC_DEPTH_LANES / WIDTH)) /* vectors that make the lanes of a sum */
typedef R T(V) __attribute__((vector_size(VECTOR_BYTES)));
typedef R T(VM) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(R)), may_alias));
typedef MASK T(VI) __attribute__((vector_size(VECTOR_BYTES)));

/* `vecs` vectors of positions: each element one chain over the taps. */
INLINE void T(positions)(const int vecs, R *out, const R *x, const int64_t *at, const R *weight, const int64_t *place, int64_t taps)
{
    T(V) sum[8];
#pragma GCC unroll 8
    for (int j = 0; j < vecs; ++j) sum[j] = (T(V)){ 0 };
#pragma GCC unroll 1
    for (int64_t t = 0; t < taps; ++t) {
        const T(V) w = weight[place ? place[t] : t] - (T(V)){ 0 };
        const R *x_t = x + at[t];
#pragma GCC unroll 8
        for (int j = 0; j < vecs; ++j) sum[j] = FMA(w, *(const T(VM) *)(x_t + j * WIDTH), sum[j]);
    }
#pragma GCC unroll 8
    for (int j = 0; j < vecs; ++j) *(T(VM) *)(out + j * WIDTH) = sum[j];
}

static void T(flat)(void *out, const void *x, const int64_t *at, const void *weight, const int64_t *place, int64_t taps, int64_t n)
{
    int64_t j = 0;
    for (; j + 8 * WIDTH <= n; j += 8 * WIDTH) T(positions)(8, (R *)out + j, (const R *)x + j, at, weight, place, taps);
    /* the rest at once, an even number of vectors: one chain alone would wait for each fma */
    const R *rest = (const R *)x + j;
    R *to = (R *)out + j;
    switch ((n - j + 2 * WIDTH - 1) / (2 * WIDTH)) {
    case 4: T(positions)(8, to, rest, at, weight, place, taps); break;
    case 3: T(positions)(6, to, rest, at, weight, place, taps); break;
    case 2: T(positions)(4, to, rest, at, weight, place, taps); break;
    case 1: T(positions)(2, to, rest, at, weight, place, taps); break;
    }
}

/* sum[t][lane] += small * x, for `count` taps and one plane of rows */
INLINE void T(some_lanes)(const int count, R *sums, const R *x, const int64_t *at, const R *small, int64_t width, int64_t small_pitch,
                          const fc_conv_rows *rows)
{
    T(V) sum[9][PER_ROW];
    T(VI) inside[PER_ROW]; /* lanes of a row's last vectors that exist: what lies beyond may be anything, infinities included */
    const int64_t whole = width / FC_DEPTH_LANES * FC_DEPTH_LANES;
    MASK kept[FC_DEPTH_LANES];
    for (int l = 0; l < FC_DEPTH_LANES; ++l) kept[l] = whole + l < width ? -1 : 0;
    memcpy(inside, kept, sizeof kept);
#pragma GCC unroll 9
    for (int t = 0; t < count; ++t)
#pragma GCC unroll 8
        for (int v = 0; v < PER_ROW; ++v) sum[t][v] = *(const T(VM) *)(sums + t * FC_DEPTH_LANES + v * WIDTH);
    for (int64_t d = 0; d < rows->depth; ++d)
        for (int64_t h = 0; h < rows->height; ++h, small += small_pitch) {
            const R *x_h = x + (d * rows->deep + h) * rows->pitch;
            int64_t w = 0;
            for (; w < whole; w += FC_DEPTH_LANES)
#pragma GCC unroll 8
                for (int v = 0; v < PER_ROW; ++v) {
                    const T(V) s = *(const T(VM) *)(small + w + v * WIDTH);
#pragma GCC unroll 9
                    for (int t = 0; t < count; ++t) sum[t][v] = FMA(s, *(const T(VM) *)(x_h + at[t] + w + v * WIDTH), sum[t][v]);
                }
            if (w < width)
#pragma GCC unroll 8
                for (int v = 0; v < PER_ROW; ++v) {
                    const T(V) s = *(const T(VM) *)(small + w + v * WIDTH);
#pragma GCC unroll 9
                    for (int t = 0; t < count; ++t) {
                        const T(V) seen = (T(V))((T(VI))*(const T(VM) *)(x_h + at[t] + w + v * WIDTH) & inside[v]);
                        sum[t][v] = FMA(s, seen, sum[t][v]);
                    }
                }
        }
#pragma GCC unroll 9
    for (int t = 0; t < count; ++t)
#pragma GCC unroll 8
        for (int v = 0; v < PER_ROW; ++v) *(T(VM) *)(sums + t * FC_DEPTH_LANES + v * WIDTH) = sum[t][v];
}

static void T(lanes)(void *sums, const void *x, const int64_t *at, int64_t taps, const void *small, int64_t width,
                     int64_t small_pitch, const fc_conv_rows *rows)
{
    int64_t t = 0;
    for (; t + 9 <= taps; t += 9) T(some_lanes)(9, (R *)sums + t * FC_DEPTH_LANES, x, at + t, small, width, small_pitch, rows);
    for (; t < taps; ++t) T(some_lanes)(1, (R *)sums + t * FC_DEPTH_LANES, x, at + t, small, width, small_pitch, rows);
}

/* --- channels side by side ------------------------------------------------------------------------------------------ */

INLINE void T(last_block)(const int positions, const int vecs, R *out, int64_t out_step, const void *const *x, const int64_t *step,
                          const R *weight, const int64_t *place, int64_t taps, const R *bias, int64_t from, int64_t pitch, int64_t c)
{
    T(V) sum[8];
#pragma GCC unroll 8
    for (int j = 0; j < positions * vecs; ++j) sum[j] = (T(V)){ 0 };
#pragma GCC unroll 1
    for (int64_t t = 0; t < taps; ++t) {
        const R *x_t = (const R *)x[t] + from * step[t] + c, *w_t = weight + place[t] * pitch + c;
#pragma GCC unroll 4
        for (int v = 0; v < vecs; ++v) {
            const T(V) w = *(const T(VM) *)(w_t + v * WIDTH);
#pragma GCC unroll 4
            for (int j = 0; j < positions; ++j)
                sum[j * vecs + v] = FMA(w, *(const T(VM) *)(x_t + j * step[t] + v * WIDTH), sum[j * vecs + v]);
        }
    }
#pragma GCC unroll 4
    for (int j = 0; j < positions; ++j)
#pragma GCC unroll 4
        for (int v = 0; v < vecs; ++v) {
            if (bias) sum[j * vecs + v] += *(const T(VM) *)(bias + c + v * WIDTH);
            *(T(VM) *)(out + j * out_step + c + v * WIDTH) = sum[j * vecs + v];
        }
}

/* All channels; the last ones together with some that went before. */
INLINE void T(last_positions)(const int positions, const int most, R *out, int64_t out_step, const void *const *x, const int64_t *step,
                              const R *weight, const int64_t *place, int64_t taps, const R *bias, int64_t from, int64_t channels)
{
    int64_t c = 0;
    for (; c + most * WIDTH <= channels; c += most * WIDTH)
        T(last_block)(positions, most, out, out_step, x, step, weight, place, taps, bias, from, channels, c);
    for (; c < channels; c += WIDTH)
        T(last_block)(positions, 1, out, out_step, x, step, weight, place, taps, bias, from, channels, c + WIDTH <= channels ? c : channels - WIDTH);
}

#define SLIDE 8

/* SLIDE positions and one vector, where taps come in runs of `run` whose sources are neighbours, up or (turned) down: what a position
 * reads its neighbours read too, so it is loaded once for all of them. Each element's chain is the same. */
INLINE void T(slide)(const int run, R *out, int64_t out_step, const void *const *x, const int64_t *step, const R *weight,
                     const int64_t *place, int64_t taps, const R *bias, int64_t from, int64_t pitch, int64_t c, int turned)
{
    T(V) sum[SLIDE], w[7];
#pragma GCC unroll 8
    for (int p = 0; p < SLIDE; ++p) sum[p] = (T(V)){ 0 };
#pragma GCC unroll 1
    for (int64_t t = 0; t < taps; t += run) {
        const int64_t far = turned ? -step[t] : step[t];
        const R *x_t = (const R *)x[t] + (turned ? from + SLIDE - 1 : from) * step[t] + c;
#pragma GCC unroll 7
        for (int k = 0; k < run; ++k) w[k] = *(const T(VM) *)(weight + place[t + k] * pitch + c);
#pragma GCC unroll 14
        for (int j = 0; j < SLIDE + run - 1; ++j, x_t += far) {
            const T(V) seen = *(const T(VM) *)x_t;
#pragma GCC unroll 8
            for (int p = 0; p < SLIDE; ++p)
                if (j - p >= 0 && j - p < run) sum[p] = FMA(w[j - p], seen, sum[p]);
        }
    }
    R *to = turned ? out + (SLIDE - 1) * out_step + c : out + c;
#pragma GCC unroll 8
    for (int p = 0; p < SLIDE; ++p, to += turned ? -out_step : out_step) {
        if (bias) sum[p] += *(const T(VM) *)(bias + c);
        *(T(VM) *)to = sum[p];
    }
}

/* Whether taps come in such runs: 1 up, -1 down, 0 not. */
static int T(runs)(int64_t run, const void *const *x, const int64_t *step, int64_t taps)
{
    int up = 1, down = 1;
    if (!taps || taps % run)
        return 0;
    for (int64_t t = 1; t < taps; ++t)
        if (t % run) {
            const R *before = (const R *)x[t - 1], *here = (const R *)x[t];
            up = up && step[t] == step[t - 1] && here == before + step[t];
            down = down && step[t] == step[t - 1] && here == before - step[t];
        }
    return up ? 1 : down ? -1 : 0;
}

static void T(last)(void *out, int64_t out_step, const void *const *x, const int64_t *step, const void *weight, const int64_t *place,
                    int64_t taps, const void *bias, int64_t n, int64_t channels)
{
    int64_t j = 0;
#define RUNS(run)                                                                                                     \
    if (FC_ISA_NUM >= 3 && sizeof(R) == 4 && j + SLIDE <= n) {                                                        \
        const int way = T(runs)(run, x, step, taps);                                                                  \
        for (; way && j + SLIDE <= n; j += SLIDE)                                                                     \
            for (int64_t c = 0; c < channels; c += WIDTH)                                                             \
                T(slide)(run, (R *)out + j * out_step, out_step, x, step, weight, place, taps, bias, j, channels,     \
                         c + WIDTH <= channels ? c : channels - WIDTH, way < 0);                                      \
    }
    RUNS(7)
    RUNS(5)
    RUNS(3)
#undef RUNS
    for (; j + 4 <= n; j += 4) T(last_positions)(4, 2, (R *)out + j * out_step, out_step, x, step, weight, place, taps, bias, j, channels);
    for (; j < n; ++j) T(last_positions)(1, 4, (R *)out + j * out_step, out_step, x, step, weight, place, taps, bias, j, channels);
}

/* One vector of channels, `count` taps: each lane's sums stay in registers. */
INLINE void T(some_last)(const int count, R *sums, const R *x, const int64_t *at, const R *small, int64_t width, int64_t step,
                         const fc_conv_rows *rows)
{
    for (int64_t lane = 0; lane < FC_DEPTH_LANES && lane < width; ++lane) {
        T(V) sum[9];
#pragma GCC unroll 9
        for (int t = 0; t < count; ++t) sum[t] = *(const T(VM) *)(sums + (t * FC_DEPTH_LANES + lane) * FC_DEPTH_LANES);
        const R *s = small;
        for (int64_t d = 0; d < rows->depth; ++d)
            for (int64_t h = 0; h < rows->height; ++h, s += width * FC_DEPTH_LANES)
                for (int64_t w = lane; w < width; w += FC_DEPTH_LANES) {
                    const R *x_w = x + d * rows->deep + h * rows->pitch + w * step;
                    const T(V) one = *(const T(VM) *)(s + w * FC_DEPTH_LANES);
#pragma GCC unroll 9
                    for (int t = 0; t < count; ++t) sum[t] = FMA(one, *(const T(VM) *)(x_w + at[t]), sum[t]);
                }
#pragma GCC unroll 9
        for (int t = 0; t < count; ++t) *(T(VM) *)(sums + (t * FC_DEPTH_LANES + lane) * FC_DEPTH_LANES) = sum[t];
    }
}

static void T(last_lanes)(void *sums, const void *x, const int64_t *at, int64_t taps, const void *small, int64_t width,
                          int64_t step, const fc_conv_rows *rows)
{
    for (int c = 0; c < FC_DEPTH_LANES; c += WIDTH) {
        R *to = (R *)sums + c;
        const R *from = (const R *)x + c, *s = (const R *)small + c;
        int64_t t = 0;
#define SOME(n)                                                                                                       \
    for (; t + (n) <= taps; t += (n)) T(some_last)(n, to + t * FC_DEPTH_LANES * FC_DEPTH_LANES, from, at + t, s, width, step, rows);
        SOME(9)
        SOME(4)
        SOME(1)
#undef SOME
    }
}
#undef WIDTH
#undef SLIDE
#undef PER_ROW

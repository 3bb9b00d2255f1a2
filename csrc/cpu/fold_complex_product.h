/* The cell of products of one complex type S, whose parts are R: included once per type by fold_complex_simd.c. No guard on purpose. */
#define T(name) FOLD_PASTE(name, S)
#define OF(name) FOLD_PASTE(name, R)
#define V OF(V)
enum {
    T(WIDTH) = REGISTER / sizeof(S),          /* numbers of a register */
    T(LANES) = FC_FOLD_LANES / T(WIDTH),      /* registers of the lanes */
    T(AHEAD) = 1024 / sizeof(S)               /* fetched before they are read: products leave no room to look ahead, 3.1 ms instead of 4.0 for 80 MB */
};

INLINE V T(load)(const S *x)
{
    V v;
    memcpy(&v, x, sizeof v);
    return v;
}

INLINE void T(store)(S *x, V v) { memcpy(x, &v, sizeof v); }

INLINE V T(product)(V a, V x) { return OF(JOINED)(OF(RE)(x) * a, OF(IM)(x) * OF(EXCHANGED)(a)); }

/* 1, the product of nothing, is a factor as well: 1 times infinity has a part that is NaN. */
INLINE V T(ones)(void)
{
    V v;
    for (int j = 0; j < 2 * T(WIDTH); ++j)
        v[j] = j % 2 == 0;
    return v;
}
INLINE V T(first)(const S *x) { return T(product)(T(ones)(), T(load)(x)); }

/* Of the first n numbers of a register, where no more may be read or written. gcc would make fma of a product of two. */
INLINE void T(some)(S *acc, const S *x, int64_t n)
{
    const MASK mask = OF(FIRST)(n);
    OF(KEEP)((R *)acc, mask, T(product)(OF(SOME)((R *)acc, mask), OF(SOME)((const R *)x, mask)));
}

static void T(begin)(void *acc, int64_t n)
{
    for (int64_t k = 0; k < n; ++k)
        ((S *)acc)[k] = 1;
}

static void T(one)(void *restrict acc_, const void *restrict x_, int64_t n, const void *restrict param)
{
    S *acc = acc_;
    const S *x = x_;
    int64_t k = 0;
    (void)param;
    for (; k + T(WIDTH) <= n; k += T(WIDTH))
        T(store)(acc + k, T(product)(T(load)(acc + k), T(load)(x + k)));
    if (k < n)
        T(some)(acc + k, x + k, n - k);
}

static void T(join)(void *restrict a, const void *restrict b, int64_t n) { T(one)(a, b, n, NULL); }

static void T(four)(void *restrict acc_, const void *restrict x_, int64_t gap, int64_t n, const void *restrict param)
{
    S *acc = acc_;
    const S *x = x_;
    int64_t k = 0;
    (void)param;
    for (; k + T(WIDTH) <= n; k += T(WIDTH)) {
        V a = T(load)(acc + k);
        for (int j = 0; j < 4; ++j)
            __builtin_prefetch(x + k + j * gap + T(AHEAD));
        for (int j = 0; j < 4; ++j)
            a = T(product)(a, T(load)(x + k + j * gap));
        T(store)(acc + k, a);
    }
    for (int j = 0; j < 4 && k < n; ++j)
        T(some)(acc + k, x + k + j * gap, n - k);
}

/* The lanes of one row, and the elements of it that are no whole sixteen. */
INLINE S T(concluded)(V *lane, const S *rest, int64_t n)
{
    S all[2 * T(WIDTH)];
    for (int j = 0; j < T(LANES) && n > 0; ++j, n -= T(WIDTH), rest += T(WIDTH)) {
        const MASK mask = OF(FIRST)(n < T(WIDTH) ? n : T(WIDTH));
        lane[j] = OF(CHOSEN)(mask, T(product)(lane[j], OF(SOME)((const R *)rest, mask)), lane[j]);
    }
    for (int half = T(LANES) / 2; half; half /= 2)
        for (int j = 0; j < half; ++j)
            lane[j] = T(product)(lane[j], lane[j + half]);
    for (int half = T(WIDTH) / 2; half; half /= 2) { /* what lies beyond is multiplied too, and dropped */
        T(store)(all, lane[0]);
        T(store)(all + T(WIDTH), lane[0]);
        lane[0] = T(product)(lane[0], T(load)(all + half));
    }
    T(store)(all, lane[0]);
    return all[0];
}

/* `rows`, a constant, side by side: each product waits for the one before it. */
INLINE void T(abreast)(const int rows, S *out, const S *x, int64_t n, int64_t step)
{
    const int64_t whole = n / FC_FOLD_LANES * FC_FOLD_LANES;
    V lane[2][T(LANES)];
    for (int r = 0; r < rows; ++r)
        for (int j = 0; j < T(LANES); ++j)
            lane[r][j] = T(ones)();
    for (int64_t i = 0; i < whole; i += FC_FOLD_LANES)
        for (int r = 0; r < rows; ++r)
            for (int j = 0; j < T(LANES); ++j)
                lane[r][j] = T(product)(lane[r][j], T(load)(x + r * step + i + j * T(WIDTH)));
    for (int r = 0; r < rows; ++r)
        out[r] = T(concluded)(lane[r], x + r * step + whole, n - whole);
}

static void T(rows)(void *restrict out_, const void *restrict x_, int64_t rows, int64_t n, int64_t step, const void *restrict param)
{
    S *out = out_;
    const S *x = x_;
    int64_t r = 0;
    (void)param;
    for (; T(LANES) <= 4 && r + 2 <= rows; r += 2)
        T(abreast)(2, out + r, x + r * step, n, step);
    for (; r < rows; ++r)
        T(abreast)(1, out + r, x + r * step, n, step);
}

/* Columns of at most 2 * 16 elements: lanes j and j + 8 become one as they are read. */
static int64_t T(few)(void *restrict out, const void *restrict x_, int64_t n, int64_t step, int64_t width)
{
    int64_t k = 0;
    for (; k + T(WIDTH) <= width; k += T(WIDTH)) {
        const S *x = (const S *)x_ + k;
        int lanes = n < 8 ? (int)n : 8;
        V lane[8];
        for (int j = 0; j < lanes; ++j) {
            V a = T(first)(x + j * step);
            if (j + 16 < n)
                a = T(product)(a, T(load)(x + (j + 16) * step));
            if (j + 8 < n) {
                V b = T(first)(x + (j + 8) * step);
                if (j + 24 < n)
                    b = T(product)(b, T(load)(x + (j + 24) * step));
                a = T(product)(a, b);
            }
            lane[j] = a;
        }
        for (int half = 4; half; half /= 2) {
            for (int j = 0; j + half < lanes; ++j)
                lane[j] = T(product)(lane[j], lane[j + half]);
            lanes = lanes < half ? lanes : half;
        }
        T(store)((S *)out + k, lane[0]);
    }
    return k;
}

const fc_fold_cell FC_ISA_NAME(T(fc_fold_prod)) = {T(rows), T(begin), T(one), T(four), T(join), NULL, sizeof(S), 0, T(few), NULL, T(LANES) <= 4 ? 2 : 1};

#undef T
#undef OF
#undef V
#undef R
#undef S

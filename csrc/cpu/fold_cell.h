/*
 * One fold cell, stamped once per (operation, element type): no include guard on purpose.
 *
 * The includer defines  F_NAME (of the cell)  S (stored type)  A (accumulator)  LOAD(s)  INIT  MAP(v, p)  OP(a, b);
 * p is the output's own parameter (the mean for a variance, the peak for logsumexp);
 * only a MAP that names p reads it. F_NAME, INIT, MAP, OP, A are undefined at
 * the end. A cell is three functions over ONE block (n <= FC_FOLD_BLOCK); fold.c owns blocks, threads and types.
 */

/* Whole, the loop over lanes would be unrolled to scalars before it is vectorised: 6 GB/s instead of 50. */
#define F_LANES _Pragma("GCC unroll 1")
#define F_PASTE_(a, b) a##_##b
#define F_PASTE(a, b) F_PASTE_(a, b)
#define F(part) F_PASTE(F_PASTE(F_NAME, T_NAME), part)

/* acc[k] = acc[k] with x[k], x[k + gap], .. (four elements of each lane): a quarter of the traffic on acc, the same order. */
static FC_NOINLINE void F(four)(A *restrict acc, const S *restrict x, int64_t gap, int64_t n, const A *restrict param)
{
    (void)param;
    for (int64_t k = 0; k < n; ++k) {
        A a = acc[k];
        a = OP(a, (A)(MAP(LOAD(x[k]), param[k])));
        a = OP(a, (A)(MAP(LOAD(x[k + gap]), param[k])));
        a = OP(a, (A)(MAP(LOAD(x[k + 2 * gap]), param[k])));
        acc[k] = OP(a, (A)(MAP(LOAD(x[k + 3 * gap]), param[k])));
    }
}

static FC_NOINLINE void F(one)(A *restrict acc, const S *restrict x, int64_t n, const A *restrict param)
{
    (void)param;
    for (int64_t k = 0; k < n; ++k)
        acc[k] = OP(acc[k], (A)(MAP(LOAD(x[k]), param[k])));
}

/* a[k] = a[k] with b[k]: two lanes or two blocks become one */
static FC_NOINLINE void F(join)(void *restrict a_, const void *restrict b_, int64_t n)
{
    A *a = a_;
    const A *b = b_;
    for (int64_t k = 0; k < n; ++k)
        a[k] = OP(a[k], b[k]);
}

/* sixteen lanes become one, by halves */
static inline A F(lanes)(A *lane)
{
    for (int j = 0; j < 8; ++j)
        lane[j] = OP(lane[j], lane[j + 8]);
    for (int j = 0; j < 4; ++j)
        lane[j] = OP(lane[j], lane[j + 4]);
    for (int j = 0; j < 2; ++j)
        lane[j] = OP(lane[j], lane[j + 2]);
    return OP(lane[0], lane[1]);
}

/* out[r] = fold of x[r * step + 0 .. n) */
static void F(rows)(void *restrict out_, const void *restrict x_, int64_t rows, int64_t n, int64_t step, const void *restrict param_)
{
    A *out = out_;
    const S *x = x_;
    const A *param = param_;
    (void)param;
#if !defined F_HOT
    A row_param[FC_FOLD_LANES];
    memset(row_param, 0, sizeof row_param);
#endif

    int64_t r = 0;
#if defined F_HOT && !defined F_SELECTS
    /* One row is one chain of additions, each waiting for the one before: several rows at once hide that. */
    for (; rows - r >= 4 && n >= 4 * FC_FOLD_LANES; r += 4) {
        const S *x0 = x + r * step, *x1 = x0 + step, *x2 = x1 + step, *x3 = x2 + step;
        A l0[FC_FOLD_LANES], l1[FC_FOLD_LANES], l2[FC_FOLD_LANES], l3[FC_FOLD_LANES];
        for (int j = 0; j < FC_FOLD_LANES; ++j)
            l0[j] = l1[j] = l2[j] = l3[j] = INIT;
        int64_t i = 0;
        for (; i + FC_FOLD_LANES <= n; i += FC_FOLD_LANES) {
            F_LANES
            for (int j = 0; j < FC_FOLD_LANES; ++j)
                l0[j] = OP(l0[j], (A)(MAP(LOAD(x0[i + j]), param[r])));
            F_LANES
            for (int j = 0; j < FC_FOLD_LANES; ++j)
                l1[j] = OP(l1[j], (A)(MAP(LOAD(x1[i + j]), param[r + 1])));
            F_LANES
            for (int j = 0; j < FC_FOLD_LANES; ++j)
                l2[j] = OP(l2[j], (A)(MAP(LOAD(x2[i + j]), param[r + 2])));
            F_LANES
            for (int j = 0; j < FC_FOLD_LANES; ++j)
                l3[j] = OP(l3[j], (A)(MAP(LOAD(x3[i + j]), param[r + 3])));
        }
        for (; i < n; ++i) {
            const int j = i % FC_FOLD_LANES;
            l0[j] = OP(l0[j], (A)(MAP(LOAD(x0[i]), param[r])));
            l1[j] = OP(l1[j], (A)(MAP(LOAD(x1[i]), param[r + 1])));
            l2[j] = OP(l2[j], (A)(MAP(LOAD(x2[i]), param[r + 2])));
            l3[j] = OP(l3[j], (A)(MAP(LOAD(x3[i]), param[r + 3])));
        }
        out[r] = F(lanes)(l0);
        out[r + 1] = F(lanes)(l1);
        out[r + 2] = F(lanes)(l2);
        out[r + 3] = F(lanes)(l3);
    }
#endif
    for (; r < rows; ++r) {
        const S *x_r = x + r * step;
        A lane[FC_FOLD_LANES];
        for (int j = 0; j < FC_FOLD_LANES; ++j)
            lane[j] = INIT;
#if !defined F_HOT
        if (param)
            for (int j = 0; j < FC_FOLD_LANES; ++j)
                row_param[j] = param[r];
#endif
        int64_t i = 0;
#ifdef F_HOT /* lanes stay in registers; the rest pays a call per 64 elements and is a tenth of the size */
        if (n < FC_FOLD_LANES && n == step && (rows - r) * step >= FC_FOLD_LANES) { /* a short row: what is read of the next one is left out */
            for (int j = 0; j < FC_FOLD_LANES; ++j) {
                const A v = OP(lane[j], (A)(MAP(LOAD(x_r[j]), param[r])));
                lane[j] = j < n ? v : lane[j];
            }
            i = n;
        }
        for (; i + FC_FOLD_LANES <= n; i += FC_FOLD_LANES)
            F_LANES
            for (int j = 0; j < FC_FOLD_LANES; ++j)
                lane[j] = OP(lane[j], (A)(MAP(LOAD(x_r[i + j]), param[r])));
#else
        for (; i + 4 * FC_FOLD_LANES <= n; i += 4 * FC_FOLD_LANES)
            F(four)(lane, x_r + i, FC_FOLD_LANES, FC_FOLD_LANES, row_param);
#endif
        for (; i < n; ++i) /* i % 16 keeps the compiler from unrolling what runs at most 15 times */
            lane[i % FC_FOLD_LANES] = OP(lane[i % FC_FOLD_LANES], (A)(MAP(LOAD(x_r[i]), param[r])));
        out[r] = F(lanes)(lane);
    }
}

/* out[c] = fold of x[i * step + c], i in [0, n), for c in [0, width); acc has room for 16 * width. */
static void F(cols)(void *restrict out, const void *restrict x_, int64_t n, int64_t step, int64_t width,
                    const void *restrict param, void *restrict acc_)
{
    A *acc = acc_;
    const S *x = x_;

    for (int64_t k = 0; k < FC_FOLD_LANES * width; ++k)
        acc[k] = INIT;

    /* Whole rows lie one after the other: sixteen of them are one long row of all lanes. */
    const int flat = step == width && !param;
    const int64_t span = flat ? FC_FOLD_LANES * width : width, lanes = flat ? 1 : FC_FOLD_LANES;
    int64_t i = 0;
    for (; i + 4 * FC_FOLD_LANES <= n; i += 4 * FC_FOLD_LANES)
        for (int64_t j = 0; j < lanes; ++j)
            F(four)(acc + j * width, x + (i + j) * step, FC_FOLD_LANES * step, span, param);
    for (; i < n; i += FC_FOLD_LANES) {
        const int64_t left = n - i < FC_FOLD_LANES ? n - i : FC_FOLD_LANES;
        if (flat)
            F(one)(acc, x + i * step, left * width, param);
        else
            for (int64_t j = 0; j < left; ++j)
                F(one)(acc + j * width, x + (i + j) * step, width, param);
    }
    for (int64_t half = FC_FOLD_LANES / 2; half; half /= 2)
        F(join)(acc, acc + half * width, half * width);
    memcpy(out, acc, (size_t)width * sizeof(A));
}

static const fc_fold_cell F(cell) = {F(rows), F(cols), F(join), sizeof(A)};

#undef F
#undef F_PASTE
#undef F_PASTE_
#undef F_NAME
#undef F_HOT
#undef F_SELECTS
#undef F_LANES
#undef INIT
#undef MAP
#undef OP
#undef A

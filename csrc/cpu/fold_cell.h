/*
 * One fold cell, stamped once per (operation, element type): no include guard on purpose.
 *
 * The includer defines  F_NAME (of the cell)  S (stored type)  A (accumulator)  LOAD(s)  INIT  MAP(v, p)  OP(a, b);
 * p is the output's own parameter (the mean for a variance, the peak for logsumexp);
 * only a MAP that names p reads it. FOLD_PARTS: fold_cell_type.h's, of the type. F_EXACT: the result does not depend on the order, and rows have none; F_APART: they have lanes all the same, from FOLD_APART_FROM elements on.
 * F_FEW: columns of few elements have a loop of their own; MAP does not name p. F_HEAVY: MAP is long, and written out as seldom as can be. F_PAIRS: complex numbers are folded by it, as pairs, and every second element where it is. F_NAME, F_EXACT, F_FEW,
 * F_HEAVY, F_PAIRS, INIT, MAP, OP, A are undefined at the end.
 * A cell works on ONE block (n <= FC_FOLD_BLOCK); fold_block.c and fold_tile.c own blocks and threads, fold_choose.c types.
 */

#define F_LANES FC_FOLD_NO_UNROLL
#define F_PASTE_(a, b) a##_##b
#define F_PASTE(a, b) F_PASTE_(a, b)
#define F(part) F_PASTE(F_PASTE(F_NAME, T_NAME), part)
#if !defined F_EXACT && !defined F_HEAVY && (FOLD_PARTS == 1 || (FOLD_PARTS == 2 && FC_ISA_NUM == 4)) /* whose lanes are few registers */
#define F_ROWS_ABREAST 4
#else
#define F_ROWS_ABREAST 1
#endif

static FC_NOINLINE void F(one)(void *restrict acc_, const void *restrict x_, int64_t n, const void *restrict param_)
{
    A *restrict acc = acc_;
    const S *restrict x = x_;
    const A *restrict param = param_;
    (void)param;
    for (int64_t k = 0; k < n; ++k)
        acc[k] = OP(acc[k], (A)(MAP(LOAD(x[k]), param[k])));
}

/* acc[k] = acc[k] with x[k], x[k + gap], .. (four elements of each lane): a quarter of the traffic on acc, the same order. */
static FC_NOINLINE void F(four)(void *restrict acc_, const void *restrict x_, int64_t gap, int64_t n, const void *restrict param_)
{
    A *restrict acc = acc_;
    const S *restrict x = x_;
    const A *restrict param = param_;
    (void)param;
#ifdef F_HEAVY /* arithmetic, not memory, is what it waits for */
    for (int j = 0; j < 4; ++j)
        F(one)(acc, x + j * gap, n, param);
#else
    for (int64_t k = 0; k < n; ++k) {
        A a = acc[k];
        a = OP(a, (A)(MAP(LOAD(x[k]), param[k])));
        a = OP(a, (A)(MAP(LOAD(x[k + gap]), param[k])));
        a = OP(a, (A)(MAP(LOAD(x[k + 2 * gap]), param[k])));
        acc[k] = OP(a, (A)(MAP(LOAD(x[k + 3 * gap]), param[k])));
    }
#endif
}

static void F(begin)(void *acc, int64_t n)
{
    for (int64_t k = 0; k < n; ++k)
        ((A *)acc)[k] = INIT;
}

/* a[k] = a[k] with b[k]: two lanes or two blocks become one */
static FC_NOINLINE void F(join)(void *restrict a_, const void *restrict b_, int64_t n)
{
    A *a = a_;
    const A *b = b_;
    for (int64_t k = 0; k < n; ++k)
        a[k] = OP(a[k], b[k]);
}

#ifdef F_EXACT
static void F(rows)(void *restrict out_, const void *restrict x_, int64_t rows, int64_t n, int64_t step, const void *restrict param)
{
    (void)param;
    for (int64_t r = 0; r < rows; ++r) {
        const S *x_r = (const S *)x_ + r * step;
        A a = INIT;
        int64_t i = 0;
#ifdef F_APART /* the compiler makes it one chain, of instructions that wait longer than they take */
        A lane[FC_FOLD_LANES];
        if (n >= FOLD_APART_FROM) {
            FOLD_EACH(lane[j] = x_r[j])
            for (i = FC_FOLD_LANES; i + FC_FOLD_LANES <= n; i += FC_FOLD_LANES)
                FOLD_EACH(lane[j] = OP(lane[j], x_r[i + j]))
            for (int j = 0; j < FC_FOLD_LANES; ++j)
                a = OP(a, lane[j]);
        }
#endif
        for (; i < n; ++i)
            a = OP(a, (A)(MAP(LOAD(x_r[i]), 0)));
        ((A *)out_)[r] = a;
    }
}
#else
/* sixteen lanes become two, by halves */
static inline void F(halves)(A *lane)
{
    for (int j = 0; j < 8; ++j)
        lane[j] = OP(lane[j], lane[j + 8]);
    for (int j = 0; j < 4; ++j)
        lane[j] = OP(lane[j], lane[j + 4]);
    for (int j = 0; j < 2; ++j)
        lane[j] = OP(lane[j], lane[j + 2]);
}

static inline A F(lanes)(A *lane)
{
    F(halves)(lane);
    return OP(lane[0], lane[1]);
}

/* The last `left` elements of a row, fewer than sixteen, then its lanes. `readable` elements lie at x: where they are sixteen, what is
 * read of the next row is left out again. */
static FC_NOINLINE A F(end)(A *restrict lane, const S *restrict x, int64_t left, int64_t readable, A p)
{
    (void)p;
    if (left) {
        S padded[FC_FOLD_LANES] = {0};
        if (readable < FC_FOLD_LANES) {
            memcpy(padded, x, (size_t)left * sizeof(S));
            x = padded;
        }
        F_LANES
        for (int j = 0; j < FC_FOLD_LANES; ++j) {
            const A v = OP(lane[j], (A)(MAP(LOAD(x[j]), p)));
            lane[j] = j < left ? v : lane[j];
        }
    }
    return F(lanes)(lane);
}

static void F(rows)(void *restrict out_, const void *restrict x_, int64_t rows, int64_t n, int64_t step, const void *restrict param_)
{
    A *out = out_;
    const S *x = x_;
    const A *param = param_;
    const int64_t whole = n - n % FC_FOLD_LANES, left = n - whole;
    int64_t r = 0;
#define F_TERM(row, k, p) (A)(MAP(LOAD(row[k]), p))
#if F_ROWS_ABREAST == 4
    /* One row is a chain of additions for each lane: several rows at once hide that they wait, where their lanes are few registers. */
    for (; rows - r >= 4 && n >= 4 * FC_FOLD_LANES; r += 4) {
        const S *x0 = x + r * step, *x1 = x0 + step, *x2 = x1 + step, *x3 = x2 + step;
        const A p0 = param ? param[r] : 0, p1 = param ? param[r + 1] : 0, p2 = param ? param[r + 2] : 0, p3 = param ? param[r + 3] : 0;
        A l0[FC_FOLD_LANES], l1[FC_FOLD_LANES], l2[FC_FOLD_LANES], l3[FC_FOLD_LANES];
        (void)p0, (void)p1, (void)p2, (void)p3;
        FOLD_EACH(l0[j] = OP((A)INIT, F_TERM(x0, j, p0)))
        FOLD_EACH(l1[j] = OP((A)INIT, F_TERM(x1, j, p1)))
        FOLD_EACH(l2[j] = OP((A)INIT, F_TERM(x2, j, p2)))
        FOLD_EACH(l3[j] = OP((A)INIT, F_TERM(x3, j, p3)))
        for (int64_t i = FC_FOLD_LANES; i < whole; i += FC_FOLD_LANES) {
            FOLD_EACH(l0[j] = OP(l0[j], F_TERM(x0, i + j, p0)))
            FOLD_EACH(l1[j] = OP(l1[j], F_TERM(x1, i + j, p1)))
            FOLD_EACH(l2[j] = OP(l2[j], F_TERM(x2, i + j, p2)))
            FOLD_EACH(l3[j] = OP(l3[j], F_TERM(x3, i + j, p3)))
        }
        const int64_t readable = (rows - r - 1) * step + left;
        out[r] = F(end)(l0, x0 + whole, left, readable, p0);
        out[r + 1] = F(end)(l1, x1 + whole, left, readable - step, p1);
        out[r + 2] = F(end)(l2, x2 + whole, left, readable - 2 * step, p2);
        out[r + 3] = F(end)(l3, x3 + whole, left, readable - 3 * step, p3);
    }
#endif
    for (; r < rows; ++r) {
        const S *x_r = x + r * step;
        const A p = param ? param[r] : 0;
        A lane[FC_FOLD_LANES];
        (void)p;
        if (whole) /* gcc fills lanes by a rep stos, which takes longer than a short row's sums */
            FOLD_EACH(lane[j] = OP((A)INIT, F_TERM(x_r, j, p)))
        else
            for (int j = 0; j < FC_FOLD_LANES; ++j)
                lane[j] = INIT;
        for (int64_t i = FC_FOLD_LANES; i < whole; i += FC_FOLD_LANES)
            FOLD_EACH(lane[j] = OP(lane[j], F_TERM(x_r, i + j, p)))
        out[r] = F(end)(lane, x_r + whole, left, (rows - r - 1) * step + left, p);
    }
#undef F_TERM
}
#endif

#ifdef F_FEW
#define F_ABREAST(statement)                            \
    F_LANES                                             \
    for (int c = 0; c < FC_FOLD_ABREAST; ++c)           \
        statement
#define F_ITEM(i) (A)(MAP(LOAD(x[(i) * step + c]), 0))
#define F_LANE(i) OP((A)INIT, F_ITEM(i)) /* of one element */

/* Columns of at most 2 * 16 elements, FC_FOLD_ABREAST at a time, so that lanes stay in the first cache; lanes j and j + 8 become one as they
 * are read. Answers how many columns it did. */
static FC_NOINLINE int64_t F(few)(void *restrict out_, const void *restrict x_, int64_t n, int64_t step, int64_t width)
{
    A *out = out_;
    A lane[8][FC_FOLD_ABREAST];
    int64_t k = 0;
    for (; k + FC_FOLD_ABREAST <= width; k += FC_FOLD_ABREAST) {
        const S *x = (const S *)x_ + k;
        A *const to = out + k;
        for (int j = 0; j < 8 && j < n; ++j)
            if (j + 8 >= n)
                F_ABREAST(lane[j][c] = F_LANE(j);)
            else if (j + 16 >= n)
                F_ABREAST(lane[j][c] = OP(F_LANE(j), F_LANE(j + 8));)
            else if (j + 24 >= n)
                F_ABREAST(lane[j][c] = OP(OP(F_LANE(j), F_ITEM(j + 16)), F_LANE(j + 8));)
            else
                F_ABREAST(lane[j][c] = OP(OP(F_LANE(j), F_ITEM(j + 16)), OP(F_LANE(j + 8), F_ITEM(j + 24)));)
        if (n >= 8) {
            F_ABREAST(to[c] = OP(OP(OP(lane[0][c], lane[4][c]), OP(lane[2][c], lane[6][c])), OP(OP(lane[1][c], lane[5][c]), OP(lane[3][c], lane[7][c])));)
            continue;
        }
        for (int half = 4, lanes = (int)n; half; half /= 2) {
            for (int j = 0; j + half < lanes; ++j)
                F_ABREAST(lane[j][c] = OP(lane[j][c], lane[j + half][c]);)
            lanes = lanes < half ? lanes : half;
        }
        memcpy(to, lane[0], sizeof lane[0]);
    }
    return k;
}
#undef F_ABREAST
#undef F_ITEM
#undef F_LANE
#define F_FEW_OF F(few)
#else
#define F_FEW_OF NULL
#endif

#if defined F_PAIRS && !defined F_EXACT
/* The lanes of two columns that lie side by side are 32: those of n pairs, or of as many as make whole ones; answers how many. */
static inline int64_t F(pair_lanes)(A *restrict lane, const S *restrict x, int64_t n, const A *restrict p)
{
    enum { WIDTH = 2 * FC_FOLD_LANES };
    int64_t i = 0;
    (void)p;
#define F_TERM(k) (A)(MAP(LOAD(x[i + k]), p[k]))
    if (WIDTH <= 2 * n) {
        FOLD_EACH(lane[j] = OP((A)INIT, F_TERM(j)))
        FOLD_EACH(lane[j + FC_FOLD_LANES] = OP((A)INIT, F_TERM(j + FC_FOLD_LANES)))
        i = WIDTH;
    } else
        for (int j = 0; j < WIDTH; ++j)
            lane[j] = INIT;
    for (; i + WIDTH <= 2 * n; i += WIDTH) {
        FOLD_EACH(lane[j] = OP(lane[j], F_TERM(j)))
        FOLD_EACH(lane[j + FC_FOLD_LANES] = OP(lane[j + FC_FOLD_LANES], F_TERM(j + FC_FOLD_LANES)))
    }
#undef F_TERM
    return i / 2;
}

static void F(pairs)(void *restrict out_, const void *restrict x_, int64_t n, const void *restrict param_)
{
    const S *restrict x = x_;
    const A *param = param_;
    A lane[2 * FC_FOLD_LANES], p[2 * FC_FOLD_LANES], *out = out_;
    for (int j = 0; j < 2 * FC_FOLD_LANES; ++j)
        p[j] = param ? param[j % 2] : 0;
    const int64_t whole = F(pair_lanes)(lane, x, n, p);
    for (int j = 0; j < 2 * (n - whole); ++j)
        lane[j] = OP(lane[j], (A)(MAP(LOAD(x[2 * whole + j]), p[j])));
    for (int j = 0; j < FC_FOLD_LANES; ++j)
        lane[j] = OP(lane[j], lane[j + FC_FOLD_LANES]);
    F(halves)(lane);
    out[0] = lane[0];
    out[1] = lane[1];
}
#define F_PAIRS_OF F(pairs)

/* n elements with one between each and the next, read where they are: as pairs, whose other column is thrown away. None lies behind the last. */
static void F(seconds)(void *restrict out, const void *restrict x_, int64_t n, const void *restrict param)
{
    const S *restrict x = x_;
    A lane[2 * FC_FOLD_LANES], p[2 * FC_FOLD_LANES];
    for (int j = 0; j < 2 * FC_FOLD_LANES; ++j)
        p[j] = param ? *(const A *)param : 0;
    const int64_t whole = F(pair_lanes)(lane, x, n > 0 ? n - 1 : 0, p);
    for (int j = 0; j < n - whole; ++j)
        lane[2 * j] = OP(lane[2 * j], (A)(MAP(LOAD(x[2 * (whole + j)]), p[j])));
    for (int j = 0; j < FC_FOLD_LANES; ++j)
        lane[j] = lane[2 * j];
    *(A *)out = F(lanes)(lane);
}
#define F_SECONDS_OF F(seconds)
#else
#define F_PAIRS_OF NULL
#define F_SECONDS_OF NULL
#endif

#ifdef F_EXACT
#define F_IS_EXACT 1
#else
#define F_IS_EXACT 0
#endif

static const fc_fold_cell F(cell) = {F(rows), F(begin), F(one), F(four), F(join), F_PAIRS_OF, sizeof(A), F_IS_EXACT, F_FEW_OF, F_SECONDS_OF, F_ROWS_ABREAST};

#undef F_IS_EXACT
#undef F_ROWS_ABREAST
#undef F_FEW
#undef F_FEW_OF

#undef F
#undef F_PASTE
#undef F_PASTE_
#undef F_NAME
#undef F_EXACT
#undef F_APART
#undef F_HEAVY
#undef F_PAIRS
#undef F_PAIRS_OF
#undef F_SECONDS_OF
#undef F_LANES
#undef INIT
#undef MAP
#undef OP
#undef A

/*
 * Folds of the lines of one strip (lines.h): in the order of fold_rows.h, so a line's bits are those of a row. Lane j of all sixteen lines
 * is a vector. T is defined by the includer; no guard on purpose.
 *
 *   N(strip) s;  N(strip_begin)(&s, n);  s.lane[i % 16][l] += ...;  N(strip_end)(&s, n);  the sums: s.lane[0]
 *   N(strip_sum)(&s, x, n, pitch): of the elements themselves, those of a line `pitch` apart; N(strip_peak): the greatest of each line
 */
typedef struct { T lane[FC_FOLD_LANES][FC_LINES]; } N(strip);

static inline void N(strip_begin)(N(strip) *s, int64_t n) { memset(s, 0, (size_t)(n < FC_FOLD_LANES ? n : FC_FOLD_LANES) * sizeof s->lane[0]); }

/* Lanes that had nothing are zeros, which change no sum that began at zero. */
static inline void N(strip_end)(N(strip) *s, int64_t n)
{
    for (int half = FC_FOLD_LANES / 2; half; half /= 2)
        for (int j = 0; j < half && j + half < n; ++j)
            FOR_LINES
                s->lane[j][l] += s->lane[j + half][l];
}

static inline void N(strip_sum)(N(strip) *restrict s, const T *restrict x, int64_t n, int64_t pitch)
{
    N(strip_begin)(s, n);
    for (int64_t i = 0; i < n; ++i)
        FOR_LINES
            s->lane[i % FC_FOLD_LANES][l] += x[i * pitch + l];
    N(strip_end)(s, n);
}

static inline void N(strip_peak)(T *restrict peak, const T *restrict x, int64_t n, int64_t pitch)
{
    FOR_LINES
        peak[l] = -INFINITY;
    for (int64_t i = 0; i < n; ++i)
        FOR_LINES
            peak[l] = M(greater)(peak[l], x[i * pitch + l]);
}

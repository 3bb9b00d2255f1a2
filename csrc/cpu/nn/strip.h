/*
 * Folds of the lines of one strip (lines.h): in the order of fold_rows.h, so a line's bits are those of a row. Lane j of all sixteen lines
 * is a vector. T is defined by the includer; no guard on purpose.
 *
 *   N(strip) s;  N(strip_begin)(&s, n);  s.lane[i % 16][l] += ...;  N(strip_end)(&s, n);  the sums: s.lane[0]
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

/*
 * A sum of vectors that come one at a time, in THE ORDER of fold.h: vector i goes to lane i % 16 of block i / 4096. For kernels
 * that make what they add (weight gradients, statistics of channels). T is defined by the includer; no guard on purpose.
 *
 *   N(tally) t;  N(tally_begin)(&t, width);  N(tally_lane)(&t) += ...;  N(tally_next)(&t);  N(tally_end)(&t, out);
 */
#ifndef FC_TALLY_WIDTH
#define FC_TALLY_WIDTH 64
#endif
#define FC_TALLY_LEVELS 28 /* of 4096 vectors and more: what memory holds */

typedef struct {
    int64_t i, width;
    int depth;
    T lane[16][FC_TALLY_WIDTH], tree[FC_TALLY_LEVELS][FC_TALLY_WIDTH];
} N(tally);

static void N(tally_begin)(N(tally) *t, int64_t width)
{
    t->i = 0;
    t->width = width;
    t->depth = 0;
    for (int j = 0; j < 16; ++j)
        memset(t->lane[j], 0, (size_t)width * sizeof(T));
}

/* The lane of vector i: add to it in place. */
static inline T *N(tally_lane)(N(tally) *t) { return t->lane[t->i % 16]; }

static FC_NOINLINE void N(tally_block)(N(tally) *t)
{
    for (int half = 8; half; half /= 2)
        for (int j = 0; j < half; ++j)
            for (int64_t c = 0; c < t->width; ++c)
                t->lane[j][c] += t->lane[j + half][c];
    memcpy(t->tree[t->depth++], t->lane[0], (size_t)t->width * sizeof(T));
    for (int j = 0; j < 16; ++j)
        memset(t->lane[j], 0, (size_t)t->width * sizeof(T));
}

static void N(tally_join)(N(tally) *t)
{
    --t->depth;
    for (int64_t c = 0; c < t->width; ++c)
        t->tree[t->depth - 1][c] += t->tree[t->depth][c];
}

static inline void N(tally_next)(N(tally) *t)
{
    if (++t->i % FC_FOLD_BLOCK)
        return;
    N(tally_block)(t);
    for (int64_t carry = t->i / FC_FOLD_BLOCK; carry % 2 == 0; carry /= 2)
        N(tally_join)(t);
}

static FC_NOINLINE void N(tally_end)(N(tally) *t, T *out)
{
    if (t->i % FC_FOLD_BLOCK || t->i == 0)
        N(tally_block)(t);
    while (t->depth > 1)
        N(tally_join)(t);
    memcpy(out, t->tree[0], (size_t)t->width * sizeof(T));
}

/* The lanes of a whole block (or the last one), made elsewhere: lane[c * 16 + j]. Overwritten. */
static inline void N(tally_lanes)(N(tally) *t, T *lane, int64_t vectors)
{
    for (int64_t c = 0; c < t->width; ++c)
        for (int j = 0; j < 16; ++j)
            t->lane[j][c] = lane[c * 16 + j];
    t->i += vectors - 1;
    N(tally_next)(t);
    memset(lane, 0, (size_t)(16 * t->width) * sizeof(T));
}

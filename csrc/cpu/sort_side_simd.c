/* Batcher's merge exchange (Knuth, The Art of Computer Programming 3, algorithm 5.2.2M) over rows of lanes. */
#include "sort_side.h"

#include "../core/isa.h"

enum { LANES = 8 };

/* Words are different, each holds its place. */
static inline void exchange(int64_t *restrict x, int64_t *restrict y, int64_t lanes)
{
    for (int64_t l = 0; l < lanes; l += LANES)
        for (int j = 0; j < LANES; ++j) {
            const int64_t a = x[l + j], b = y[l + j];
            x[l + j] = a < b ? a : b;
            y[l + j] = a < b ? b : a;
        }
}

/* Of equal keys that with the lower place comes first. */
static inline void exchange_wide(int64_t *restrict x, int64_t *restrict y, int64_t *restrict x_place, int64_t *restrict y_place, int64_t lanes)
{
    for (int64_t l = 0; l < lanes; l += LANES)
        for (int j = 0; j < LANES; ++j) {
            const int64_t a = x[l + j], b = y[l + j], p = x_place[l + j], q = y_place[l + j];
            const int64_t keep = -(int64_t)((a < b) | ((a == b) & (p < q)));
            x[l + j] = (a & keep) | (b & ~keep);
            y[l + j] = (b & keep) | (a & ~keep);
            x_place[l + j] = (p & keep) | (q & ~keep);
            y_place[l + j] = (q & keep) | (p & ~keep);
        }
}

void FC_ISA_NAME(fc_side_network)(int64_t *word, int64_t *place, int64_t n, int64_t lanes)
{
    int64_t top = 1;
    while (2 * top < n)
        top *= 2;
    for (int64_t p = top; p > 0 && n > 1; p /= 2)
        for (int64_t q = top, r = 0, d = p;; d = q - p, q /= 2, r = p) {
            for (int64_t i = 0; i + d < n; ++i) {
                if ((i & p) != r)
                    continue;
                int64_t *const x = word + i * FC_SIDE, *const y = x + d * FC_SIDE;
                if (place)
                    exchange_wide(x, y, place + i * FC_SIDE, place + (i + d) * FC_SIDE, lanes);
                else
                    exchange(x, y, lanes);
            }
            if (q == p)
                break;
        }
}

/*
 * Sums of sixteen small planes at once, a strip of them (strip.h): a plane's bits are those of fold_rows.h. T is defined by the includer, who
 * has included strip.h; no guard on purpose.
 *
 * Planes of `inner` elements, at most FC_SMALL_PLANE, so that an element is a lane, `step` elements apart; p: what is taken from x in each.
 */
static FC_NOINLINE void N(plane_sums)(T *restrict sums, const T *x, const T *g, const T *restrict p, fc_plane_sum which, int64_t step, int64_t count, int64_t inner)
{
    T xs[FC_SMALL_PLANE][FC_LINES], gs[FC_SMALL_PLANE][FC_LINES];
    N(strip) s;
    if (count < FC_LINES) {
        memset(xs, 0, sizeof xs);
        memset(gs, 0, sizeof gs);
    }
    if (which != SUM_G)
        FC_ISA_NAME(fc_turn)((char *)xs, sizeof *xs, (const char *)x, step * (int64_t)sizeof(T), count, inner, sizeof(T));
    if (which == SUM_G || which == SUM_GX)
        FC_ISA_NAME(fc_turn)((char *)gs, sizeof *gs, (const char *)g, step * (int64_t)sizeof(T), count, inner, sizeof(T));
    for (int64_t j = 0; j < inner; ++j) {
        T *restrict lane = s.lane[j], *restrict x_j = xs[j], *restrict g_j = gs[j];
        switch (which) { /* a sum starts from zero, which makes -0 a +0 */
        case SUM_X: FOR_LINES lane[l] = K(0) + x_j[l]; break;
        case SUM_DEV: FOR_LINES lane[l] = (x_j[l] - p[l]) * (x_j[l] - p[l]); break;
        case SUM_G: FOR_LINES lane[l] = K(0) + g_j[l]; break;
        case SUM_GX: FOR_LINES lane[l] = K(0) + (x_j[l] - p[l]) * g_j[l]; break;
        }
    }
    N(strip_end)(&s, inner);
    memcpy(sums, s.lane[0], (size_t)count * sizeof(T));
}

/*
 * A whole sequence by slices of the hidden units, for batches that stay complete and have no projection. Included once for each
 * type by rnn.c: no guard, T and N are there.
 *
 * A unit's gates need all of the state before, but of W only their own rows. So a thread that keeps to one slice reads the same
 * part of W at every step, from its own core's cache, and threads meet once a step.
 * Step 0 turns the slice of W, (p, gates of the slice); step s > 0 is moment s - 1, in the direction of time that was asked for.
 */
static void N(slice_step)(void *ctx, int64_t step, int part)
{
    job *q = ctx;
    const int64_t h = q->h, gates = gate_count[q->mode], from = part * q->units, units = h - from < q->units ? h - from : q->units;
    T *w = (T *)q->slices + from * gates * q->p, *b = (T *)q->slices + gates * h * q->p + from * gates;
    if (step == 0) {
        for (int64_t gate = 0; gate < gates; ++gate) {
            N(turn)(w + gate * units, gates * units, (const T *)q->w + (gate * h + from) * q->p, units, q->p);
            if (q->b)
                memcpy(b + gate * units, (const T *)q->b + gate * h + from, (size_t)units * sizeof(T));
        }
        return;
    }
    const int64_t t = q->reverse ? q->steps - step : step - 1, at = t * q->n;
    const T *old = step == 1 ? q->h0 : (const T *)q->out + (q->reverse ? at + q->n : at - q->n) * h;
    T *products = (T *)q->products + from * gates * q->n;
    if (N(product)(q->n, gates * units, h, old, h, 1, w, gates * units, 1, products, q->b ? b : NULL, 0))
        fc_atomic_poke(&q->bad, 1);
    for (int64_t n = 0; n < q->n; ++n) {
        T *state = (T *)q->out + (at + n) * h + from;
        if (q->mode == GRU)
            memcpy(state, old + n * h + from, (size_t)units * sizeof(T));
        N(cell_units)(q->mode, units, h, units, (const T *)q->gates + (at + n) * gates * h + from, products + n * gates * units,
                      (T *)q->reserve + (at + n) * reserve_count[q->mode] * h + from, (T *)q->cell + n * h + from, state);
    }
}

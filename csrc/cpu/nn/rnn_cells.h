/* The cells of rnn.c and their gradients, row by row of one step. Included once for each type by rnn.c: no guard, T, N and M are there. */

/* Gates have names of their own: one pointer to them all would keep the loops from being vectors. */
static void N(lstm_state)(int64_t h, const T *restrict i, const T *restrict f, const T *restrict g, const T *restrict o, T *restrict kept,
                          T *restrict cell, T *restrict state)
{
    for (int64_t j = 0; j < h; ++j) {
        const T c = f[j] * cell[j] + i[j] * g[j];
        cell[j] = kept[j] = c;
        state[j] = o[j] * M(tanh)(c);
    }
}

static void N(gru_state)(int64_t h, const T *restrict u, const T *restrict p, const T *restrict r, const T *restrict z, T *restrict kept,
                         T *restrict kept_p, T *restrict state)
{
    for (int64_t j = 0; j < h; ++j) {
        const T new = M(tanh)(u[j] + r[j] * p[j]);
        kept[j] = new;
        kept_p[j] = p[j];
        state[j] = new + z[j] * (state[j] - new);
    }
}

static void N(lstm_gradients)(int64_t h, const T *restrict i, const T *restrict f, const T *restrict g, const T *restrict o,
                              const T *restrict c, const T *restrict c_old, const T *restrict du, T *restrict dc, T *restrict di,
                              T *restrict df, T *restrict dg, T *restrict d_o)
{
    for (int64_t j = 0; j < h; ++j) {
        const T tc = M(tanh)(c[j]), s = dc[j] + du[j] * o[j] * (1 - tc * tc);
        di[j] = s * g[j] * i[j] * (1 - i[j]);
        df[j] = s * c_old[j] * f[j] * (1 - f[j]);
        dg[j] = s * i[j] * (1 - g[j] * g[j]);
        d_o[j] = du[j] * tc * o[j] * (1 - o[j]);
        dc[j] = s * f[j];
    }
}

static void N(gru_gradients)(int64_t h, const T *restrict r, const T *restrict z, const T *restrict new, const T *restrict p,
                             const T *restrict old, T *restrict dh, T *restrict d, T *restrict dz, T *restrict dn, T *restrict dp,
                             T *restrict dp_z, T *restrict dp_n)
{
    for (int64_t j = 0; j < h; ++j) {
        const T g = dh[j] * (1 - z[j]) * (1 - new[j] * new[j]);
        dp[j] = d[j] = g * p[j] * r[j] * (1 - r[j]);
        dp_z[j] = dz[j] = dh[j] * (old[j] - new[j]) * z[j] * (1 - z[j]);
        dn[j] = g;
        dp_n[j] = g * r[j];
        dh[j] *= z[j];
    }
}

/* `units` of one row's cell: u, kept have their gates h apart, p `apart`. The state is read as h, c and written. */
static void N(cell_units)(int mode, int64_t units, int64_t h, int64_t apart, const T *restrict u, const T *restrict p, T *restrict kept,
                          T *restrict cell, T *restrict state)
{
    switch (mode) {
    case TANH:
        for (int64_t j = 0; j < units; ++j)
            state[j] = M(tanh)(u[j] + p[j]);
        break;
    case RELU:
        for (int64_t j = 0; j < units; ++j) {
            const T x = u[j] + p[j];
            state[j] = x < 0 ? 0 : x;
        }
        break;
    case LSTM:
        for (int gate = 0; gate < 4; ++gate) {
            const T *restrict u_g = u + gate * h, *restrict p_g = p + gate * apart;
            T *restrict kept_g = kept + gate * h;
            if (gate == 2)
                for (int64_t j = 0; j < units; ++j)
                    kept_g[j] = M(tanh)(u_g[j] + p_g[j]);
            else
                for (int64_t j = 0; j < units; ++j)
                    kept_g[j] = M(sigmoid)(u_g[j] + p_g[j]);
        }
        N(lstm_state)(units, kept, kept + h, kept + 2 * h, kept + 3 * h, kept + 4 * h, cell, state);
        break;
    case GRU:
        for (int gate = 0; gate < 2; ++gate)
            for (int64_t j = 0; j < units; ++j)
                kept[gate * h + j] = M(sigmoid)(u[gate * h + j] + p[gate * apart + j]);
        N(gru_state)(units, u + 2 * h, p + 2 * apart, kept, kept + h, kept + 2 * h, kept + 3 * h, state);
        break;
    }
}

/* Rows of a step: the cell itself. */
static void N(cells)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t h = q->h, width = gate_count[q->mode] * h;
    for (int64_t n = begin; n < end; ++n)
        N(cell_units)(q->mode, h, h, h, (const T *)q->gates + (q->at + n) * width, (const T *)q->products + n * width,
                      (T *)q->reserve + (q->at + n) * reserve_count[q->mode] * h, (T *)q->cell + n * h,
                      q->r ? (T *)q->through + n * h : (T *)q->state + n * h);
}

/* Rows of a step: dh (of the cell's own h, projected or not) into gradients of gates, of p and of the state before. */
static void N(cell_gradients)(void *ctx, int64_t begin, int64_t end)
{
    const job *q = ctx;
    const int64_t h = q->h, width = gate_count[q->mode] * h;
    for (int64_t n = begin; n < end; ++n) {
        const T *restrict kept = (const T *)q->kept + (q->at + n) * reserve_count[q->mode] * h;
        const T *restrict y = (const T *)q->output + (q->at + n) * q->p, *restrict old = (const T *)q->previous + (q->at + n) * q->p;
        T *restrict d = (T *)q->d_gates + (q->at + n) * width, *restrict dp = (T *)q->products + (q->at + n) * width;
        T *restrict dh = (T *)q->dh + n * q->p, *restrict dc = (T *)q->dc + n * h;
        switch (q->mode) {
        case TANH:
            for (int64_t j = 0; j < h; ++j)
                d[j] = dh[j] * (1 - y[j] * y[j]);
            break;
        case RELU:
            for (int64_t j = 0; j < h; ++j)
                d[j] = y[j] > 0 ? dh[j] : 0;
            break;
        case LSTM: {
            const T *du = q->r ? (const T *)q->through + n * h : dh;
            const T *c_old = n < q->live_before ? (const T *)q->kept + (q->before + n) * 5 * h + 4 * h : (const T *)q->c0 + n * h;
            N(lstm_gradients)(h, kept, kept + h, kept + 2 * h, kept + 3 * h, kept + 4 * h, c_old, du, dc, d, d + h, d + 2 * h, d + 3 * h);
            break;
        }
        case GRU:
            N(gru_gradients)(h, kept, kept + h, kept + 2 * h, kept + 3 * h, old, dh, d, d + h, d + 2 * h, dp, dp + h, dp + 2 * h);
            break;
        }
    }
}

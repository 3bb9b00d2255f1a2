/*
 * Evenly spaced numbers.
 *
 *   out[i] = start + i * step, i = 0 .. count - 1
 *
 * Integers count in int64 and wrap into their type; floats are computed in double and rounded once (PyTorch computes in its
 * accumulation type, double for every float on the CPU).
 */
#include "../core/call.h"
#include "../core/cast.h"

int fc_infer_arange_of(fc_call *c)
{
    const int64_t count = c->i[2];
    return fc_declare(c, 0, (int)c->i[3], 1, &count);
}

int fc_cpu_arange_of(fc_call *c)
{
    const int64_t n = c->out[0]->numel;
    const int dtype = c->out[0]->dtype, size = fc_dt_size[dtype];
    const int64_t start = c->i[0], step = c->i[1];
    enum { BLOCK = 256 };
    union { int64_t i[BLOCK]; double d[BLOCK]; } value;
    for (int64_t at = 0; at < n; at += BLOCK) {
        const int64_t m = n - at < BLOCK ? n - at : BLOCK;
        for (int64_t k = 0; k < m; ++k)
            if (c->d[0] == c->d[0])
                value.d[k] = c->d[0] + (double)(at + k) * c->d[1];
            else
                value.i[k] = start + (at + k) * step;
        fc_convert(dtype, c->out[0]->data + at * size, c->d[0] == c->d[0] ? FC_F64 : FC_I64, &value, m);
    }
    return FC_OK;
}

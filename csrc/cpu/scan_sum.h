/* One accumulating scan, stamped per (operation, dtype): includer defines NAME, S, O (stored result), A, LOAD, STORE, INIT, OP. No guard on purpose. */
static void NAME(void *out_, int64_t *out2, const void *x_, int64_t n, int64_t step, int64_t width)
{
    (void)out2;
    O *out = out_;
    const S *x = x_;
    if (width == 1) {
        A a = INIT;
        for (int64_t i = 0; i < n; ++i) {
            a = OP(a, (A)LOAD(x[i * step]));
            out[i * step] = STORE(a);
        }
        return;
    }
    A acc[SCAN_TILE];
    for (int64_t c = 0; c < width; ++c)
        acc[c] = INIT;
    for (int64_t i = 0; i < n; ++i)
        for (int64_t c = 0; c < width; ++c) {
            acc[c] = OP(acc[c], (A)LOAD(x[i * step + c]));
            out[i * step + c] = STORE(acc[c]);
        }
}
#undef NAME
#undef INIT
#undef OP

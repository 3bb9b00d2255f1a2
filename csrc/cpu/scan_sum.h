/* One accumulating scan, stamped per (operation, dtype): includer defines NAME, S, O (stored result), A, LOAD, STORE, INIT, OP. No guard on purpose.
 *
 * out and x share no memory, or all of it, element by element. Element i of line l is at i * step + l * line, in x where step is not 1 at i * from + l; step or line is 1. state: where each line stands, made here if `fresh`. */
static void NAME(void *out_, const void *x_, int64_t n, int64_t lines, int64_t step, int64_t from, int64_t line, void *state, int fresh)
{
    O *out = out_;
    const S *x = x_;
    A *restrict acc = state;
    for (int64_t l = 0; fresh && l < lines; ++l)
        acc[l] = INIT;
    if (step != 1) {
        for (int64_t i = 0; i < n; ++i) {
            _Pragma("GCC ivdep")
            for (int64_t l = 0; l < lines; ++l) {
                acc[l] = OP(acc[l], (A)LOAD(x[i * from + l]));
                out[i * step + l] = STORE(acc[l]);
            }
        }
        return;
    }
    int64_t l = 0;
    for (; l + 4 <= lines; l += 4) { /* each addition waits for the one before it: four lines wait together */
        const S *x0 = x + l * line, *x1 = x0 + line, *x2 = x1 + line, *x3 = x2 + line;
        O *out0 = out + l * line, *out1 = out0 + line, *out2 = out1 + line, *out3 = out2 + line;
        A a0 = acc[l], a1 = acc[l + 1], a2 = acc[l + 2], a3 = acc[l + 3];
        for (int64_t i = 0; i < n; ++i) {
            a0 = OP(a0, (A)LOAD(x0[i]));
            a1 = OP(a1, (A)LOAD(x1[i]));
            a2 = OP(a2, (A)LOAD(x2[i]));
            a3 = OP(a3, (A)LOAD(x3[i]));
            out0[i] = STORE(a0);
            out1[i] = STORE(a1);
            out2[i] = STORE(a2);
            out3[i] = STORE(a3);
        }
        acc[l] = a0;
        acc[l + 1] = a1;
        acc[l + 2] = a2;
        acc[l + 3] = a3;
    }
    for (; l < lines; ++l) {
        A a = acc[l];
        for (int64_t i = 0; i < n; ++i) {
            a = OP(a, (A)LOAD(x[l * line + i]));
            out[l * line + i] = STORE(a);
        }
        acc[l] = a;
    }
}
#undef NAME
#undef INIT
#undef OP

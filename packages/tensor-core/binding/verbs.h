/* The commonest verbs, straight from what Python's operators are given. */

/* A verb of two operands: a Tensor, and a Tensor or a plain int or float. None where anything is unusual. */
static PyObject *fc_binary(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    PyObject *x = args[1], *y = args[2];
    fc_tensor *tx, *ty, *result;
    double re = 0;
    int64_t i = 0;
    int over = 0, kind;
    const int op = (int)PyLong_AsLong(args[0]);
    (void)self, (void)count;
    if (!(tx = fc_operand(x)))
        Py_RETURN_NONE;
    if ((ty = fc_operand(y))) {
        kind = -1;
    } else if (Py_TYPE(y) == &PyFloat_Type) {
        kind = 2, re = PyFloat_AsDouble(y);
    } else if (Py_TYPE(y) == &PyLong_Type) {
        kind = 1, i = PyLong_AsLongLongAndOverflow(y, &over), re = (double)i;
    } else {
        Py_RETURN_NONE;
    }
    if (over)
        Py_RETURN_NONE;
    {
        PyThreadState *saved = FC_SHORT(tx) && FC_SHORT(ty) ? NULL : PyEval_SaveThread();
        result = kind < 0 ? fc_map2(op, NULL, tx, ty) : fc_map2s(op, NULL, tx, kind, i, re, 0.0);
        if (saved)
            PyEval_RestoreThread(saved);
    }
    return fc_tensor_of(fc_handle_of(result));
}
FC_CALL(binary, fc_binary, METH_FASTCALL)

/* ternary(op, x, y, z, first): a verb of three operands. From `first` on they may be plain numbers, beside a floating tensor with dims among those:
   a number is a 0-d tensor of float64 then, which has no say in the dtype. None where anything is unusual. */
static PyObject *fc_ternary(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    fc_tensor *t[3], *made[3] = {NULL, NULL, NULL}, *result = NULL;
    double number[3];
    int numbers = 0, floating = 0, fits = 1, wide = 0;
    (void)self;
    if (!fc_count("ternary", count, 5))
        return NULL;
    const int op = (int)PyLong_AsLong(args[0]), first = (int)PyLong_AsLong(args[4]);
    if ((op < 0 || first < 0) && PyErr_Occurred())
        return NULL;
    for (int k = 0; k < 3 && fits; ++k) {
        PyObject *a = args[1 + k];
        if ((t[k] = fc_operand(a))) {
            floating |= k >= first && fc_ndim(t[k]) > 0 && fc_dtype(t[k]) >= 9;
            wide |= !FC_SHORT(t[k]);
            continue;
        }
        int over = 0;
        ++numbers;
        if (Py_TYPE(a) == &PyFloat_Type)
            number[k] = PyFloat_AsDouble(a);
        else if (Py_TYPE(a) == &PyLong_Type) {
            const int64_t i = PyLong_AsLongLongAndOverflow(a, &over);
            fits = !over && -(1LL << 53) < i && i < 1LL << 53;
            number[k] = (double)i;
        } else
            fits = 0;
        fits = fits && k >= first;
    }
    if (!fits || (numbers && !floating))
        Py_RETURN_NONE;
    for (int k = 0; k < 3; ++k)
        if (!t[k])
            t[k] = made[k] = fc_from_scalar(12, 2, 0, number[k], 0.0);
    if (t[0] && t[1] && t[2]) {
        PyThreadState *saved = wide ? PyEval_SaveThread() : NULL;
        result = fc_map3(op, NULL, t[0], t[1], t[2]);
        if (saved)
            PyEval_RestoreThread(saved);
    }
    for (int k = 0; k < 3; ++k)
        if (made[k])
            fc_free(made[k]);
    return fc_tensor_of(fc_handle_of(result));
}
FC_CALL(ternary, fc_ternary, METH_FASTCALL)

/* dim_bits((0, -1)): two masks, of dims counted from the front and from the end. None for anything but a tuple or list of different plain ints in reach. */
static PyObject *fc_dim_bits(PyObject *self, PyObject *dims)
{
    const int listed = PyList_Check(dims);
    uint64_t bits[2] = {0, 0};
    (void)self;
    if (!listed && !PyTuple_Check(dims))
        Py_RETURN_NONE;
    const Py_ssize_t n = listed ? PyList_Size(dims) : PyTuple_Size(dims);
    for (Py_ssize_t k = 0; k < n; ++k) {
        PyObject *d = listed ? PyList_GetItem(dims, k) : PyTuple_GetItem(dims, k);
        int over = 0;
        const int64_t at = Py_TYPE(d) == &PyLong_Type ? PyLong_AsLongLongAndOverflow(d, &over) : 64;
        if (over || at < -64 || at > 63 || bits[at < 0] >> (at < 0 ? ~at : at) & 1)
            Py_RETURN_NONE;
        bits[at < 0] |= (uint64_t)1 << (at < 0 ? ~at : at);
    }
    return Py_BuildValue("(KK)", (unsigned long long)bits[0], (unsigned long long)bits[1]);
}
FC_CALL(dim_bits, fc_dim_bits, METH_O)

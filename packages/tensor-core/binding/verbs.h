/* The commonest verbs, straight from what Python's operators are given. */

/* Does an operand want thought beside this output? It has a history, shares the output's memory (which some verbs allow the output itself), or is
   nothing that verbs take. */
static int fc_odd_beside(PyObject *a, PyObject *out, fc_tensor *written, int apart)
{
    if (Py_TYPE(a) == fc_tensor_type) {
        fc_tensor *t = fc_operand(a);
        return !t || ((fc_slots *)a)->origin != Py_None || (fc_same_storage(written, t) && (apart || a != out));
    }
    const int listed = PyList_Check(a);
    if (!listed && !PyTuple_Check(a))
        return a != Py_None && Py_TYPE(a) != &PyFloat_Type && Py_TYPE(a) != &PyLong_Type;
    const Py_ssize_t n = listed ? PyList_Size(a) : PyTuple_Size(a);
    for (Py_ssize_t k = 0; k < n; ++k)
        if (fc_odd_beside(listed ? PyList_GetItem(a, k) : PyTuple_GetItem(a, k), out, written, apart))
            return 1;
    return 0;
}

static PyObject *fc_odd_out(PyObject *const *args, Py_ssize_t count, int apart)
{
    PyObject *out = args[0], *base;
    fc_tensor *t = Py_TYPE(out) == fc_tensor_type && ((fc_slots *)out)->origin == Py_None ? fc_operand(out) : NULL;
    if (!t || fc_lazy(t))
        Py_RETURN_TRUE;
    base = ((fc_slots *)out)->base;
    if (base != Py_None && (!PyObject_TypeCheck(base, fc_tensor_type) || ((fc_slots *)base)->origin != Py_None))
        Py_RETURN_TRUE;
    for (Py_ssize_t k = 1; k < count; ++k)
        if (fc_odd_beside(args[k], out, t, apart))
            Py_RETURN_TRUE;
    Py_RETURN_FALSE;
}

/* odd(out, x, ...), odd_apart(out, x, ...): does `out=` want more than the verb itself checks, which is dtype and shape?
   odd_apart: no operand may be the output. */
static PyObject *fc_odd(PyObject *self, PyObject *const *args, Py_ssize_t count) { return (void)self, fc_odd_out(args, count, 0); }
static PyObject *fc_odd_apart(PyObject *self, PyObject *const *args, Py_ssize_t count) { return (void)self, fc_odd_out(args, count, 1); }
FC_CALL(odd, fc_odd, METH_FASTCALL)
FC_CALL(odd_apart, fc_odd_apart, METH_FASTCALL)

/* look(x, seen): make x look as this view of it does, over the memory that it has. False, and nothing done, where x is an inference tensor that may
   not be written to. */
static PyObject *fc_look(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    fc_slots *x = (fc_slots *)args[0];
    fc_tensor *own = fc_operand(args[0]), *seen = fc_operand(args[1]), *t;
    PyObject *handle, *before, *shape;
    (void)self, (void)count;
    if (!own || !seen || (fc_inference(own) && !fc_may_write(own)))
        Py_RETURN_FALSE;
    t = fc_alias(seen, 0);
    if (!t)
        return PyErr_NoMemory();
    handle = fc_handle_of(t);
    if (!handle)
        return NULL;
    fc_bump(t);
    before = x->handle, shape = x->shape;
    Py_INCREF(Py_None);
    x->handle = handle, x->shape = Py_None;
    Py_XDECREF(before), Py_XDECREF(shape);
    Py_RETURN_TRUE;
}
FC_CALL(look, fc_look, METH_FASTCALL)

/* May this stand beside x in a composition that writes its result over x as it goes? Numbers, and tensors of x's dtype and shape in other memory. */
static int fc_stands_beside(PyObject *a, fc_tensor *x)
{
    fc_tensor *t;
    if (Py_TYPE(a) != fc_tensor_type)
        return a == Py_None || Py_TYPE(a) == &PyFloat_Type || Py_TYPE(a) == &PyLong_Type;
    t = fc_operand(a);
    return t && ((fc_slots *)a)->origin == Py_None && !fc_lazy(t) && !(fc_pair(x, t) & 1) && !fc_same_storage(x, t);
}

/* over(x, args, options): may a composition elementwise in x and what else it takes have x for its output? Nobody has to hear of it, and x keeps its shape. */
static PyObject *fc_over(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    PyObject *odd = fc_odd_out(args, 1, 0), *key, *value;
    fc_tensor *x;
    Py_ssize_t at = 0;
    (void)self, (void)count;
    Py_DECREF(odd);
    if (odd == Py_True)
        Py_RETURN_FALSE;
    x = fc_operand(args[0]);
    for (Py_ssize_t k = 0; k < PyTuple_Size(args[1]); ++k)
        if (!fc_stands_beside(PyTuple_GetItem(args[1], k), x))
            Py_RETURN_FALSE;
    while (PyDict_Next(args[2], &at, &key, &value))
        if (!fc_stands_beside(value, x))
            Py_RETURN_FALSE;
    Py_RETURN_TRUE;
}
FC_CALL(over, fc_over, METH_FASTCALL)

/* copied(out, result, inputs): a result into an output of its dtype and shape, where that is all there is to it. Was it? */
static PyObject *fc_copied(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    PyObject *odd;
    fc_tensor *out, *result = Py_TYPE(args[1]) == fc_tensor_type ? fc_operand(args[1]) : NULL;
    PyThreadState *saved;
    int failed;
    (void)self;
    if (!result)
        Py_RETURN_FALSE;
    odd = fc_odd_out(args, count, 1);
    Py_DECREF(odd);
    if (odd == Py_True || fc_pair(out = fc_operand(args[0]), result) & 1)
        Py_RETURN_FALSE;
    saved = FC_SHORT(out) ? NULL : PyEval_SaveThread();
    failed = fc_copy(out, result) != 0;
    if (saved)
        PyEval_RestoreThread(saved);
    return PyBool_FromLong(!failed);
}
FC_CALL(copied, fc_copied, METH_FASTCALL)

/* binary(op, x, y[, out]): a verb of two operands, a Tensor, and a Tensor or a plain int or float. None where anything is unusual. */
static PyObject *fc_binary(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    PyObject *x = args[1], *y = args[2], *out = count > 3 && args[3] != Py_None ? args[3] : NULL;
    fc_tensor *tx, *ty, *written = out ? fc_operand(out) : NULL, *result;
    double re = 0;
    int64_t i = 0;
    int over = 0, kind;
    const int op = (int)PyLong_AsLong(args[0]);
    (void)self;
    if (!(tx = fc_operand(x)) || (out && !written))
        Py_RETURN_NONE;
    if ((ty = fc_operand(y))) {
        kind = -1;
    } else if (Py_TYPE(y) == &PyFloat_Type) {
        kind = FC_KFLOAT, re = PyFloat_AsDouble(y);
    } else if (Py_TYPE(y) == &PyLong_Type) {
        kind = FC_KINT, i = PyLong_AsLongLongAndOverflow(y, &over), re = (double)i;
    } else {
        Py_RETURN_NONE;
    }
    if (over)
        Py_RETURN_NONE;
    {
        PyThreadState *saved = FC_SHORT(tx) && FC_SHORT(ty) ? NULL : PyEval_SaveThread();
        if (out)
            fc_exactly(1);
        result = kind < 0 ? fc_map2(op, written, tx, ty) : fc_map2s(op, written, tx, kind, i, re, 0.0);
        if (out)
            fc_exactly(0);
        if (saved)
            PyEval_RestoreThread(saved);
    }
    return out ? fc_given_back(result, out) : fc_tensor_of(fc_handle_of(result));
}
FC_CALL(binary, fc_binary, METH_FASTCALL)

/* What a plain number is beside tensors: of float64 or int64, without dims. -1 where it is neither, or an int of more digits than doubles have. */
static int fc_plain_number(PyObject *a, double *value)
{
    int over = 0;
    if (Py_TYPE(a) == &PyFloat_Type) {
        *value = PyFloat_AsDouble(a);
        return FC_KFLOAT;
    }
    if (Py_TYPE(a) != &PyLong_Type)
        return -1;
    const int64_t i = PyLong_AsLongLongAndOverflow(a, &over);
    *value = (double)i;
    return !over && -(1LL << 53) < i && i < 1LL << 53 ? FC_KINT : -1;
}

/* ternary(op, x, y, z, first, out): a verb of three operands. From `first` on they may be plain numbers, beside tensors with dims among those, of the
   same kind of dtype or one above it: a number is a 0-d tensor then, which has no say in the dtype. None where anything is unusual. */
static PyObject *fc_ternary(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    fc_tensor *t[3], *made[3] = {NULL, NULL, NULL}, *written, *result = NULL;
    double number[3];
    int numbers = -1, tensors = -1, fits = 1, wide = 0; /* the widest kinds */
    (void)self;
    if (!fc_count("ternary", count, 6))
        return NULL;
    PyObject *out = args[5] != Py_None ? args[5] : NULL;
    if (!(written = out ? fc_operand(out) : NULL) && out)
        Py_RETURN_NONE;
    const int op = (int)PyLong_AsLong(args[0]), first = (int)PyLong_AsLong(args[4]);
    if ((op < 0 || first < 0) && PyErr_Occurred())
        return NULL;
    for (int k = 0; k < 3 && fits; ++k) {
        PyObject *a = args[1 + k];
        if ((t[k] = fc_operand(a))) {
            const int dtype = fc_dtype(t[k]), own = dtype >= FC_F16 ? FC_KFLOAT : dtype == FC_BOOL ? FC_KBOOL : FC_KINT;
            tensors = k >= first && fc_ndim(t[k]) > 0 && own > tensors ? own : tensors;
            wide |= !FC_SHORT(t[k]);
            continue;
        }
        const int kind = fc_plain_number(a, number + k);
        fits = kind >= 0 && k >= first;
        numbers = kind > numbers ? kind : numbers;
    }
    if (!fits || numbers > tensors)
        Py_RETURN_NONE;
    for (int k = 0; k < 3; ++k)
        if (!t[k]) /* beside floats of float64, whatever it is */
            t[k] = made[k] = tensors == FC_KFLOAT ? fc_from_scalar(FC_F64, FC_KFLOAT, 0, number[k], 0.0)
                                                  : fc_from_scalar(FC_I64, FC_KINT, (int64_t)number[k], number[k], 0.0);
    if (t[0] && t[1] && t[2]) {
        PyThreadState *saved = wide ? PyEval_SaveThread() : NULL;
        if (out)
            fc_exactly(1);
        result = fc_map3(op, written, t[0], t[1], t[2]);
        if (out)
            fc_exactly(0);
        if (saved)
            PyEval_RestoreThread(saved);
    }
    for (int k = 0; k < 3; ++k)
        if (made[k])
            fc_free(made[k]);
    return out ? fc_given_back(result, out) : fc_tensor_of(fc_handle_of(result));
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

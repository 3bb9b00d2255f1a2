/* Tensors of one value, and the pieces of one tensor: in one call what would be several. None wherever anything is unusual. */

/* Does a tensor of this dtype hold the number as it is? Whatever needs a closer look is for Python's own code. */
static int fc_plain_value(int dtype, PyObject *value, int *kind, int64_t *i, double *re)
{
    int over = 0;
    *kind = fc_kind_of(value), *i = 0;
    if (*kind == FC_KFLOAT) {
        *re = PyFloat_AsDouble(value);
        return dtype == FC_F64 || (dtype == FC_F32 && (*re != *re || (*re <= 3e38 && *re >= -3e38)));
    }
    if (*kind < 0)
        return 0;
    *i = PyLong_AsLongLongAndOverflow(value, &over), *re = (double)*i;
    return !over && (*i == 0 || *i == 1 || dtype == FC_I64 || dtype == FC_F64 || (dtype == FC_F32 && *i <= 1 << 24 && *i >= -(1 << 24)));
}

static PyObject *fc_filled(fc_tensor *t, int kind, int64_t i, double re)
{
    int bad;
    if (!t)
        Py_RETURN_NONE;
    {
        PyThreadState *saved = FC_SHORT(t) ? NULL : PyEval_SaveThread();
        bad = fc_fill(t, kind, i, re, 0.0);
        if (saved)
            PyEval_RestoreThread(saved);
    }
    if (bad) {
        fc_free(t);
        Py_RETURN_NONE;
    }
    fc_fresh(t);
    return fc_tensor_of(fc_handle_of(t));
}

static int fc_is_sizes(PyObject *o) { return PyTuple_Check(o) || PyList_Check(o); }

/* full(dtype or -1, device, sizes, value or None for an unset one): sizes may be one sequence in a sequence, as f(*sizes) gets them */
static PyObject *fc_full(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    int dtype, device, kind, over = 0;
    int64_t i, shape[FC_DEEPEST];
    double re;
    PyObject *sizes = args[2];
    (void)self;
    if (!fc_count("full", count, 4) || fc_read_int(args[0], &dtype) < 0 || fc_read_int(args[1], &device) < 0)
        return NULL;
    if (dtype < 0)
        dtype = fc_default_dtype();
    const int unset = args[3] == Py_None;
    if (!fc_is_sizes(sizes) || (!unset && !fc_plain_value(dtype, args[3], &kind, &i, &re)))
        Py_RETURN_NONE;
    if (PySequence_Size(sizes) == 1) {
        PyObject *first = PyTuple_Check(sizes) ? PyTuple_GetItem(sizes, 0) : PyList_GetItem(sizes, 0);
        if (fc_is_sizes(first))
            sizes = first;
    }
    const Py_ssize_t n = PySequence_Size(sizes);
    if (n > FC_DEEPEST)
        Py_RETURN_NONE;
    for (Py_ssize_t d = 0; d < n; ++d) {
        PyObject *size = PyTuple_Check(sizes) ? PyTuple_GetItem(sizes, d) : PyList_GetItem(sizes, d);
        if (Py_TYPE(size) != &PyLong_Type)
            Py_RETURN_NONE;
        shape[d] = PyLong_AsLongLongAndOverflow(size, &over);
        if (over || shape[d] < 0)
            Py_RETURN_NONE;
    }
    fc_tensor *t = fc_empty(dtype, device, (int)n, shape);
    return unset ? fc_tensor_of(fc_handle_of(t)) : fc_filled(t, kind, i, re);
}
FC_CALL(full, fc_full, METH_FASTCALL)

/* full_like(tensor, dtype or -1, value): strides as the tensor has them */
static PyObject *fc_full_like(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    int dtype, kind;
    int64_t i;
    double re;
    fc_tensor *x;
    (void)self;
    if (!fc_count("full_like", count, 3) || fc_read_int(args[1], &dtype) < 0)
        return NULL;
    if (!(x = fc_operand(args[0])) || !fc_plain_value(dtype < 0 ? dtype = fc_dtype(x) : dtype, args[2], &kind, &i, &re))
        Py_RETURN_NONE;
    return fc_filled(fc_empty_like(x, dtype, 1), kind, i, re);
}
FC_CALL(full_like, fc_full_like, METH_FASTCALL)

static int64_t fc_piece_size(PyObject *sizes, Py_ssize_t k, int64_t left)
{
    int over = 0;
    PyObject *size = PyLong_Check(sizes) ? sizes : PyTuple_Check(sizes) ? PyTuple_GetItem(sizes, k) : PyList_GetItem(sizes, k);
    const int64_t n = Py_TYPE(size) == &PyLong_Type ? PyLong_AsLongLongAndOverflow(size, &over) : -1;
    return over || n < 0 ? -1 : n <= left ? n : PyLong_Check(sizes) ? left : -1;
}

/* pieces(op, tensor, dim, sizes, mark): a tuple of views, each with its base, marked as fc_piece or not. op slice: sizes is a list, or one size for all but the last;
 * op select: sizes is None and dim goes. */
static PyObject *fc_pieces(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    int op, dim, mark;
    fc_tensor *x;
    PyObject *sizes = args[3], *found;
    (void)self;
    if (!fc_count("pieces", count, 5) || fc_read_int(args[0], &op) < 0 || fc_read_int(args[4], &mark) < 0)
        return NULL;
    if (fc_read_int(args[2], &dim) < 0) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError))
            return NULL;
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    if (!(x = fc_operand(args[1])) || !(Py_TYPE(sizes) == &PyLong_Type || sizes == Py_None || fc_is_sizes(sizes)))
        Py_RETURN_NONE;
    const int ndim = fc_ndim(x);
    dim += dim < 0 ? ndim : 0;
    if (dim < 0 || dim >= ndim)
        Py_RETURN_NONE;
    const int64_t size = fc_size(x, dim);
    int64_t n = sizes == Py_None ? size : 0, at = 0;
    if (Py_TYPE(sizes) == &PyLong_Type) {
        const int64_t step = fc_piece_size(sizes, 0, size);
        if (step <= 0)
            Py_RETURN_NONE;
        n = (size + step - 1) / step;
    } else if (sizes != Py_None) {
        n = PySequence_Size(sizes);
    }
    if (!(found = PyTuple_New((Py_ssize_t)n)))
        return NULL;
    PyObject *base = ((fc_slots *)args[1])->base;
    base = base && base != Py_None ? base : args[1];
    for (int64_t k = 0; k < n; ++k) {
        const int64_t wide = sizes == Py_None ? 1 : fc_piece_size(sizes, (Py_ssize_t)k, size - at);
        fc_tensor *view = wide < 0 ? NULL : sizes == Py_None ? fc_view_op(op, x, dim, k, 0, 0) : fc_view_op(op, x, dim, at, wide, 1);
        if (view && mark)
            fc_mark_piece(view);
        PyObject *piece = view ? fc_tensor_of(fc_handle_of(view)) : NULL;
        if (!piece) {
            Py_DECREF(found);
            if (PyErr_Occurred())
                return NULL;
            Py_RETURN_NONE;
        }
        Py_INCREF(base);
        Py_DECREF(((fc_slots *)piece)->base);
        ((fc_slots *)piece)->base = base;
        PyTuple_SetItem(found, (Py_ssize_t)k, piece);
        at += wide;
    }
    if (at != size && sizes != Py_None) { /* the sizes do not sum up */
        Py_DECREF(found);
        Py_RETURN_NONE;
    }
    return found;
}
FC_CALL(pieces, fc_pieces, METH_FASTCALL)

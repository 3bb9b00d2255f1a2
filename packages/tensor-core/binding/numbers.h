/* Python numbers into tensors and back: nested lists of plain ints, floats and bools. None wherever Python's own code has to look closer. */
enum { FC_DEEPEST = 64 }; /* dims */

typedef struct {
    int ndim, kind; /* kind: fc_kind, of the widest number; -1 until one was seen */
    int64_t shape[FC_DEEPEST];
} fc_nested;

static int fc_is_list(PyObject *o) { return Py_TYPE(o) == &PyList_Type || Py_TYPE(o) == &PyTuple_Type; }

static Py_ssize_t fc_length(PyObject *o) { return Py_TYPE(o) == &PyList_Type ? PyList_Size(o) : PyTuple_Size(o); }

static PyObject *fc_item_at(PyObject *o, Py_ssize_t k) { return Py_TYPE(o) == &PyList_Type ? PyList_GetItem(o, k) : PyTuple_GetItem(o, k); }

static int fc_kind_of(PyObject *o)
{
    return Py_TYPE(o) == &PyFloat_Type ? FC_KFLOAT : Py_TYPE(o) == &PyLong_Type ? FC_KINT : Py_TYPE(o) == &PyBool_Type ? FC_KBOOL : -1;
}

/* 0 where every row has one length and every leaf is a plain number. */
static int fc_nested_look(PyObject *o, int depth, fc_nested *n)
{
    if (depth == n->ndim) {
        const int kind = fc_kind_of(o);
        n->kind = kind > n->kind ? kind : n->kind;
        return kind < 0;
    }
    if (!fc_is_list(o) || fc_length(o) != n->shape[depth])
        return 1;
    for (Py_ssize_t k = 0; k < n->shape[depth]; ++k)
        if (fc_nested_look(fc_item_at(o, k), depth + 1, n))
            return 1;
    return 0;
}

/* 0 and the next place, or 1 where a number does not fit. */
static int fc_nested_store(PyObject *o, int depth, const fc_nested *n, int dtype, char **to)
{
    if (depth < n->ndim) {
        for (Py_ssize_t k = 0; k < n->shape[depth]; ++k)
            if (fc_nested_store(fc_item_at(o, k), depth + 1, n, dtype, to))
                return 1;
        return 0;
    }
    if (dtype == FC_BOOL) {
        const int truth = PyObject_IsTrue(o);
        *(*to)++ = (char)truth;
        return truth < 0;
    }
    if (dtype == FC_I64) {
        int over = 0;
        const int64_t v = PyLong_AsLongLongAndOverflow(o, &over);
        memcpy(*to, &v, sizeof v);
        *to += sizeof v;
        return over;
    }
    const double v = PyFloat_AsDouble(o);
    if (v == -1.0 && PyErr_Occurred())
        return 1;
    if (dtype == FC_F64) {
        memcpy(*to, &v, sizeof v);
        *to += sizeof v;
        return 0;
    }
    const float f = (float)v;
    memcpy(*to, &f, sizeof f);
    *to += sizeof f;
    return 0;
}

/* from_numbers(data, dtype): a Tensor of bool, int64, float32 or float64; dtype -1 for what the numbers say. */
static PyObject *fc_from_numbers(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    fc_nested n = { 0, -1, { 0 } };
    int dtype;
    (void)self;
    if (!fc_count("from_numbers", count, 2) || fc_read_int(args[1], &dtype) < 0)
        return NULL;
    for (PyObject *o = args[0]; fc_is_list(o); o = fc_item_at(o, 0)) {
        if (n.ndim == FC_DEEPEST || !fc_length(o))
            Py_RETURN_NONE;
        n.shape[n.ndim++] = fc_length(o);
    }
    if (fc_nested_look(args[0], 0, &n))
        Py_RETURN_NONE;
    if (dtype < 0)
        dtype = n.kind == FC_KFLOAT ? fc_default_dtype() : n.kind == FC_KINT ? FC_I64 : FC_BOOL;
    if (dtype != FC_F32 && dtype != FC_F64 && dtype != FC_BOOL && (dtype != FC_I64 || n.kind == FC_KFLOAT))
        Py_RETURN_NONE;
    fc_tensor *t = fc_empty(dtype, 0, n.ndim, n.shape);
    char *to = t ? fc_data(t) : NULL;
    if (!t)
        Py_RETURN_NONE;
    if (fc_nested_store(args[0], 0, &n, dtype, &to)) {
        PyErr_Clear();
        fc_free(t);
        Py_RETURN_NONE;
    }
    return fc_tensor_of(fc_handle_of(t));
}
FC_CALL(from_numbers, fc_from_numbers, METH_FASTCALL)

/* --- back ---------------------------------------------------------------------------------------------------------- */

static PyObject *fc_number_at(const char *at, int dtype)
{
    switch (dtype) {
#define FC_CASE(id, type, make)      \
    case id: {                       \
        type v;                      \
        memcpy(&v, at, sizeof v);    \
        return make;                 \
    }
        FC_CASE(0, uint8_t, PyBool_FromLong(v))
        FC_CASE(1, uint8_t, PyLong_FromLong(v))
        FC_CASE(2, int8_t, PyLong_FromLong(v))
        FC_CASE(3, int16_t, PyLong_FromLong(v))
        FC_CASE(4, int32_t, PyLong_FromLong(v))
        FC_CASE(5, int64_t, PyLong_FromLongLong(v))
        FC_CASE(6, uint16_t, PyLong_FromLong(v))
        FC_CASE(7, uint32_t, PyLong_FromLongLong(v))
        FC_CASE(8, uint64_t, PyLong_FromUnsignedLongLong(v))
        FC_CASE(11, float, PyFloat_FromDouble(v))
        FC_CASE(12, double, PyFloat_FromDouble(v))
#undef FC_CASE
    case 13: {
        float v[2];
        memcpy(v, at, sizeof v);
        return PyComplex_FromDoubles(v[0], v[1]);
    }
    case 14: {
        double v[2];
        memcpy(v, at, sizeof v);
        return PyComplex_FromDoubles(v[0], v[1]);
    }
    default:
        Py_RETURN_NONE;
    }
}

static PyObject *fc_list_from(fc_tensor *t, int dim, const char *at, int dtype, int64_t size)
{
    if (dim == fc_ndim(t))
        return fc_number_at(at, dtype);
    const int64_t n = fc_size(t, dim), step = fc_stride(t, dim) * size;
    PyObject *list = PyList_New(n);
    for (int64_t k = 0; list && k < n; ++k) {
        PyObject *item = fc_list_from(t, dim + 1, at + k * step, dtype, size);
        if (!item || PyList_SetItem(list, k, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* Whether all elements lie inside the storage, which may have been made smaller since. */
static int fc_is_inside(fc_tensor *t, int64_t size)
{
    int64_t low = fc_offset(t), high = low;
    if (!fc_numel(t))
        return 1; /* whose strides may be any */
    for (int d = 0; d < fc_ndim(t); ++d) {
        const int64_t reach = (fc_size(t, d) - 1) * fc_stride(t, d);
        *(reach < 0 ? &low : &high) += reach;
    }
    return low >= 0 && (high + 1) * size <= fc_storage_bytes(t);
}

/* Bytes per element; 0 for halves and float8, which are converted first. */
static int64_t fc_number_size(fc_tensor *t)
{
    static const uint8_t sizes[FC_NDTYPES] = { 1, 1, 1, 2, 4, 8, 2, 4, 8, 0, 0, 4, 8, 8, 16 };
    return sizes[fc_dtype(t)];
}

/* to_numbers(handle): nested lists, a number for a 0-d tensor; None where there is nothing to read as it lies. */
static PyObject *fc_to_numbers(PyObject *self, PyObject *handle)
{
    fc_tensor *t;
    (void)self;
    if (fc_handle_read(handle, &t) < 0)
        return NULL;
    const int64_t size = fc_number_size(t);
    if (fc_device(t) != 0 || !size || fc_lazy(t) || !fc_is_inside(t, size))
        Py_RETURN_NONE;
    return fc_list_from(t, 0, fc_data(t), fc_dtype(t), size);
}
FC_CALL(to_numbers, fc_to_numbers, METH_O)

/* number_of(handle): the only element, or None. */
static PyObject *fc_number_of(PyObject *self, PyObject *handle)
{
    fc_tensor *t;
    (void)self;
    if (fc_handle_read(handle, &t) < 0)
        return NULL;
    const int64_t size = fc_number_size(t);
    if (fc_numel(t) != 1 || fc_device(t) != 0 || !size || fc_lazy(t) || !fc_is_inside(t, size))
        Py_RETURN_NONE;
    return fc_number_at(fc_data(t), fc_dtype(t));
}
FC_CALL(number_of, fc_number_of, METH_O)

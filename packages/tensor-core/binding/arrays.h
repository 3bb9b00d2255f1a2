/*
 * NumPy's arrays in and out, by the C side of its array interface (`__array_struct__`): no look at shapes or strides in Python.
 * Source: NumPy's documentation, "The array interface protocol".
 *
 *  * from_array(array)    a Tensor over the array's memory; None wherever Python's own code has to look closer
 *  * array_view(tensor)   what numpy.asarray makes an array of; it keeps a handle over the memory
 *  * lent_view(tensor)    the same for an array that a user keeps: the tensor's bytes stay where they are from now on
 *  * array_interface(tensor)  the description as a dict
 */

typedef struct {
    int two, nd; /* 2 says that this is one */
    char kind;
    int itemsize, flags;
    Py_ssize_t *shape, *strides;
    void *data;
    PyObject *descr;
} fc_array;
enum { FC_ALIGNED = 0x100, FC_NOT_SWAPPED = 0x200, FC_WRITABLE = 0x400, FC_VIEWED = 8 };

static const char fc_array_kind[FC_NDTYPES] = "buiiiiuuuffffcc"; /* by dtype; bfloat16 and float8 are none of NumPy's */
static const int fc_array_size[FC_NDTYPES] = {1, 1, 1, 2, 4, 8, 2, 4, 8, 2, 0, 4, 8, 8, 16};

static PyObject *fc_from_array(PyObject *self, PyObject *object)
{
    PyObject *capsule = PyObject_GetAttr(object, fc_array_name), *key = NULL;
    const fc_array *a = capsule && PyCapsule_CheckExact(capsule) ? PyCapsule_GetPointer(capsule, NULL) : NULL;
    int64_t shape[FC_DEEPEST], stride[FC_DEEPEST], bytes = a ? a->itemsize : 0;
    fc_tensor *t = NULL;
    int dtype = 0;
    (void)self;
    PyErr_Clear();
    while (a && dtype < FC_NDTYPES && (fc_array_kind[dtype] != a->kind || fc_array_size[dtype] != a->itemsize))
        ++dtype;
    int plain = a && a->two == 2 && a->nd <= FC_DEEPEST && a->itemsize > 0 && dtype < FC_NDTYPES && (a->flags & FC_NOT_SWAPPED) && (a->flags & FC_WRITABLE);
    for (int d = 0; plain && d < a->nd; ++d) {
        shape[d] = a->shape[d];
        stride[d] = a->strides[d] / a->itemsize;
        bytes *= shape[d];
        plain = a->strides[d] >= 0 && a->strides[d] % a->itemsize == 0;
    }
    if (plain && (key = PyIter_Next(fc_owner_ids))) {
        t = fc_from_memory(a->data, bytes, PyLong_AsLongLong(key), 1, dtype, a->nd, shape, stride, 0);
        if (t && PyDict_SetItem(fc_owners, key, object) < 0) {
            fc_free(t);
            t = NULL;
        }
    }
    Py_XDECREF(key);
    Py_XDECREF(capsule);
    return fc_tensor_of(fc_handle_of(t));
}
FC_CALL(from_array, fc_from_array, METH_O)

typedef struct {
    PyObject_HEAD
    PyObject *handle;
    fc_array array;
    Py_ssize_t room[2 * FC_VIEWED];
} fc_view_object;
static PyObject *fc_view_type;

static void fc_view_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((fc_view_object *)self)->handle);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *fc_view_struct(PyObject *self, void *unused) { return (void)unused, PyCapsule_New(&((fc_view_object *)self)->array, NULL, NULL); }

static PyGetSetDef fc_view_getset[] = {{"__array_struct__", fc_view_struct, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot fc_view_slots[] = {{Py_tp_dealloc, (void *)fc_view_dealloc}, {Py_tp_getset, fc_view_getset}, {0, NULL}};
static PyType_Spec fc_view_spec = {"facula.tensor_core._native.ArrayView", sizeof(fc_view_object), 0, Py_TPFLAGS_DEFAULT, fc_view_slots};

/* A tensor whose memory NumPy can read as it is, or NULL: not what NumPy has no dtype for, nor views that are still to be conjugated or negated, nor
   meta tensors and empty ones */
static fc_tensor *fc_readable(PyObject *object)
{
    fc_tensor *x = fc_operand(object);
    return x && !fc_lazy(x) && !fc_device(x) && fc_array_size[fc_dtype(x)] && fc_numel(x) ? x : NULL;
}

static PyObject *fc_view_of(fc_tensor *x)
{
    if (!x || fc_ndim(x) > FC_VIEWED)
        Py_RETURN_NONE;
    if (!fc_view_type && !(fc_view_type = PyType_FromSpec(&fc_view_spec)))
        return NULL;
    PyObject *handle = fc_handle_of(fc_alias(x, 0)); /* of its own: the tensor may be given another shape */
    fc_view_object *view = handle && handle != Py_None ? PyObject_New(fc_view_object, (PyTypeObject *)fc_view_type) : NULL;
    if (!view) {
        Py_XDECREF(handle);
        return PyErr_NoMemory();
    }
    const int dtype = fc_dtype(x), n = fc_ndim(x);
    view->handle = handle;
    view->array = (fc_array){2, n, fc_array_kind[dtype], fc_array_size[dtype], FC_NOT_SWAPPED | FC_ALIGNED | (fc_storage_writable(x) ? FC_WRITABLE : 0),
                             view->room, view->room + FC_VIEWED, fc_data(x), NULL};
    for (int d = 0; d < n; ++d) {
        view->room[d] = fc_size(x, d);
        view->room[FC_VIEWED + d] = fc_stride(x, d) * fc_array_size[dtype];
    }
    return (PyObject *)view;
}

static PyObject *fc_array_view(PyObject *self, PyObject *object) { return (void)self, fc_view_of(fc_readable(object)); }
FC_CALL(array_view, fc_array_view, METH_O)

static PyObject *fc_lent_view(PyObject *self, PyObject *object)
{
    fc_tensor *x = fc_readable(object);
    (void)self;
    if (x)
        fc_lend(x);
    return fc_view_of(x);
}
FC_CALL(lent_view, fc_lent_view, METH_O)

static PyObject *fc_array_interface(PyObject *self, PyObject *object)
{
    fc_tensor *x = fc_readable(object);
    (void)self;
    if (!x)
        Py_RETURN_NONE;
    const int n = fc_ndim(x), dtype = fc_dtype(x), size = fc_array_size[dtype];
    const char kind[] = {size == 1 ? '|' : '<', fc_array_kind[dtype], 0};
    PyObject *shape = PyTuple_New(n), *strides = PyTuple_New(n);
    for (int d = 0; shape && strides && d < n; ++d) {
        PyTuple_SetItem(shape, d, PyLong_FromLongLong(fc_size(x, d)));
        PyTuple_SetItem(strides, d, PyLong_FromLongLong(fc_stride(x, d) * size));
    }
    PyObject *made = shape && strides ? Py_BuildValue("{sisNsOsOs(NO)}", "version", 3, "typestr", PyUnicode_FromFormat("%s%d", kind, size), "shape", shape, "strides", strides,
                                                      "data", PyLong_FromVoidPtr(fc_data(x)), fc_storage_writable(x) ? Py_False : Py_True) : NULL;
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    return made;
}
FC_CALL(array_interface, fc_array_interface, METH_O)

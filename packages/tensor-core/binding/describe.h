/*
 * What describes a tensor, and the shapes that do. In C because every function of Python's asks: 30 ns where a property in Python takes 80.
 *
 *  * dtype_of, shape_of ...   getters of Tensor's properties
 *  * Slots' methods           Tensor.dim, size, stride ...
 *  * Sizes                    the base of Size: a tuple whose slices are Sizes
 */

static PyObject *fc_dtypes, *fc_devices, *fc_shapes; /* by id: tuple, tuple, list of those known so far */
static PyObject *fc_shape_reader, *fc_stale_asker, *fc_no_grad_asker; /* Python's functions: the Size of a handle; requires_grad of a tensor whose origin is stale; .grad of one that has a history and no gradient */

/* The C tensor of a Tensor: the one in its slot, or of another class what that says its _h is (then held by *held). NULL is an error. */
static fc_tensor *fc_described(PyObject *self, PyObject **held)
{
    fc_tensor *tensor = NULL;
    *held = NULL;
    if (!PyObject_TypeCheck(self, fc_tensor_type))
        return PyErr_Format(PyExc_TypeError, "expected a Tensor, got %S", (PyObject *)Py_TYPE(self)), NULL;
    if (Py_TYPE(self) == fc_tensor_type && ((fc_slots *)self)->handle && (PyObject *)Py_TYPE(((fc_slots *)self)->handle) == fc_handle_type)
        return ((fc_handle *)((fc_slots *)self)->handle)->tensor;
    if ((*held = PyObject_GetAttr(self, fc_h_name)) && fc_handle_read(*held, &tensor) == 0 && !tensor)
        PyErr_SetString(PyExc_TypeError, "a tensor's handle is wanted");
    if (!tensor)
        Py_CLEAR(*held);
    return tensor;
}

static PyObject *fc_entry(PyObject *table, int id, PyObject *held)
{
    PyObject *entry = PyTuple_GetItem(table, id);
    Py_XINCREF(entry);
    Py_XDECREF(held);
    return entry;
}

static PyObject *fc_dtype_of(PyObject *module, PyObject *self)
{
    PyObject *held;
    fc_tensor *x = fc_described(self, &held);
    return (void)module, x ? fc_entry(fc_dtypes, fc_dtype(x), held) : NULL;
}
FC_CALL(dtype_of, fc_dtype_of, METH_O)

static PyObject *fc_device_of(PyObject *module, PyObject *self)
{
    PyObject *held;
    fc_tensor *x = fc_described(self, &held);
    return (void)module, x ? fc_entry(fc_devices, fc_device(x), held) : NULL;
}
FC_CALL(device_of, fc_device_of, METH_O)

static PyObject *fc_on_meta(PyObject *module, PyObject *self)
{
    PyObject *held;
    fc_tensor *x = fc_described(self, &held);
    const int there = x && fc_device(x) == 1;
    Py_XDECREF(held);
    return (void)module, x ? PyBool_FromLong(there) : NULL;
}
FC_CALL(on_meta, fc_on_meta, METH_O)

/* Kept in the slot once it is read. */
static PyObject *fc_shape_of(PyObject *module, PyObject *self)
{
    fc_slots *t = (fc_slots *)self;
    PyObject *held, *shape, *before;
    fc_tensor *x;
    int id;
    (void)module;
    if (PyObject_TypeCheck(self, fc_tensor_type) && t->shape && t->shape != Py_None)
        return Py_INCREF(t->shape), t->shape;
    if (!(x = fc_described(self, &held)))
        return NULL;
    id = fc_shape_id(x);
    if (id >= 0 && id < PyList_Size(fc_shapes)) {
        shape = PyList_GetItem(fc_shapes, id);
        Py_INCREF(shape);
    } else {
        shape = PyObject_CallFunctionObjArgs(fc_shape_reader, held ? held : t->handle, NULL);
    }
    Py_XDECREF(held);
    if (shape) {
        before = t->shape;
        Py_INCREF(shape);
        t->shape = shape;
        Py_XDECREF(before);
    }
    return shape;
}
FC_CALL(shape_of, fc_shape_of, METH_O)

/* The shape as a class may define it. */
static PyObject *fc_shape_seen(PyObject *self)
{
    fc_slots *t = (fc_slots *)self;
    if (Py_TYPE(self) == fc_tensor_type || (t->shape && t->shape != Py_None))
        return fc_shape_of(NULL, self);
    return PyObject_GetAttrString(self, "shape");
}

static PyObject *fc_ndim_of(PyObject *module, PyObject *self)
{
    PyObject *shape;
    Py_ssize_t n;
    (void)module;
    if (!PyObject_TypeCheck(self, fc_tensor_type))
        return PyErr_Format(PyExc_TypeError, "expected a Tensor, got %S", (PyObject *)Py_TYPE(self));
    if (!(shape = fc_shape_seen(self)))
        return NULL;
    n = PyObject_Size(shape);
    Py_DECREF(shape);
    return n < 0 ? NULL : PyLong_FromSsize_t(n);
}
FC_CALL(ndim_of, fc_ndim_of, METH_O)

static PyObject *fc_grad_of(PyObject *module, PyObject *self)
{
    PyObject *grad = PyObject_TypeCheck(self, fc_tensor_type) ? ((fc_slots *)self)->grad : NULL;
    (void)module;
    if (!grad || grad == Py_None) {
        if (PyObject_TypeCheck(self, fc_tensor_type) && ((fc_slots *)self)->origin && ((fc_slots *)self)->origin != Py_None)
            return PyObject_CallFunctionObjArgs(fc_no_grad_asker, self, NULL);
        Py_RETURN_NONE;
    }
    Py_INCREF(grad);
    return grad;
}
FC_CALL(grad_of, fc_grad_of, METH_O)

static PyObject *fc_wants_grad(PyObject *module, PyObject *self)
{
    PyObject *held;
    fc_tensor *x = fc_described(self, &held);
    const int stale = x && fc_epoch_stale(x);
    (void)module;
    Py_XDECREF(held);
    if (!x)
        return NULL;
    return stale ? PyObject_CallFunctionObjArgs(fc_stale_asker, self, NULL) : PyBool_FromLong(((fc_slots *)self)->origin && ((fc_slots *)self)->origin != Py_None);
}
FC_CALL(wants_grad, fc_wants_grad, METH_O)

/* --- methods ---------------------------------------------------------------------------------------------------- */

static PyObject *fc_slots_dim(PyObject *self, PyObject *unused) { return (void)unused, fc_ndim_of(NULL, self); }

static PyObject *fc_slots_numel(PyObject *self, PyObject *unused)
{
    PyObject *held;
    fc_tensor *x = fc_described(self, &held);
    const int64_t n = x ? fc_numel(x) : 0;
    (void)unused;
    Py_XDECREF(held);
    return x ? PyLong_FromLongLong(n) : NULL;
}

static PyObject *fc_slots_data_ptr(PyObject *self, PyObject *unused)
{
    PyObject *held;
    fc_tensor *x = fc_described(self, &held);
    void *data = x && fc_numel(x) ? fc_data(x) : NULL;
    (void)unused;
    Py_XDECREF(held);
    return x ? data ? PyLong_FromVoidPtr(data) : PyLong_FromLong(0) : NULL;
}

/* Is the dtype's number in that range? A class may define its dtype: then is its kind the one asked for? */
static PyObject *fc_is_kind(PyObject *self, int low, int high, const char *name)
{
    if (Py_TYPE(self) == fc_tensor_type) {
        PyObject *held;
        fc_tensor *x = fc_described(self, &held);
        const int id = x ? fc_dtype(x) : 0;
        Py_XDECREF(held);
        return x ? PyBool_FromLong((low <= id && id < high) || (id >= FC_F8E4M3FN && low == FC_F16)) : NULL;
    }
    PyObject *dtype = PyObject_GetAttrString(self, "dtype"), *found = dtype ? PyObject_GetAttrString(dtype, name) : NULL;
    Py_XDECREF(dtype);
    return found;
}

static PyObject *fc_slots_is_floating_point(PyObject *self, PyObject *unused) { return (void)unused, fc_is_kind(self, FC_F16, FC_C64, "is_floating_point"); }
static PyObject *fc_slots_is_complex(PyObject *self, PyObject *unused) { return (void)unused, fc_is_kind(self, FC_C64, FC_F8E4M3FN, "is_complex"); }

static PyObject *fc_slots_element_size(PyObject *self, PyObject *unused)
{
    PyObject *dtype = PyObject_GetAttrString(self, "dtype"), *size = dtype ? PyObject_GetAttrString(dtype, "itemsize") : NULL;
    Py_XDECREF(dtype);
    return (void)unused, size;
}

/* Is it a truth value, or a tensor that is not one integer without dims? */
static int fc_is_odd_dim(PyObject *dim)
{
    PyObject *held;
    if (Py_TYPE(dim) == &PyLong_Type || Py_TYPE(dim) == &PyBool_Type || !PyObject_TypeCheck(dim, fc_tensor_type))
        return Py_TYPE(dim) == &PyBool_Type || !PyIndex_Check(dim);
    const fc_tensor *x = fc_described(dim, &held);
    const int whole = x && !fc_ndim(x) && fc_dtype(x) > FC_BOOL && fc_dtype(x) < FC_F16;
    Py_XDECREF(held);
    return !whole;
}

/* The argument `dim` (NumPy's `axis`) of size and stride, by position or by name: 0 and *dim, which is NULL where it is missing or None. */
static int fc_given_dim(const char *name, PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **dim)
{
    const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    PyObject *word = named ? PyTuple_GetItem(names, 0) : NULL;
    *dim = NULL;
    if (count + named > 1 || (word && PyUnicode_CompareWithASCIIString(word, "dim") != 0 && PyUnicode_CompareWithASCIIString(word, "axis") != 0))
        return PyErr_Format(PyExc_TypeError, "%s(): takes one argument, dim, got %zd.", name, count + named), -1;
    if (count + named && args[0] != Py_None)
        *dim = args[0];
    if (*dim && fc_is_odd_dim(*dim)) {
        PyErr_Clear();
        return PyErr_Format(PyExc_TypeError, "%s(): argument 'dim' (position 1) must be int, not %S. Give an int.", name, (PyObject *)Py_TYPE(*dim)), -1;
    }
    return 0;
}

static PyObject *fc_no_dim(const char *name, PyObject *dim, Py_ssize_t n)
{
    PyErr_Clear();
    n = n ? n : 1;
    if (Py_TYPE(dim) == &PyLong_Type && PyLong_AsLongLong(dim) == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return PyErr_Format(PyExc_ValueError, "%s(): Overflow when unpacking long long: dim is %S. Give one of 64 bits.", name, dim);
    }
    return PyErr_Format(PyExc_IndexError, "%s: Dimension out of range (expected to be in range of [%zd, %zd], but got %S)", name, -n, n - 1, dim);
}

static PyObject *fc_slots_size(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *dim, *shape, *size;
    if (fc_given_dim("size", args, count, names, &dim) < 0 || !(shape = fc_shape_seen(self)))
        return NULL;
    if (!dim)
        return shape;
    size = PyObject_GetItem(shape, dim);
    if (!size && PyErr_ExceptionMatches(PyExc_IndexError))
        fc_no_dim("size", dim, PyObject_Size(shape));
    Py_DECREF(shape);
    return size;
}

static PyObject *fc_slots_stride(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *dim, *held, *found = NULL;
    fc_tensor *x;
    if (fc_given_dim("stride", args, count, names, &dim) < 0 || !(x = fc_described(self, &held)))
        return NULL;
    const int n = fc_ndim(x);
    if (!dim) {
        found = PyTuple_New(n);
        for (int d = 0; found && d < n; ++d)
            PyTuple_SetItem(found, d, PyLong_FromLongLong(fc_stride(x, d)));
    } else {
        const Py_ssize_t d = PyNumber_AsSsize_t(dim, PyExc_IndexError);
        if (d == -1 && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_IndexError))
            found = NULL;
        else
            found = d < -n || d >= n || PyErr_Occurred() ? fc_no_dim("stride", dim, n) : PyLong_FromLongLong(fc_stride(x, (int)(d < 0 ? d + n : d)));
    }
    Py_XDECREF(held);
    return found;
}

static PyMethodDef fc_slots_methods[] = {
    {"dim", fc_slots_dim, METH_NOARGS, "dim($self, /)\n--\n\nNumber of dims.\n\n>>> facula.zeros(2, 3).dim()\n2\n"},
    {"ndimension", fc_slots_dim, METH_NOARGS, "ndimension($self, /)\n--\n\nNumber of dims.\n\n>>> facula.zeros(2, 3).ndimension()\n2\n"},
    {"numel", fc_slots_numel, METH_NOARGS, "numel($self, /)\n--\n\nNumber of elements.\n\n>>> facula.zeros(2, 3).numel()\n6\n"},
    {"nelement", fc_slots_numel, METH_NOARGS, "nelement($self, /)\n--\n\nNumber of elements.\n\n>>> facula.zeros(2, 3).nelement()\n6\n"},
    {"data_ptr", fc_slots_data_ptr, METH_NOARGS, "data_ptr($self, /)\n--\n\nAddress of the first element, 0 for an empty tensor.\n\n>>> facula.zeros(0).data_ptr()\n0\n"},
    {"is_floating_point", fc_slots_is_floating_point, METH_NOARGS, "is_floating_point($self, /)\n--\n\nIs the dtype a floating one?\n\n>>> facula.zeros(2).is_floating_point()\nTrue\n"},
    {"is_complex", fc_slots_is_complex, METH_NOARGS, "is_complex($self, /)\n--\n\nIs the dtype a complex one?\n\n>>> facula.zeros(2).is_complex()\nFalse\n"},
    {"element_size", fc_slots_element_size, METH_NOARGS, "element_size($self, /)\n--\n\nBytes per element.\n\n>>> facula.zeros(2).element_size()\n4\n"},
    {"size", (PyCFunction)(void *)fc_slots_size, METH_FASTCALL | METH_KEYWORDS,
     "size($self, /, dim=None)\n--\n\nShape, or the size of one dim. Raises IndexError for a dim that is not there.\n\n>>> facula.zeros(2, 3).size(), facula.zeros(2, 3).size(1)\n(torch.Size([2, 3]), 3)\n"},
    {"stride", (PyCFunction)(void *)fc_slots_stride, METH_FASTCALL | METH_KEYWORDS,
     "stride($self, /, dim=None)\n--\n\nSteps between neighbours along each dim (or one dim), in elements.\n\n>>> facula.zeros(2, 3).stride(), facula.zeros(2, 3).stride(0)\n((3, 1), 3)\n"},
    {NULL, NULL, 0, NULL},
};

/* --- Sizes -------------------------------------------------------------------------------------------------------- */

static PyObject *fc_sizes_item(PyObject *self, PyObject *key)
{
    const Py_ssize_t n = PyTuple_Size(self);
    Py_ssize_t start, stop, step;
    PyObject *made, *item;
    if (!PySlice_Check(key)) {
        Py_ssize_t k;
        if (!PyIndex_Check(key))
            return PyErr_Format(PyExc_TypeError, "tuple indices must be integers or slices, not %S", (PyObject *)Py_TYPE(key));
        k = PyNumber_AsSsize_t(key, PyExc_IndexError);
        if (k == -1 && PyErr_Occurred())
            return NULL;
        item = PyTuple_GetItem(self, k < 0 ? k + n : k); /* which refuses what is out of range */
        Py_XINCREF(item);
        return item;
    }
    if (PySlice_Unpack(key, &start, &stop, &step) < 0)
        return NULL;
    const Py_ssize_t length = PySlice_AdjustIndices(n, &start, &stop, step);
    made = PyType_GenericAlloc(Py_TYPE(self), length);
    for (Py_ssize_t k = 0; made && k < length; ++k) {
        item = PyTuple_GetItem(self, start + k * step);
        Py_INCREF(item);
        PyTuple_SetItem(made, k, item);
    }
    return made;
}

static PyType_Slot fc_sizes_slots[] = {{Py_mp_subscript, (void *)fc_sizes_item}, {0, NULL}};
static PyType_Spec fc_sizes_spec = {"facula.tensor_core._native.Sizes", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, fc_sizes_slots};

static PyObject *fc_sizes_type(void)
{
    PyObject *bases = PyTuple_New(1), *type;
    Py_INCREF(&PyTuple_Type);
    PyTuple_SetItem(bases, 0, (PyObject *)&PyTuple_Type);
    type = PyType_FromSpecWithBases(&fc_sizes_spec, bases);
    Py_DECREF(bases);
    return type;
}

/* describe_by(dtypes, devices, shapes, shape_reader, stale_asker, no_grad_asker) */
static PyObject *fc_describe_by(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    PyObject **const places[] = {&fc_dtypes, &fc_devices, &fc_shapes, &fc_shape_reader, &fc_stale_asker, &fc_no_grad_asker};
    (void)self;
    if (!fc_count("describe_by", count, 6))
        return NULL;
    for (int k = 0; k < 6; ++k) {
        Py_INCREF(args[k]);
        *places[k] = args[k];
    }
    Py_RETURN_NONE;
}
FC_CALL(describe_by, fc_describe_by, METH_FASTCALL)

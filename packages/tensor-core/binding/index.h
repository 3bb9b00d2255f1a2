/* x[key] where key is made of ints, slices, None and an Ellipsis: one view, in one call. None wherever something else is in the key or it does not fit. */

typedef struct {
    fc_tensor *x;
    int n, from, to; /* dims of x, the next one to read, the next one of the view */
    int64_t offset, shape[64], stride[64];
} fc_view;

static int fc_view_keep(fc_view *v, int64_t size, int64_t stride)
{
    if (v->to == 64)
        return 1;
    v->shape[v->to] = size;
    v->stride[v->to++] = stride;
    return 0;
}

static int fc_view_step(fc_view *v, PyObject *k)
{
    if (k == Py_None) /* the stride that unsqueeze gives */
        return fc_view_keep(v, 1, v->from < v->n ? fc_size(v->x, v->from) * fc_stride(v->x, v->from) : 1);
    const int64_t size = fc_size(v->x, v->from), stride = fc_stride(v->x, v->from);
    ++v->from;
    if (Py_TYPE(k) == &PyLong_Type) {
        int over = 0;
        int64_t at = PyLong_AsLongLongAndOverflow(k, &over);
        at += at < 0 ? size : 0;
        v->offset += at * stride;
        return over || at < 0 || at >= size;
    }
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(k, &start, &stop, &step) < 0) {
        PyErr_Clear();
        return 1;
    }
    const Py_ssize_t length = PySlice_AdjustIndices(size, &start, &stop, step);
    v->offset += start * stride;
    return step < 0 || fc_view_keep(v, length, stride * step);
}

/* basic_index(tensor, key): a Tensor without base */
static PyObject *fc_basic_index(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    PyObject *key = args[1];
    const int many = Py_TYPE(key) == &PyTuple_Type;
    const Py_ssize_t length = many ? PyTuple_Size(key) : 1;
    fc_view v;
    int used = 0, jump = -1;
    (void)self;
    if (!fc_count("basic_index", count, 2))
        return NULL;
    if (!(v.x = fc_operand(args[0])))
        Py_RETURN_NONE;
    for (Py_ssize_t k = 0; k < length; ++k) {
        PyObject *item = many ? PyTuple_GetItem(key, k) : key;
        if (Py_TYPE(item) == &PyLong_Type || Py_TYPE(item) == &PySlice_Type)
            ++used;
        else if (item == Py_Ellipsis && jump < 0)
            jump = 0;
        else if (item != Py_None)
            Py_RETURN_NONE;
    }
    v.n = fc_ndim(v.x), v.from = v.to = 0, v.offset = fc_offset(v.x);
    jump = v.n - used;
    if (jump < 0)
        Py_RETURN_NONE;
    for (Py_ssize_t k = 0; k < length; ++k) {
        PyObject *item = many ? PyTuple_GetItem(key, k) : key;
        if (item != Py_Ellipsis) {
            if (fc_view_step(&v, item))
                Py_RETURN_NONE;
            continue;
        }
        for (; jump; --jump, ++v.from)
            if (fc_view_keep(&v, fc_size(v.x, v.from), fc_stride(v.x, v.from)))
                Py_RETURN_NONE;
    }
    for (; v.from < v.n; ++v.from)
        if (fc_view_keep(&v, fc_size(v.x, v.from), fc_stride(v.x, v.from)))
            Py_RETURN_NONE;
    return fc_tensor_of(fc_handle_of(fc_as_strided(v.x, v.to, v.shape, v.stride, v.offset)));
}
FC_CALL(basic_index, fc_basic_index, METH_FASTCALL)

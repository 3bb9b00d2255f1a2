/* Conjugate and negative views (docs/decisions/047): a verb that met one did nothing and said FC_LAZY. Its wrapper then comes here. */
enum { FC_MOST_ARGUMENTS = 16 };

typedef PyObject *(*fc_wrapper)(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* Handles as they were given, and the copies that stand in for them. */
typedef struct { PyObject *given, *done; } fc_resolved;

/* What a verb is called with in place of an argument: a handle's copy where it is lazy, a list of such, or the argument (a Tensor's handle). A new reference. */
static PyObject *fc_resolved_argument(fc_resolved *r, PyObject *object)
{
    if (PyList_Check(object) || PyTuple_Check(object)) {
        PyObject *list = PySequence_List(object);
        for (Py_ssize_t k = 0; list && k < PyList_Size(list); ++k) {
            PyObject *item = fc_resolved_argument(r, PyList_GetItem(list, k));
            if (!item || PyList_SetItem(list, k, item) < 0)
                Py_CLEAR(list);
        }
        return list;
    }
    if (fc_operand(object)) /* lists hold Tensors as well */
        object = ((fc_slots *)object)->handle;
    fc_tensor *x = (PyObject *)Py_TYPE(object) == fc_handle_type ? ((fc_handle *)object)->tensor : NULL;
    if (!x || !fc_lazy(x)) {
        Py_INCREF(object);
        return object;
    }
    for (Py_ssize_t k = 0; k < PyList_Size(r->given); ++k) /* an operand that is written has one copy, not two */
        if (PyList_GetItem(r->given, k) == object) {
            PyObject *known = PyList_GetItem(r->done, k);
            Py_INCREF(known);
            return known;
        }
    fc_tensor *copy;
    {
        PyThreadState *saved = FC_SHORT(x) ? NULL : PyEval_SaveThread();
        copy = fc_resolve(x);
        if (saved)
            PyEval_RestoreThread(saved);
    }
    PyObject *handle = copy ? fc_handle_of(copy) : NULL;
    if (handle && (PyList_Append(r->given, object) < 0 || PyList_Append(r->done, handle) < 0))
        Py_CLEAR(handle);
    return handle;
}

/* Whatever was written, which its version tells, goes back through the view it stands for. */
static int fc_write_back(const fc_resolved *r)
{
    for (Py_ssize_t k = 0; k < PyList_Size(r->done); ++k) {
        fc_tensor *copy = ((fc_handle *)PyList_GetItem(r->done, k))->tensor;
        if (fc_version(copy) && fc_copy(((fc_handle *)PyList_GetItem(r->given, k))->tensor, copy))
            return -1;
    }
    return 0;
}

/* The call again with copies in which all is done. NULL without an exception where they cannot be made or written back: the status says why. */
static PyObject *fc_call_resolved(fc_wrapper call, PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    PyObject *again[FC_MOST_ARGUMENTS] = { NULL }, *result = NULL;
    fc_resolved r = { PyList_New(0), PyList_New(0) };
    const int taken = fc_attr_taken(); /* making copies is a call of verbs as well */
    int bad = !r.given || !r.done || count > FC_MOST_ARGUMENTS;
    for (Py_ssize_t k = 0; k < count && !bad; ++k)
        bad = !(again[k] = fc_resolved_argument(&r, args[k]));
    if (!bad && PyList_Size(r.done)) {
        fc_attr_again(taken);
        result = call(self, again, count);
        if (result && fc_write_back(&r) < 0)
            Py_CLEAR(result);
    }
    for (Py_ssize_t k = 0; result && k < PyList_Size(r.done); ++k) /* a verb with an output answers it */
        if ((PyObject *)Py_TYPE(result) == fc_handle_type && ((fc_handle *)result)->tensor == ((fc_handle *)PyList_GetItem(r.done, k))->tensor) {
            Py_DECREF(result);
            result = PyList_GetItem(r.given, k);
            Py_INCREF(result);
            break;
        }
    for (Py_ssize_t k = 0; k < FC_MOST_ARGUMENTS; ++k)
        Py_XDECREF(again[k]);
    Py_XDECREF(r.given);
    Py_XDECREF(r.done);
    return result;
}

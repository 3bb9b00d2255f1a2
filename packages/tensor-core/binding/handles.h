/* What stands before cffi's wrappers: the objects that Python sees of a tensor (docs/decisions/006, 007).
 *
 * Handle  owns one counted reference to a C tensor and lets it go when it dies, so that Tensor needs no __del__.
 * Slots   the base of Python's class Tensor: its slots at places that C knows, so that C makes the Tensor of a result at once.
 */
#include <structmember.h>

#define FC_CALL(name, function, convention) /* build_binding.py reads it: Python calls this function by this name */

static int fc_count(const char *name, Py_ssize_t given, Py_ssize_t wanted)
{
    if (given == wanted)
        return 1;
    PyErr_Format(PyExc_TypeError, "%s: takes %zd arguments, got %zd", name, wanted, given);
    return 0;
}

/* --- Handle ----------------------------------------------------------------------------------------------------- */

typedef struct { PyObject_HEAD fc_tensor *tensor; } fc_handle;
static PyObject *fc_handle_type;

static PyObject *fc_owners, *fc_owner_ids; /* the objects that lent us memory, by number; the next numbers */

/* lend_by(owners, ids) */
static PyObject *fc_lend_by(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    if (!fc_count("lend_by", count, 2))
        return NULL;
    Py_INCREF(args[0]), Py_INCREF(args[1]);
    fc_owners = args[0], fc_owner_ids = args[1];
    Py_RETURN_NONE;
}
FC_CALL(lend_by, fc_lend_by, METH_FASTCALL)

static PyObject *fc_memory_error; /* Python's class, once it is defined */

/* raise_by(OutOfMemoryError) */
static PyObject *fc_raise_by(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    (void)self;
    if (!fc_count("raise_by", count, 1))
        return NULL;
    Py_INCREF(args[0]);
    fc_memory_error = args[0];
    Py_RETURN_NONE;
}
FC_CALL(raise_by, fc_raise_by, METH_FASTCALL)

/* Whether a call that gave no tensor lacked memory: then an exception is set. For calls of no row, whose names Python adds. */
static int fc_lacked_memory(void)
{
    if (fc_status() != FC_MEMORY || !fc_memory_error)
        return 0;
    PyErr_Format(fc_memory_error, "not enough memory: you tried to allocate %lld bytes. Use smaller tensors or free some.", (long long)fc_status_detail(0));
    return 1;
}

/* Borrowed memory went with its last tensor. */
static void fc_handle_return(int64_t owner)
{
    PyObject *type, *value, *trace, *key;
    PyErr_Fetch(&type, &value, &trace);
    key = PyLong_FromLongLong(owner);
    if (key && fc_owners)
        PyDict_DelItem(fc_owners, key);
    Py_XDECREF(key);
    PyErr_Clear(); /* at the interpreter's end the dict may be empty */
    PyErr_Restore(type, value, trace);
}

static void fc_handle_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    const int64_t owner = fc_free(((fc_handle *)self)->tensor);
    if (owner)
        fc_handle_return(owner);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyType_Slot fc_handle_slots[] = {{Py_tp_dealloc, (void *)fc_handle_dealloc}, {0, NULL}};
static PyType_Spec fc_handle_spec = {"facula.tensor_core._native.Handle", sizeof(fc_handle), 0, Py_TPFLAGS_DEFAULT, fc_handle_slots};

/* A new handle; no tensor is None, both ways. */
static PyObject *fc_handle_of(fc_tensor *tensor)
{
    fc_handle *handle;
    if (!tensor)
        Py_RETURN_NONE;
    handle = PyObject_New(fc_handle, (PyTypeObject *)fc_handle_type);
    if (handle)
        handle->tensor = tensor;
    else
        fc_free(tensor);
    return (PyObject *)handle;
}

static int fc_handle_read(PyObject *object, fc_tensor **tensor)
{
    if ((PyObject *)Py_TYPE(object) == fc_handle_type) {
        *tensor = ((fc_handle *)object)->tensor;
        return 0;
    }
    *tensor = NULL;
    if (object == Py_None)
        return 0;
    PyErr_SetString(PyExc_TypeError, "a tensor's handle is wanted");
    return -1;
}

/* --- Slots and the Tensors over them ---------------------------------------------------------------------------- */

typedef struct { PyObject_HEAD PyObject *handle, *shape, *origin, *base, *grad; } fc_slots;
static PyTypeObject *fc_tensor_type; /* Python's class, once it is defined */
static PyObject *fc_array_name;      /* "__array_struct__" */
static PyObject *fc_h_name;          /* "_h", which a class may define in its own way */

/* T_OBJECT_EX: CPython reads and writes such members as fast as __slots__; one that is not set raises AttributeError. */
static PyMemberDef fc_slots_members[] = {
    {"_h", T_OBJECT_EX, offsetof(fc_slots, handle), 0, NULL},       {"_shape", T_OBJECT_EX, offsetof(fc_slots, shape), 0, NULL},
    {"_origin", T_OBJECT_EX, offsetof(fc_slots, origin), 0,
     "What the gradient tape hangs here: None exactly where no gradient is wanted.\n\n>>> facula.zeros(2)._origin is None\nTrue\n"},
    {"_viewed", T_OBJECT_EX, offsetof(fc_slots, base), 0, "The tensor of which it is a view, else None.\n\n>>> x = facula.zeros(2)\n>>> x[0]._viewed is x\nTrue\n"},
    {"_grad", T_OBJECT_EX, offsetof(fc_slots, grad), 0, NULL},      {NULL, 0, 0, 0, NULL},
};

static int fc_slots_traverse(PyObject *self, visitproc visit, void *arg)
{
    fc_slots *t = (fc_slots *)self; /* handles and shapes refer to nothing that could lead back */
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(t->origin);
    Py_VISIT(t->base);
    Py_VISIT(t->grad);
    return 0;
}

static int fc_slots_clear(PyObject *self)
{
    fc_slots *t = (fc_slots *)self;
    Py_CLEAR(t->origin);
    Py_CLEAR(t->base);
    Py_CLEAR(t->grad);
    return 0;
}

static void fc_slots_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    fc_slots *t = (fc_slots *)self;
    PyObject_GC_UnTrack(self);
    fc_slots_clear(self);
    Py_CLEAR(t->handle);
    Py_CLEAR(t->shape);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMethodDef fc_slots_methods[]; /* describe.h */
static PyType_Slot fc_slots_slots[] = {
    {Py_tp_members, fc_slots_members}, {Py_tp_methods, fc_slots_methods}, {Py_tp_traverse, (void *)fc_slots_traverse}, {Py_tp_clear, (void *)fc_slots_clear},
    {Py_tp_dealloc, (void *)fc_slots_dealloc}, {0, NULL},
};
static PyType_Spec fc_slots_spec = {
    "facula.tensor_core._native.Slots", sizeof(fc_slots), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, fc_slots_slots,
};

/* The Tensor around a handle, which it takes: neither origin nor base, the shape not yet read. All else passes through. */
static PyObject *fc_tensor_of(PyObject *handle)
{
    fc_slots *t;
    if (!handle || (PyObject *)Py_TYPE(handle) != fc_handle_type)
        return handle;
    t = (fc_slots *)PyType_GenericAlloc(fc_tensor_type, 0);
    if (!t) {
        Py_DECREF(handle);
        return NULL;
    }
    t->handle = handle;
    Py_INCREF(Py_None), Py_INCREF(Py_None), Py_INCREF(Py_None);
    t->shape = t->origin = t->base = Py_None;
    return (PyObject *)t;
}

static PyObject *fc_tensor_type_set(PyObject *self, PyObject *type)
{
    (void)self;
    Py_INCREF(type);
    fc_tensor_type = (PyTypeObject *)type;
    Py_RETURN_NONE;
}
FC_CALL(set_tensor_type, fc_tensor_type_set, METH_O)

static PyObject *fc_tensor_around(PyObject *self, PyObject *handle)
{
    (void)self;
    if (handle == Py_None) {
        return fc_lacked_memory() ? NULL : PyErr_Format(PyExc_RuntimeError, "the C library could not make a tensor: its status is %d, %lld", (int)fc_status(), (long long)fc_status_detail(0));
    }
    if ((PyObject *)Py_TYPE(handle) != fc_handle_type)
        return PyErr_Format(PyExc_TypeError, "a tensor's handle is wanted");
    Py_INCREF(handle);
    return fc_tensor_of(handle);
}
FC_CALL(tensor_of, fc_tensor_around, METH_O)

/* The C tensor of a Tensor; NULL for anything else, a sparse tensor (which has no handle) included. */
static fc_tensor *fc_operand(PyObject *object)
{
    PyObject *handle = PyObject_TypeCheck(object, fc_tensor_type) ? ((fc_slots *)object)->handle : NULL;
    return handle && (PyObject *)Py_TYPE(handle) == fc_handle_type ? ((fc_handle *)handle)->tensor : NULL;
}

/* A verb's out: the handle of a Tensor, or what stands there. */
static PyObject *fc_given(PyObject *object)
{
    PyObject *handle = Py_TYPE(object) == fc_tensor_type ? ((fc_slots *)object)->handle : NULL;
    return handle ? handle : object;
}

/* What a verb that was given a Tensor answers: that Tensor, or None where there is no result. */
static PyObject *fc_given_back(fc_tensor *result, PyObject *out)
{
    if (!result)
        Py_RETURN_NONE;
    fc_free(result); /* the Tensor has it */
    Py_INCREF(out);
    return out;
}

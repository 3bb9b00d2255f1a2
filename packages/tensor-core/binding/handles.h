/* What stands before cffi's wrappers: the objects that Python sees of a tensor (docs/decisions/006, 007).
 *
 * Handle  owns one counted reference to a C tensor and lets it go when it dies, so that Tensor needs no __del__.
 * Slots   the base of Python's class Tensor: its slots at places that C knows, so that C makes the Tensor of a result at once.
 * NodeSlots  the same for the nodes of the tape.
 */
#include <structmember.h>

static int fc_count(const char *name, Py_ssize_t given, Py_ssize_t wanted)
{
    if (given == wanted)
        return 1;
    PyErr_Format(PyExc_TypeError, "%s: takes %zd arguments, got %zd", name, wanted, given);
    return 0;
}

#define FC_SHORT(t) (!(t) || fc_numel(t) <= 2048)

/* --- Handle ----------------------------------------------------------------------------------------------------- */

typedef struct { PyObject_HEAD fc_tensor *tensor; } fc_handle;
static PyObject *fc_handle_type;

/* Borrowed memory went with its last tensor: the object that lent it is in a dict of Python's. */
static void fc_handle_return(int64_t owner)
{
    PyObject *type, *value, *trace, *module, *owners = NULL, *key = NULL;
    PyErr_Fetch(&type, &value, &trace);
    module = PyImport_ImportModule("facula.tensor_core._tensor");
    if (module && (owners = PyObject_GetAttrString(module, "_owners")) && (key = PyLong_FromLongLong(owner)))
        PyDict_DelItem(owners, key);
    Py_XDECREF(key);
    Py_XDECREF(owners);
    Py_XDECREF(module);
    PyErr_Clear(); /* at the interpreter's end the dict may be gone */
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

/* T_OBJECT_EX: CPython reads and writes such members as fast as __slots__; one that is not set raises AttributeError. */
static PyMemberDef fc_slots_members[] = {
    {"_h", T_OBJECT_EX, offsetof(fc_slots, handle), 0, NULL},       {"_shape", T_OBJECT_EX, offsetof(fc_slots, shape), 0, NULL},
    {"origin", T_OBJECT_EX, offsetof(fc_slots, origin), 0, NULL},   {"base", T_OBJECT_EX, offsetof(fc_slots, base), 0, NULL},
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

/* The Tensor around a handle, which it takes: neither origin nor base, the shape not yet read. None and NULL pass through. */
static PyObject *fc_tensor_of(PyObject *handle)
{
    fc_slots *t;
    if (!handle || handle == Py_None)
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

static PyObject *fc_tensor_around(PyObject *self, PyObject *handle)
{
    (void)self;
    if (handle == Py_None)
        return PyErr_Format(PyExc_RuntimeError, "facula: the C library could not make a tensor (status %d, %lld): probably out of memory.",
                            fc_status(), (long long)fc_status_detail(0));
    if ((PyObject *)Py_TYPE(handle) != fc_handle_type)
        return PyErr_Format(PyExc_TypeError, "a tensor's handle is wanted");
    Py_INCREF(handle);
    return fc_tensor_of(handle);
}

/* The C tensor of a Tensor; NULL for anything else, a sparse tensor (which has no handle) included. */
static fc_tensor *fc_operand(PyObject *object)
{
    PyObject *handle = PyObject_TypeCheck(object, fc_tensor_type) ? ((fc_slots *)object)->handle : NULL;
    return handle && (PyObject *)Py_TYPE(handle) == fc_handle_type ? ((fc_handle *)handle)->tensor : NULL;
}

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

/* The version at which autograd keeps a tensor. */
static PyObject *fc_saved_version(PyObject *self, PyObject *handle)
{
    fc_tensor *tensor;
    (void)self;
    if (fc_handle_read(handle, &tensor) < 0 || !tensor)
        return NULL;
    if (fc_inference(tensor))
        return PyErr_Format(PyExc_RuntimeError, "Inference tensors cannot be saved for backward. Clone it outside of inference_mode to get a normal tensor.");
    return PyLong_FromLongLong(fc_version(tensor));
}

/* --- NodeSlots: the base of autograd's nodes ---------------------------------------------------------------------- */

typedef struct { PyObject_HEAD PyObject *inputs, *saved, *seq, *code, *at, *extra; } fc_node;
static long long fc_ticks; /* under the interpreter lock */

static PyMemberDef fc_node_members[] = {
    {"inputs", T_OBJECT_EX, offsetof(fc_node, inputs), 0, NULL}, {"saved", T_OBJECT_EX, offsetof(fc_node, saved), 0, NULL},
    {"seq", T_OBJECT_EX, offsetof(fc_node, seq), 0, NULL},       {"code", T_OBJECT_EX, offsetof(fc_node, code), 0, NULL},
    {"at", T_OBJECT_EX, offsetof(fc_node, at), 0, NULL},         {"extra", T_OBJECT_EX, offsetof(fc_node, extra), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static int fc_node_traverse(PyObject *self, visitproc visit, void *arg)
{
    fc_node *n = (fc_node *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(n->inputs);
    Py_VISIT(n->saved);
    Py_VISIT(n->extra);
    return 0;
}

static int fc_node_clear(PyObject *self)
{
    fc_node *n = (fc_node *)self;
    Py_CLEAR(n->inputs);
    Py_CLEAR(n->saved);
    Py_CLEAR(n->extra);
    return 0;
}

static void fc_node_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    fc_node *n = (fc_node *)self;
    PyObject_GC_UnTrack(self);
    fc_node_clear(self);
    Py_CLEAR(n->seq);
    Py_CLEAR(n->code);
    Py_CLEAR(n->at);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyType_Slot fc_node_slots[] = {
    {Py_tp_members, fc_node_members}, {Py_tp_traverse, (void *)fc_node_traverse}, {Py_tp_clear, (void *)fc_node_clear},
    {Py_tp_dealloc, (void *)fc_node_dealloc}, {0, NULL},
};
static PyType_Spec fc_node_spec = {
    "facula.tensor_core._native.NodeSlots", sizeof(fc_node), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, fc_node_slots,
};

/* The next of the numbers by which nodes are older or newer. */
static PyObject *fc_tick(PyObject *self, PyObject *unused) { return (void)self, (void)unused, PyLong_FromLongLong(fc_ticks++); }

/* node(class, inputs, saved, code, at): a node of now. The class is NodeSlots' heir and has no __init__. */
static PyObject *fc_node_new(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    fc_node *n;
    (void)self;
    if (!fc_count("node", count, 5) || !(n = (fc_node *)PyType_GenericAlloc((PyTypeObject *)args[0], 0)))
        return NULL;
    for (int k = 1; k < 5; ++k)
        Py_INCREF(args[k]);
    Py_INCREF(Py_None);
    n->inputs = args[1], n->saved = args[2], n->code = args[3], n->at = args[4], n->extra = Py_None;
    n->seq = PyLong_FromLongLong(fc_ticks++);
    return (PyObject *)n;
}

/* --- arguments -------------------------------------------------------------------------------------------------- */

/* Room for n elements that _cffi_free_array_arguments gives back. */
static void *fc_room(size_t bytes, struct _cffi_freeme_s **freeme)
{
    struct _cffi_freeme_s *room = PyObject_Malloc(offsetof(struct _cffi_freeme_s, alignment) + bytes + 1);
    if (!room)
        return PyErr_NoMemory();
    room->next = *freeme;
    *freeme = room;
    return &room->alignment;
}

static int fc_handle_list(PyObject *object, fc_tensor ***tensors, struct _cffi_freeme_s **freeme)
{
    const Py_ssize_t n = PySequence_Size(object);
    int bad = 0;
    if (n < 0 || !(*tensors = fc_room((size_t)n * sizeof(fc_tensor *), freeme)))
        return -1;
    for (Py_ssize_t k = 0; k < n && !bad; ++k) {
        PyObject *item = PySequence_GetItem(object, k);
        bad = !item || fc_handle_read(item, &(*tensors)[k]) < 0;
        Py_XDECREF(item); /* the sequence holds it */
    }
    return bad ? -1 : 0;
}

/* A truth value is no number of dims or elements, though Python has it among the integers. */
static int fc_is_truth(PyObject *object)
{
    if (Py_TYPE(object) != &PyBool_Type)
        return 0;
    PyErr_SetString(PyExc_TypeError, "expected an int, not bool");
    return 1;
}

static int fc_int_list(PyObject *object, const int64_t **ints, struct _cffi_freeme_s **freeme)
{
    const Py_ssize_t n = PySequence_Size(object);
    int64_t *room;
    int bad = 0;
    if (n < 0 || !(room = fc_room((size_t)n * sizeof *room, freeme)))
        return -1;
    *ints = room;
    for (Py_ssize_t k = 0; k < n && !bad; ++k) {
        PyObject *item = PySequence_GetItem(object, k);
        bad = !item || fc_is_truth(item) || ((room[k] = PyLong_AsLongLong(item)) == -1 && PyErr_Occurred());
        Py_XDECREF(item);
    }
    return bad ? -1 : 0;
}

static int fc_double_list(PyObject *object, const double **doubles, struct _cffi_freeme_s **freeme)
{
    const Py_ssize_t n = PySequence_Size(object);
    double *room;
    int bad = 0;
    if (n < 0 || !(room = fc_room((size_t)n * sizeof *room, freeme)))
        return -1;
    *doubles = room;
    for (Py_ssize_t k = 0; k < n && !bad; ++k) {
        PyObject *item = PySequence_GetItem(object, k);
        bad = !item || ((room[k] = PyFloat_AsDouble(item)) == -1.0 && PyErr_Occurred());
        Py_XDECREF(item);
    }
    return bad ? -1 : 0;
}

static int fc_read_int64(PyObject *object, int64_t *value)
{
    if (fc_is_truth(object))
        return -1;
    *value = PyLong_AsLongLong(object);
    return *value == -1 && PyErr_Occurred() ? -1 : 0;
}

static int fc_read_uint64(PyObject *object, uint64_t *value)
{
    *value = PyLong_AsUnsignedLongLong(object);
    return *value == (uint64_t)-1 && PyErr_Occurred() ? -1 : 0;
}

static int fc_read_int(PyObject *object, int *value)
{
    const long wide = PyLong_AsLong(object);
    *value = (int)wide;
    if (*value == wide)
        return wide == -1 && PyErr_Occurred() ? -1 : 0;
    PyErr_Format(PyExc_OverflowError, "integer %ld does not fit in 32 bits", wide);
    return -1;
}

static int fc_read_double(PyObject *object, double *value)
{
    *value = PyFloat_AsDouble(object);
    return *value == -1.0 && PyErr_Occurred() ? -1 : 0;
}

/* cffi's pointers, for memory that is no tensor's */
static struct _cffi_ctypedescr *fc_void_pointer, *fc_generator_pointer;

static int fc_read_pointer(PyObject *object, struct _cffi_ctypedescr *type, void **value)
{
    *value = _cffi_to_c_pointer(object, type);
    return !*value && PyErr_Occurred() ? -1 : 0;
}

/* --- the module ------------------------------------------------------------------------------------------------- */

static PyObject *fc_sizes_type(void); /* describe.h */

/* What cffi's own functions are is in module.lib; they become the module's too, so that all calls are found in one place. */
static int fc_binding_begin(PyObject *module)
{
    PyObject *ffi = PyObject_GetAttrString(module, "ffi"), *lib = PyObject_GetAttrString(module, "lib"), *names = lib ? PyObject_Dir(lib) : NULL;
    int bad = !ffi || !names;
    if (!bad) {
        fc_void_pointer = (struct _cffi_ctypedescr *)PyObject_CallMethod(ffi, "typeof", "s", "void *");
        fc_generator_pointer = (struct _cffi_ctypedescr *)PyObject_CallMethod(ffi, "typeof", "s", "fc_generator *");
        fc_handle_type = PyType_FromSpec(&fc_handle_spec);
        PyObject *slots = PyType_FromSpec(&fc_slots_spec), *node = PyType_FromSpec(&fc_node_spec), *sizes = fc_sizes_type();
        bad = !fc_void_pointer || !fc_generator_pointer || !fc_handle_type || !slots || !node || !sizes || PyModule_AddObject(module, "Slots", slots) < 0
              || PyModule_AddObject(module, "NodeSlots", node) < 0 || PyModule_AddObject(module, "Sizes", sizes) < 0
              || PyModule_AddObject(module, "Handle", fc_handle_type) < 0;
        Py_XINCREF(fc_handle_type);
        for (Py_ssize_t k = 0; !bad && k < PyList_Size(names); ++k) {
            PyObject *name = PyList_GetItem(names, k), *call = PyObject_GetAttr(lib, name);
            bad = !call || PyObject_SetAttr(module, name, call) < 0;
            Py_XDECREF(call);
        }
    }
    Py_XDECREF(names);
    Py_XDECREF(lib);
    Py_XDECREF(ffi);
    return bad ? -1 : 0;
}

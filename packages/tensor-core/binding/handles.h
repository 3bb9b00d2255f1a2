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

/* The version at which autograd keeps a tensor. */
static PyObject *fc_saved_version(PyObject *self, PyObject *handle)
{
    fc_tensor *tensor;
    (void)self;
    if (fc_handle_read(handle, &tensor) < 0)
        return NULL;
    if (!tensor)
        return PyErr_Format(PyExc_TypeError, "a tensor's handle is wanted");
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

/* The handles in a list, or those of the Tensors in it. */
static int fc_handle_list(PyObject *object, fc_tensor ***tensors, struct _cffi_freeme_s **freeme)
{
    const Py_ssize_t n = PySequence_Size(object);
    int bad = 0;
    if (n < 0 || !(*tensors = fc_room((size_t)n * sizeof(fc_tensor *), freeme)))
        return -1;
    for (Py_ssize_t k = 0; k < n && !bad; ++k) {
        PyObject *item = PySequence_GetItem(object, k);
        const int plain = item && Py_TYPE(item) == fc_tensor_type && ((fc_slots *)item)->handle, other = item && !plain && PyObject_TypeCheck(item, fc_tensor_type);
        PyObject *handle = plain ? ((fc_slots *)item)->handle : other ? PyObject_GetAttr(item, fc_h_name) : item;
        bad = !handle || fc_handle_read(handle, &(*tensors)[k]) < 0;
        if (other)
            Py_XDECREF(handle); /* the tensor holds it */
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

/* Is the call over sooner than giving the lock away takes? */
static int fc_short_list(int n, fc_tensor **tensors)
{
    int brief = n <= 16;
    for (int k = 0; brief && k < n; ++k)
        brief = FC_SHORT(tensors[k]);
    return brief;
}

/* has_origin(list): does one of the tensors in it have one? */
static PyObject *fc_has_origin(PyObject *self, PyObject *list)
{
    const Py_ssize_t n = PySequence_Size(list);
    int found = 0;
    (void)self;
    for (Py_ssize_t k = 0; k < n && !found; ++k) {
        PyObject *item = PySequence_GetItem(list, k), *origin = NULL;
        if (item && PyObject_TypeCheck(item, fc_tensor_type)) {
            origin = (PyObject *)Py_TYPE(item) == (PyObject *)fc_tensor_type ? ((fc_slots *)item)->origin : PyObject_GetAttrString(item, "origin");
            found = !origin || origin != Py_None;
            if (Py_TYPE(item) != fc_tensor_type)
                Py_XDECREF(origin);
        }
        Py_XDECREF(item);
    }
    return n < 0 || PyErr_Occurred() ? NULL : PyBool_FromLong(found);
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
        fc_h_name = PyUnicode_InternFromString("_h");
        fc_array_name = PyUnicode_InternFromString("__array_struct__");
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

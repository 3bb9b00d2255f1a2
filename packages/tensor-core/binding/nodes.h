/* NodeSlots: the base of autograd's nodes, its slots at places that C knows; and what the tape asks of tensors. */

typedef struct { PyObject_HEAD PyObject *inputs, *saved, *seq, *code, *at, *extra, *step; } fc_node;
static long long fc_ticks; /* under the interpreter lock */

static PyMemberDef fc_node_members[] = {
    {"_inputs", T_OBJECT_EX, offsetof(fc_node, inputs), 0, NULL}, {"_saved", T_OBJECT_EX, offsetof(fc_node, saved), 0, NULL},
    {"_seq", T_OBJECT_EX, offsetof(fc_node, seq), 0, NULL},       {"_code", T_OBJECT_EX, offsetof(fc_node, code), 0, NULL},
    {"_at", T_OBJECT_EX, offsetof(fc_node, at), 0, NULL},         {"_extra", T_OBJECT_EX, offsetof(fc_node, extra), 0, NULL},
    {"_step", T_OBJECT, offsetof(fc_node, step), 0, NULL}, /* None until it is set, which is rare */
    {NULL, 0, 0, 0, NULL},
};

static int fc_node_traverse(PyObject *self, visitproc visit, void *arg)
{
    fc_node *n = (fc_node *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(n->inputs);
    Py_VISIT(n->saved);
    Py_VISIT(n->extra);
    Py_VISIT(n->step);
    return 0;
}

static int fc_node_clear(PyObject *self)
{
    fc_node *n = (fc_node *)self;
    Py_CLEAR(n->inputs);
    Py_CLEAR(n->saved);
    Py_CLEAR(n->extra);
    Py_CLEAR(n->step);
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
FC_CALL(tick, fc_tick, METH_NOARGS)

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
FC_CALL(node, fc_node_new, METH_FASTCALL)

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
FC_CALL(saved_version, fc_saved_version, METH_O)

/* has_origin(list): does one of the tensors in it have one? */
static PyObject *fc_has_origin(PyObject *self, PyObject *list)
{
    const Py_ssize_t n = PySequence_Size(list);
    int found = 0;
    (void)self;
    for (Py_ssize_t k = 0; k < n && !found; ++k) {
        PyObject *item = PySequence_GetItem(list, k), *origin = NULL;
        if (item && PyObject_TypeCheck(item, fc_tensor_type)) {
            origin = (PyObject *)Py_TYPE(item) == (PyObject *)fc_tensor_type ? ((fc_slots *)item)->origin : PyObject_GetAttrString(item, "_origin");
            found = !origin || origin != Py_None;
            if (Py_TYPE(item) != fc_tensor_type)
                Py_XDECREF(origin);
        }
        Py_XDECREF(item);
    }
    return n < 0 || PyErr_Occurred() ? NULL : PyBool_FromLong(found);
}
FC_CALL(has_origin, fc_has_origin, METH_O)

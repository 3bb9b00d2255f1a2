/* The module's beginning: its types, and cffi's functions beside ours. */

static PyObject *fc_sizes_type(void); /* describe.h */

static int64_t fc_owner = -1; /* the interpreter that has the library: types are the process's, and another's would take the place of its own */

static int fc_may_have_it(int64_t interpreter)
{
    if (fc_owner < 0 || fc_owner == interpreter)
        return 1;
    PyErr_SetString(PyExc_ImportError, "facula: another interpreter of this process has it already. Import it in one of them only, or use processes.");
    return 0;
}

/* claim(): by who imports it, which the module's beginning need not see: others get a copy, and Python 3.13 begins modules in the main one. */
static PyObject *fc_claim(PyObject *self, PyObject *nothing)
{
    const int64_t here = PyInterpreterState_GetID(PyInterpreterState_Get());
    (void)self, (void)nothing;
    if (!fc_may_have_it(here))
        return NULL;
    fc_owner = here;
    Py_RETURN_NONE;
}
FC_CALL(claim, fc_claim, METH_NOARGS)

/* What cffi's own functions are is in module.lib; they become the module's too, so that all calls are found in one place. */
static int fc_binding_begin(PyObject *module)
{
    if (!fc_may_have_it(PyInterpreterState_GetID(PyInterpreterState_Get())))
        return -1;
    if (fc_isa_level() < 2) {
        PyErr_SetString(PyExc_ImportError, "facula: this CPU has no SSE4.2 or no POPCNT, which everything is compiled for (x86-64-v2, CPUs from 2009). "
                                           "A virtual machine may hide them: give it another CPU type, such as the host's.");
        return -1;
    }
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

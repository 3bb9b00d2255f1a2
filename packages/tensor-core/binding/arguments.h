/* How the wrappers that build_binding.py writes read their arguments. */

#define FC_SHORT(t) (!(t) || fc_numel(t) <= 2048)

/* Is the call over sooner than giving the lock away takes? */
static int fc_short_list(int n, fc_tensor **tensors)
{
    int brief = n <= 16;
    for (int k = 0; brief && k < n; ++k)
        brief = FC_SHORT(tensors[k]);
    return brief;
}

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

/* A tensor may stand for an int, but not each that Python would read as one: the slow path knows which, by the parameter. */
static int fc_is_tensor(PyObject *object)
{
    if (Py_TYPE(object) == &PyLong_Type || !PyObject_TypeCheck(object, fc_tensor_type))
        return 0;
    PyErr_SetString(PyExc_TypeError, "expected an int, not a tensor");
    return 1;
}

/* Room with a sequence's items in it, `size` bytes each, as `read` reads them; NULL with Python's error set. */
static void *fc_item_list(PyObject *object, size_t size, int (*read)(PyObject *, void *), struct _cffi_freeme_s **freeme)
{
    const Py_ssize_t n = PySequence_Size(object);
    char *room = n < 0 ? NULL : fc_room((size_t)n * size, freeme);
    int bad = !room;
    for (Py_ssize_t k = 0; k < n && !bad; ++k) {
        PyObject *item = PySequence_GetItem(object, k);
        bad = !item || read(item, room + (size_t)k * size) < 0;
        Py_XDECREF(item);
    }
    return bad ? NULL : room;
}

static int fc_read_int64(PyObject *object, void *value)
{
    if (fc_is_truth(object) || fc_is_tensor(object))
        return -1;
    const int64_t number = *(int64_t *)value = PyLong_AsLongLong(object);
    return number == -1 && PyErr_Occurred() ? -1 : 0;
}

static int fc_read_double(PyObject *object, void *value)
{
    const double number = *(double *)value = PyFloat_AsDouble(object);
    return number == -1.0 && PyErr_Occurred() ? -1 : 0;
}

static int fc_int_list(PyObject *object, const int64_t **ints, struct _cffi_freeme_s **freeme)
{
    return (*ints = fc_item_list(object, sizeof **ints, fc_read_int64, freeme)) ? 0 : -1;
}

static int fc_double_list(PyObject *object, const double **doubles, struct _cffi_freeme_s **freeme)
{
    return (*doubles = fc_item_list(object, sizeof **doubles, fc_read_double, freeme)) ? 0 : -1;
}

static int fc_read_uint64(PyObject *object, uint64_t *value)
{
    *value = PyLong_AsUnsignedLongLong(object);
    return *value == (uint64_t)-1 && PyErr_Occurred() ? -1 : 0;
}

static int fc_read_int(PyObject *object, int *value)
{
    if (fc_is_tensor(object))
        return -1;
    const long wide = PyLong_AsLong(object);
    *value = (int)wide;
    if (*value == wide)
        return wide == -1 && PyErr_Occurred() ? -1 : 0;
    PyErr_Format(PyExc_OverflowError, "integer %ld does not fit in 32 bits", wide);
    return -1;
}

static int fc_read_flag(PyObject *object, int *value)
{
    *value = object == Py_True;
    if (*value || object == Py_False)
        return 0;
    PyErr_SetString(PyExc_TypeError, "not a truth value");
    return -1;
}

/* cffi's pointers, for memory that is no tensor's */
static struct _cffi_ctypedescr *fc_void_pointer, *fc_generator_pointer;

static int fc_read_pointer(PyObject *object, struct _cffi_ctypedescr *type, void **value)
{
    *value = _cffi_to_c_pointer(object, type);
    return !*value && PyErr_Occurred() ? -1 : 0;
}

/* One verb over lists of tensors, for which a loop in Python takes up to a microsecond a tensor. */

enum { FC_EACH_MAP, FC_EACH_FOLD, FC_EACH_DOT, FC_EACH_CLONE, FC_EACH_COPY, FC_EACH_FILL }; /* functions/foreach.py has them by name */

typedef struct {
    int verb, op, writes, unheard, count; /* unheard: nothing is recorded in this thread */
    PyObject *value;                      /* the verb's named number, or a tuple of them, or None */
    PyObject *const *columns;             /* of operands: a tuple has one for each tensor, anything else serves all */
} fc_each;

typedef struct { int kind; int64_t i; double re; } fc_plain;

static PyObject *fc_at(PyObject *column, Py_ssize_t k) { return PyTuple_Check(column) ? PyTuple_GetItem(column, k) : column; }

/* A Python number that the dtype holds, and that is not rounded on its way. */
static int fc_plain_of(PyObject *a, int dtype, fc_plain *number)
{
    const int half = dtype < FC_F32;
    int over = 0;
    *number = (fc_plain){0};
    if (Py_TYPE(a) == &PyFloat_Type) {
        number->kind = FC_KFLOAT, number->re = PyFloat_AsDouble(a);
        return fabs(number->re) < (half ? 128 : 1e38) || (!half && number->re - number->re != 0); /* infinite, or NaN */
    }
    if (Py_TYPE(a) != &PyLong_Type)
        return 0;
    number->kind = FC_KINT, number->i = PyLong_AsLongLongAndOverflow(a, &over), number->re = (double)number->i;
    const int64_t most = half ? 128 : 1LL << 53;
    return !over && -most < number->i && number->i < most;
}

/* Whether a write to the tensor concerns its views and no base with a history. */
static int fc_alone(PyObject *a)
{
    PyObject *base = ((fc_slots *)a)->base;
    return base == Py_None || (PyObject_TypeCheck(base, fc_tensor_type) && ((fc_slots *)base)->origin == Py_None);
}

static fc_tensor *fc_each_mapped(const fc_each *q, fc_tensor *out, fc_tensor **t, const fc_plain *number, int at)
{
    if (at == 0)
        return fc_map2r(q->op, out, number->kind, number->i, number->re, 0.0, t[1]);
    if (at == 1)
        return fc_map2s(q->op, out, t[0], number->kind, number->i, number->re, 0.0);
    if (at == 2) { /* halves meet it as it is, which takes dims: or it would have a say in the dtype */
        const int dtype = fc_dtype(t[0]) < FC_F32 ? FC_F32 : fc_dtype(t[0]);
        if (dtype != fc_dtype(t[0]) && !(fc_ndim(t[0]) && fc_ndim(t[1])))
            return NULL;
        fc_tensor *made = fc_from_scalar(dtype, 2, 0, number->re, 0.0), *result = made ? fc_map3(q->op, out, t[0], t[1], made) : NULL;
        fc_free(made);
        return result;
    }
    return q->count == 1 ? fc_map1(q->op, out, t[0]) : q->count == 2 ? fc_map2(q->op, out, t[0], t[1]) : fc_map3(q->op, out, t[0], t[1], t[2]);
}

/* The result, with a reference of its own, where it is that of a tensor and was not the one written. */
static fc_tensor *fc_each_run(const fc_each *q, fc_tensor **t, const fc_plain *number, int at)
{
    switch (q->verb) {
    case FC_EACH_MAP: return fc_each_mapped(q, q->writes ? t[0] : NULL, t, number, at);
    case FC_EACH_FOLD: return fc_fold(q->op, NULL, t[0], 0, 0, 0, -1);
    case FC_EACH_DOT: return fc_ndim(t[0]) == 2 && fc_ndim(t[1]) == 2 ? fc_dot(q->op, NULL, t[0], t[1], NULL) : NULL;
    case FC_EACH_CLONE: return fc_to(t[0], fc_dtype(t[0]), 1, 1);
    default:
        if (q->verb == FC_EACH_COPY ? fc_copy(t[0], t[1]) : fc_fill(t[0], number->kind, number->i, number->re, 0.0))
            return NULL;
        fc_retain(t[0]);
        return t[0];
    }
}

/* The verb for the operands of place k: real floating tensors of one dtype, without what Python has to look at. NULL otherwise. */
static fc_tensor *fc_each_one(const fc_each *q, Py_ssize_t k)
{
    fc_tensor *t[3] = {NULL, NULL, NULL}, *result;
    fc_plain number = {0}, value;
    int at = -1, dtype = -1, brief = 1;
    for (int j = 0; j < q->count; ++j) {
        PyObject *a = fc_at(q->columns[j], k);
        if ((t[j] = fc_operand(a))) {
            const int same = dtype < 0 || dtype == fc_dtype(t[j]);
            dtype = fc_dtype(t[j]);
            brief &= FC_SHORT(t[j]);
            if (!same || (q->verb == FC_EACH_FOLD && !fc_numel(t[j])) || dtype < FC_F16 || dtype > FC_F64 || (!q->unheard && ((fc_slots *)a)->origin != Py_None))
                return NULL;
        } else if (at >= 0)
            return NULL;
        else
            at = j;
    }
    PyObject *first = fc_at(q->columns[0], k);
    if (dtype < 0 || (at >= 0 && !fc_plain_of(fc_at(q->columns[at], k), dtype, &number)) || (q->writes && (at == 0 || !fc_alone(first))))
        return NULL;
    if (q->value != Py_None) {
        if (at >= 0 || !fc_plain_of(fc_at(q->value, k), dtype, &value))
            return NULL;
        fc_attr(0, value.kind, value.i, value.re, 0.0);
    }
    PyThreadState *saved = brief ? NULL : PyEval_SaveThread();
    result = fc_each_run(q, t, &number, at);
    if (saved)
        PyEval_RestoreThread(saved);
    if (result && q->writes && ((fc_slots *)first)->origin != Py_None && !fc_epoch_stale(t[0])) /* its views have an older history, as after every write */
        fc_epoch_advance(t[0]);
    return result;
}

/* each(verb, op, unheard, results, from, value, x, ...): how many places were done, from `from` on, when one was met that Python has to look at.
   results: a list that gets the results; None: x is written. The columns are tuples of one length, of at most three operands. */
static PyObject *fc_each_of(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    fc_each q = {.writes = args[3] == Py_None, .count = (int)count - 6, .value = args[5], .columns = args + 6};
    int from;
    Py_ssize_t n = 0;
    (void)self;
    if (fc_read_int(args[0], &q.verb) < 0 || fc_read_int(args[1], &q.op) < 0 || fc_read_flag(args[2], &q.unheard) < 0 || fc_read_int(args[4], &from) < 0)
        return NULL;
    for (int j = 0; j < q.count; ++j)
        if (PyTuple_Check(q.columns[j]))
            n = PyTuple_Size(q.columns[j]);
    Py_ssize_t k = from;
    for (fc_tensor *result; k < n && (result = fc_each_one(&q, k)); ++k) {
        if (q.writes) {
            fc_free(result);
            continue;
        }
        PyObject *made = fc_tensor_of(fc_handle_of(result));
        const int bad = !made || PyList_Append(args[3], made) < 0;
        Py_XDECREF(made);
        if (bad)
            return NULL;
    }
    return PyLong_FromSsize_t(k);
}
FC_CALL(each, fc_each_of, METH_FASTCALL)

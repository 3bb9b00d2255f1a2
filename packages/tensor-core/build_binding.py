"""Writes the C of the module _native: what Python calls in the library, from facula_api.h alone.

cffi makes the module, and the calls that are rare or about foreign memory. Calls that tensors or numbers go through have
wrappers of their own, with CPython's fast calling convention, which cffi does not use (docs/decisions/007):

    _native.fc_map2(op, out, x, y)   takes handles and gives a Handle, or None for NULL
    _native.map2(op, out, x, y)      the same, and gives the Tensor around it at once

where out may be None, a handle to write to, or the Tensor of a call's out=, which must have the result's dtype and is then what both give.
"""

import contextlib
import re
from pathlib import Path

MODULE = "facula.tensor_core._native"
ORDER = "handles arguments nodes describe verbs lazy numbers index create arrays lists module"  # each stands on those before it
PARTS = [Path(__file__).with_name("binding") / f"{name}.h" for name in ORDER.split()]
NOT_PYTHONS = ("fc_free", "fc_retain")  # a second owner of a tensor is a second reference to its handle

# C type: how an argument x is read from the object a, and how a result becomes an object
READ = {
    "int": "fc_read_int({a}, &{x})",
    "int keepdim": "fc_read_flag({a}, &{x})",  # a truth value: max(x, 0, 1) is refused
    "int64_t": "fc_read_int64({a}, &{x})",
    "uint64_t": "fc_read_uint64({a}, &{x})",
    "double": "fc_read_double({a}, &{x})",
    "fc_tensor *": "fc_handle_read({a}, &{x})",
    "fc_tensor **": "fc_handle_list({a}, &{x}, &room)",
    "const int64_t *": "fc_int_list({a}, &{x}, &room)",
    "const double *": "fc_double_list({a}, &{x}, &room)",
    "void *": "fc_read_pointer({a}, fc_void_pointer, (void **)&{x})",
    "fc_generator *": "fc_read_pointer({a}, fc_generator_pointer, (void **)&{x})",
}
GIVE = {
    "int": "PyLong_FromLong(result)",
    "int64_t": "PyLong_FromLongLong(result)",
    "uint64_t": "PyLong_FromUnsignedLongLong(result)",
    "double": "PyFloat_FromDouble(result)",
    "fc_tensor *": "fc_handle_of(result)",
    "void *": "_cffi_from_c_pointer((char *)result, fc_void_pointer)",
}
FAILED = {"fc_index_put": "result", "fc_equal": "result < 0", "fc_nonzero_count": "result < 0"}  # what says so where no tensor is the result
NEEDED = ("fc_tensor *x", "fc_tensor *index", "fc_tensor *mask")  # never left out where a tensor is the result; of its other operands None may stand for none
LISTS = ("fc_tensor **", "const int64_t *", "const double *")
POINTERS = ("void *", "fc_generator *")


class Function:
    """One declaration of the header."""

    def __init__(self, match):
        self.text = match[0]
        self.result, self.name = match[1].strip(), match[2]
        parameters = [] if match[3].strip() == "void" else re.sub(r"\s+", " ", match[3]).split(",")
        self.names = [re.search(r"\w+$", p.strip())[0] for p in parameters]
        self.types = [re.fullmatch(r"\s*(.*?)\s*\w+", p)[1] for p in parameters]
        self.reads = [READ.get(p.strip(), READ.get(t)) for p, t in zip(parameters, self.types)]
        self.out = self.names.index("out") if "out" in self.names and self.result == "fc_tensor *" else None  # of a verb: a handle, or the Tensor given as out=
        if self.out is not None:
            self.reads[self.out] = "fc_handle_read(fc_given({a}), &{x})"
        self.needed = [k for k, p in enumerate(parameters) if p.strip() in NEEDED or self.types[k] == "fc_tensor *" != self.result]

    @property
    def ours(self):
        """Whether it gets a wrapper here: every one with a tensor, and those of numbers alone."""
        known = all(t in READ for t in self.types) and (self.result == "void" or self.result in GIVE)
        about_tensors = any(t.startswith("fc_tensor") for t in (self.result, *self.types))
        foreign = any(t in POINTERS for t in (self.result, *self.types))
        if about_tensors and not known:
            raise ValueError(f"facula_api.h: {self.text!r} has a type that build_binding.py cannot convert. Add it to READ or GIVE.")
        return known and (about_tensors or not foreign)

    def wrapper(self):
        """The C function that Python calls."""
        lines = [f"static PyObject *py_{self.name}(PyObject *self, PyObject *const *args, Py_ssize_t count)", "{"]
        lines += [f"    {t} x{k};" for k, t in enumerate(self.types)]
        call = f"{self.name}({', '.join(f'x{k}' for k in range(len(self.types)))})"
        if self.result != "void":
            lines.append(f"    {self.result} result;")
            call = f"result = {call}"
        listed = any(t in LISTS for t in self.types)
        lines += ["    struct _cffi_freeme_s *room = NULL;"] * listed
        lines.append("    (void)self, (void)args;")
        reads = [read.format(a=f"args[{k}]", x=f"x{k}") + " < 0" for k, read in enumerate(self.reads)]
        bad = " || ".join([f'!fc_count("{self.name}", count, {len(self.types)})', *reads])
        lines += [f"    if ({bad}) {{", *["        if (room)", "            _cffi_free_array_arguments(room);"] * listed, "        return NULL;", "    }"]
        if self.needed:  # what lacks memory gave None: so does what was to be done with it, and the status stands
            missing = " || ".join(f"!x{k}" for k in self.needed)
            lines += [f"    if ({missing}) {{", *["        if (room)", "            _cffi_free_array_arguments(room);"] * listed, f"        {self.without()}", "    }"]
        call = f"    {self.locked(call)}"
        lines += [call] if self.out is None else [f"    const int exact = Py_TYPE(args[{self.out}]) == fc_tensor_type;", "    if (exact)", "        fc_exactly(1);", call]
        lines += ["    if (room)", "        _cffi_free_array_arguments(room);"] * listed
        if self.out is not None:
            lines += ["    if (exact) {", "        fc_exactly(0);", f"        return fc_given_back(result, args[{self.out}]);", "    }"]
        failed = "!result" if self.result == "fc_tensor *" else FAILED.get(self.name)
        if failed and any(t.startswith("fc_tensor") for t in self.types):
            lines += [f"    if ({failed} && fc_status() == FC_LAZY) {{", f"        PyObject *done = fc_call_resolved(py_{self.name}, self, args, count);"]
            lines += ["        if (done || PyErr_Occurred())", "            return done;", "    }"]
        if self.of_no_row:
            lines += ["    if (!result && fc_lacked_memory())", "        return NULL;"]
        lines.append(f"    return {GIVE[self.result]};" if self.result != "void" else "    Py_RETURN_NONE;")
        return "\n".join([*lines, "}", ""])

    @property
    def of_no_row(self):
        """Whether it makes a tensor, and no row's: a caller would have no more to say of a lack of memory."""
        return self.result == "fc_tensor *" and self.names[0] != "op" and self.name != "fc_result"

    def without(self):
        """What is given for an operand that is not there."""
        if self.result == "fc_tensor *":
            return "Py_RETURN_NONE;"
        return f'PyErr_SetString(PyExc_TypeError, "{self.name}: a tensor\'s handle is wanted, got None"); return NULL;'

    def locked(self, call):
        """The call with the interpreter lock given away unless it is over sooner than that takes (docs/decisions/001)."""
        tensors = [f"FC_SHORT(x{k})" for k, t in enumerate(self.types) if t == "fc_tensor *"]
        tensors += [f"fc_short_list(x{k - 1}, x{k})" for k, t in enumerate(self.types) if t == "fc_tensor **"]  # its length stands before it
        if not tensors:
            return f"{call};"
        return f"{{ PyThreadState *saved = {' && '.join(tensors)} ? NULL : PyEval_SaveThread(); {call}; if (saved) PyEval_RestoreThread(saved); }}"


def functions(header):
    plain = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    return [f for f in map(Function, re.finditer(r"^(\w[\w ]*[ *])(fc_\w+)\(([^)]*)\);", plain, re.M)) if f.name not in NOT_PYTHONS]


def calls(ours):
    """The wrappers, their table, and fc_with_calls, which puts them into the module that cffi made."""
    by_hand = "".join(path.read_text() for path in PARTS)
    table = re.findall(r"^FC_CALL\((\w+), (\w+), (\w+)\)$", by_hand, re.M)
    parts = [by_hand, *(f.wrapper() for f in ours)]
    for f in ours:
        table.append((f.name, f"py_{f.name}", "METH_FASTCALL"))
        if f.result == "fc_tensor *":
            made = f"static PyObject *new_{f.name}(PyObject *self, PyObject *const *args, Py_ssize_t count) {{ return fc_tensor_of(py_{f.name}(self, args, count)); }}"
            parts.append(made)
            table.append((f.name.removeprefix("fc_"), f"new_{f.name}", "METH_FASTCALL"))
    parts.append("static PyMethodDef fc_calls[] = {")
    parts += [f'    {{"{name}", (PyCFunction)(void *){function}, {convention}, NULL}},' for name, function, convention in table]
    parts += ["    {NULL, NULL, 0, NULL},", "};", ""]
    parts.append(
        "static PyObject *fc_with_calls(PyObject *module) { return module && fc_binding_begin(module) == 0 && PyModule_AddFunctions(module, fc_calls) == 0 ? module : NULL; }"
    )
    return "\n".join(parts) + "\n"


def write(header, target):
    """Write the module's C, for a header's text, to a path."""
    from cffi import FFI

    all_ = functions(header)
    ours = [f for f in all_ if f.ours]
    rest = [f for f in all_ if not f.ours]
    ffi = FFI()
    ffi.cdef("\n".join(["typedef struct fc_tensor fc_tensor; typedef struct fc_generator fc_generator;", *(f.text for f in rest)]))
    ffi.set_source(MODULE, '#include "facula.h"\n' + calls(ours), py_limited_api=True)
    with contextlib.redirect_stdout(None):
        ffi.emit_c_code(str(target))
    text, count = re.subn(r"return _cffi_init\(([^;]*)\);", r"return fc_with_calls(_cffi_init(\1));", Path(target).read_text())
    if count != 1:
        raise ValueError("the C that this cffi writes is not what build_binding.py knows. Try another release of cffi.")
    Path(target).write_text(text)

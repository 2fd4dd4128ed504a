// Regions and spans. What a `with` costs is decided here: no argument is parsed by format, nothing is looked up twice.
#include "pynetprof.h"

// In Python: what decorates a function, and what `async with` does. See netprof/_regions.py.
static PyObject *pyregion_decorate, *pyregion_async_enter, *pyregion_async_exit;

// ---- names ----

// The id of a name; 0 with an exception if it is none.
static int pyregion_id_of(PyObject *name, netprof_region_id *id)
{
    Py_ssize_t size;
    const char *text;
    PyObject *bytes = NULL;
    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "a region's name is a str, not %.100s", Py_TYPE(name)->tp_name);
        return 0;
    }
    text = PyUnicode_AsUTF8AndSize(name, &size);
    if (!text) { // lone surrogates, as in names of files that are not UTF-8
        PyErr_Clear();
        bytes = PyUnicode_AsEncodedString(name, "utf-8", "surrogateescape");
        if (!bytes || PyBytes_AsStringAndSize(bytes, (char **)&text, &size)) {
            Py_XDECREF(bytes);
            return 0;
        }
    }
    if (strlen(text) != (size_t)size) {
        PyErr_SetString(PyExc_ValueError, "a region's name has no null character");
        Py_XDECREF(bytes);
        return 0;
    }
    *id = netprof_region(text);
    Py_XDECREF(bytes);
    return 1;
}

// ---- netprof.region ----

typedef struct pyregion {
    PyObject_HEAD netprof_region_id id;
    uint64_t nbytes;
    PyObject *name;
} pyregion;

static PyTypeObject pyregion_type;

static PyObject *pyregion_make(PyObject *name, PyObject *nbytes)
{
    netprof_region_id id;
    uint64_t bytes = 0;
    pyregion *self;
    if (!pyregion_id_of(name, &id) || (nbytes && !pynetprof_uint64(nbytes, &bytes))) return NULL;
    self = PyObject_New(pyregion, &pyregion_type);
    if (!self) return NULL;
    self->id = id;
    self->nbytes = bytes;
    Py_INCREF(name);
    self->name = name;
    return (PyObject *)self;
}

static PyObject *pyregion_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keys[] = {"name", "nbytes", NULL};
    PyObject *name, *nbytes = NULL;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:region", keys, &name, &nbytes)) return NULL;
    return pyregion_make(name, nbytes);
}

// region("x") and region("x", nbytes=n) without a tuple and a dict; all else goes the long way.
static PyObject *pyregion_vectorcall(PyObject *type, PyObject *const *args, size_t flagged, PyObject *keys)
{
    Py_ssize_t count = PyVectorcall_NARGS(flagged), i, named = keys ? PyTuple_GET_SIZE(keys) : 0;
    PyObject *tuple, *dict = NULL, *made;
    if (count == 1 && !named) return pyregion_make(args[0], NULL);
    if (count == 1 && named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keys, 0), "nbytes") == 0)
        return pyregion_make(args[0], args[1]);
    tuple = PyTuple_New(count);
    if (named) dict = PyDict_New();
    if (!tuple || (named && !dict)) {
        Py_XDECREF(tuple);
        Py_XDECREF(dict);
        return NULL;
    }
    for (i = 0; i < count; i++) {
        Py_INCREF(args[i]);
        PyTuple_SET_ITEM(tuple, i, args[i]);
    }
    for (i = 0; i < named; i++)
        PyDict_SetItem(dict, PyTuple_GET_ITEM(keys, i), args[count + i]);
    made = pyregion_new((PyTypeObject *)type, tuple, dict);
    Py_DECREF(tuple);
    Py_XDECREF(dict);
    return made;
}

static void pyregion_dealloc(pyregion *self)
{
    Py_DECREF(self->name);
    PyObject_Free(self);
}

static PyObject *pyregion_enter(pyregion *self, PyObject *unused)
{
    (void)unused;
    if (NETPROF__IS_ON) {
        netprof_begin(self->id);
        if (self->nbytes) netprof_bytes(self->nbytes);
    }
    Py_INCREF(self);
    return (PyObject *)self;
}

static PyObject *pyregion_exit(pyregion *self, PyObject *const *args, Py_ssize_t count)
{
    (void)args, (void)count;
    if (NETPROF__IS_ON) netprof_end(self->id);
    Py_RETURN_FALSE;
}

static PyObject *pyregion_call(pyregion *self, PyObject *args, PyObject *kwargs)
{
    PyObject *function;
    if ((kwargs && PyDict_GET_SIZE(kwargs)) || !PyArg_UnpackTuple(args, "region", 1, 1, &function)) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a region decorates one function");
        return NULL;
    }
    return PyObject_CallFunctionObjArgs(pyregion_decorate, self, function, NULL);
}

static PyObject *pyregion_aenter(pyregion *self, PyObject *unused)
{
    (void)unused;
    return PyObject_CallFunctionObjArgs(pyregion_async_enter, self, NULL);
}

static PyObject *pyregion_aexit(pyregion *self, PyObject *args)
{
    (void)args;
    return PyObject_CallFunctionObjArgs(pyregion_async_exit, self, NULL);
}

static PyObject *pyregion_repr(pyregion *self)
{
    return PyUnicode_FromFormat("netprof.region(%R)", self->name);
}

static PyObject *pyregion_get_name(pyregion *self, void *unused)
{
    (void)unused;
    Py_INCREF(self->name);
    return self->name;
}

static PyObject *pyregion_get_nbytes(pyregion *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(self->nbytes);
}

// Pool and spawn send decorated functions by name, but a region may be part of what they send.
static PyObject *pyregion_reduce(pyregion *self, PyObject *unused)
{
    (void)unused;
    return Py_BuildValue("O(OK)", (PyObject *)&pyregion_type, self->name, (unsigned long long)self->nbytes);
}

static PyMethodDef pyregion_methods[] = {
    {"__enter__", (PyCFunction)pyregion_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))pyregion_exit, METH_FASTCALL, NULL},
    {"__aenter__", (PyCFunction)pyregion_aenter, METH_NOARGS, NULL},
    {"__aexit__", (PyCFunction)pyregion_aexit, METH_VARARGS, NULL},
    {"__reduce__", (PyCFunction)pyregion_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef pyregion_members[] = {
    {"name", (getter)pyregion_get_name, NULL, NULL, NULL},
    {"nbytes", (getter)pyregion_get_nbytes, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject pyregion_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "netprof.region",
    .tp_basicsize = sizeof(pyregion),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "region(name, nbytes=0)\n--\n\nA region: for a with block, an async with block (a span then), or as "
              "decorator of a function\nor coroutine function. It can be entered again, also within itself.",
    .tp_new = pyregion_new,
    .tp_vectorcall = pyregion_vectorcall,
    .tp_dealloc = (destructor)pyregion_dealloc,
    .tp_call = (ternaryfunc)pyregion_call,
    .tp_repr = (reprfunc)pyregion_repr,
    .tp_methods = pyregion_methods,
    .tp_getset = pyregion_members,
};

// ---- netprof.span ----

typedef struct pyspan {
    PyObject_HEAD netprof_span span;
    int open;
} pyspan;

static PyTypeObject pyspan_type;

// span(name, inside=None): inside another span, wherever that is; else below this thread's innermost open region.
static PyObject *pyspan_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keys[] = {"name", "inside", NULL};
    netprof_region_id id;
    PyObject *name, *inside = Py_None;
    pyspan *self;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:span", keys, &name, &inside)) return NULL;
    if (inside != Py_None && Py_TYPE(inside) != &pyspan_type) {
        PyErr_SetString(PyExc_TypeError, "inside: expected a span");
        return NULL;
    }
    if (!pyregion_id_of(name, &id)) return NULL;
    self = PyObject_New(pyspan, &pyspan_type);
    if (!self) return NULL;
    self->span = inside == Py_None ? netprof_span_begin(id)
                                   : netprof_span_begin_at(id, netprof_span_place(&((pyspan *)inside)->span));
    self->open = 1;
    return (PyObject *)self;
}

static PyObject *pyspan_add_bytes(pyspan *self, PyObject *number)
{
    uint64_t bytes;
    if (!pynetprof_uint64(number, &bytes)) return NULL;
    if (self->open) netprof_span_bytes(&self->span, bytes);
    Py_RETURN_NONE;
}

static PyObject *pyspan_wait(pyspan *self, PyObject *unused)
{
    (void)unused;
    if (self->open) netprof_span_wait(&self->span);
    Py_RETURN_NONE;
}

static PyObject *pyspan_end(pyspan *self, PyObject *unused)
{
    (void)unused;
    if (self->open) netprof_span_end(self->span);
    self->open = 0;
    Py_RETURN_NONE;
}

static PyObject *pyspan_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    Py_INCREF(self);
    return self;
}

static PyObject *pyspan_exit(pyspan *self, PyObject *args)
{
    return pyspan_end(self, args);
}

static PyMethodDef pyspan_methods[] = {
    {"add_bytes", (PyCFunction)pyspan_add_bytes, METH_O, "That it moves."},
    {"wait", (PyCFunction)pyspan_wait, METH_NOARGS, "From here on the program waits for it."},
    {"end", (PyCFunction)pyspan_end, METH_NOARGS, "Ends it; a second time does nothing."},
    {"__enter__", pyspan_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)pyspan_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject pyspan_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "netprof.span",
    .tp_basicsize = sizeof(pyspan),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "span(name, inside=None)\n--\n\nWork beside, from now to end(), in whatever thread and order; inside: "
              "another span. One that\nnever ends is not counted.",
    .tp_new = pyspan_new,
    .tp_dealloc = (destructor)PyObject_Free,
    .tp_methods = pyspan_methods,
};

// ---- functions ----

static PyObject *pyregion_add_bytes(PyObject *module, PyObject *number)
{
    uint64_t bytes;
    (void)module;
    if (!pynetprof_uint64(number, &bytes)) return NULL;
    netprof_bytes(bytes);
    Py_RETURN_NONE;
}

static PyObject *pyregion_value(PyObject *module, PyObject *args)
{
    netprof_region_id id;
    PyObject *name;
    long long value;
    (void)module;
    if (!PyArg_ParseTuple(args, "OL:value", &name, &value) || !pyregion_id_of(name, &id)) return NULL;
    netprof_value(id, value);
    Py_RETURN_NONE;
}

static PyObject *pyregion_every(PyObject *module, PyObject *args)
{
    netprof_region_id id;
    PyObject *name;
    unsigned n;
    (void)module;
    if (!PyArg_ParseTuple(args, "OI:every", &name, &n) || !pyregion_id_of(name, &id)) return NULL;
    netprof_region_every(id, n);
    Py_RETURN_NONE;
}

static PyObject *pyregion_set_rank(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *keys[] = {"rank", "ranks", NULL};
    int rank, ranks = -1;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "i|i:set_rank", keys, &rank, &ranks)) return NULL;
    netprof_set_rank(rank, ranks);
    Py_RETURN_NONE;
}

static PyObject *pyregion_set_mode(PyObject *module, PyObject *name)
{
    static const char *const names[] = {"off", "time", "fast", "sampler"};
    int i;
    (void)module;
    for (i = 0; i < 4 && PyUnicode_Check(name); i++)
        if (PyUnicode_CompareWithASCIIString(name, names[i]) == 0) {
            netprof_set_mode((netprof_mode)(NETPROF_MODE_OFF + i));
            Py_RETURN_NONE;
        }
    PyErr_Format(PyExc_ValueError, "%R: expected off, time, fast or sampler", name);
    return NULL;
}

static PyObject *pyregion_flush(PyObject *module, PyObject *unused)
{
    netprof_error error = NETPROF_ZERO;
    netprof_err failed;
    (void)module, (void)unused;
    Py_BEGIN_ALLOW_THREADS failed = netprof_flush(&error);
    Py_END_ALLOW_THREADS if (failed) return pynetprof_fail(&error);
    Py_RETURN_NONE;
}

static PyObject *pyregion_reset(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    netprof_regions_reset();
    Py_RETURN_NONE;
}

static PyObject *pyregion_statistics(PyObject *module, PyObject *unused)
{
    netprof_regions regions = NETPROF_ZERO;
    netprof_error error = NETPROF_ZERO;
    netprof_err failed;
    PyObject *items;
    (void)module, (void)unused;
    Py_BEGIN_ALLOW_THREADS failed = netprof_regions_take(&regions, &error);
    Py_END_ALLOW_THREADS if (failed) return pynetprof_fail(&error);
    items = pyitems_of_regions(&regions);
    netprof_regions_free(&regions);
    return items;
}

// The functions of Python that a region calls: of a decorator, of `async with`.
static PyObject *pyregion_set_hooks(PyObject *module, PyObject *args)
{
    PyObject *decorate, *enter, *leave;
    (void)module;
    if (!PyArg_UnpackTuple(args, "set_hooks", 3, 3, &decorate, &enter, &leave)) return NULL;
    Py_INCREF(decorate);
    Py_XSETREF(pyregion_decorate, decorate);
    Py_INCREF(enter);
    Py_XSETREF(pyregion_async_enter, enter);
    Py_INCREF(leave);
    Py_XSETREF(pyregion_async_exit, leave);
    Py_RETURN_NONE;
}

static PyMethodDef pyregion_functions[] = {
    {"add_bytes", pyregion_add_bytes, METH_O,
     "add_bytes(nbytes)\n--\n\nAdds to the innermost open region of this thread."},
    {"value", pyregion_value, METH_VARARGS,
     "value(name, number)\n--\n\nGives the innermost open region of this thread a value: a size, a peer, an "
     "iteration."},
    {"every", pyregion_every, METH_VARARGS,
     "every(name, n)\n--\n\nMeasures every n-th call of a region; the others are counted only."},
    {"set_rank", (PyCFunction)(void (*)(void))pyregion_set_rank, METH_VARARGS | METH_KEYWORDS,
     "set_rank(rank, ranks=-1)\n--\n\nWhere no launcher tells it by the environment."},
    {"set_mode", pyregion_set_mode, METH_O,
     "set_mode(mode)\n--\n\n\"off\", \"time\", \"fast\" or \"sampler\": as NETPROF in the environment."},
    {"flush", pyregion_flush, METH_NOARGS, "flush()\n--\n\nWrites the regions' file now."},
    {"reset", pyregion_reset, METH_NOARGS, "reset()\n--\n\nSets all statistics of regions to zero."},
    {"statistics", pyregion_statistics, METH_NOARGS, NULL},
    {"set_hooks", pyregion_set_hooks, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int pyregion_add(PyObject *module)
{
    if (PyType_Ready(&pyregion_type) || PyType_Ready(&pyspan_type)) return -1;
    if (PyObject_SetAttrString(module, "region", (PyObject *)&pyregion_type) ||
        PyObject_SetAttrString(module, "span", (PyObject *)&pyspan_type))
        return -1;
    return PyModule_AddFunctions(module, pyregion_functions);
}

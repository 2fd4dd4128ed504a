// Contexts, snapshots and deltas.
#include "pynetprof.h"

#include <unistd.h>

// ---- Snapshot ----

typedef struct pysnapshot {
    PyObject_HEAD netprof_snapshot snapshot;
} pysnapshot;

static PyTypeObject pysnapshot_type;

static pysnapshot *pysnapshot_make(void)
{
    pysnapshot *self = PyObject_New(pysnapshot, &pysnapshot_type);
    if (self) memset(&self->snapshot, 0, sizeof self->snapshot);
    return self;
}

static void pysnapshot_dealloc(pysnapshot *self)
{
    netprof_snapshot_free(&self->snapshot);
    PyObject_Free(self);
}

PyObject *pycounters_new_snapshot(const netprof_snapshot *snapshot)
{
    netprof_error error = NETPROF_ZERO;
    pysnapshot *self = pysnapshot_make();
    if (self && netprof_snapshot_copy(&self->snapshot, snapshot, &error)) {
        Py_DECREF(self);
        return pynetprof_fail(&error);
    }
    return (PyObject *)self;
}

const netprof_snapshot *pycounters_snapshot_of(PyObject *object)
{
    if (PyObject_TypeCheck(object, &pysnapshot_type)) return &((pysnapshot *)object)->snapshot;
    PyErr_SetString(PyExc_TypeError, "expected a snapshot");
    return NULL;
}

static PyObject *pysnapshot_rows(pysnapshot *self, PyObject *unused)
{
    (void)unused;
    return pyitems_of_snapshot(&self->snapshot);
}

static PyObject *pysnapshot_facts_of(const netprof_fact *facts, size_t count)
{
    PyObject *dict = PyDict_New();
    size_t i;
    for (i = 0; dict && i < count; i++)
        if (!pynetprof_put(dict, facts[i].key, pynetprof_text(facts[i].value))) Py_CLEAR(dict);
    return dict;
}

static PyObject *pysnapshot_facts(pysnapshot *self, PyObject *unused)
{
    const netprof_schema *s = self->snapshot.schema;
    (void)unused;
    return s ? pysnapshot_facts_of(s->facts, s->fact_count) : PyDict_New();
}

// (source, name, physical, facts) of each device
static PyObject *pysnapshot_devices(pysnapshot *self, PyObject *unused)
{
    const netprof_schema *s = self->snapshot.schema;
    PyObject *list = PyList_New(0);
    size_t i;
    (void)unused;
    for (i = 0; list && s && i < s->device_count; i++) {
        const netprof_device *d = &s->devices[i];
        PyObject *facts = pysnapshot_facts_of(d->facts, d->fact_count);
        PyObject *row = facts ? Py_BuildValue("NNON", pynetprof_text(d->source), pynetprof_text(d->name),
                                              d->flags & NETPROF_DEVICE_PHYSICAL ? Py_True : Py_False, facts)
                              : NULL;
        if (!pynetprof_append(list, row)) Py_CLEAR(list);
    }
    return list;
}

// (name, status, errno, path, devices) of each source that was asked
static PyObject *pysnapshot_sources(pysnapshot *self, PyObject *unused)
{
    const netprof_schema *s = self->snapshot.schema;
    PyObject *list = PyList_New(0);
    size_t i;
    (void)unused;
    for (i = 0; list && s && i < s->source_count; i++) {
        const netprof_source_state *source = &s->sources[i];
        PyObject *row =
            Py_BuildValue("NsiNI", pynetprof_text(source->name), netprof_status_name(source->status), source->sys_errno,
                          pynetprof_text(source->path ? source->path : ""), (unsigned)source->device_count);
        if (!pynetprof_append(list, row)) Py_CLEAR(list);
    }
    return list;
}

static PyObject *pysnapshot_times(pysnapshot *self, PyObject *unused)
{
    const netprof_snapshot *s = &self->snapshot;
    (void)unused;
    return Py_BuildValue("LLLI", (long long)s->wall_ns, (long long)s->begin_ns, (long long)s->end_ns,
                         (unsigned)s->not_ok);
}

static PyMethodDef pysnapshot_methods[] = {
    {"rows", (PyCFunction)pysnapshot_rows, METH_NOARGS, NULL},
    {"facts", (PyCFunction)pysnapshot_facts, METH_NOARGS, NULL},
    {"devices", (PyCFunction)pysnapshot_devices, METH_NOARGS, NULL},
    {"sources", (PyCFunction)pysnapshot_sources, METH_NOARGS, NULL},
    {"times", (PyCFunction)pysnapshot_times, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject pysnapshot_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "netprof._netprof.Snapshot",
    .tp_basicsize = sizeof(pysnapshot),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_dealloc = (destructor)pysnapshot_dealloc,
    .tp_methods = pysnapshot_methods,
};

// ---- Delta ----

typedef struct pydelta {
    PyObject_HEAD netprof_delta delta;
} pydelta;

static PyTypeObject pydelta_type;

static PyObject *pydelta_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keys[] = {"before", "after", "force", NULL};
    PyObject *objects[2];
    const netprof_snapshot *before, *after;
    netprof_diff_options options = NETPROF_ZERO;
    netprof_error error = NETPROF_ZERO;
    pydelta *self;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|p:Delta", keys, &objects[0], &objects[1], &options.force))
        return NULL;
    before = pycounters_snapshot_of(objects[0]);
    after = before ? pycounters_snapshot_of(objects[1]) : NULL;
    self = after ? PyObject_New(pydelta, &pydelta_type) : NULL;
    if (!self) return NULL;
    memset(&self->delta, 0, sizeof self->delta);
    if (netprof_diff(before, after, &options, &self->delta, &error)) {
        Py_DECREF(self);
        return pynetprof_fail(&error);
    }
    return (PyObject *)self;
}

static void pydelta_dealloc(pydelta *self)
{
    netprof_delta_free(&self->delta);
    PyObject_Free(self);
}

static PyObject *pydelta_rows(pydelta *self, PyObject *unused)
{
    (void)unused;
    return pyitems_of_delta(&self->delta);
}

static PyObject *pydelta_times(pydelta *self, PyObject *unused)
{
    (void)unused;
    return Py_BuildValue("LLLL", (long long)self->delta.wall_begin_ns, (long long)self->delta.wall_end_ns,
                         (long long)self->delta.interval_ns, (long long)self->delta.sweep_ns);
}

static PyObject *pydelta_totals(pydelta *self, PyObject *args)
{
    const char *devices = NULL;
    netprof_total t;
    if (!PyArg_ParseTuple(args, "|z:totals", &devices)) return NULL;
    t = netprof_totals(&self->delta, devices);
    return Py_BuildValue("KKKKddddKdnnO", (unsigned long long)t.rx_bytes, (unsigned long long)t.tx_bytes,
                         (unsigned long long)t.rx_packets, (unsigned long long)t.tx_packets, t.rx_bytes_per_s,
                         t.tx_bytes_per_s, t.rx_packets_per_s, t.tx_packets_per_s, (unsigned long long)t.errors,
                         t.seconds, (Py_ssize_t)t.devices, (Py_ssize_t)t.unknown, t.lower_bound ? Py_True : Py_False);
}

static PyObject *pydelta_change(pydelta *self, PyObject *args)
{
    const char *device, *counter;
    netprof_change change;
    if (!PyArg_ParseTuple(args, "ss:change", &device, &counter)) return NULL;
    change = netprof_change_of(&self->delta, device, counter);
    if (change.counter == NETPROF_NONE) {
        PyErr_Format(PyExc_KeyError, "%s/%s", device, counter);
        return NULL;
    }
    return pyitems_change(&self->delta, change.counter);
}

typedef struct pydelta_buffer {
    char *data;
    size_t size;
} pydelta_buffer;

static int pydelta_write(void *user, const void *data, size_t size)
{
    pydelta_buffer *to = user;
    char *bigger = PyMem_RawRealloc(to->data, to->size + size + 1);
    if (!bigger) return ENOMEM;
    memcpy(bigger + to->size, data, size);
    to->data = bigger;
    to->size += size;
    return 0;
}

static PyObject *pydelta_text(pydelta *self, PyObject *unused)
{
    pydelta_buffer to = {NULL, 0};
    netprof_error error = NETPROF_ZERO;
    netprof_err failed = netprof_print_to(pydelta_write, &to, &self->delta, NULL, &error);
    PyObject *text = failed ? pynetprof_fail(&error)
                            : PyUnicode_DecodeUTF8(to.data ? to.data : "", (Py_ssize_t)to.size, "backslashreplace");
    (void)unused;
    PyMem_RawFree(to.data);
    return text;
}

static PyMethodDef pydelta_methods[] = {
    {"rows", (PyCFunction)pydelta_rows, METH_NOARGS, NULL},
    {"times", (PyCFunction)pydelta_times, METH_NOARGS, NULL},
    {"totals", (PyCFunction)pydelta_totals, METH_VARARGS, NULL},
    {"change", (PyCFunction)pydelta_change, METH_VARARGS, NULL},
    {"text", (PyCFunction)pydelta_text, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject pydelta_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "netprof._netprof.Delta",
    .tp_basicsize = sizeof(pydelta),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = pydelta_new,
    .tp_dealloc = (destructor)pydelta_dealloc,
    .tp_methods = pydelta_methods,
};

// ---- Context ----

enum { PYCONTEXT_TEXTS = 5 };

typedef struct pycontext {
    PyObject_HEAD netprof *np;
    pid_t pid; // of the process that opened it
    int closed;
    netprof_config config;
    char *texts[PYCONTEXT_TEXTS]; // root, sources, include, exclude, fast
    PyThread_type_lock lock;      // a context is for one thread at a time
} pycontext;

static PyTypeObject pycontext_type;

// Nothing to read is no error here: a snapshot is empty then, and its sources say why.
static netprof_err pycontext_open(pycontext *self, netprof_error *error)
{
    netprof_err failed = netprof_open(&self->np, &self->config, error);
    return failed == NETPROF_ERR_NOSOURCE ? NETPROF_OK : failed;
}

static int pycontext_keep(pycontext *self, int i, const char *text)
{
    if (!text) return 1;
    self->texts[i] = PyMem_RawMalloc(strlen(text) + 1);
    if (!self->texts[i]) {
        PyErr_NoMemory();
        return 0;
    }
    strcpy(self->texts[i], text);
    return 1;
}

static PyObject *pycontext_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keys[] = {"root", "sources", "include", "exclude", "fast", "threads", NULL};
    const char *texts[PYCONTEXT_TEXTS] = {NULL};
    int threads = 0, i;
    pycontext *self;
    netprof_error error = NETPROF_ZERO;
    netprof_err failed;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|zzzzzi:Context", keys, &texts[0], &texts[1], &texts[2], &texts[3],
                                     &texts[4], &threads))
        return NULL;
    self = PyObject_New(pycontext, &pycontext_type);
    if (!self) return NULL;
    memset((char *)self + sizeof(PyObject), 0, sizeof *self - sizeof(PyObject));
    for (i = 0; i < PYCONTEXT_TEXTS; i++)
        if (!pycontext_keep(self, i, texts[i])) goto fail;
    self->config.root = self->texts[0];
    self->config.sources = self->texts[1];
    self->config.include = self->texts[2];
    self->config.exclude = self->texts[3];
    self->config.fast = self->texts[4];
    self->config.threads = threads;
    self->pid = getpid();
    self->lock = PyThread_allocate_lock();
    if (!self->lock) {
        PyErr_NoMemory();
        goto fail;
    }
    Py_BEGIN_ALLOW_THREADS failed = pycontext_open(self, &error);
    Py_END_ALLOW_THREADS if (!failed) return (PyObject *)self;
    pynetprof_fail(&error);
fail:
    Py_DECREF(self);
    return NULL;
}

static void pycontext_dealloc(pycontext *self)
{
    int i;
    if (self->pid == getpid()) netprof_close(self->np);
    if (self->lock) PyThread_free_lock(self->lock);
    for (i = 0; i < PYCONTEXT_TEXTS; i++)
        PyMem_RawFree(self->texts[i]);
    PyObject_Free(self);
}

// A child of fork() must not read from its parent's sockets, and what another thread of the parent was changing stays
// as it was: the child gets a context and a lock of its own.
static int pycontext_after_fork(pycontext *self)
{
    if (self->pid == getpid()) return 1;
    self->np = NULL;
    self->pid = getpid();
    self->lock = PyThread_allocate_lock();
    if (!self->lock) PyErr_NoMemory();
    return self->lock != NULL;
}

static PyObject *pycontext_snapshot(pycontext *self, PyObject *args, PyObject *kwargs)
{
    static char *keys[] = {"fast", NULL};
    netprof_error error = NETPROF_ZERO;
    netprof_err failed = NETPROF_OK;
    pysnapshot *taken;
    int fast = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p:snapshot", keys, &fast) || !pycontext_after_fork(self))
        return NULL;
    taken = pysnapshot_make();
    if (!taken) return NULL;
    Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(self->lock, WAIT_LOCK);
    if (!self->np && !self->closed) failed = pycontext_open(self, &error);
    if (!failed && self->np)
        failed = netprof_take(self->np, &taken->snapshot, fast ? NETPROF_SET_FAST : NETPROF_SET_ALL, &error);
    PyThread_release_lock(self->lock);
    Py_END_ALLOW_THREADS if (!failed && self->np) return (PyObject *)taken;
    Py_DECREF(taken);
    if (failed) return pynetprof_fail(&error);
    PyErr_SetString(PyExc_ValueError, "the context is closed");
    return NULL;
}

static PyObject *pycontext_close(pycontext *self, PyObject *unused)
{
    (void)unused;
    if (!pycontext_after_fork(self)) return NULL;
    Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(self->lock, WAIT_LOCK);
    netprof_close(self->np);
    self->np = NULL;
    self->closed = 1;
    PyThread_release_lock(self->lock);
    Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

static PyMethodDef pycontext_methods[] = {
    {"snapshot", (PyCFunction)(void (*)(void))pycontext_snapshot, METH_VARARGS | METH_KEYWORDS, NULL},
    {"close", (PyCFunction)pycontext_close, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject pycontext_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "netprof._netprof.Context",
    .tp_basicsize = sizeof(pycontext),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = pycontext_new,
    .tp_dealloc = (destructor)pycontext_dealloc,
    .tp_methods = pycontext_methods,
};

int pycounters_add(PyObject *module)
{
    if (PyType_Ready(&pysnapshot_type) || PyType_Ready(&pydelta_type) || PyType_Ready(&pycontext_type)) return -1;
    if (PyObject_SetAttrString(module, "Snapshot", (PyObject *)&pysnapshot_type) ||
        PyObject_SetAttrString(module, "Delta", (PyObject *)&pydelta_type))
        return -1;
    return PyObject_SetAttrString(module, "Context", (PyObject *)&pycontext_type);
}

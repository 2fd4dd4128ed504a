// netprof._netprof: the functions of netprof.h for Python. The package beside it names what they return.
#include <Python.h>

#define NETPROF_IMPLEMENTATION
#include "netprof.h"

#include "pynetprof.h"

PyObject *pynetprof_error;

static int module_set(PyObject *object, const char *name, PyObject *value)
{
    int failed = !value || PyObject_SetAttrString(object, name, value);
    Py_XDECREF(value);
    return failed;
}

PyObject *pynetprof_fail(const netprof_error *error)
{
    const char *reason = error->sys_errno && !*error->text ? strerror(error->sys_errno) : error->text;
    PyObject *path = pynetprof_text(error->path), *text, *exception = NULL;
    if (!*reason) reason = netprof_strerror(error->code);
    if (error->sys_errno && *error->text && error->code == NETPROF_ERR_IO) reason = strerror(error->sys_errno);
    text = PyUnicode_FromFormat("%s%s%s", error->path, *error->path ? ": " : "", reason);
    if (path && text) exception = PyObject_CallFunctionObjArgs(pynetprof_error, text, NULL);
    if (exception && !module_set(exception, "code", PyLong_FromLong(error->code)) &&
        !module_set(exception, "errno", PyLong_FromLong(error->sys_errno)) &&
        !PyObject_SetAttrString(exception, "path", path))
        PyErr_SetObject(pynetprof_error, exception);
    Py_XDECREF(exception);
    Py_XDECREF(text);
    Py_XDECREF(path);
    return NULL;
}

PyObject *pynetprof_text(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace");
}

int pynetprof_uint64(PyObject *number, uint64_t *value)
{
    PyObject *whole = PyNumber_Index(number);
    unsigned long long v;
    if (!whole) return 0;
    v = PyLong_AsUnsignedLongLong(whole);
    Py_DECREF(whole);
    *value = v;
    return v != (unsigned long long)-1 || !PyErr_Occurred();
}

int pynetprof_append(PyObject *list, PyObject *element)
{
    int failed = !element || PyList_Append(list, element);
    Py_XDECREF(element);
    return !failed;
}

int pynetprof_put(PyObject *dict, const char *key, PyObject *value)
{
    int failed = !value || PyDict_SetItemString(dict, key, value);
    Py_XDECREF(value);
    return !failed;
}

netprof_counter pynetprof_cassini(const char *name)
{
    netprof_counter counter;
    netprof__cxi_describe(&counter, name);
    if (!counter.unit) counter.unit = "";
    return counter;
}

// Where another copy of the implementation keeps the regions, its counts tell.
int pynetprof_used(void)
{
    netprof_regions regions = NETPROF_ZERO;
    uint64_t calls = 0;
    size_t i;
    if (!netprof__regions_state.first) return NETPROF__GET(netprof__regions_state.used) != 0;
    if (netprof_regions_take(&regions, NULL)) return 1;
    for (i = 0; i < regions.count; i++)
        calls += regions.stats[i].calls;
    netprof_regions_free(&regions);
    return calls != 0;
}

// The last write of a process that ends without exit(): its file says how it ended.
netprof_err pynetprof_write_last(netprof_error *error)
{
    if (netprof__regions_state.first) return netprof_flush(error);
    netprof__write_last("_exit");
    return NETPROF_OK;
}

static PyObject *module_version(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyUnicode_FromString(netprof_version());
}

// cassini(name): unit and kind of a telemetry file's counter; None for a file that is none.
static PyObject *module_cassini(PyObject *module, PyObject *name)
{
    const char *text = PyUnicode_AsUTF8(name);
    netprof_counter counter;
    (void)module;
    if (!text) return NULL;
    if (netprof__cxi_skipped(text)) Py_RETURN_NONE;
    counter = pynetprof_cassini(text);
    return Py_BuildValue("ss", counter.unit, netprof_kind_name((netprof_kind)counter.kind));
}

// cassini_change(name, before, after): value and flag, by the rules of netprof_difference().
static PyObject *module_cassini_change(PyObject *module, PyObject *args)
{
    const char *name;
    PyObject *numbers[2];
    uint64_t before, after, value;
    netprof_counter counter;
    netprof_flag flag;
    (void)module;
    if (!PyArg_ParseTuple(args, "sOO", &name, &numbers[0], &numbers[1])) return NULL;
    if (!pynetprof_uint64(numbers[0], &before) || !pynetprof_uint64(numbers[1], &after)) return NULL;
    counter = pynetprof_cassini(name);
    flag = netprof_difference(&counter, before, after, &value);
    return Py_BuildValue("Ks", (unsigned long long)value, netprof_flag_name(flag));
}

static PyMethodDef module_functions[] = {{"version", module_version, METH_NOARGS, NULL},
                                         {"cassini", module_cassini, METH_O, NULL},
                                         {"cassini_change", module_cassini_change, METH_VARARGS, NULL},
                                         {NULL, NULL, 0, NULL}};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT, "netprof._netprof", NULL, -1, module_functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__netprof(void)
{
    PyObject *module = PyModule_Create(&module_definition);
    if (!module) return NULL;
    pynetprof_error = PyErr_NewException("netprof.Error", NULL, NULL);
    if (!pynetprof_error || PyObject_SetAttrString(module, "Error", pynetprof_error) || pyregion_add(module) ||
        pycounters_add(module) || pyitems_add(module) || pyends_add(module)) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}

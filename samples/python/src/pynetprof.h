// What the parts of the extension netprof._netprof share.
#ifndef NETPROF_PYNETPROF_H
#define NETPROF_PYNETPROF_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "netprof.h"

extern PyObject *pynetprof_error; // netprof.Error

// Sets netprof.Error, with its code, errno and path; returns NULL.
PyObject *pynetprof_fail(const netprof_error *error);
// Text of the kernel or of a file: what is not UTF-8 is shown as \xNN.
PyObject *pynetprof_text(const char *text);
// An int that is not negative, or what can be used as one. False with an exception.
int pynetprof_uint64(PyObject *number, uint64_t *value);
// A list's next element, which is given away; false if there is none, since it could not be made.
int pynetprof_append(PyObject *list, PyObject *element);
// The same for a value of a dict.
int pynetprof_put(PyObject *dict, const char *key, PyObject *value);

// The parts: each adds its types and functions to the module; -1 with an exception.
int pyregion_add(PyObject *module);
int pycounters_add(PyObject *module);
int pyitems_add(PyObject *module);
int pyends_add(PyObject *module);

// Rows of tuples, for Python to name: see netprof/_counters.py and _regions.py.
PyObject *pyitems_of_snapshot(const netprof_snapshot *snapshot);
PyObject *pyitems_of_delta(const netprof_delta *delta);
PyObject *pyitems_of_regions(const netprof_regions *regions);
PyObject *pyitems_change(const netprof_delta *delta, size_t counter);
// A new netprof._netprof.Snapshot with a copy.
PyObject *pycounters_new_snapshot(const netprof_snapshot *snapshot);
// The snapshot of such an object, or NULL with an exception.
const netprof_snapshot *pycounters_snapshot_of(PyObject *object);

// In module.c, beside the implementation, whose private parts these use.
netprof_counter pynetprof_cassini(const char *name);
int pynetprof_used(void); // whether this process, not its parent, has used a region
netprof_err pynetprof_write_last(netprof_error *error);

#endif

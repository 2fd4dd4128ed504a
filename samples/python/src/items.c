// What netprof.h returns as lists of tuples, and files.
#include "pynetprof.h"

#include <math.h>

static PyObject *pyitems_none(void)
{
    Py_INCREF(Py_None);
    return Py_None;
}

static PyObject *pyitems_value(const netprof_counter *counter, uint64_t value)
{
    if (counter->flags & NETPROF_SIGNED) return PyLong_FromLongLong((long long)(int64_t)value);
    return PyLong_FromUnsignedLongLong(value);
}

static int pyitems_has_value(uint8_t status)
{
    return status == NETPROF_STATUS_OK || status == NETPROF_STATUS_SATURATED;
}

static PyObject *pyitems_number(const netprof_counter *counter, uint64_t value, int there)
{
    return there ? pyitems_value(counter, value) : pyitems_none();
}

// (source, device, counter, unit, kind, value or None, status, errno, stamp_ns or None)
static PyObject *pyitems_reading(const netprof_snapshot *s, size_t i)
{
    const netprof_counter *c = &s->schema->counters[i];
    const netprof_device *d = &s->schema->devices[c->device];
    int there = pyitems_has_value(s->status[i]);
    return Py_BuildValue("NNNNsNsiN", pynetprof_text(d->source), pynetprof_text(d->name), pynetprof_text(c->name),
                         pynetprof_text(c->unit), netprof_kind_name((netprof_kind)c->kind),
                         pyitems_number(c, s->values[i], there), netprof_status_name((netprof_status)s->status[i]),
                         (int)s->errnos[i], s->stamps_ns[i] ? PyLong_FromLongLong(s->stamps_ns[i]) : pyitems_none());
}

PyObject *pyitems_of_snapshot(const netprof_snapshot *snapshot)
{
    PyObject *list = PyList_New(0);
    size_t i, count = snapshot->schema ? snapshot->schema->counter_count : 0;
    for (i = 0; list && i < count; i++)
        if (snapshot->status[i] != NETPROF_STATUS_SKIPPED && !pynetprof_append(list, pyitems_reading(snapshot, i)))
            Py_CLEAR(list);
    return list;
}

static int pyitems_has_difference(uint8_t flag)
{
    return flag == NETPROF_FLAG_OK || flag == NETPROF_FLAG_WRAPPED || flag == NETPROF_FLAG_RESET ||
           flag == NETPROF_FLAG_SUSPECT;
}

// (source, device, counter, unit, kind, flag, before, after, value, seconds, per_s), None for what is not known
PyObject *pyitems_change(const netprof_delta *delta, size_t i)
{
    const netprof_counter *c = &delta->schema->counters[i];
    const netprof_device *d = &delta->schema->devices[c->device];
    int there = pyitems_has_difference(delta->flags[i]);
    double seconds = (double)delta->elapsed_ns[i] / 1e9;
    double value = c->flags & NETPROF_SIGNED ? (double)(int64_t)delta->values[i] : (double)delta->values[i];
    return Py_BuildValue("NNNNssNNNNN", pynetprof_text(d->source), pynetprof_text(d->name), pynetprof_text(c->name),
                         pynetprof_text(c->unit), netprof_kind_name((netprof_kind)c->kind),
                         netprof_flag_name((netprof_flag)delta->flags[i]),
                         pyitems_number(c, delta->before[i], pyitems_has_value(delta->before_status[i])),
                         pyitems_number(c, delta->after[i], pyitems_has_value(delta->after_status[i])),
                         pyitems_number(c, delta->values[i], there),
                         seconds > 0 ? PyFloat_FromDouble(seconds) : pyitems_none(),
                         there && seconds > 0 ? PyFloat_FromDouble(value / seconds) : pyitems_none());
}

PyObject *pyitems_of_delta(const netprof_delta *delta)
{
    PyObject *list = PyList_New(0);
    size_t i, count = delta->schema ? delta->schema->counter_count : 0;
    for (i = 0; list && i < count; i++) {
        int skipped =
            delta->before_status[i] == NETPROF_STATUS_SKIPPED && delta->after_status[i] == NETPROF_STATUS_SKIPPED;
        if (!skipped && !pynetprof_append(list, pyitems_change(delta, i))) Py_CLEAR(list);
    }
    return list;
}

// ---- regions ----

// {smallest duration of a bucket in ns: calls}
static PyObject *pyitems_histogram(const netprof_stat *stat)
{
    PyObject *dict = PyDict_New();
    unsigned i;
    for (i = 0; dict && stat->histogram && i < NETPROF_HISTOGRAM_BUCKETS; i++) {
        PyObject *key, *value;
        if (!stat->histogram[i]) continue;
        key = PyLong_FromUnsignedLongLong(netprof_histogram_floor_ns(i));
        value = PyLong_FromUnsignedLongLong(stat->histogram[i]);
        if (!key || !value || PyDict_SetItem(dict, key, value)) Py_CLEAR(dict);
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return dict;
}

// {"device/counter": sum}
static PyObject *pyitems_sums(const netprof_regions *r, const netprof_stat *stat)
{
    PyObject *dict = PyDict_New();
    size_t i;
    for (i = 0; dict && stat->counter_sums && stat->counted && i < r->counter_count; i++) {
        const netprof_counter *c = &r->schema->counters[r->counters[i]];
        PyObject *key = PyUnicode_FromFormat("%s/%s", r->schema->devices[c->device].name, c->name);
        PyObject *value = pyitems_value(c, stat->counter_sums[i]);
        if (!key || !value || PyDict_SetItem(dict, key, value)) Py_CLEAR(dict);
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return dict;
}

static PyObject *pyitems_ull(uint64_t value)
{
    return PyLong_FromUnsignedLongLong(value);
}

// (thread, node, parent or None, region, numbers…, histogram, counters): see netprof/_regions.py
static PyObject *pyitems_stat(const netprof_regions *r, const netprof_stat *s)
{
    PyObject *parent = s->parent == UINT32_MAX ? pyitems_none() : PyLong_FromUnsignedLong(s->parent);
    PyObject *least = s->measured ? pyitems_ull(s->min_ns) : pyitems_none();
    PyObject *most = s->measured ? pyitems_ull(s->max_ns) : pyitems_none();
    return Py_BuildValue(
        "IINNKKKKKKKKNNdKKKKKKNN", (unsigned)s->thread, (unsigned)s->node, parent, pynetprof_text(s->region),
        (unsigned long long)s->calls, (unsigned long long)s->measured, (unsigned long long)s->open,
        (unsigned long long)s->spans, (unsigned long long)s->bytes, (unsigned long long)s->total_ns,
        (unsigned long long)s->inclusive_ns, (unsigned long long)s->exclusive_ns, least, most, sqrt(s->variance_ns2),
        (unsigned long long)s->aborted, (unsigned long long)s->too_short, (unsigned long long)s->counted,
        (unsigned long long)s->concurrency, (unsigned long long)s->waits, (unsigned long long)s->waited_ns,
        pyitems_histogram(s), pyitems_sums(r, s));
}

// (thread, node, name, count, sum, least, most, value in the longest call) of each value
static PyObject *pyitems_values(const netprof_regions *r)
{
    PyObject *list = PyList_New(0);
    size_t i;
    for (i = 0; list && i < r->value_count; i++) {
        const netprof_value_stat *v = &r->values[i];
        const netprof_stat *s = &r->stats[v->stat];
        PyObject *row = Py_BuildValue("IINKLLLL", (unsigned)s->thread, (unsigned)s->node, pynetprof_text(v->name),
                                      (unsigned long long)v->count, (long long)v->sum, (long long)v->least,
                                      (long long)v->most, (long long)v->at_longest);
        if (!pynetprof_append(list, row)) Py_CLEAR(list);
    }
    return list;
}

static PyObject *pyitems_about(const netprof_regions *r)
{
    static const char *const modes[] = {"off", "time", "fast", "sampler"};
    unsigned mode = (unsigned)r->mode - NETPROF_MODE_OFF;
    return Py_BuildValue(
        "{sssLsLsKsKsKsdsLsLsKsKsNsN}", "mode", mode < 4 ? modes[mode] : "time", "wall_ns", (long long)r->wall_ns,
        "elapsed_ns", (long long)r->elapsed_ns, "threads", (unsigned long long)r->threads, "mismatched",
        (unsigned long long)r->mismatched, "dropped", (unsigned long long)r->dropped, "overhead_ns",
        (double)r->overhead_ps / 1e3, "sweep_ns", (long long)r->sweep_ns, "interval_ns", (long long)r->interval_ns,
        "readings", (unsigned long long)r->readings, "reading_ns", (unsigned long long)r->reading_ns, "clock",
        pynetprof_text(r->clock ? r->clock : ""), "warning", pynetprof_text(r->warning ? r->warning : ""));
}

// (about, [stat…], [value…])
PyObject *pyitems_of_regions(const netprof_regions *regions)
{
    PyObject *list = PyList_New(0), *about, *values;
    size_t i;
    for (i = 0; list && i < regions->count; i++)
        if (!pynetprof_append(list, pyitems_stat(regions, &regions->stats[i]))) Py_CLEAR(list);
    about = list ? pyitems_about(regions) : NULL;
    values = about ? pyitems_values(regions) : NULL;
    if (values) return Py_BuildValue("NNN", about, list, values);
    Py_XDECREF(about);
    Py_XDECREF(list);
    return NULL;
}

// ---- files ----

// save(path, snapshots)
static PyObject *pyitems_save(PyObject *module, PyObject *args)
{
    PyObject *path, *given, *list;
    netprof_snapshot *snapshots;
    netprof_error error = NETPROF_ZERO;
    netprof_err failed = NETPROF_OK;
    Py_ssize_t i, count;
    (void)module;
    if (!PyArg_ParseTuple(args, "O&O:save", PyUnicode_FSConverter, &path, &given)) return NULL;
    list = PySequence_Fast(given, "expected snapshots");
    count = list ? PySequence_Fast_GET_SIZE(list) : 0;
    snapshots = list ? PyMem_New(netprof_snapshot, (size_t)count + 1) : NULL;
    for (i = 0; snapshots && i < count; i++) {
        const netprof_snapshot *s = pycounters_snapshot_of(PySequence_Fast_GET_ITEM(list, i));
        if (!s) break;
        snapshots[i] = *s; // the objects in the list live as long as this call
    }
    if (snapshots && i == count) {
        Py_BEGIN_ALLOW_THREADS failed = netprof_save_file(PyBytes_AS_STRING(path), snapshots, (size_t)count, &error);
        Py_END_ALLOW_THREADS if (failed) pynetprof_fail(&error);
    } else if (list && !snapshots) {
        PyErr_NoMemory();
    }
    PyMem_Free(snapshots);
    Py_XDECREF(list);
    Py_DECREF(path);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static PyObject *pyitems_of_column(const netprof_events_column *c, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *value = c->texts ? pynetprof_text(c->texts[i]) : PyLong_FromLongLong(c->numbers[i]);
        if (!value) Py_CLEAR(list);
        if (list) PyList_SET_ITEM(list, (Py_ssize_t)i, value);
    }
    return list;
}

// A dictionary: a list for each column, by its name.
static PyObject *pyitems_of_events(const netprof_events *events)
{
    PyObject *columns = PyDict_New();
    for (size_t i = 0; columns && i < events->column_count; i++) {
        PyObject *list = pyitems_of_column(&events->columns[i], events->count);
        if (!list || PyDict_SetItemString(columns, events->columns[i].name, list)) Py_CLEAR(columns);
        Py_XDECREF(list);
    }
    return columns;
}

static PyObject *pyitems_of_item(const netprof_item *item)
{
    switch (item->type) {
    case NETPROF_ITEM_END: break;
    case NETPROF_ITEM_FILE: return Py_BuildValue("(sN)", "file", PyBool_FromLong(item->complete));
    case NETPROF_ITEM_FACT:
        return Py_BuildValue("(sNN)", "fact", pynetprof_text(item->fact->key), pynetprof_text(item->fact->value));
    case NETPROF_ITEM_SNAPSHOT: return Py_BuildValue("(sN)", "snapshot", pycounters_new_snapshot(item->snapshot));
    case NETPROF_ITEM_DELTA: return Py_BuildValue("(sN)", "delta", pyitems_of_delta(item->delta));
    case NETPROF_ITEM_REGIONS: return Py_BuildValue("(sN)", "regions", pyitems_of_regions(item->regions));
    case NETPROF_ITEM_EVENTS:
        return Py_BuildValue("(sNN)", "events", pynetprof_text(item->events->kind), pyitems_of_events(item->events));
    case NETPROF_ITEM_DAMAGE:
        return Py_BuildValue("(sKKN)", "damage", (unsigned long long)item->offset, (unsigned long long)item->size,
                             pynetprof_text(item->text ? item->text : ""));
    }
    return Py_BuildValue("(sN)", "end", PyBool_FromLong(item->complete));
}

// load(path): the items of a .netprof file in their order, each a tuple with its kind first; the last is "end".
static PyObject *pyitems_load(PyObject *module, PyObject *args)
{
    PyObject *path, *list;
    netprof_reader *reader;
    netprof_item item = NETPROF_ZERO;
    netprof_error error = NETPROF_ZERO;
    netprof_err failed;
    (void)module;
    if (!PyArg_ParseTuple(args, "O&:load", PyUnicode_FSConverter, &path)) return NULL;
    failed = netprof_reader_open(&reader, PyBytes_AS_STRING(path), NULL, &error);
    Py_DECREF(path);
    if (failed) return pynetprof_fail(&error);
    list = PyList_New(0);
    do {
        if ((failed = netprof_reader_next(reader, &item, &error)) != NETPROF_OK) pynetprof_fail(&error);
        if (failed || !list || !pynetprof_append(list, pyitems_of_item(&item))) Py_CLEAR(list);
    } while (list && item.type != NETPROF_ITEM_END);
    netprof_reader_close(reader);
    return list;
}

static PyMethodDef pyitems_functions[] = {
    {"save", pyitems_save, METH_VARARGS, NULL}, {"load", pyitems_load, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};

int pyitems_add(PyObject *module)
{
    return PyModule_AddFunctions(module, pyitems_functions);
}

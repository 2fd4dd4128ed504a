#define _GNU_SOURCE // strsep
#include "dataset_filter.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "snapshot_subset.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

// A schema, and where its counters are in the one that it was made of.
typedef struct filtered_schema {
    const netprof_schema *large, *small;
    size_t *followed; // for each counter of the small one; an stb_ds array
} filtered_schema;

// Does one of the patterns match? plain: they are names, and match as they are.
static bool filter_lists(const char *list, const char *device, const char *counter, bool plain)
{
    char *copy = memory_strdup(list), *at = copy, *name = memory_format("%s/%s", device, counter);
    bool found = false;
    for (char *word; !found && (word = strsep(&at, ","));)
        found = plain ? strcmp(word, device) == 0
                      : fnmatch(word, device, 0) == 0 || (strchr(word, '/') && fnmatch(word, name, 0) == 0);
    free(name);
    free(copy);
    return found;
}

static bool filter_takes_source(const dataset_filter *f, const char *source)
{
    return !f->sources || filter_lists(f->sources, source, "", true);
}

static bool filter_takes(const dataset_filter *f, const netprof_device *device, const char *counter)
{
    return filter_takes_source(f, device->source) &&
           (!f->include || filter_lists(f->include, device->name, counter, false)) &&
           (!f->exclude || !filter_lists(f->exclude, device->name, counter, false));
}

static void filter_list_device(const dataset_filter *f, filtered_schema *s, netprof_list *list,
                               const netprof_device *device)
{
    size_t index = 0;
    bool listed = false;
    for (size_t i = device->first; i < (size_t)device->first + device->count; i++) {
        netprof_counter counter = s->large->counters[i];
        if (!filter_takes(f, device, counter.name) || (f->fast && !(counter.flags & NETPROF_FAST))) continue;
        if (!listed) {
            index = netprof_list_device(list, device->name, device->identity, device->flags);
            for (uint32_t k = 0; k < device->fact_count; k++)
                netprof_list_fact(list, device->facts[k].key, device->facts[k].value);
        }
        listed = true;
        counter.device = (uint32_t)index;
        netprof_list_counter(list, &counter);
        arrput(s->followed, i);
    }
}

static bool filter_is_of(const netprof_device *device, const char *source)
{
    return strcmp(device->source, source) == 0;
}

// Sources that are left out are as if nobody had asked for them.
static void filter_make_schema(const dataset_filter *f, filtered_schema *s)
{
    netprof_list *list = memory_check(netprof_build_begin(NULL));
    for (size_t i = 0; i < s->large->fact_count; i++)
        netprof_build_fact(list, s->large->facts[i].key, s->large->facts[i].value);
    for (size_t i = 0; i < s->large->source_count; i++) {
        const netprof_source_state *source = &s->large->sources[i];
        if (!filter_takes_source(f, source->name)) continue;
        netprof_build_source(list, source->name);
        netprof_list_state(list, source->status, source->sys_errno, source->path);
        for (size_t d = 0; d < s->large->device_count; d++)
            if (filter_is_of(&s->large->devices[d], source->name))
                filter_list_device(f, s, list, &s->large->devices[d]);
    }
    for (size_t d = 0; d < s->large->device_count; d++) { // of no source that the file names
        const netprof_device *device = &s->large->devices[d];
        if (dataset_source(s->large, device->source) || !filter_takes_source(f, device->source)) continue;
        netprof_build_source(list, device->source);
        filter_list_device(f, s, list, device);
    }
    if (netprof_build_end(list, &s->small, NULL)) memory_exhausted();
}

// The small schema of a large one: made once, for readings of one schema have to share one.
static const filtered_schema *filter_schema(const dataset_filter *f, filtered_schema **schemas,
                                            const netprof_schema *large)
{
    for (size_t i = 0; i < arrlenu(*schemas); i++)
        if ((*schemas)[i].large == large) return &(*schemas)[i];
    filtered_schema s = {.large = large};
    netprof_schema_retain(large);
    filter_make_schema(f, &s);
    arrput(*schemas, s);
    return &(*schemas)[arrlenu(*schemas) - 1];
}

static void filter_snapshot(netprof_snapshot *s, const filtered_schema *by)
{
    netprof_snapshot small = NETPROF_ZERO;
    snapshot_subset(&small, by->small, s, by->followed, sizeof *by->followed);
    netprof_snapshot_free(s);
    *s = small;
}

static void filter_delta(netprof_delta *d, const filtered_schema *by)
{
    netprof_delta small;
    dataset_blank_delta(&small, by->small);
    netprof_schema_retain(by->small);
    for (size_t i = 0; i < arrlenu(by->followed); i++) {
        size_t k = by->followed[i];
        small.before[i] = d->before[k];
        small.after[i] = d->after[k];
        small.values[i] = d->values[k];
        small.elapsed_ns[i] = d->elapsed_ns[k];
        small.flags[i] = d->flags[k];
        small.before_status[i] = d->before_status[k];
        small.after_status[i] = d->after_status[k];
    }
    small.wall_begin_ns = d->wall_begin_ns;
    small.wall_end_ns = d->wall_end_ns;
    small.interval_ns = d->interval_ns;
    small.sweep_ns = d->sweep_ns;
    small.stamp_error_ns = d->stamp_error_ns;
    dataset_delta_free(d);
    *d = small;
}

// An absence of a device that is left out says nothing.
static void filter_absences(dataset_run *run, const dataset_filter *f)
{
    for (size_t i = run->absence_count; i-- > 0;) {
        dataset_absence *a = &run->absences[i];
        bool wanted = filter_takes_source(f, a->source) &&
                      (!f->include || filter_lists(f->include, a->name, "", false)) &&
                      (!f->exclude || !filter_lists(f->exclude, a->name, "", false));
        if (wanted) continue;
        free(a->source);
        free(a->name);
        arrdel(run->absences, i);
    }
    run->absence_count = arrlenu(run->absences);
}

static void filter_run(dataset_run *run, const dataset_filter *f, filtered_schema **schemas)
{
    for (size_t i = 0; i < run->snapshot_count; i++) {
        const filtered_schema *by = filter_schema(f, schemas, run->snapshots[i].schema);
        filter_snapshot(&run->snapshots[i], by);
    }
    for (size_t i = 0; i < run->delta_count; i++) {
        const filtered_schema *by = filter_schema(f, schemas, run->deltas[i].schema);
        filter_delta(&run->deltas[i], by);
    }
    filter_absences(run, f);
}

static size_t filter_free_schemas(filtered_schema *schemas)
{
    size_t kept = 0;
    for (size_t i = 0; i < arrlenu(schemas); i++) {
        kept += schemas[i].small->counter_count;
        netprof_schema_release(schemas[i].large);
        netprof_schema_release(schemas[i].small);
        arrfree(schemas[i].followed);
    }
    arrfree(schemas);
    return kept;
}

size_t dataset_filter_apply(dataset *set, const dataset_filter *f)
{
    filtered_schema *schemas = NULL;
    for (size_t i = 0; i < set->run_count; i++)
        filter_run(&set->runs[i], f, &schemas);
    return filter_free_schemas(schemas);
}

// ---- one after the other ----

struct dataset_filtering {
    const dataset_filter *filter;
    filtered_schema *schemas; // stb_ds
};

dataset_filtering *dataset_filtering_open(const dataset_filter *f)
{
    dataset_filtering *d = memory_calloc(1, sizeof *d);
    d->filter = f;
    return d;
}

size_t dataset_filtering_snapshot(dataset_filtering *d, netprof_snapshot *to, const netprof_snapshot *from)
{
    const filtered_schema *by = filter_schema(d->filter, &d->schemas, from->schema);
    snapshot_subset(to, by->small, from, by->followed, sizeof *by->followed);
    return by->small->counter_count;
}

void dataset_filtering_close(dataset_filtering *d)
{
    if (d) filter_free_schemas(d->schemas);
    free(d);
}

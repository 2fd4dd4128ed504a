#include "dataset_model.h"

#include "analysis/base/stb_ds.h"

#include <stdlib.h>
#include <string.h>

void dataset_blank_delta(netprof_delta *delta, const netprof_schema *schema)
{
    size_t n = schema->counter_count;
    uint64_t *block = memory_calloc(n + 1, 4 * sizeof *block + 3);
    uint8_t *bytes = (uint8_t *)(block + 4 * n);
    *delta = (netprof_delta){.schema = schema,
                             .memory = block,
                             .before = block,
                             .after = block + n,
                             .values = block + 2 * n,
                             .elapsed_ns = (int64_t *)(block + 3 * n),
                             .flags = bytes,
                             .before_status = bytes + n,
                             .after_status = bytes + 2 * n};
}

void dataset_delta_free(netprof_delta *delta)
{
    netprof_schema_release(delta->schema);
    free(delta->memory);
}

void dataset_run_free(dataset_run *run)
{
    for (size_t i = 0; i < run->snapshot_count; i++)
        netprof_snapshot_free(&run->snapshots[i]);
    for (size_t i = 0; i < run->delta_count; i++)
        dataset_delta_free(&run->deltas[i]);
    for (size_t i = 0; i < run->fact_count; i++) {
        free((char *)run->facts[i].key);
        free((char *)run->facts[i].value);
    }
    arrfree(run->snapshots);
    arrfree(run->deltas);
    arrfree(run->facts);
    for (size_t i = 0; i < run->absence_count; i++) {
        free(run->absences[i].source);
        free(run->absences[i].name);
    }
    arrfree(run->absences);
    netprof_schema_release(run->seen);
    free(run->path);
}

void dataset_remove_run(dataset *set, size_t index)
{
    dataset_run_free(&set->runs[index]);
    arrdel(set->runs, index);
    set->run_count = arrlenu(set->runs);
}

void dataset_drop_warnings(dataset *set, size_t from)
{
    while (set->warning_count > from) {
        const dataset_warning *w = &set->warnings[--set->warning_count];
        free(w->path);
        free(w->text);
    }
    arrsetlen(set->warnings, set->warning_count);
}

void dataset_free(dataset *set)
{
    if (!set) return;
    for (size_t i = 0; i < set->run_count; i++)
        dataset_run_free(&set->runs[i]);
    dataset_drop_warnings(set, 0);
    arrfree(set->runs);
    arrfree(set->warnings);
    *set = (dataset){0};
}

const netprof_source_state *dataset_source(const netprof_schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->source_count; i++)
        if (strcmp(schema->sources[i].name, name) == 0) return &schema->sources[i];
    return NULL;
}

bool dataset_could_see(const netprof_schema *schema, const char *source)
{
    const netprof_source_state *s = dataset_source(schema, source);
    return s && (s->status == NETPROF_STATUS_OK || s->status == NETPROF_STATUS_ABSENT);
}

const char *dataset_fact(const dataset_run *run, const char *key)
{
    const char *value = netprof_fact_of(run->facts, run->fact_count, key);
    const netprof_schema *schema = run->snapshot_count ? run->snapshots[0].schema
                                   : run->delta_count  ? run->deltas[0].schema
                                                       : NULL;
    return value || !schema ? value : netprof_fact_of(schema->facts, schema->fact_count, key);
}

const char *dataset_node(const dataset_run *run, const netprof_schema *schema)
{
    static const char *const keys[] = {"pod", "node", "host"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *name = dataset_fact(run, keys[i]);
        if (!name && schema) name = netprof_fact_of(schema->facts, schema->fact_count, keys[i]);
        if (name && *name) return name;
    }
    return "";
}

const char *dataset_format_name(dataset_format format)
{
    static const char *const names[] = {"unknown", ".netprof", "netprof JSON", "net_prof JSON", "net_prof text"};
    return (size_t)format < sizeof names / sizeof *names ? names[format] : "unknown";
}

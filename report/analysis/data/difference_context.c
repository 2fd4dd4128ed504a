// What a difference is told beside the numbers: why a counter could not be read, what the first snapshot's sources were,
// and the facts of the run.
#include "difference.h"

#include "analysis/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void difference_free_facts(difference *d)
{
    for (size_t i = 0; i < d->run_fact_count; i++) {
        free((char *)(uintptr_t)d->run_facts[i].key);
        free((char *)(uintptr_t)d->run_facts[i].value);
    }
    free(d->run_facts);
    d->run_facts = NULL;
    d->run_fact_count = 0;
}

void difference_keep_facts(difference *d, const netprof_fact *facts, size_t count)
{
    difference_free_facts(d);
    if (!count) return;
    d->run_facts = memory_calloc(count, sizeof *d->run_facts);
    d->run_fact_count = count;
    for (size_t i = 0; i < count; i++)
        d->run_facts[i] = (netprof_fact){memory_strdup(facts[i].key), memory_strdup(facts[i].value)};
}

void difference_add_fact(difference *d, const char *key, const char *value)
{
    d->run_facts = memory_realloc(d->run_facts, (d->run_fact_count + 1) * sizeof *d->run_facts);
    d->run_facts[d->run_fact_count++] = (netprof_fact){memory_strdup(key), memory_strdup(value)};
}

void difference_keep_begin(difference *d, const netprof_fact *facts, size_t count)
{
    char key[64];
    for (size_t i = 0; i < count; i++) {
        if (strncmp(facts[i].key, "tcp_socket", 10) != 0) continue;
        snprintf(key, sizeof key, DIFFERENCE_AT_BEGIN "%.40s", facts[i].key);
        difference_add_fact(d, key, facts[i].value);
    }
}

// A counter of the joined schema in one of the two.
typedef struct difference_search {
    const netprof_schema *all, *schema;
    size_t device; // of `schema`, where the last one was found
} difference_search;

static bool difference_is_device(const netprof_device *a, const netprof_device *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->source, b->source) == 0;
}

static size_t difference_locate(difference_search *s, size_t i)
{
    const netprof_counter *counter = &s->all->counters[i];
    const netprof_device *device = &s->all->devices[counter->device];
    size_t n = s->schema->device_count, at = i - device->first;
    for (size_t k = 0; k < n; k++) {
        const netprof_device *other = &s->schema->devices[(s->device + k) % n];
        if (!difference_is_device(device, other)) continue;
        s->device = (s->device + k) % n;
        for (size_t c = 0; c < other->count; c++) {
            size_t found = other->first + (at + c) % other->count;
            if (strcmp(s->schema->counters[found].name, counter->name) == 0) return found;
        }
        return DIFFERENCE_NONE;
    }
    return DIFFERENCE_NONE;
}

static bool difference_is_failed(uint8_t status)
{
    return status == NETPROF_STATUS_DENIED || status == NETPROF_STATUS_VANISHED || status == NETPROF_STATUS_UNREADABLE;
}

// The later reading's where both failed.
void difference_keep_errors(difference *d, const netprof_snapshot *before, const netprof_snapshot *after)
{
    const netprof_snapshot *const ends[2] = {before, after};
    const uint8_t *const status[2] = {d->delta->before_status, d->delta->after_status};
    netprof_schema_release(d->first);
    netprof_schema_retain(before->schema);
    d->first = before->schema;
    for (int e = 0; e < 2; e++) {
        difference_search s = {.all = d->delta->schema, .schema = ends[e]->schema};
        for (size_t i = 0; i < s.all->counter_count; i++) {
            if (!difference_is_failed(status[e][i])) continue;
            size_t k = difference_locate(&s, i);
            if (k != DIFFERENCE_NONE && ends[e]->errnos[k]) d->rows[i].sys_errno = ends[e]->errnos[k];
        }
    }
}

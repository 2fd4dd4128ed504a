#include "sink_chosen.h"

#include "analysis/base/memory.h"

#include <stdlib.h>
#include <string.h>

static const char *chosen_text(const export_cell *cell)
{
    return cell->known ? cell->as.text : "";
}

// Lengths before the texts: no two different names make the same key.
static map_key chosen_key(uint64_t run, const export_cell *name, int parts)
{
    char *text = memory_format("%llu", (unsigned long long)run);
    for (int i = 0; i < parts; i++) {
        char *longer = memory_format("%s/%zu:%s", text, strlen(chosen_text(&name[i])), chosen_text(&name[i]));
        free(text);
        text = longer;
    }
    map_key key = map_key_of_name(0, text);
    free(text);
    return key;
}

const char *chosen_node(const chosen *c, uint64_t run)
{
    return run && run <= arrlenu(c->nodes) ? c->nodes[run - 1] : "";
}

static bool chosen_is_of_node(const char *source)
{
    static const char *const sources[] = {"cpu", "memory", "pressure", "load"};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (strcmp(source, sources[i]) == 0) return true;
    return false;
}

static void chosen_take_counter(chosen *c, const export_cell *cells, bool all)
{
    const char *kind = chosen_text(&cells[6]), *role = chosen_text(&cells[12]), *source = chosen_text(&cells[2]);
    bool fast = cells[10].known && cells[10].as.u64;
    chosen_counter x = {.wanted = all || fast || *role || chosen_is_of_node(source),
                        .gauge = strcmp(kind, netprof_kind_name(NETPROF_KIND_GAUGE)) == 0 ||
                                 strcmp(kind, netprof_kind_name(NETPROF_KIND_STATE)) == 0,
                        .is_signed = cells[8].known && cells[8].as.u64,
                        .role = strcmp(role, "bytes received") == 0 ? CHOSEN_RECEIVED
                                : strcmp(role, "bytes sent") == 0   ? CHOSEN_SENT
                                                                    : CHOSEN_OTHER,
                        .port = index_map_find(c->port_of, chosen_key(cells[0].as.u64, &cells[2], 2)) != INDEX_NONE,
                        .node = chosen_node(c, cells[0].as.u64)};
    size_t next = arrlenu(c->counters);
    if (!x.wanted || index_map_put(&c->counter_of, chosen_key(cells[0].as.u64, &cells[2], 3), next) != next) return;
    x.source = memory_strdup(source);
    x.device = memory_strdup(chosen_text(&cells[3]));
    x.counter = memory_strdup(chosen_text(&cells[4]));
    x.unit = memory_strdup(chosen_text(&cells[5]));
    x.description = memory_strdup(chosen_text(&cells[14]));
    arrput(c->counters, x);
}

void chosen_take(chosen *c, export_id id, const export_cell *cells, bool all)
{
    if (id == EXPORT_RUNS) arrput(c->nodes, memory_strdup(chosen_text(&cells[8])));
    if (id == EXPORT_COUNTERS) chosen_take_counter(c, cells, all);
    bool port = id == EXPORT_DEVICES && cells[5].known && cells[5].as.u64 && !(cells[7].known && cells[7].as.u64);
    if (port) index_map_put(&c->port_of, chosen_key(cells[0].as.u64, &cells[2], 2), 0);
}

const chosen_counter *chosen_find(const chosen *c, const export_cell *row, const export_cell *name)
{
    size_t found = index_map_find(c->counter_of, chosen_key(row[0].as.u64, name, 3));
    return found == INDEX_NONE ? NULL : &c->counters[found];
}

void chosen_free(chosen *c)
{
    for (size_t i = 0; i < arrlenu(c->counters); i++) {
        free(c->counters[i].source);
        free(c->counters[i].device);
        free(c->counters[i].counter);
        free(c->counters[i].unit);
        free(c->counters[i].description);
    }
    for (size_t i = 0; i < arrlenu(c->nodes); i++)
        free(c->nodes[i]);
    arrfree(c->counters);
    arrfree(c->nodes);
    hmfree(c->counter_of);
    hmfree(c->port_of);
    *c = (chosen){0};
}

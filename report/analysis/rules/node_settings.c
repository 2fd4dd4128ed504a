#include "node_settings.h"

#include "findings_model.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"
#include "analysis/base/words.h"
#include "analysis/peers/peers.h"

#include <stdlib.h>
#include <string.h>

// What is compared: the first fact of these that a device has. What travels differently where it differs matters; what is
// newer or older on one node is told.
typedef struct setting_row {
    const char *title, *source, *facts[3];
    bool matters;
} setting_row;

static const setting_row setting_rows[] = {
    {"MTU", "netdev", {"mtu"}, true},
    {"MTU", "cxi", {"hpc_mtu"}, true},
    {"link speed", "netdev", {"speed_mbps"}, true},
    {"link speed", "cxi", {"speed_mbps", "port_speed"}, true},
    {"link rate", "rdma", {"rate"}, true},
    {"duplex", "netdev", {"duplex"}, true},
    {"pause setting", "cxi", {"pause"}, true},
    {"pause setting", "netdev", {"pause"}, true},
    {"priority flow control", "netdev", {"pfc"}, true},
    {"RoCE ECN (receiver)", "netdev", {"roce_ecn_np"}, true},
    {"RoCE ECN (sender)", "netdev", {"roce_ecn_rp"}, true},
    {"link layer retry", "cxi", {"link_layer_retry"}, true},
    {"PCIe width", "cxi", {"pci_width"}, true},
    {"PCIe width", "rdma", {"pci_width"}, true},
    {"PCIe width", "netdev", {"pci_width"}, true},
    {"firmware", "cxi", {"fw_version"}, false},
    {"firmware", "rdma", {"fw_ver", "fw_version"}, false},
    {"firmware", "ethtool", {"fw_version"}, false},
    {"driver", "cxi", {"driver_rev"}, false},
    {"driver", "netdev", {"driver"}, false},
    {"driver version", "ethtool", {"version"}, false},
    {"kernel", "", {"kernel"}, false},
};
enum { SETTING_ROWS = sizeof setting_rows / sizeof *setting_rows };

// ---- what the nodes have ----

static void settings_keep(node_settings *s, size_t row, const char *source, const char *device,
                          const netprof_fact *facts, size_t count)
{
    const char *text = NULL;
    for (size_t i = 0; i < 3 && !text && setting_rows[row].facts[i]; i++)
        text = netprof_fact_of(facts, count, setting_rows[row].facts[i]);
    if (!text || !*text) return;
    char *end;
    double mbps = strcmp(setting_rows[row].title, "link speed") == 0 ? strtod(text, &end) : 0;
    words_text speed = words_link_speed(mbps * 1e6);
    if (mbps > 0 && !*end) text = speed.text;
    arrput(s->items, ((node_setting){.node = arrlenu(s->names) - 1,
                                     .title = row,
                                     .source = memory_strdup(source),
                                     .device = memory_strdup(device),
                                     .text = memory_strdup(text)}));
}

// Ports of the node, and the drivers of their interfaces.
static bool settings_has_ports(const netprof_device *d)
{
    return (d->flags & NETPROF_DEVICE_PHYSICAL) || strcmp(d->source, "ethtool") == 0;
}

void node_settings_add(node_settings *s, const char *name, const netprof_schema *schema)
{
    arrput(s->names, memory_strdup(name));
    for (size_t r = 0; r < SETTING_ROWS; r++) {
        const char *source = setting_rows[r].source;
        if (!*source) settings_keep(s, r, "", "", schema->facts, schema->fact_count);
        for (size_t i = 0; i < schema->device_count && *source; i++) {
            const netprof_device *d = &schema->devices[i];
            if (strcmp(d->source, source) == 0 && settings_has_ports(d))
                settings_keep(s, r, d->source, d->name, d->facts, d->fact_count);
        }
    }
}

void node_settings_join(node_settings *s, node_settings *from)
{
    size_t before = arrlenu(s->names);
    for (size_t i = 0; i < arrlenu(from->names); i++)
        arrput(s->names, from->names[i]);
    for (size_t i = 0; i < arrlenu(from->items); i++) {
        from->items[i].node += before;
        arrput(s->items, from->items[i]);
    }
    arrfree(from->names);
    arrfree(from->items);
}

void node_settings_free(node_settings *s)
{
    for (size_t i = 0; i < arrlenu(s->items); i++) {
        free(s->items[i].source);
        free(s->items[i].device);
        free(s->items[i].text);
    }
    for (size_t i = 0; i < arrlenu(s->found); i++) {
        free(s->found[i].source);
        free(s->found[i].device);
        free(s->found[i].who);
        free(s->found[i].claim);
    }
    for (size_t i = 0; i < arrlenu(s->names); i++)
        free(s->names[i]);
    arrfree(s->items);
    arrfree(s->found);
    arrfree(s->names);
    *s = (node_settings){0};
}

// ---- one setting of one device on all nodes ----

static int settings_by_place(const void *a, const void *b)
{
    const node_setting *x = a, *y = b;
    if (x->title != y->title) return x->title < y->title ? -1 : 1;
    int order = strcmp(x->device, y->device);
    return order ? order : x->node < y->node ? -1 : x->node > y->node;
}

// How the nodes stand in one setting of one device; devices that stand alike are told together.
typedef struct settings_split {
    size_t first, count; // in items
    peers_outcome o;
    size_t usual;
    bool told;
} settings_split;

static settings_split settings_look(const node_settings *s, size_t first)
{
    settings_split x = {.first = first};
    const node_setting *a = &s->items[first];
    const char **texts = NULL;
    for (size_t i = first; i < arrlenu(s->items); i++) {
        if (s->items[i].title != a->title || strcmp(s->items[i].device, a->device) != 0) break;
        arrput(texts, s->items[i].text);
    }
    x.count = arrlenu(texts);
    peers_weigh_words(&x.o, texts, x.count, &x.usual);
    arrfree(texts);
    return x;
}

static bool settings_is_same_split(const node_settings *s, const settings_split *x, const settings_split *y)
{
    const node_setting *a = &s->items[x->first], *b = &s->items[y->first];
    if (a->title != b->title || x->o.kind != y->o.kind || x->count != y->count || x->o.unlike != y->o.unlike)
        return false;
    return a[x->o.odd].node == b[y->o.odd].node && strcmp(a[x->o.odd].text, b[y->o.odd].text) == 0 &&
           strcmp(a[x->usual].text, b[y->usual].text) == 0;
}

// "cxi0-cxi3"; "" of the node itself.
static char *settings_devices(const node_settings *s, settings_split *splits, size_t from, size_t *count)
{
    const char **names = NULL;
    for (size_t i = from; i < arrlenu(splits); i++) {
        if (splits[i].told || !settings_is_same_split(s, &splits[from], &splits[i])) continue;
        splits[i].told = true;
        arrput(names, s->items[splits[i].first].device);
    }
    *count = arrlenu(names);
    char *text = **names ? findings_names_text(names, arrlenu(names)) : memory_strdup("the node");
    arrfree(names);
    return text;
}

// The names of those that differ, a few.
static char *settings_names(const node_settings *s, const settings_split *x)
{
    const node_setting *a = &s->items[x->first];
    const char **names = NULL;
    for (size_t i = 0; i < x->count; i++)
        if (strcmp(a[i].text, a[x->usual].text) != 0) arrput(names, s->names[a[i].node]);
    char *text = findings_names_text(names, arrlenu(names));
    arrfree(names);
    return text;
}

static char *settings_claim(const node_settings *s, const settings_split *x, size_t count)
{
    const node_setting *a = &s->items[x->first], *odd = &a[x->o.odd], *usual = &a[x->usual];
    const char *title = setting_rows[a->title].title, *has = count > 1 ? "have" : "has";
    words_text others = words_many(x->count - x->o.unlike, "other node");
    char *names = settings_names(s, x), *text = NULL;
    switch (x->o.kind) {
    case PEERS_ONE:
        text = memory_format("alone %s %s %s; the %s %s", has, title, odd->text, others.text, usual->text);
        break;
    case PEERS_TWO:
        text = memory_format("the two nodes differ in %s: %s %s, %s %s", title, s->names[odd->node], odd->text,
                             s->names[usual->node], usual->text);
        break;
    case PEERS_SEVERAL:
        text = memory_format("%zu of %zu nodes differ in %s (%s): %s; the others %s", x->o.unlike, x->count, title,
                             names, odd->text, usual->text);
        break;
    default:
        text = memory_format("the %zu nodes divide in %s: %zu have %s, the others %s", x->count, title,
                             x->count - x->o.unlike, usual->text, odd->text);
    }
    free(names);
    return text;
}

// What the nodes' own lines have, and the frames' size, matters for whoever talks with another one.
static severity settings_severity(const setting_row *row, peers_kind kind)
{
    bool one_or_some = kind == PEERS_ONE || kind == PEERS_SEVERAL;
    return row->matters && (one_or_some || strcmp(row->title, "MTU") == 0) ? SEVERITY_WATCH : SEVERITY_INFO;
}

static int settings_by_weight(const void *a, const void *b)
{
    const node_settings_one *x = a, *y = b;
    if (x->severity != y->severity) return x->severity > y->severity ? -1 : 1;
    int order = strcmp(x->who, y->who);
    return order ? order : strcmp(x->claim, y->claim);
}

void node_settings_judge(node_settings *s)
{
    settings_split *splits = NULL;
    if (!arrlenu(s->items)) return;
    qsort(s->items, arrlenu(s->items), sizeof *s->items, settings_by_place);
    for (size_t i = 0; i < arrlenu(s->items);) {
        settings_split x = settings_look(s, i);
        i += x.count;
        if (x.o.kind >= PEERS_TWO) arrput(splits, x);
    }
    for (size_t i = 0; i < arrlenu(splits); i++) {
        size_t count;
        if (splits[i].told) continue;
        const settings_split *x = &splits[i];
        const node_setting *a = &s->items[x->first];
        char *devices = settings_devices(s, splits, i, &count);
        arrput(s->found, ((node_settings_one){.severity = settings_severity(&setting_rows[a->title], x->o.kind),
                                              .node = x->o.kind == PEERS_ONE ? a[x->o.odd].node : NODE_SETTINGS_NONE,
                                              .nodes = x->o.unlike,
                                              .of = x->count,
                                              .source = memory_strdup(a->source),
                                              .device = memory_strdup(a->device),
                                              .who = devices,
                                              .claim = settings_claim(s, x, count)}));
    }
    arrfree(splits);
    if (arrlenu(s->found)) qsort(s->found, arrlenu(s->found), sizeof *s->found, settings_by_weight);
}

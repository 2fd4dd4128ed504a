// What differs in how the two sides are set up: facts of nodes and devices, and devices that one side lacks.
#include "comparer.h"

#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Facts that may explain a difference, those that do it most often first; names, addresses, serial numbers and times are
// not among them: they always differ. Software and hardware of another make are weaker reasons than settings, and what
// only says who measured is never more than context.
typedef struct setup_fact {
    const char *key, *words;
    comparison_reason reason;
} setup_fact;

static const setup_fact of_device[] = {
    {"mtu", "MTU", COMPARISON_SETTING},
    {"hpc_mtu", "HPC MTU", COMPARISON_SETTING},
    {"speed_mbps", "speed (Mb/s)", COMPARISON_SETTING},
    {"port_speed", "port speed", COMPARISON_SETTING},
    {"rate", "rate", COMPARISON_SETTING},
    {"rate_bps", "rate (bit/s)", COMPARISON_SETTING},
    {"duplex", "duplex", COMPARISON_SETTING},
    {"link", "link", COMPARISON_SETTING},
    {"operstate", "state", COMPARISON_SETTING},
    {"phys_state", "physical state", COMPARISON_SETTING},
    {"qdisc", "queueing discipline", COMPARISON_SETTING},
    {"pci_speed", "PCIe speed", COMPARISON_SETTING},
    {"pci_width", "PCIe width", COMPARISON_SETTING},
    {"esm_link_speed", "PCIe speed", COMPARISON_SETTING},
    {"pause", "pause frames", COMPARISON_SETTING},
    {"pfc", "priority flow control", COMPARISON_SETTING},
    {"roce_ecn_np", "RoCE ECN (receiver)", COMPARISON_SETTING},
    {"roce_ecn_rp", "RoCE ECN (sender)", COMPARISON_SETTING},
    {"link_layer", "link layer", COMPARISON_SETTING},
    {"link_layer_retry", "link-layer retry", COMPARISON_SETTING},
    {"loopback", "loopback", COMPARISON_SETTING},
    {"media", "medium", COMPARISON_MAKE},
    {"driver", "driver", COMPARISON_MAKE},
    {"driver_rev", "driver", COMPARISON_MAKE},
    {"version", "driver version", COMPARISON_MAKE},
    {"fw_version", "firmware", COMPARISON_MAKE},
    {"fw_ver", "firmware", COMPARISON_MAKE},
    {"numa_node", "NUMA node", COMPARISON_MAKE},
    {"kind", "kind", COMPARISON_MAKE},
    {"model", "model", COMPARISON_MAKE},
    {"hca_type", "model", COMPARISON_MAKE},
    {"cassini_version", "Cassini version", COMPARISON_MAKE},
    {"pci_max_speed", "highest PCIe speed", COMPARISON_MAKE},
    {"pci_max_width", "highest PCIe width", COMPARISON_MAKE},
};
// Of one host: a name that another card has now.
static const setup_fact of_place[] = {
    {"pci", "another card under the same name, PCI address", COMPARISON_SETTING},
    {"bus", "another card under the same name, bus address", COMPARISON_SETTING},
};
static const setup_fact of_node[] = {
    {"cpus_allowed", "CPUs that the command may use", COMPARISON_SETTING},
    {"cpus", "CPUs", COMPARISON_SETTING},
    {"cpu_governor", "CPU governor", COMPARISON_SETTING},
    {"kernel", "kernel", COMPARISON_MAKE},
    {"machine", "machine", COMPARISON_MAKE},
    {"netprof", "netprof", COMPARISON_MEASURING},
};
enum {
    OF_DEVICE = sizeof of_device / sizeof *of_device,
    OF_NODE = sizeof of_node / sizeof *of_node,
    OF_PLACE = sizeof of_place / sizeof *of_place,
    NAMED = 3
};

// ---- facts ----

static const char *setup_fact_of_run(const comparison *c, size_t device, const char *key, size_t run)
{
    const netprof_schema *schema = c->runs[run]->d.delta->schema;
    if (device != DIFFERENCE_NONE) {
        const netprof_device *dev = &schema->devices[c->devices[device].places[run]];
        return netprof_fact_of(dev->facts, dev->fact_count, key);
    }
    const char *value = netprof_fact_of(schema->facts, schema->fact_count, key);
    return value ? value : dataset_fact(c->runs[run]->first, key);
}

// The fact on a side: NULL when no run has it, "" (an impossible value) when its runs differ.
static const char *setup_fact_of_side(const comparison *c, size_t device, const char *key, comparison_side side)
{
    const char *found = NULL;
    for (size_t r = 0; r < c->run_count; r++) {
        if (c->runs[r]->side != side) continue;
        if (device != DIFFERENCE_NONE && c->devices[device].places[r] == DIFFERENCE_NONE) continue;
        const char *value = setup_fact_of_run(c, device, key, r);
        if (found && value && strcmp(found, value) != 0) return "";
        if (value) found = value;
    }
    return found;
}

// A port that is up on the faulty side, and was still coming up on the other.
static bool setup_is_fine(const char *key, const char *faulty)
{
    return (strcmp(key, "operstate") == 0 && strcmp(faulty, "up") == 0) ||
           (strcmp(key, "phys_state") == 0 && strstr(faulty, "LinkUp"));
}

static void setup_compare_fact(comparison *c, size_t device, const setup_fact *about)
{
    comparison_fact fact = {.device = device, .key = about->key, .words = about->words, .reason = about->reason};
    for (int side = 0; side < COMPARISON_SIDES; side++)
        fact.side[side] = setup_fact_of_side(c, device, about->key, (comparison_side)side);
    const char *h = fact.side[COMPARISON_HEALTHY], *f = fact.side[COMPARISON_FAULTY];
    if (!h || !f || !*h || !*f || strcmp(h, f) == 0 || setup_is_fine(about->key, f)) return;
    arrput(c->facts, fact);
    c->fact_count = arrlenu(c->facts);
}

static bool setup_one_host(const comparison *c)
{
    for (size_t r = 0; r < c->run_count; r++)
        if (!*c->runs[r]->host || strcmp(c->runs[r]->host, c->runs[0]->host) != 0) return false;
    return true;
}

void comparer_facts(comparer *m)
{
    comparison *c = m->c;
    for (size_t k = 0; k < OF_PLACE && setup_one_host(c); k++)
        for (size_t i = 0; i < c->device_count; i++)
            if (c->devices[i].runs[0] && c->devices[i].runs[1]) setup_compare_fact(c, i, &of_place[k]);
    for (size_t k = 0; k < OF_DEVICE; k++)
        for (size_t i = 0; i < c->device_count; i++)
            if (c->devices[i].runs[0] && c->devices[i].runs[1]) setup_compare_fact(c, i, &of_device[k]);
    for (size_t k = 0; k < OF_NODE; k++)
        setup_compare_fact(c, DIFFERENCE_NONE, &of_node[k]);
}

// ---- words ----

static bool setup_same_fact(const comparison_fact *a, const comparison_fact *b)
{
    return strcmp(a->words, b->words) == 0 && strcmp(a->side[0], b->side[0]) == 0 &&
           strcmp(a->side[1], b->side[1]) == 0;
}

static bool setup_has_name(const comparison *c, size_t from, size_t end, const comparison_fact *fact)
{
    for (size_t k = from; k < end; k++)
        if (setup_same_fact(&c->facts[k], fact) && fact->device != DIFFERENCE_NONE &&
            c->facts[k].device != DIFFERENCE_NONE &&
            strcmp(c->devices[c->facts[k].device].name, c->devices[fact->device].name) == 0)
            return true;
    return false;
}

// "MTU 1500 instead of 9000 on eth0, eth1 and 6 more": a device's name once, whatever sources tell of it.
static void setup_say_fact(comparison *c, size_t i, severity s)
{
    const comparison_fact *fact = &c->facts[i];
    char *text = NULL;
    size_t names = 0;
    text_append(&text, "%s %.60s instead of %.60s", fact->words, fact->side[COMPARISON_FAULTY],
                fact->side[COMPARISON_HEALTHY]);
    for (size_t k = i; k < c->fact_count && fact->device != DIFFERENCE_NONE; k++) {
        if (!setup_same_fact(&c->facts[k], fact) || setup_has_name(c, i, k, &c->facts[k])) continue;
        if (names < NAMED) text_append(&text, "%s%s", names ? ", " : " on ", c->devices[c->facts[k].device].name);
        names++;
    }
    if (names > NAMED) text_append(&text, " and %zu more", names - NAMED);
    comparer_say(c, s, COMPARISON_OF_SETUP, fact->reason == COMPARISON_SETTING ? "configuration" : "software",
                 fact->device, text);
}

// Only where the run went worse, too, is it more than context.
static severity setup_severity(const comparison *c, comparison_reason reason)
{
    severity slower = c->work.failed[COMPARISON_FAULTY] ? SEVERITY_WATCH : comparer_speed_severity(c);
    if (slower < SEVERITY_WATCH || reason == COMPARISON_MEASURING) return SEVERITY_INFO;
    return slower >= SEVERITY_WARN && reason == COMPARISON_SETTING ? SEVERITY_WARN : SEVERITY_WATCH;
}

static void setup_say_facts(comparison *c)
{
    for (size_t i = 0; i < c->fact_count; i++) {
        bool before = false;
        for (size_t k = 0; k < i; k++)
            before |= setup_same_fact(&c->facts[k], &c->facts[i]);
        if (!before) setup_say_fact(c, i, setup_severity(c, c->facts[i].reason));
    }
}

// ---- devices that one side lacks ----

// Ports by the first source that lacks any: a NIC is a device of several.
static const char *setup_source_that_lacks(const comparison *c)
{
    for (size_t i = 0; i < c->device_count; i++)
        if (c->devices[i].physical && (!c->devices[i].runs[0] || !c->devices[i].runs[1])) return c->devices[i].source;
    return NULL;
}

static size_t setup_append_lacking(const comparison *c, const char *source, comparison_side side, char **names)
{
    size_t count = 0;
    for (size_t i = 0; i < c->device_count; i++) {
        const comparison_device *d = &c->devices[i];
        if (!d->physical || d->runs[side] || strcmp(d->source, source) != 0) continue;
        if (count < NAMED) text_append(names, "%s%s", count ? ", " : "", d->name);
        count++;
    }
    if (count > NAMED) text_append(names, " and %zu more", count - NAMED);
    return count;
}

static size_t setup_ports(const comparison *c, const char *source, comparison_side side)
{
    size_t count = 0;
    for (size_t i = 0; i < c->device_count; i++)
        count += c->devices[i].physical && c->devices[i].runs[side] && strcmp(c->devices[i].source, source) == 0;
    return count;
}

static void setup_say_ports(comparison *c)
{
    const char *source = setup_source_that_lacks(c);
    char *gone = NULL, *come = NULL, *text = NULL;
    if (!source) return;
    size_t lost = setup_append_lacking(c, source, COMPARISON_FAULTY, &gone),
           won = setup_append_lacking(c, source, COMPARISON_HEALTHY, &come),
           healthy = setup_ports(c, source, COMPARISON_HEALTHY), faulty = setup_ports(c, source, COMPARISON_FAULTY);
    bool fewer = faulty < healthy;
    const char *name = lost ? "device-missing" : "device-new";
    if (lost && won)
        text_append(&text, "Other ports: %s instead of %s (%s)", come, gone, source);
    else if (lost)
        text_append(&text, "%s missing on the faulty side: %s (%s)", words_noun(lost, "port").text, gone, source);
    else
        text_append(&text, "%s only on the faulty side: %s (%s)", words_noun(won, "port").text, come, source);
    text_append(&text, "; %zu instead of %zu", faulty, healthy);
    text_capital(text);
    comparer_say(c, fewer ? SEVERITY_WARN : SEVERITY_INFO, COMPARISON_OF_SETUP, name, DIFFERENCE_NONE, text);
    free(gone);
    free(come);
}

// Virtual interfaces come and go with containers: one counts that carried a part of the work.
static void setup_say_virtual(comparison *c)
{
    static const double part = 0.01;
    for (size_t i = 0; i < c->device_count; i++) {
        const comparison_device *d = &c->devices[i];
        double rate = fmax(d->received[COMPARISON_HEALTHY].median, d->sent[COMPARISON_HEALTHY].median), most = 0;
        if (d->physical || d->runs[COMPARISON_FAULTY] || strcmp(d->source, "netdev") != 0) continue;
        for (size_t k = 0; k < c->device_count; k++)
            most = fmax(most, fmax(c->devices[k].received[COMPARISON_HEALTHY].median,
                                   c->devices[k].sent[COMPARISON_HEALTHY].median));
        if (!(rate > 0) || rate < part * most) continue;
        comparer_say(c, SEVERITY_WATCH, COMPARISON_OF_SETUP, "device-missing", i,
                     memory_format("Interface missing on the faulty side: %s, which carried %s in the healthy %s",
                                   d->name, words_volume_rate(rate, "bytes").text,
                                   c->side_count[COMPARISON_HEALTHY] == 1 ? "run" : "runs"));
    }
}

void comparer_say_setup(comparison *c)
{
    setup_say_ports(c);
    setup_say_virtual(c);
    setup_say_facts(c);
}

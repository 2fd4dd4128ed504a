// Energy by RAPL (kernel: Documentation/power/powercap/powercap.rst): microjoules that wrap at a range of the zone,
// about every 22 minutes at 200 W. The wraps are counted here, so the reported value keeps growing; a zone must be read
// more often than it wraps. Since 2020 energy_uj is readable by root alone unless the site relaxes that; the power
// limits of a zone (constraint_0_name "long_term", _power_limit_uw) are everybody's to read.
#define _GNU_SOURCE
#include "sources_makers.h"
#include "shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONSTRAINTS = 4 };

typedef struct zone {
    char id[48];                  // "intel-rapl:0:1"
    char name[96];                // "package-0", "package-0/dram"; "#2" is appended to a name that is taken
    char limits[CONSTRAINTS][48]; // "power_limit_long_term"; "" none
    emit_file energy;
    uint64_t range, last, passed;
    bool seen;
} zone;

typedef struct energy_state {
    zone *zones;
    size_t count;
} energy_state;

static void energy_clear(energy_state *s)
{
    for (size_t i = 0; i < s->count; i++)
        emit_file_close(&s->zones[i].energy);
    free(s->zones);
    s->zones = NULL;
    s->count = 0;
}

typedef struct finding_zones {
    energy_state *s;
    emit *e;
} finding_zones;

// "dram" below "package-1" is "package-1/dram": the names of parts repeat.
static void energy_name_zone(emit *e, energy_state *s, zone *z)
{
    char own[40], parent[40];
    char *colon = strrchr(z->id, ':');
    if (!emit_read_line(e, own, sizeof own, "/sys/class/powercap/%s/name", z->id))
        snprintf(own, sizeof own, "%.39s", z->id);
    snprintf(z->name, sizeof z->name, "%s", own);
    if (colon && strchr(z->id, ':') != colon &&
        emit_read_line(e, parent, sizeof parent, "/sys/class/powercap/%.*s/name", (int)(colon - z->id), z->id))
        snprintf(z->name, sizeof z->name, "%s/%s", parent, own);
    for (size_t i = 0, same = 1; i + 1 < s->count; i++) {
        if (strcmp(s->zones[i].name, z->name) != 0) continue;
        size_t length = strcspn(z->name, "#");
        snprintf(z->name + length, sizeof z->name - length, "#%zu", ++same);
        i = 0;
    }
}

// A constraint's name becomes a counter's: only what is in such names is taken.
static void energy_name_limits(const emit *e, zone *z)
{
    for (size_t i = 0; i < CONSTRAINTS; i++) {
        char name[32];
        if (!emit_read_line(e, name, sizeof name, "/sys/class/powercap/%s/constraint_%zu_name", z->id, i)) return;
        for (char *at = name; *at; at++)
            if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_", *at)) *at = '_';
        if (*name) snprintf(z->limits[i], sizeof z->limits[i], "power_limit_%s", name);
    }
}

static void energy_found(void *user, const char *id)
{
    finding_zones *f = user;
    char text[32];
    // intel-rapl-mmio reports the same energy a second time.
    if (strncmp(id, "intel-rapl:", 11) != 0 || strlen(id) >= sizeof f->s->zones->id) return;
    zone *longer = realloc(f->s->zones, (f->s->count + 1) * sizeof *longer);
    if (!longer) return;
    f->s->zones = longer;
    zone *z = &f->s->zones[f->s->count++];
    *z = (zone){.energy = {.fd = -1}};
    snprintf(z->id, sizeof z->id, "%s", id);
    energy_name_zone(f->e, f->s, z);
    energy_name_limits(f->e, z);
    if (emit_read_line(f->e, text, sizeof text, "/sys/class/powercap/%s/max_energy_range_uj", id))
        emit_number(text, &z->range);
}

static void energy_walk_zone(emit *e, zone *z)
{
    static const emit_shape energy = SHAPE("uJ", COUNTER, NETPROF_FAST);
    char path[128], *text;
    uint64_t value;
    int error;
    snprintf(path, sizeof path, "/sys/class/powercap/%s/energy_uj", z->id);
    text = emit_file_read(&z->energy, e, path, &error);
    if (text) text[strcspn(text, "\n")] = 0;
    if (!text || !emit_number(text, &value)) {
        emit_failed(e, "energy", &energy, text ? EBADMSG : error);
        return;
    }
    if (z->seen && value < z->last && z->range) z->passed += z->range;
    z->last = value;
    z->seen = true;
    emit_value(e, "energy", &energy, z->passed + value);
}

// A limit of 0 means no limit; a limit of a zone that is switched off has no effect.
static void energy_walk_limits(emit *e, const zone *z)
{
    static const emit_shape power = SHAPE("uW", GAUGE, 0);
    char text[32];
    if (emit_read_line(e, text, sizeof text, "/sys/class/powercap/%s/enabled", z->id) && strcmp(text, "0") == 0) return;
    for (size_t i = 0; i < CONSTRAINTS; i++) {
        uint64_t value;
        if (!*z->limits[i]) continue;
        if (!emit_read_line(e, text, sizeof text, "/sys/class/powercap/%s/constraint_%zu_power_limit_uw", z->id, i))
            continue;
        if (!emit_number(text, &value))
            emit_failed(e, z->limits[i], &power, EBADMSG);
        else if (value)
            emit_value(e, z->limits[i], &power, value);
    }
}

static void energy_walk(void *state, emit *e)
{
    energy_state *s = state;
    finding_zones f = {s, e};
    if (!s->count) {
        int error = emit_directory(e, "/sys/class/powercap", energy_found, &f);
        if (!s->count) emit_state(e, NETPROF_STATUS_ABSENT, error, "/sys/class/powercap");
    }
    for (size_t i = 0; i < s->count; i++) {
        zone *z = &s->zones[i];
        // Parts of a package are in its sum already.
        emit_device(e, z->name,
                    strchr(z->name, '/') || strncmp(z->name, "psys", 4) == 0 ? NETPROF_DEVICE_VIRTUAL
                                                                             : NETPROF_DEVICE_PHYSICAL);
        emit_fact(e, "zone", z->id);
        energy_walk_zone(e, z);
        if (!emit_fast_only(e)) energy_walk_limits(e, z);
    }
}

static void energy_close(void *state)
{
    energy_clear(state);
}

netprof_err sources_add_energy(netprof *np, const sources_job *job, netprof_error *error)
{
    static const emit_source source = {
        .name = "energy", .size = sizeof(energy_state), .walk = energy_walk, .close = energy_close};
    (void)job;
    return emit_add(np, &source, NULL, error);
}

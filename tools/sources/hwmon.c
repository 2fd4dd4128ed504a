// Temperatures, power, energy, fans by hwmon (kernel: Documentation/hwmon/sysfs-interface.rst). hwmonN numbers change
// from boot to boot: a device is named by its driver and its bus address. Reading a sensor may take
// milliseconds and fail for a moment; nothing here is in the fast set.
#define _GNU_SOURCE
#include "sources_makers.h"
#include "shapes.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct sensor {
    size_t chip;
    char file[40];  // "temp1_input"
    char name[104]; // "temp1" or "temp1 Core 0"
    const emit_shape *shape;
    emit_file input;
} sensor;

typedef struct chip {
    char id[32], name[160];
} chip;

typedef struct hwmon_state {
    chip *chips;
    sensor *sensors;
    size_t chip_count, sensor_count;
} hwmon_state;

static const emit_shape temperature = {.unit = "mC", .kind = NETPROF_KIND_GAUGE, .scale = 1, .flags = NETPROF_SIGNED};
static const emit_shape power = {.unit = "uW", .kind = NETPROF_KIND_GAUGE, .scale = 1};
static const emit_shape energy = SHAPE("uJ", COUNTER, 0);
static const emit_shape fan = {.unit = "rpm", .kind = NETPROF_KIND_GAUGE, .scale = 1};
static const emit_shape current = {.unit = "mA", .kind = NETPROF_KIND_GAUGE, .scale = 1, .flags = NETPROF_SIGNED};

static const struct {
    const char *begin, *end;
    const emit_shape *shape;
} kinds[] = {{"temp", "_input", &temperature}, {"power", "_average", &power}, {"power", "_input", &power},
             {"energy", "_input", &energy},    {"fan", "_input", &fan},       {"curr", "_input", &current}};

typedef struct search {
    hwmon_state *s;
    emit *e;
} search;

static const emit_shape *hwmon_shape_of(const char *file)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i].begin);
        const char *digits = file + n;
        if (strncmp(file, kinds[i].begin, n) != 0) continue;
        if (strspn(digits, "0123456789") && strcmp(digits + strspn(digits, "0123456789"), kinds[i].end) == 0)
            return kinds[i].shape;
    }
    return NULL;
}

static void hwmon_found_file(void *user, const char *file)
{
    search *f = user;
    hwmon_state *s = f->s;
    const emit_shape *shape = hwmon_shape_of(file);
    char label[64];
    if (!shape || strlen(file) >= sizeof s->sensors->file) return;
    sensor *longer = realloc(s->sensors, (s->sensor_count + 1) * sizeof *longer);
    if (!longer) return;
    s->sensors = longer;
    sensor *x = &s->sensors[s->sensor_count++];
    *x = (sensor){.chip = s->chip_count - 1, .shape = shape, .input = {.fd = -1}};
    snprintf(x->file, sizeof x->file, "%s", file);
    int stem = (int)strcspn(file, "_");
    bool labelled =
        emit_read_line(f->e, label, sizeof label, "/sys/class/hwmon/%s/%.*s_label", s->chips[x->chip].id, stem, file) &&
        *label;
    snprintf(x->name, sizeof x->name, "%.*s%s%s", stem, file, labelled ? " " : "", labelled ? label : "");
}

// "k10temp 0000:00:18.3": the driver's name and the address of its device.
static void hwmon_name_chip(emit *e, chip *c)
{
    char path[128], target[PATH_MAX], driver[48];
    if (!emit_read_line(e, driver, sizeof driver, "/sys/class/hwmon/%s/name", c->id))
        snprintf(driver, sizeof driver, "%s", c->id);
    snprintf(path, sizeof path, "%.64s/sys/class/hwmon/%s/device", emit_root(e), c->id);
    ssize_t n = readlink(path, target, sizeof target - 1);
    target[n > 0 ? n : 0] = 0;
    snprintf(c->name, sizeof c->name, "%s%s%.100s", driver, n > 0 ? " " : "", n > 0 ? basename(target) : "");
}

static void hwmon_found_chip(void *user, const char *id)
{
    search *f = user;
    hwmon_state *s = f->s;
    char path[64];
    chip *longer = realloc(s->chips, (s->chip_count + 1) * sizeof *longer);
    if (!longer || strlen(id) >= sizeof longer->id) return;
    s->chips = longer;
    chip *c = &s->chips[s->chip_count++];
    snprintf(c->id, sizeof c->id, "%s", id);
    hwmon_name_chip(f->e, c);
    snprintf(path, sizeof path, "/sys/class/hwmon/%s", id);
    emit_directory(f->e, path, hwmon_found_file, f);
}

static void hwmon_walk_sensor(emit *e, hwmon_state *s, sensor *x)
{
    char path[128], *text, *digits;
    uint64_t value = 0;
    int error;
    snprintf(path, sizeof path, "/sys/class/hwmon/%s/%s", s->chips[x->chip].id, x->file);
    text = emit_file_read(&x->input, e, path, &error);
    if (text) text[strcspn(text, "\n")] = 0;
    digits = text && *text == '-' && (x->shape->flags & NETPROF_SIGNED) ? text + 1 : text;
    if (!text || !emit_number(digits, &value))
        emit_failed(e, x->name, x->shape, text ? EBADMSG : error);
    else
        emit_value(e, x->name, x->shape, digits == text ? value : 0 - value);
}

static void hwmon_walk(void *state, emit *e)
{
    hwmon_state *s = state;
    search f = {s, e};
    size_t at = 0;
    if (emit_fast_only(e)) return;
    if (!s->chip_count) {
        int error = emit_directory(e, "/sys/class/hwmon", hwmon_found_chip, &f);
        if (!s->sensor_count) emit_state(e, NETPROF_STATUS_ABSENT, error, "/sys/class/hwmon");
    }
    for (size_t i = 0; i < s->chip_count; i++) {
        if (at == s->sensor_count || s->sensors[at].chip != i) continue;
        emit_device(e, s->chips[i].name, NETPROF_DEVICE_PHYSICAL);
        for (; at < s->sensor_count && s->sensors[at].chip == i; at++)
            hwmon_walk_sensor(e, s, &s->sensors[at]);
    }
}

static void hwmon_close(void *state)
{
    hwmon_state *s = state;
    for (size_t i = 0; i < s->sensor_count; i++)
        emit_file_close(&s->sensors[i].input);
    free(s->sensors);
    free(s->chips);
}

netprof_err sources_add_hwmon(netprof *np, const sources_job *job, netprof_error *error)
{
    static const emit_source source = {
        .name = "hwmon", .size = sizeof(hwmon_state), .walk = hwmon_walk, .close = hwmon_close};
    (void)job;
    return emit_add(np, &source, NULL, error);
}

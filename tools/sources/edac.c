// Errors that the memory controllers corrected, or could not correct (kernel: Documentation/admin-guide/ras.rst): one
// device for each controller, its sums, and those of each of its DIMMs. Writing reset_counters clears them all.
#include "sources_makers.h"
#include "shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char controllers[] = "/sys/devices/system/edac/mc";
static const emit_shape errors = SHAPE("errors", COUNTER, 0);

// Is the name `begin` and a number?
static bool edac_is_numbered(const char *name, const char *begin)
{
    size_t n = strlen(begin);
    return strncmp(name, begin, n) == 0 && name[n] && !name[n + strspn(name + n, "0123456789")];
}

static void edac_tell(emit *e, const char *name, const char *path)
{
    emit_file file = {.fd = -1};
    uint64_t value;
    int error;
    char *text = emit_file_read(&file, e, path, &error);
    if (text) text[strcspn(text, "\n")] = 0;
    if (text && emit_number(text, &value))
        emit_value(e, name, &errors, value);
    else if (text || error != ENOENT)
        emit_failed(e, name, &errors, text ? EBADMSG : error);
    emit_file_close(&file);
}

typedef struct controller {
    emit *e;
    const char *name; // "mc0"
} controller;

static void edac_walk_dimm(void *user, const char *dimm)
{
    static const char *const counts[] = {"ce_count", "ue_count"};
    const controller *c = user;
    char path[512], name[96], label[128];
    if (!edac_is_numbered(dimm, "dimm") || strlen(dimm) > 32) return;
    if (emit_lists(c->e) &&
        emit_read_line(c->e, label, sizeof label, "%s/%s/%s/dimm_label", controllers, c->name, dimm))
        emit_fact(c->e, dimm, label);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        snprintf(path, sizeof path, "%s/%s/%s/dimm_%s", controllers, c->name, dimm, counts[i]);
        snprintf(name, sizeof name, "%s_%s", dimm, counts[i]);
        edac_tell(c->e, name, path);
    }
}

static void edac_walk_controller(void *user, const char *name)
{
    static const char *const counts[] = {"ce_count", "ue_count", "ce_noinfo_count", "ue_noinfo_count"};
    emit *e = user;
    controller c = {e, name};
    char path[512], kind[128];
    if (!edac_is_numbered(name, "mc") || strlen(name) > 32) return;
    emit_device(e, name, NETPROF_DEVICE_PHYSICAL);
    if (emit_lists(e) && emit_read_line(e, kind, sizeof kind, "%s/%s/mc_name", controllers, name))
        emit_fact(e, "controller", kind);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", controllers, name, counts[i]);
        edac_tell(e, counts[i], path);
    }
    snprintf(path, sizeof path, "%s/%s", controllers, name);
    emit_directory(e, path, edac_walk_dimm, &c);
}

static void edac_walk(void *state, emit *e)
{
    (void)state;
    if (emit_fast_only(e)) return; // nothing of it is in the fast set
    int error = emit_directory(e, controllers, edac_walk_controller, e);
    if (error == ENOENT)
        emit_state(e, NETPROF_STATUS_ABSENT, error, controllers); // no driver, or memory without error reports
    else if (error)
        emit_state(e, netprof_status_of_errno(error), error, controllers);
}

netprof_err sources_add_edac(netprof *np, const sources_job *job, netprof_error *error)
{
    static const emit_source source = {.name = "edac", .size = 0, .walk = edac_walk};
    (void)job;
    return emit_add(np, &source, NULL, error);
}

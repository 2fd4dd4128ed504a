#include "device_changes.h"

#include "dataset_model.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"
#include "analysis/base/words.h"

#include <stdlib.h>
#include <string.h>

typedef struct change_finder {
    const netprof_delta *delta;
    const netprof_snapshot *before, *after;
    device_change *found;
} change_finder;

static const char *const change_names[DEVICE_CHANGES] = {
    "gone", "other", "unreadable", "link-down", "recreated", "returned", "renamed", "speed", "mtu", "link-up", "new"};

const char *device_change_name(device_change_kind kind)
{
    return change_names[kind];
}

bool device_change_parse(const char *text, device_change_kind *kind)
{
    for (int k = 0; k < DEVICE_CHANGES; k++) {
        if (strcmp(change_names[k], text) != 0) continue;
        *kind = (device_change_kind)k;
        return true;
    }
    return false;
}

// The sources whose devices are told of: the first of those that show the same hardware speaks for it.
static size_t change_rank(const netprof_device *device)
{
    static const char *const sources[] = {"cxi", "rdma", "netdev", "ethtool", "gpu"};
    size_t i = 0;
    while (i < sizeof sources / sizeof *sources && strcmp(sources[i], device->source) != 0)
        i++;
    return i < sizeof sources / sizeof *sources ? i : SIZE_MAX;
}

bool device_is_watched(const netprof_device *device)
{
    return change_rank(device) != SIZE_MAX;
}

static bool change_is_physical(const netprof_device *device)
{
    return device->flags & NETPROF_DEVICE_PHYSICAL || strcmp(device->source, "gpu") == 0;
}

static const char *change_fact(const netprof_device *device, const char *key)
{
    return device ? netprof_fact_of(device->facts, device->fact_count, key) : NULL;
}

static const char *change_address(const netprof_device *device)
{
    const char *pci = change_fact(device, "pci"), *bus = change_fact(device, "bus");
    return pci ? pci : bus && strchr(bus, ':') ? bus : NULL;
}

static bool change_is_link(const netprof_device *device)
{
    return strcmp(device->source, "netdev") == 0 || strcmp(device->source, "ethtool") == 0;
}

// By what the device is known: "PCI 0000:21:00.0".
static char *change_mark(const netprof_device *device)
{
    const char *address = change_address(device), *guid = change_fact(device, "node_guid");
    if (address) return memory_format("PCI %s", address);
    if (guid) return memory_format("node GUID %s", guid);
    if (change_is_link(device) && device->identity)
        return memory_format("ifindex %llu", (unsigned long long)device->identity);
    return memory_strdup("");
}

// What a physical device is called among its like.
static const char *change_noun(const netprof_device *device)
{
    return strcmp(device->source, "gpu") == 0 ? "GPU" : strcmp(device->source, "cxi") == 0 ? "NIC" : "port";
}

// ---- the two ends of a device ----

typedef struct change_ends {
    const netprof_device *was, *is; // NULL: not there
    size_t before, after;           // their indexes
} change_ends;

static change_ends change_ends_of(const change_finder *f, size_t device)
{
    const netprof_delta *delta = f->delta;
    if (!f->before || !f->after || !delta->device_before) return (change_ends){0};
    change_ends e = {.before = delta->device_before[device], .after = delta->device_after[device]};
    if (e.before != NETPROF_NONE) e.was = &f->before->schema->devices[e.before];
    if (e.after != NETPROF_NONE) e.is = &f->after->schema->devices[e.after];
    return e;
}

// All of the device's counters have the flag; without counters none has.
static bool change_all_flagged(const netprof_delta *delta, size_t device, netprof_flag flag)
{
    const netprof_device *d = &delta->schema->devices[device];
    for (size_t i = d->first; i < (size_t)d->first + d->count; i++)
        if (delta->flags[i] != flag) return false;
    return d->count > 0;
}

// Was the source asked for in the snapshot that lacks the device?
static bool change_was_asked(const netprof_snapshot *snapshot, const char *source)
{
    return !snapshot || dataset_source(snapshot->schema, source);
}

static bool change_is_gone(const change_finder *f, size_t device)
{
    change_ends e = change_ends_of(f, device);
    const char *source = f->delta->schema->devices[device].source;
    if (!e.was && !e.is) return change_all_flagged(f->delta, device, NETPROF_FLAG_GONE);
    return !e.is && change_was_asked(f->after, source);
}

static bool change_is_new(const change_finder *f, size_t device)
{
    change_ends e = change_ends_of(f, device);
    const char *source = f->delta->schema->devices[device].source;
    if (!e.was && !e.is) return change_all_flagged(f->delta, device, NETPROF_FLAG_NEW);
    return !e.was && change_was_asked(f->before, source);
}

// The device of the other end under this name: of a new one the one that is gone, and the other way round.
static size_t change_namesake(const change_finder *f, size_t device, bool (*is)(const change_finder *f, size_t device))
{
    const netprof_schema *schema = f->delta->schema;
    const netprof_device *d = &schema->devices[device];
    for (size_t i = 0; i < schema->device_count; i++)
        if (i != device && strcmp(schema->devices[i].name, d->name) == 0 &&
            strcmp(schema->devices[i].source, d->source) == 0 && is(f, i))
            return i;
    return NETPROF_NONE;
}

// Two ports of the node, or two that are none: the one may have taken the other's place.
static bool change_is_alike(const netprof_device *a, const netprof_device *b)
{
    return change_is_physical(a) == change_is_physical(b);
}

// ---- telling ----

// `text` is taken over.
static device_change *change_tell(change_finder *f, device_change_kind kind, size_t device, const char *was,
                                  const char *is, char *text)
{
    const netprof_device *d = &f->delta->schema->devices[device];
    device_change made = {.kind = kind,
                          .device = device,
                          .physical = change_is_physical(d),
                          .was = memory_strdup(was ? was : ""),
                          .is = memory_strdup(is ? is : ""),
                          .mark = change_mark(d),
                          .text = text};
    arrput(f->found, made);
    return &arrlast(f->found);
}

// "; 3 of 4 NICs are left"
static void change_append_left(const change_finder *f, size_t device, char **text)
{
    const netprof_schema *schema = f->delta->schema;
    const netprof_device *d = &schema->devices[device];
    size_t all = 0, gone = 0;
    if (!change_is_physical(d)) return;
    for (size_t i = 0; i < schema->device_count; i++) {
        if (strcmp(schema->devices[i].source, d->source) != 0 || !change_is_physical(&schema->devices[i])) continue;
        bool is_gone = change_is_gone(f, i);
        all += is_gone || !change_is_new(f, i);
        gone += is_gone;
    }
    const char *noun = change_noun(d);
    if (all == 1)
        text_append(text, "; it was the only %s", noun);
    else if (gone == all)
        text_append(text, "; none of %s is left", words_many(all, noun).text);
    else
        text_append(text, "; %zu of %s %s left", all - gone, words_many(all, noun).text,
                    all - gone == 1 ? "is" : "are");
}

static char *change_in_brackets(const netprof_device *device)
{
    char *mark = change_mark(device), *text = memory_format("%s%s%s", *mark ? " (" : "", mark, *mark ? ")" : "");
    free(mark);
    return text;
}

// The source itself can no longer be read: nobody knows whether the device is there.
static bool change_tell_denied(change_finder *f, size_t device)
{
    const char *source = f->delta->schema->devices[device].source;
    const netprof_source_state *s = f->after ? dataset_source(f->after->schema, source) : NULL;
    if (!s || s->status == NETPROF_STATUS_OK || s->status == NETPROF_STATUS_ABSENT) return false;
    change_tell(f, DEVICE_UNREADABLE, device, NULL, NULL,
                memory_format("could be read at the start, but not at the end: %s%s%s", *s->path ? s->path : source,
                              ": ", s->sys_errno ? strerror(s->sys_errno) : netprof_status_name(s->status)));
    return true;
}

static void change_find_gone(change_finder *f, size_t device)
{
    if (!change_is_gone(f, device) || change_tell_denied(f, device)) return;
    size_t heir = change_namesake(f, device, change_is_new);
    const netprof_device *devices = f->delta->schema->devices;
    if (heir != NETPROF_NONE && change_is_alike(&devices[heir], &devices[device])) return; // told of the new one
    char *mark = change_in_brackets(&f->delta->schema->devices[device]);
    char *text = memory_format("gone since the start%s", mark);
    change_append_left(f, device, &text);
    if (heir != NETPROF_NONE) text_append(&text, "; its name is that of another device now");
    free(mark);
    change_tell(f, DEVICE_GONE, device, NULL, NULL, text);
}

static void change_find_new(change_finder *f, size_t device)
{
    if (!change_is_new(f, device)) return;
    const netprof_device *d = &f->delta->schema->devices[device];
    size_t old = change_namesake(f, device, change_is_gone);
    char *mark = change_mark(d), *brackets = change_in_brackets(d);
    if (old == NETPROF_NONE || !change_is_alike(&f->delta->schema->devices[old], d)) {
        change_tell(f, DEVICE_NEW, device, NULL, NULL, memory_format("new: not there at the start%s", brackets));
    } else {
        char *was = change_mark(&f->delta->schema->devices[old]);
        char *text = memory_format("another device has this name now: %s, at the start %s, which is gone; nothing is "
                                   "subtracted between the two",
                                   *mark ? mark : "one without an address", *was ? was : "one without an address");
        change_tell(f, DEVICE_OTHER, device, was, mark, text);
        free(was);
    }
    free(brackets);
    free(mark);
}

static void change_find_renamed(change_finder *f, size_t device, const change_ends *e)
{
    if (strcmp(e->was->name, e->is->name) == 0) return;
    char *mark = change_mark(e->is);
    change_tell(f, DEVICE_RENAMED, device, e->was->name, e->is->name,
                memory_format("was called %s at the start: the same device by its %s", e->was->name, mark));
    free(mark);
}

// Not across boots: there every device was.
static bool change_same_boot(const change_finder *f)
{
    const netprof_schema *a = f->before->schema, *b = f->after->schema;
    const char *x = netprof_fact_of(a->facts, a->fact_count, "boot_id");
    const char *y = netprof_fact_of(b->facts, b->fact_count, "boot_id");
    return !x || !y || strcmp(x, y) == 0;
}

static bool change_find_recreated(change_finder *f, size_t device, const change_ends *e)
{
    uint64_t was = e->was->identity, is = e->is->identity;
    if (!was || !is || was == is || !change_same_boot(f)) return false;
    const char *address = change_address(e->is), *number = change_is_link(e->is) ? "ifindex" : "sysfs entry";
    char *text = NULL, *marks[2] = {memory_format("%s %llu", number, (unsigned long long)was),
                                    memory_format("%s %llu", number, (unsigned long long)is)};
    text_append(&text, change_is_physical(e->is)
                           ? "was made anew: its driver was loaded again, or it was away and came back ("
                           : "was deleted and made again under its name (");
    if (address) text_append(&text, "PCI %s as before, ", address);
    text_append(&text, "%s became %llu); its counters began again from zero", marks[0], (unsigned long long)is);
    change_tell(f, DEVICE_RECREATED, device, marks[0], marks[1], text);
    free(marks[0]);
    free(marks[1]);
    return true;
}

static bool change_has_value(uint8_t status)
{
    return status == NETPROF_STATUS_OK || status == NETPROF_STATUS_SATURATED;
}

static void change_find_unreadable(change_finder *f, size_t device, const change_ends *e)
{
    const netprof_delta *delta = f->delta;
    const netprof_device *d = &delta->schema->devices[device];
    size_t lost = 0;
    for (size_t i = d->first; i < (size_t)d->first + d->count; i++) {
        if (change_has_value(delta->after_status[i])) return;
        lost += change_has_value(delta->before_status[i]) && delta->after_status[i] != NETPROF_STATUS_SKIPPED &&
                delta->flags[i] != NETPROF_FLAG_GONE;
    }
    if (!lost) return;
    const char *reason = NULL;
    for (size_t i = e->is->first; i < (size_t)e->is->first + e->is->count && !reason; i++)
        if (f->after->errnos && f->after->errnos[i]) reason = strerror(f->after->errnos[i]);
    change_tell(f, DEVICE_UNREADABLE, device, NULL, NULL,
                memory_format("could be read at the start, and nothing of it at the end%s%s", reason ? ": " : "",
                              reason ? reason : ""));
}

// ---- links ----

// The counter that tells it, or NETPROF_NONE, and its value when the link is up.
static size_t change_link_counter(const netprof_schema *schema, size_t device, uint64_t *up)
{
    static const struct {
        const char *source, *counter;
        uint64_t up;
    } rows[] = {{"cxi", "properties/link", 1}, {"netdev", "carrier", 1}, {"rdma", "state", 4}};
    const netprof_device *d = &schema->devices[device];
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (strcmp(rows[k].source, d->source) != 0) continue;
        *up = rows[k].up;
        for (size_t i = d->first; i < (size_t)d->first + d->count; i++)
            if (strcmp(schema->counters[i].name, rows[k].counter) == 0) return i;
    }
    return NETPROF_NONE;
}

device_link device_link_at_end(const netprof_delta *delta, size_t device, size_t *counter)
{
    uint64_t up = 0;
    size_t i = *counter = change_link_counter(delta->schema, device, &up);
    if (i == NETPROF_NONE || !change_has_value(delta->after_status[i])) return DEVICE_LINK_NOT_KNOWN;
    return delta->after[i] == up ? DEVICE_LINK_IS_UP : DEVICE_LINK_IS_DOWN;
}

// Was its link up, at the start and at the end? False: not known.
static bool change_link_states(const netprof_delta *delta, size_t device, bool is_up[2])
{
    uint64_t up = 0;
    size_t i = change_link_counter(delta->schema, device, &up);
    if (i == NETPROF_NONE) return false;
    is_up[0] = delta->before[i] == up;
    is_up[1] = delta->after[i] == up;
    return change_has_value(delta->before_status[i]) && change_has_value(delta->after_status[i]);
}

static void change_find_link(change_finder *f, size_t device)
{
    bool up[2];
    if (!change_link_states(f->delta, device, up) || up[0] == up[1]) return;
    char *mark = change_in_brackets(&f->delta->schema->devices[device]);
    change_tell(f, up[0] ? DEVICE_LINK_DOWN : DEVICE_LINK_UP, device, up[0] ? "up" : "down", up[1] ? "up" : "down",
                memory_format("its link was %s at the start and is %s at the end%s", up[0] ? "up" : "down",
                              up[1] ? "up" : "down", mark));
    free(mark);
}

// Bit/s of the link by the device's facts, 0 unknown.
static double change_speed(const netprof_device *device)
{
    const char *mbps = change_fact(device, "speed_mbps"), *rate = change_fact(device, "rate_bps");
    double speed = mbps ? strtod(mbps, NULL) * 1e6 : rate ? strtod(rate, NULL) : 0;
    return speed > 0 && speed < 1e15 ? speed : 0;
}

static void change_find_speed(change_finder *f, size_t device, const change_ends *e)
{
    double was = change_speed(e->was), is = change_speed(e->is);
    if (!(was > 0) || !(is > 0) || !(was < is || was > is)) return;
    words_text texts[2] = {words_link_speed(was), words_link_speed(is)};
    device_change *made = change_tell(
        f, DEVICE_SPEED, device, texts[0].text, texts[1].text,
        memory_format("its link ran at %s at the start and runs at %s at the end", texts[0].text, texts[1].text));
    made->slower = is < was;
}

static void change_find_mtu(change_finder *f, size_t device, const change_ends *e)
{
    const char *was = change_fact(e->was, "mtu"), *is = change_fact(e->is, "mtu");
    if (!was || !is || strcmp(was, is) == 0) return;
    change_tell(f, DEVICE_MTU, device, was, is,
                memory_format("its MTU was %s at the start and is %s at the end", was, is));
}

// ---- all of them ----

static void change_find(change_finder *f, size_t device)
{
    change_ends e = change_ends_of(f, device);
    if (!e.was || !e.is) {
        change_find_gone(f, device);
        change_find_new(f, device);
        return;
    }
    change_find_unreadable(f, device, &e);
    // A virtual link that was made anew has nothing to do with the old one.
    if (change_find_recreated(f, device, &e) && !change_is_physical(e.is)) return;
    change_find_link(f, device);
    if (f->before->schema == f->after->schema) return; // then nothing else can differ
    change_find_renamed(f, device, &e);
    change_find_speed(f, device, &e);
    change_find_mtu(f, device, &e);
}

static bool change_same_hardware(const netprof_device *a, const netprof_device *b)
{
    const char *x = change_address(a), *y = change_address(b), *netdev = change_fact(a, "netdev");
    if (x && y) return strcmp(x, y) == 0;
    return strcmp(netdev ? netdev : a->name, b->name) == 0;
}

// What befalls the hardware befalls all of its devices, if not in the same way.
static bool change_same_event(device_change_kind a, device_change_kind b)
{
    return a == b || (a <= DEVICE_RETURNED && b <= DEVICE_RETURNED && a != DEVICE_LINK_DOWN && b != DEVICE_LINK_DOWN);
}

static void change_mark_repeated(const change_finder *f)
{
    const netprof_device *devices = f->delta->schema->devices;
    for (size_t i = 0; i < arrlenu(f->found); i++)
        for (size_t k = 0; k < arrlenu(f->found) && !f->found[i].repeated; k++) {
            const netprof_device *a = &devices[f->found[k].device], *b = &devices[f->found[i].device];
            f->found[i].repeated = change_same_event(f->found[k].kind, f->found[i].kind) &&
                                   change_rank(a) < change_rank(b) && change_same_hardware(a, b);
        }
}

static int change_order(const void *a, const void *b)
{
    const device_change *x = a, *y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return x->device < y->device ? -1 : x->device > y->device;
}

static void change_sort(const change_finder *f)
{
    change_mark_repeated(f);
    if (f->found) qsort(f->found, arrlenu(f->found), sizeof *f->found, change_order);
}

// "3 of 40 readings"
static void change_append_missing(char **text, const char *before, size_t missing, size_t readings)
{
    text_append(text, "%s%zu of %s", before, missing, words_many(readings, "reading").text);
}

void device_changes_add_absence(device_change **changes, const netprof_delta *delta, const char *source,
                                const char *name, size_t missing, size_t readings)
{
    change_finder f = {.delta = delta, .found = *changes};
    const netprof_schema *schema = delta->schema;
    for (size_t i = 0; i < schema->device_count; i++) {
        const netprof_device *d = &schema->devices[i];
        if (strcmp(d->name, name) != 0 || strcmp(d->source, source) != 0) continue;
        if (delta->device_before && (delta->device_before[i] == NETPROF_NONE || delta->device_after[i] == NETPROF_NONE))
            continue;
        device_change *known = NULL;
        for (size_t k = 0; k < arrlenu(f.found); k++)
            if (f.found[k].device == i && f.found[k].kind == DEVICE_RECREATED) known = &f.found[k];
        if (known) {
            change_append_missing(&known->text, "; it was missing in ", missing, readings);
            continue;
        }
        char *text = NULL, *mark = change_in_brackets(d);
        change_append_missing(&text, "was missing in ", missing, readings);
        text_append(&text, " and came back%s", mark);
        free(mark);
        change_tell(&f, DEVICE_RETURNED, i, NULL, NULL, text);
    }
    *changes = f.found;
}

void device_changes_sort(device_change *changes, const netprof_delta *delta)
{
    change_sort(&(change_finder){.delta = delta, .found = changes});
}

device_change *device_changes_of(const netprof_delta *delta, const netprof_snapshot *before,
                                 const netprof_snapshot *after)
{
    change_finder f = {.delta = delta, .before = before, .after = after};
    for (size_t i = 0; i < delta->schema->device_count; i++)
        if (device_is_watched(&delta->schema->devices[i])) change_find(&f, i);
    change_sort(&f);
    return f.found;
}

void device_changes_free(device_change **changes)
{
    for (size_t i = 0; i < arrlenu(*changes); i++) {
        device_change *c = &(*changes)[i];
        free(c->was);
        free(c->is);
        free(c->mark);
        free(c->text);
    }
    arrfree(*changes);
}

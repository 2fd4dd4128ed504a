#define _GNU_SOURCE
#include "emit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The devices and values that discovery found, in the order of the walk.
typedef struct slot {
    char *name; // device or counter
    bool device;
    size_t index; // of the sweep's arrays; NETPROF_NONE: a filter dropped it
} slot;

struct emit {
    const emit_source *source;
    char *root;
    slot *slots;
    size_t count, room;
    bool failed; // without memory

    netprof_list *list;   // at discovery
    netprof_sweep *sweep; // in a reading
    size_t device, next;  // place of the device at hand, and of the slot that is expected
    bool lost;            // the device at hand is not known
    void *state;
};

// ---- discovery ----

static bool emit_keep_slot(emit *e, const char *name, bool device, size_t index)
{
    if (e->count == e->room) {
        size_t room = e->room ? 2 * e->room : 64;
        slot *longer = realloc(e->slots, room * sizeof *longer);
        if (!longer) return false;
        e->slots = longer;
        e->room = room;
    }
    char *copy = strdup(name);
    if (!copy) return false;
    e->slots[e->count++] = (slot){copy, device, index};
    return true;
}

static void emit_forget_slots(emit *e)
{
    for (size_t i = 0; i < e->count; i++)
        free(e->slots[i].name);
    e->count = 0;
}

static void emit_list_counter(emit *e, const char *name, const emit_shape *shape)
{
    netprof_counter counter = *shape;
    counter.name = name;
    if (!emit_keep_slot(e, name, false, netprof_list_counter(e->list, &counter))) e->failed = true;
}

// ---- reading ----

static bool emit_is_slot(const emit *e, size_t at, const char *name, bool device)
{
    return at < e->count && e->slots[at].device == device && strcmp(e->slots[at].name, name) == 0;
}

// The slot of a counter of the device at hand; nearly always the one that is expected.
static const slot *emit_find_slot(emit *e, const char *name)
{
    if (e->lost) return NULL;
    if (!emit_is_slot(e, e->next, name, false)) {
        size_t at = e->device + 1;
        while (at < e->count && !e->slots[at].device && strcmp(e->slots[at].name, name) != 0)
            at++;
        if (at == e->count || e->slots[at].device) {
            e->sweep->stale = 1;
            return NULL;
        }
        e->next = at;
    }
    return &e->slots[e->next++];
}

static void emit_find_device(emit *e, const char *name)
{
    size_t at = e->next;
    while (at < e->count && !e->slots[at].device)
        at++;
    if (!emit_is_slot(e, at, name, true))
        for (at = 0; at < e->count && !emit_is_slot(e, at, name, true); at++)
            continue;
    e->lost = at == e->count;
    if (e->lost) {
        e->sweep->stale = 1;
        return;
    }
    e->device = at;
    e->next = at + 1;
}

// ---- what walks call ----

void emit_device(emit *e, const char *name, unsigned flags)
{
    if (e->sweep) {
        emit_find_device(e, name);
    } else {
        netprof_list_device(e->list, name, 0, flags);
        if (!emit_keep_slot(e, name, true, NETPROF_NONE)) e->failed = true;
    }
}

void emit_fact(emit *e, const char *key, const char *value)
{
    if (e->list && *value) netprof_list_fact(e->list, key, value);
}

void emit_factf(emit *e, const char *key, const char *format, ...)
{
    char text[512];
    va_list arguments;
    if (!e->list) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    emit_fact(e, key, text);
}

static void emit_set_slot(emit *e, const char *name, const emit_shape *shape, netprof_status status, int sys_errno,
                          uint64_t value, int64_t stamp_ns)
{
    if (!e->sweep) {
        emit_list_counter(e, name, shape);
        return;
    }
    const slot *s = emit_find_slot(e, name);
    if (!s || s->index == NETPROF_NONE) return;
    size_t i = s->index;
    if (e->sweep->set == NETPROF_SET_FAST && !(e->sweep->counters[i].flags & NETPROF_FAST)) return;
    e->sweep->values[i] = value;
    e->sweep->status[i] = (uint8_t)status;
    e->sweep->errnos[i] = (uint8_t)(sys_errno > 0 && sys_errno < 256 ? sys_errno : 0);
    e->sweep->stamps_ns[i] = stamp_ns;
}

void emit_value(emit *e, const char *name, const emit_shape *shape, uint64_t value)
{
    emit_set_slot(e, name, shape, NETPROF_STATUS_OK, 0, value, 0);
}

void emit_stamped(emit *e, const char *name, const emit_shape *shape, uint64_t value, int64_t stamp_ns)
{
    emit_set_slot(e, name, shape, NETPROF_STATUS_OK, 0, value, stamp_ns);
}

void emit_failed(emit *e, const char *name, const emit_shape *shape, int sys_errno)
{
    emit_set_slot(e, name, shape, netprof_status_of_errno(sys_errno), sys_errno, 0, 0);
}

bool emit_fast_only(const emit *e)
{
    return e->sweep && e->sweep->set == NETPROF_SET_FAST;
}

bool emit_lists(const emit *e)
{
    return e->list != NULL;
}

const char *emit_root(const emit *e)
{
    return e->root ? e->root : "";
}

void emit_state(emit *e, netprof_status status, int sys_errno, const char *path)
{
    if (e->list) netprof_list_state(e->list, status, sys_errno, path);
}

// ---- the library's source functions ----

static netprof_err emit_discover(void *user, netprof_list *list)
{
    emit *e = user;
    free(e->root);
    e->root = strdup(netprof_list_root(list));
    emit_forget_slots(e);
    e->failed = !e->root;
    e->list = list;
    e->sweep = NULL;
    if (!e->failed) e->source->walk(e->state, e);
    e->list = NULL;
    return e->failed ? NETPROF_ERR_NOMEM : NETPROF_OK;
}

// Values that were discovered and are asked for, but that this walk did not report.
static void emit_mark_vanished(const emit *e)
{
    const netprof_sweep *s = e->sweep;
    for (size_t i = 0; i < e->count; i++) {
        size_t at = e->slots[i].index;
        if (at == NETPROF_NONE || s->status[at] != NETPROF_STATUS_SKIPPED) continue;
        if (s->set == NETPROF_SET_FAST && !(s->counters[at].flags & NETPROF_FAST)) continue;
        s->status[at] = NETPROF_STATUS_VANISHED;
        s->errnos[at] = ENOENT;
    }
}

static void emit_read_all(void *user, size_t device, netprof_sweep *sweep)
{
    emit *e = user;
    (void)device;
    e->sweep = sweep;
    e->next = 0;
    e->lost = true;
    e->source->walk(e->state, e);
    emit_mark_vanished(e);
    e->sweep = NULL;
}

static int emit_has_changed(void *user)
{
    emit *e = user;
    return e->source->changed(e->state);
}

static void emit_close_source(void *user)
{
    emit *e = user;
    if (e->source->close) e->source->close(e->state);
    emit_forget_slots(e);
    free(e->slots);
    free(e->root);
    free(e->state);
    free(e);
}

netprof_err emit_add(netprof *np, const emit_source *source, const void *state, netprof_error *error)
{
    netprof_source s = {.name = source->name,
                        .flags = NETPROF_SOURCE_WHOLE,
                        .discover = emit_discover,
                        .read = emit_read_all,
                        .close = emit_close_source,
                        .changed = source->changed ? emit_has_changed : NULL};
    emit *e = calloc(1, sizeof *e);
    if (e) e->state = calloc(1, source->size ? source->size : 1);
    if (!e || !e->state) {
        free(e);
        if (error) *error = (netprof_error){.code = NETPROF_ERR_NOMEM};
        return NETPROF_ERR_NOMEM;
    }
    e->source = source;
    if (state) memcpy(e->state, state, source->size);
    return netprof_add_source(np, &s, e, error);
}

// ---- files ----

static bool emit_make_room(emit_file *f, size_t room)
{
    if (f->room >= room) return true;
    char *larger = realloc(f->text, room);
    if (!larger) return false;
    f->text = larger;
    f->room = room;
    return true;
}

static int emit_open_file(emit_file *f, const emit *e, const char *path)
{
    if (!f->path && asprintf(&f->path, "%s%s", emit_root(e), path) < 0) {
        f->path = NULL;
        return ENOMEM;
    }
    f->fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return f->fd < 0 ? errno : 0;
}

// Reads to the end; an errno.
static int emit_read_file(emit_file *f)
{
    size_t size = 0;
    for (;;) {
        if (!emit_make_room(f, size + 4096)) return ENOMEM;
        ssize_t n = pread(f->fd, f->text + size, f->room - size - 1, (off_t)size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        if (n == 0) break;
        size += (size_t)n;
    }
    f->text[size] = 0;
    return 0;
}

char *emit_file_read(emit_file *f, const emit *e, const char *path, int *sys_errno)
{
    bool held = f->path && f->fd >= 0;
    *sys_errno = held ? 0 : emit_open_file(f, e, path);
    if (!*sys_errno) *sys_errno = emit_read_file(f);
    if (*sys_errno && held) { // perhaps the file was re-created under its path
        close(f->fd);
        *sys_errno = emit_open_file(f, e, path);
        if (!*sys_errno) *sys_errno = emit_read_file(f);
    }
    return *sys_errno ? NULL : f->text;
}

void emit_file_close(emit_file *f)
{
    if (f->path && f->fd >= 0) close(f->fd);
    free(f->path);
    free(f->text);
    *f = (emit_file){0};
}

// ---- text ----

char *emit_line(char **at)
{
    char *line = *at;
    if (!line || !*line) return NULL;
    char *end = strchrnul(line, '\n');
    *at = *end ? end + 1 : end;
    *end = 0;
    return line;
}

char *emit_word(char **at)
{
    char *word = *at + strspn(*at, " \t");
    if (!*word) return NULL;
    char *end = word + strcspn(word, " \t");
    *at = *end ? end + 1 : end;
    *end = 0;
    return word;
}

bool emit_number(const char *word, uint64_t *value)
{
    uint64_t sum = 0;
    if (!word || !*word) return false;
    for (; *word >= '0' && *word <= '9'; word++) {
        unsigned digit = (unsigned)(*word - '0');
        if (sum > (UINT64_MAX - digit) / 10) return false;
        sum = sum * 10 + digit;
    }
    *value = sum;
    return !*word;
}

static int emit_by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int emit_directory(const emit *e, const char *path, void (*visit)(void *user, const char *name), void *user)
{
    struct dirent **entries;
    char *full;
    if (asprintf(&full, "%s%s", emit_root(e), path) < 0) return ENOMEM;
    int count = scandir(full, &entries, NULL, emit_by_bytes);
    int result = count < 0 ? errno : 0;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) visit(user, name);
        free(entries[i]);
    }
    if (count >= 0) free(entries);
    free(full);
    return result;
}

// The beginning of a file.
static bool emit_read_text(const emit *e, char *text, size_t size, const char *path)
{
    char *full;
    if (asprintf(&full, "%s%s", emit_root(e), path) < 0) return false;
    int fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    free(full);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0) close(fd);
    if (n < 0) return false;
    text[n] = 0;
    return true;
}

bool emit_read_line(const emit *e, char *text, size_t size, const char *format, ...)
{
    char *path;
    va_list arguments;
    va_start(arguments, format);
    int made = vasprintf(&path, format, arguments);
    va_end(arguments);
    if (made < 0) return false;
    bool good = emit_read_text(e, text, size, path);
    free(path);
    if (good) text[strcspn(text, "\n")] = 0;
    return good;
}

bool emit_process_stat(const emit *e, pid_t pid, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    const char *end = emit_read_text(e, text, size, path) ? strrchr(text, ')') : NULL;
    if (!end) return false;
    end += 1 + (end[1] == ' ');
    memmove(text, end, strlen(end) + 1);
    text[strcspn(text, "\n")] = 0;
    return true;
}

pid_t emit_process_parent(const emit *e, pid_t pid)
{
    char text[1024], *at = text;
    uint64_t parent;
    if (!emit_process_stat(e, pid, text, sizeof text) || !emit_word(&at)) return 0;
    return emit_number(emit_word(&at), &parent) ? (pid_t)parent : 0;
}

#define _GNU_SOURCE
#include "sessions.h"

#include "analysis/base/json_values.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/utf8.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SESSION_MOST = 1 << 20 }; // bytes of its file: it may name ten thousand nodes

bool session_is_name(const char *name)
{
    size_t size = strlen(name);
    return size > 0 && size < sizeof((session *)0)->name && name[0] != '.' &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")] == 0;
}

session_state session_state_of(const session *s, int64_t now_ns)
{
    if (s->stop_ns) return SESSION_ENDED;
    return s->start_ns > now_ns ? SESSION_PLANNED : SESSION_GOES_ON;
}

const char *session_state_name(session_state s)
{
    static const char *const names[] = {"planned", "goes on", "ended"};
    return names[s];
}

static char *session_path(const char *directory, const char *name)
{
    return memory_format("%s/sessions/%s.json", directory, name);
}

static char *session_text(json_object *o, const char *key)
{
    json_object *v;
    if (!json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, json_type_string)) return NULL;
    return memory_strdup(json_object_get_string(v));
}

static int64_t session_number(json_object *o, const char *key)
{
    json_object *v;
    return json_object_object_get_ex(o, key, &v) && json_object_is_type(v, json_type_int) ? json_object_get_int64(v)
                                                                                          : 0;
}

// JSON is UTF-8: other bytes would be written back as something else.
static bool session_is_utf8(const char *text, size_t size)
{
    uint32_t code;
    for (size_t at = 0, n; at < size; at += n)
        if (!(n = utf8_character(text + at, &code))) return false;
    return true;
}

int session_parse(const char *name, const char *text, size_t size, session *s)
{
    if (!session_is_name(name)) return EINVAL;
    if (size > SESSION_MOST) return EFBIG;
    if (!session_is_utf8(text, size)) return EILSEQ;
    json_tokener *tokener = json_new_tokener(8);
    json_object *o = json_feed_tokener(tokener, text, (int)size);
    json_tokener_free(tokener);
    *s = (session){.interval_ns = 0};
    if (o && json_object_is_type(o, json_type_object)) {
        json_object *fast;
        snprintf(s->name, sizeof s->name, "%s", name);
        s->nodes = session_text(o, "nodes");
        s->sources = session_text(o, "sources");
        s->include = session_text(o, "include");
        s->exclude = session_text(o, "exclude");
        s->interval_ns = session_number(o, "interval_ns");
        s->start_ns = session_number(o, "start_ns");
        s->stop_ns = session_number(o, "stop_ns");
        s->fast = json_object_object_get_ex(o, "fast", &fast) && json_object_get_boolean(fast);
    }
    json_object_put(o);
    if (s->start_ns > 0 && s->interval_ns >= 0 && s->stop_ns >= 0) return 0;
    session_free(s);
    return EILSEQ;
}

int session_read(const char *directory, const char *name, session *s)
{
    if (!session_is_name(name)) return EINVAL;
    char *path = session_path(directory, name), *text = memory_calloc(1, SESSION_MOST + 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), error = fd < 0 ? errno : 0;
    ssize_t n = fd < 0 ? 0 : read(fd, text, SESSION_MOST);
    if (n < 0) error = errno;
    if (fd >= 0) close(fd);
    if (!error) error = session_parse(name, text, (size_t)n, s);
    free(path);
    free(text);
    return error;
}

char *session_file_text(const session *s)
{
    json_object *o = json_new_object();
    json_put(o, "format", json_new_string("netprof-session"));
    json_put(o, "version", json_new_int(1));
    json_put_text(o, "nodes", s->nodes);
    json_put_text(o, "sources", s->sources);
    json_put_text(o, "include", s->include);
    json_put_text(o, "exclude", s->exclude);
    json_put(o, "interval_ns", json_new_int64(s->interval_ns));
    json_put(o, "fast", json_new_boolean(s->fast));
    json_put(o, "start_ns", json_new_int64(s->start_ns));
    json_put(o, "stop_ns", json_new_int64(s->stop_ns));
    char *text = memory_strdup(json_to_text(o, JSON_C_TO_STRING_PRETTY));
    json_object_put(o);
    return text;
}

int session_write(const char *directory, const session *s)
{
    if (!session_is_name(s->name)) return EINVAL;
    char *text = session_file_text(s);
    char *path = session_path(directory, s->name), *beside = memory_format("%s/sessions/.%s.new", directory, s->name);
    size_t size = strlen(text);
    struct stat st;
    int fd = size > SESSION_MOST ? -1 : open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    int error = size > SESSION_MOST ? EFBIG : fd < 0 ? errno : 0;
    // One that root begins is for the head to read, which may be another user.
    if (!error && geteuid() == 0 && stat(directory, &st) == 0 && fchown(fd, st.st_uid, st.st_gid))
        errno = 0; // then the head drops nothing any more
    if (!error && (write(fd, text, size) != (ssize_t)size || fsync(fd))) error = errno ? errno : ENOSPC;
    if (fd >= 0) close(fd);
    if (!error && rename(beside, path)) error = errno;
    free(path);
    free(beside);
    free(text);
    return error;
}

int session_delete(const char *directory, const char *name)
{
    if (!session_is_name(name)) return EINVAL;
    char *path = session_path(directory, name);
    int error = unlink(path) ? errno : 0;
    free(path);
    return error;
}

int session_end(const char *directory, session *s, int64_t now_ns)
{
    if (session_state_of(s, now_ns) == SESSION_PLANNED) return session_delete(directory, s->name);
    s->stop_ns = now_ns;
    return session_write(directory, s);
}

static int session_order(const void *a, const void *b)
{
    return strcmp(((const session *)a)->name, ((const session *)b)->name);
}

int session_list(const char *directory, session **out)
{
    char *path = memory_format("%s/sessions", directory);
    DIR *d = opendir(path);
    free(path);
    if (!d) return errno;
    int worst = 0;
    for (struct dirent *e; (e = readdir(d));) {
        size_t size = strlen(e->d_name);
        session s;
        if (size < 6 || size > 69 || strcmp(e->d_name + size - 5, ".json") != 0) continue;
        char *name = memory_strndup(e->d_name, size - 5);
        int error = session_read(directory, name, &s);
        if (!error) arrput(*out, s);
        if (error && error != ENOENT && error != EILSEQ && error != EINVAL) worst = error;
        free(name);
    }
    closedir(d);
    if (arrlenu(*out)) qsort(*out, arrlenu(*out), sizeof **out, session_order);
    return worst;
}

void session_free(session *s)
{
    free(s->nodes);
    free(s->sources);
    free(s->include);
    free(s->exclude);
    *s = (session){.interval_ns = 0};
}

void session_list_free(session **all)
{
    for (size_t i = 0; i < arrlenu(*all); i++)
        session_free(&(*all)[i]);
    arrfree(*all);
}

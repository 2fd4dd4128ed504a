#define _GNU_SOURCE
#include "target.h"

#include "target_http.h"
#include "target_nats.h"

#include "analysis/base/memory.h"
#include "analysis/base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TARGET_MOST = 512 << 10 };

struct target {
    char *name, *problem;
    int fd; // of a file, else -1
    target_http *http;
    target_nats *nats;
};

static bool target_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

// https://user:password@host/path?token=x without the user, the password and what comes behind the '?'.
static char *target_public_name(const char *url)
{
    const char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    const char *at = memchr(host, '@', strcspn(host, "/?"));
    const char *from = at ? at + 1 : host;
    return memory_format("%.*s%.*s", (int)(host - url), url, (int)strcspn(from, "?"), from);
}

static bool target_open_file(target *t, const char *path, char **why)
{
    output_place place;
    bool usable = output_place_find(&place, path);
    if (usable) t->fd = open(place.target, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC, 0666);
    if (t->fd < 0) *why = memory_strdup(usable ? strerror(errno) : place.refused);
    output_place_free(&place);
    return t->fd >= 0;
}

target *target_open(const target_options *o, char **why)
{
    target *t = memory_calloc(1, sizeof *t);
    *t = (target){.fd = -1};
    bool good;
    *why = NULL;
    if (target_begins(o->url, "http://") || target_begins(o->url, "https://"))
        good = (t->http = target_http_open(o, why)) != NULL;
    else if (target_begins(o->url, "nats://") || target_begins(o->url, "tls://"))
        good = (t->nats = target_nats_open(o, why)) != NULL;
    else
        good = target_open_file(t, o->url, why);
    t->name = t->fd >= 0 ? memory_strdup(o->url) : target_public_name(o->url);
    if (good) return t;
    target_close(t);
    return NULL;
}

// All of it or nothing: a disk that fills up in the middle of a line leaves none.
static target_answer target_write(target *t, const char *data, size_t size)
{
    struct stat st;
    off_t before = fstat(t->fd, &st) == 0 && S_ISREG(st.st_mode) ? st.st_size : -1;
    for (size_t at = 0; at < size;) {
        ssize_t n = write(t->fd, data + at, size - at);
        if (n > 0) at += (size_t)n;
        if (n > 0 || (n < 0 && errno == EINTR)) continue;
        t->problem = memory_strdup(strerror(n < 0 ? errno : ENOSPC));
        if (before >= 0 && ftruncate(t->fd, before)) // then the first of the lines are there twice
            break;
        return TARGET_LATER;
    }
    return t->problem ? TARGET_LATER : TARGET_TAKEN;
}

target_answer target_send(target *t, const char *data, size_t size)
{
    free(t->problem);
    t->problem = NULL;
    if (t->http) return target_http_send(t->http, data, size, &t->problem);
    if (t->nats) return target_nats_send(t->nats, data, size, &t->problem);
    return target_write(t, data, size);
}

size_t target_most(const target *t)
{
    size_t most = t->nats ? target_nats_most(t->nats) : 0;
    return most && most < TARGET_MOST ? most : TARGET_MOST;
}

const char *target_problem(const target *t)
{
    return t->problem ? t->problem : "";
}

const char *target_body(const target *t)
{
    return t->http ? target_http_body(t->http) : "";
}

const char *target_name(const target *t)
{
    return t->name;
}

bool target_is_file(const target *t)
{
    return t->fd >= 0;
}

void target_close(target *t)
{
    if (!t) return;
    if (t->fd >= 0) close(t->fd);
    target_http_close(t->http);
    target_nats_close(t->nats);
    free(t->name);
    free(t->problem);
    free(t);
}

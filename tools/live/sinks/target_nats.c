#include "target_nats.h"

#include "analysis/base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef LIVE_HAS_NATS
#include "live/bus/bus.h"

struct target_nats {
    bus *bus;
    char *url, *subject, *user, *password;
    int64_t timeout_ns;
};

// nats://HOST:PORT/SUBJECT
static bool target_nats_split(target_nats *n, const char *url)
{
    const char *host = strstr(url, "://") + 3, *slash = strchr(host, '/');
    if (!slash || !slash[1]) return false;
    n->url = memory_strndup(url, (size_t)(slash - url));
    n->subject = memory_strdup(slash + 1);
    return strlen(n->subject) < 256 && !n->subject[strcspn(n->subject, "*> \t\r\n/")];
}

target_nats *target_nats_open(const target_options *o, char **why)
{
    target_nats *n = memory_calloc(1, sizeof *n);
    n->timeout_ns = o->timeout_ns;
    if (!target_nats_split(n, o->url)) {
        *why = memory_strdup("expected nats://HOST:PORT/SUBJECT");
        target_nats_close(n);
        return NULL;
    }
    const char *colon = o->authorization ? strchr(o->authorization, ':') : NULL;
    if (colon) {
        n->user = memory_strndup(o->authorization, (size_t)(colon - o->authorization));
        n->password = memory_strdup(colon + 1);
    }
    const bus_options b = {.url = n->url,
                           .name = "netprof-forward",
                           .user = n->user,
                           .password = n->password,
                           .credentials = o->credentials,
                           .again_ms = 1000};
    n->bus = bus_open(&b, why);
    if (n->bus) return n;
    target_nats_close(n);
    return NULL;
}

static bool target_nats_wait(target_nats *n)
{
    const struct timespec nap = {.tv_nsec = 20000000};
    for (int64_t waited = 0; !bus_is_up(n->bus) && waited < n->timeout_ns; waited += nap.tv_nsec)
        nanosleep(&nap, NULL);
    return bus_is_up(n->bus);
}

target_answer target_nats_send(target_nats *n, const char *data, size_t size, char **problem)
{
    char text[160] = "";
    if (target_nats_wait(n) && bus_publish(n->bus, n->subject, data, size)) return TARGET_TAKEN;
    bus_problem(n->bus, text);
    *problem = memory_strdup(*text ? text : "not connected");
    return TARGET_LATER;
}

size_t target_nats_most(const target_nats *n)
{
    return bus_most(n->bus);
}

void target_nats_close(target_nats *n)
{
    if (!n) return;
    if (n->bus) bus_close(n->bus);
    free(n->url);
    free(n->subject);
    free(n->user);
    free(n->password);
    free(n);
}

#else

target_nats *target_nats_open(const target_options *o, char **why)
{
    (void)o;
    *why = memory_strdup("this program was built without libnats");
    return NULL;
}

target_answer target_nats_send(target_nats *n, const char *data, size_t size, char **problem)
{
    (void)n, (void)data, (void)size, (void)problem;
    return TARGET_LATER;
}

size_t target_nats_most(const target_nats *n)
{
    (void)n;
    return 0;
}

void target_nats_close(target_nats *n)
{
    (void)n;
}

#endif

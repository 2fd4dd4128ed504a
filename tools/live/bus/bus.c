#define _GNU_SOURCE // strsep
#include "bus.h"

#include "analysis/base/memory.h"

#include <stdlib.h>

#ifdef LIVE_HAS_NATS

#include <nats/nats.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { BUS_SERVERS = 16, BUS_SUBSCRIPTIONS = 20, BUS_PENDING_MESSAGES = 10000000, BUS_PENDING_BYTES = 256 << 20 };

// Before a connection that was given up is begun anew, and before it is told again who this is: once to twice as long, so that
// thousands that lost the same server do not come back in the same instant.
static const int64_t bus_pause_ns = 5000000000, bus_join_pause_ns = 1000000000;
enum { BUS_JOIN_MS = 3000 };

typedef struct bus_listener {
    natsSubscription *subscription;
    char *subject;
    bus_heard heard;
    void *user;
} bus_listener;

struct bus {
    natsOptions *options;
    natsConnection *connection;
    void (*connected)(void *);
    void *user;
    pthread_mutex_t lock; // of problem and refused
    char problem[160];
    bool refused;          // the server does not know this program
    pthread_mutex_t using; // of the connection and what hangs on it
    int64_t again_at_ns;
    natsOptions *join_options; // NULL: there is nobody to be told
    char *join_subject, *join_text, *join_reply;
    bus_listener listeners[BUS_SUBSCRIPTIONS];
    size_t count;
};

static void bus_note(bus *b, const char *text)
{
    pthread_mutex_lock(&b->lock);
    snprintf(b->problem, sizeof b->problem, "%s", text);
    pthread_mutex_unlock(&b->lock);
}

static void bus_set_refused(bus *b, bool refused)
{
    pthread_mutex_lock(&b->lock);
    b->refused = refused;
    pthread_mutex_unlock(&b->lock);
}

static bool bus_is_refused(bus *b)
{
    pthread_mutex_lock(&b->lock);
    bool refused = b->refused;
    pthread_mutex_unlock(&b->lock);
    return refused;
}

static void bus_on_connected(natsConnection *connection, void *user)
{
    bus *b = user;
    (void)connection;
    bus_note(b, "");
    if (b->connected) b->connected(b->user);
}

static void bus_on_lost(natsConnection *connection, void *user)
{
    const char *why = NULL;
    natsConnection_GetLastError(connection, &why);
    bus_note(user, why && *why ? why : "the server went away");
}

// The library gives a connection up for good when a server refuses it twice for the same reason.
static void bus_on_closed(natsConnection *connection, void *user)
{
    const char *why = NULL;
    natsStatus s = natsConnection_GetLastError(connection, &why);
    if (s == NATS_CONNECTION_AUTH_FAILED || (why && strcasestr(why, "authorization"))) bus_set_refused(user, true);
    if (why && *why) bus_note(user, why);
}

static void bus_on_error(natsConnection *connection, natsSubscription *subscription, natsStatus status, void *user)
{
    const char *why = NULL;
    (void)subscription;
    natsConnection_GetLastError(connection, &why);
    bus_note(user, why && *why ? why : natsStatus_GetText(status));
}

static void bus_on_message(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *user)
{
    const bus_listener *l = user;
    (void)connection;
    (void)subscription;
    l->heard(l->user, natsMsg_GetSubject(message), natsMsg_GetData(message), (size_t)natsMsg_GetDataLength(message));
    natsMsg_Destroy(message);
}

// One server, or several of a cluster, by commas.
static natsStatus bus_set_servers(natsOptions *n, const char *urls)
{
    const char *servers[BUS_SERVERS];
    char *copy = memory_strdup(urls), *at = copy;
    int count = 0;
    for (char *word; count < BUS_SERVERS && (word = strsep(&at, ","));)
        if (*word) servers[count++] = word;
    natsStatus s = count ? natsOptions_SetServers(n, servers, count) : NATS_INVALID_ARG;
    free(copy);
    return s;
}

// The certificate is to be of the name by which the server is called. Of several servers each has one of its own: then who signed
// it is all that is checked.
static natsStatus bus_set_tls(natsOptions *n, const bus_options *o)
{
    const bus_tls *tls = &o->tls;
    natsStatus s = natsOptions_SetSecure(n, true);
    if (s == NATS_OK && tls->ca) s = natsOptions_LoadCATrustedCertificates(n, tls->ca);
    if (s == NATS_OK && tls->certificate) s = natsOptions_LoadCertificatesChain(n, tls->certificate, tls->key);
    if (s == NATS_OK && tls->trusts) return natsOptions_SkipServerVerification(n, true);
    if (s != NATS_OK || strchr(o->url, ',')) return s;
    const char *host = strstr(o->url, "://") ? strstr(o->url, "://") + 3 : o->url, *at = strrchr(host, '@');
    if (at) host = at + 1;
    char *name = memory_strndup(host, strcspn(host, ":/"));
    s = natsOptions_SetExpectedHostname(n, name);
    free(name);
    return s;
}

// libnats writes the name into JSON as it is: a quote in it would end the connection.
static natsStatus bus_set_name(natsOptions *n, const char *name)
{
    char *plain = memory_strdup(name);
    for (char *p = plain; *p; p++)
        if (*p == '"' || *p == '\\' || (unsigned char)*p < ' ' || (unsigned char)*p > '~') *p = '_';
    natsStatus s = natsOptions_SetName(n, plain);
    free(plain);
    return s;
}

// Who it is, and how it reaches the server.
static natsStatus bus_set_who(natsOptions *n, const bus_options *o, const char *user, const char *password)
{
    natsStatus s = bus_set_servers(n, o->url);
    if (s == NATS_OK && o->name) s = bus_set_name(n, o->name);
    if (s == NATS_OK && user) s = natsOptions_SetUserInfo(n, user, password);
    if (s == NATS_OK && o->credentials) s = natsOptions_SetUserCredentialsFromFiles(n, o->credentials, NULL);
    if (s == NATS_OK && (o->tls.on || strstr(o->url, "tls://"))) s = bus_set_tls(n, o);
    return s;
}

static natsStatus bus_set(bus *b, const bus_options *o)
{
    natsOptions *n = b->options;
    natsStatus s = bus_set_who(n, o, o->user, o->password);
    if (s == NATS_OK) s = natsOptions_SetMaxReconnect(n, -1);
    if (s == NATS_OK) s = natsOptions_SetReconnectWait(n, o->again_ms);
    if (s == NATS_OK) s = natsOptions_SetReconnectJitter(n, o->again_ms, o->again_ms);
    if (s == NATS_OK) s = natsOptions_SetReconnectBufSize(n, 0);
    if (s == NATS_OK) s = natsOptions_SetPingInterval(n, 10000);
    if (s == NATS_OK) s = natsOptions_SetMaxPingsOut(n, 2);
    if (s == NATS_OK) s = natsOptions_SetNoEcho(n, true);
    if (s == NATS_OK) s = natsOptions_SetRetryOnFailedConnect(n, true, bus_on_connected, b);
    if (s == NATS_OK) s = natsOptions_SetReconnectedCB(n, bus_on_connected, b);
    if (s == NATS_OK) s = natsOptions_SetDisconnectedCB(n, bus_on_lost, b);
    if (s == NATS_OK) s = natsOptions_SetClosedCB(n, bus_on_closed, b);
    if (s == NATS_OK) s = natsOptions_SetErrorHandler(n, bus_on_error, b);
    return s;
}

static natsStatus bus_set_joining(bus *b, const bus_options *o)
{
    const bus_joining *j = &o->joining;
    if (!j->user) return NATS_OK;
    b->join_subject = memory_strdup(j->subject);
    b->join_text = memory_strdup(j->text);
    b->join_reply = memory_strdup(j->reply);
    b->refused = !j->known;
    natsStatus s = natsOptions_Create(&b->join_options);
    if (s == NATS_OK) s = bus_set_who(b->join_options, o, j->user, j->password);
    if (s == NATS_OK) s = natsOptions_SetAllowReconnect(b->join_options, false);
    if (s == NATS_OK) s = natsOptions_SetTimeout(b->join_options, BUS_JOIN_MS);
    return s;
}

static natsStatus bus_connect(bus *b)
{
    natsStatus s = natsConnection_Connect(&b->connection, b->options);
    if (s == NATS_OK) bus_on_connected(b->connection, b);
    if (s != NATS_OK && s != NATS_NOT_YET_CONNECTED) {
        const char *why = nats_GetLastError(NULL);
        bus_note(b, why && *why ? why : natsStatus_GetText(s));
    }
    return s == NATS_NOT_YET_CONNECTED ? NATS_OK : s;
}

// Tells the server who this is, over a connection of its own, and waits for the answer.
static bool bus_join(bus *b)
{
    natsConnection *connection = NULL;
    natsSubscription *subscription = NULL;
    natsMsg *answer = NULL;
    natsStatus s = natsConnection_Connect(&connection, b->join_options);
    if (s == NATS_OK) s = natsConnection_SubscribeSync(&subscription, connection, b->join_reply);
    if (s == NATS_OK) s = natsConnection_PublishString(connection, b->join_subject, b->join_text);
    if (s == NATS_OK) s = natsSubscription_NextMsg(&answer, subscription, BUS_JOIN_MS);
    bool good = s == NATS_OK && natsMsg_GetDataLength(answer) > 0 && *natsMsg_GetData(answer) == 'y';
    const char *why = s == NATS_OK ? NULL : nats_GetLastError(NULL);
    if (good)
        bus_set_refused(b, false);
    else if (s == NATS_OK)
        bus_note(b, "the head does not let this node in: another has its name and is heard from, or it has too many "
                    "names; the head says which");
    else
        bus_note(b, why && *why ? why : natsStatus_GetText(s));
    natsMsg_Destroy(answer);
    natsSubscription_Destroy(subscription);
    natsConnection_Destroy(connection);
    return good;
}

bus *bus_open(const bus_options *o, char **why)
{
    bus *b = memory_calloc(1, sizeof *b);
    b->connected = o->connected;
    b->user = o->user_data;
    pthread_mutex_init(&b->lock, NULL);
    pthread_mutex_init(&b->using, NULL);
    natsStatus s = natsOptions_Create(&b->options);
    if (s == NATS_OK) s = bus_set(b, o);
    if (s == NATS_OK) s = bus_set_joining(b, o);
    if (s == NATS_OK && !b->refused) bus_connect(b); // one that is refused is tried again, as if it had been lost
    if (s == NATS_OK) return b;
    const char *more = nats_GetLastError(NULL);
    *why = memory_format("%s%s%s", natsStatus_GetText(s), more && *more ? ": " : "", more && *more ? more : "");
    bus_close(b);
    return NULL;
}

static int64_t bus_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t bus_pause(int64_t least_ns)
{
    uint32_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random) random = 0; // then it is the least
    return least_ns + (int64_t)((double)least_ns * random / UINT32_MAX);
}

static natsStatus bus_listen(bus *b, bus_listener *l)
{
    natsStatus s = natsConnection_Subscribe(&l->subscription, b->connection, l->subject, bus_on_message, l);
    if (s == NATS_OK) s = natsSubscription_SetPendingLimits(l->subscription, BUS_PENDING_MESSAGES, BUS_PENDING_BYTES);
    return s;
}

// Locked: a new connection in place of one that was given up.
static void bus_begin_anew(bus *b)
{
    if (b->connection && !natsConnection_IsClosed(b->connection)) return;
    if (bus_now() < b->again_at_ns) return;
    b->again_at_ns = bus_now() + bus_pause(bus_pause_ns);
    for (size_t i = 0; i < b->count; i++) {
        natsSubscription_Destroy(b->listeners[i].subscription);
        b->listeners[i].subscription = NULL;
    }
    natsConnection_Destroy(b->connection);
    b->connection = NULL;
    if (b->join_options && bus_is_refused(b) && !bus_join(b)) {
        b->again_at_ns = bus_now() + bus_pause(bus_join_pause_ns);
        return;
    }
    natsStatus s = bus_connect(b);
    for (size_t i = 0; s == NATS_OK && i < b->count; i++)
        s = bus_listen(b, &b->listeners[i]);
}

bool bus_is_up(bus *b)
{
    pthread_mutex_lock(&b->using);
    bus_begin_anew(b);
    bool up = b->connection && natsConnection_Status(b->connection) == NATS_CONN_STATUS_CONNECTED;
    pthread_mutex_unlock(&b->using);
    return up;
}

size_t bus_most(bus *b)
{
    if (!bus_is_up(b)) return 0;
    pthread_mutex_lock(&b->using);
    int64_t most = natsConnection_GetMaxPayload(b->connection);
    pthread_mutex_unlock(&b->using);
    return most > 0 ? (size_t)most : 0;
}

void bus_problem(bus *b, char to[160])
{
    pthread_mutex_lock(&b->lock);
    memcpy(to, b->problem, sizeof b->problem);
    pthread_mutex_unlock(&b->lock);
}

uint64_t bus_dropped(bus *b)
{
    uint64_t sum = 0;
    pthread_mutex_lock(&b->using);
    for (size_t i = 0; i < b->count; i++) {
        int64_t n = 0;
        if (b->listeners[i].subscription && natsSubscription_GetDropped(b->listeners[i].subscription, &n) == NATS_OK)
            sum += (uint64_t)n;
    }
    pthread_mutex_unlock(&b->using);
    return sum;
}

bool bus_publish(bus *b, const char *subject, const void *data, size_t size)
{
    pthread_mutex_lock(&b->using);
    bool good = b->connection && size <= INT32_MAX &&
                natsConnection_Publish(b->connection, subject, data, (int)size) == NATS_OK;
    pthread_mutex_unlock(&b->using);
    return good;
}

bool bus_subscribe(bus *b, const char *subject, bus_heard heard, void *user)
{
    pthread_mutex_lock(&b->using);
    bool room = b->count < BUS_SUBSCRIPTIONS;
    if (room) {
        bus_listener *l = &b->listeners[b->count++];
        *l = (bus_listener){.heard = heard, .user = user, .subject = memory_strdup(subject)};
        natsStatus s = b->connection ? bus_listen(b, l) : NATS_OK;
        if (s != NATS_OK && b->connection && !natsConnection_IsClosed(b->connection)) {
            bus_note(b, natsStatus_GetText(s));
            room = false;
        }
    }
    pthread_mutex_unlock(&b->using);
    return room;
}

void bus_close(bus *b)
{
    if (!b) return;
    for (size_t i = 0; i < b->count; i++) {
        natsSubscription_Destroy(b->listeners[i].subscription);
        free(b->listeners[i].subject);
    }
    natsConnection_Destroy(b->connection);
    natsOptions_Destroy(b->options);
    natsOptions_Destroy(b->join_options);
    free(b->join_subject);
    free(b->join_text);
    free(b->join_reply);
    nats_CloseAndWait(5000); // for the library's threads, which may be at work for this
    pthread_mutex_destroy(&b->lock);
    pthread_mutex_destroy(&b->using);
    free(b);
}

#else // what an agent needs of it, without libnats

#include "plain.h"

struct bus {
    plain *plain;
};

bus *bus_open(const bus_options *o, char **why)
{
    plain *p = plain_open(o, why);
    if (!p) return NULL;
    bus *b = memory_alloc(sizeof *b);
    b->plain = p;
    return b;
}

bool bus_is_up(bus *b)
{
    return plain_is_up(b->plain);
}

size_t bus_most(bus *b)
{
    return plain_most(b->plain);
}

void bus_problem(bus *b, char to[160])
{
    plain_problem(b->plain, to);
}

uint64_t bus_dropped(bus *b)
{
    (void)b; // what it cannot take stays at the server
    return 0;
}

bool bus_publish(bus *b, const char *subject, const void *data, size_t size)
{
    return plain_publish(b->plain, subject, data, size);
}

bool bus_subscribe(bus *b, const char *subject, bus_heard heard, void *user)
{
    return plain_subscribe(b->plain, subject, heard, user);
}

void bus_close(bus *b)
{
    if (!b) return;
    plain_close(b->plain);
    free(b);
}

#endif

#define _GNU_SOURCE // strsep
#include "plain.h"

#include "plain_lines.h"
#include "analysis/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { PLAIN_SERVERS = 16, PLAIN_SUBSCRIPTIONS = 20, PLAIN_MS = 3000, PLAIN_PING_MS = 10000, PLAIN_PINGS = 2 };

typedef struct plain_listener {
    char *subject;
    bus_heard heard;
    void *user;
} plain_listener;

// One connection, of this thread alone but for writing to it.
typedef struct plain_link {
    int fd;
    plain_lines in;
    int64_t most; // largest message
} plain_link;

struct plain {
    pthread_t thread;
    bool started;
    int wake[2]; // its end is written to when it is to end
    char *servers[PLAIN_SERVERS];
    size_t server_count, server;
    char *name, *user, *password;
    char *join_user, *join_password, *join_subject, *join_text,
        *join_reply; // join_user NULL: there is nobody to be told
    int again_ms;
    void (*connected)(void *);
    void *connected_user;
    bool refused; // the server does not know this program

    pthread_mutex_t lock; // of all below
    char problem[160];
    int up; // the connection's file descriptor; below 0: there is none
    int64_t most;
    plain_listener listeners[PLAIN_SUBSCRIPTIONS];
    size_t count;
};

static void plain_note(plain *p, const char *text)
{
    pthread_mutex_lock(&p->lock);
    snprintf(p->problem, sizeof p->problem, "%s", text);
    pthread_mutex_unlock(&p->lock);
}

static int64_t plain_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// ---- one connection ----

// All of it, or false; what was begun and not ended cannot be gone on with. Waits at most PLAIN_MS for each part.
static bool plain_write(int fd, struct iovec *parts, size_t count)
{
    while (count) {
        struct msghdr message = {.msg_iov = parts};
        message.msg_iovlen = (__typeof__(message.msg_iovlen))count; // size_t, and with musl int
        ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        for (; count && (size_t)n >= parts->iov_len; parts++, count--)
            n -= (ssize_t)parts->iov_len;
        if (!count) break;
        parts->iov_base = (char *)parts->iov_base + n;
        parts->iov_len -= (size_t)n;
    }
    return true;
}

static bool plain_write_text(int fd, const char *text)
{
    struct iovec part = {.iov_base = (void *)(uintptr_t)text, .iov_len = strlen(text)};
    return plain_write(fd, &part, 1);
}

static bool plain_write_message(int fd, const char *subject, const void *data, size_t size)
{
    char head[1300];
    int length = snprintf(head, sizeof head, "PUB %s %zu\r\n", subject, size);
    if (length < 0 || (size_t)length >= sizeof head) return false;
    struct iovec parts[] = {{head, (size_t)length}, {(void *)(uintptr_t)data, size}, {(char[]){"\r\n"}, 2}};
    return plain_write(fd, parts, 3);
}

static bool plain_write_subscription(int fd, const char *subject, size_t number)
{
    char *line = memory_format("SUB %s %zu\r\n", subject, number + 1);
    bool good = plain_write_text(fd, line);
    free(line);
    return good;
}

// HOST:PORT, [ADDRESS]:PORT, with or without nats:// and USER:PASSWORD@. Below 0: *why says why not, free() it.
static int plain_dial(const char *url, char **why)
{
    const char *host = strstr(url, "://") ? strstr(url, "://") + 3 : url, *at = strrchr(host, '@');
    if (at) host = at + 1;
    bool bracket = *host == '[';
    if (bracket) host++;
    size_t length = strcspn(host, bracket ? "]" : ":/");
    char *name = memory_strndup(host, length);
    const char *rest = host + length + (bracket && host[length] == ']');
    char *port = *rest == ':' ? memory_strndup(rest + 1, strcspn(rest + 1, "/")) : memory_strdup("4222");
    struct addrinfo *all = NULL;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    int fd = -1, error = getaddrinfo(name, port, &hints, &all);
    *why = error ? memory_format("%s: %s", name, gai_strerror(error)) : NULL;
    for (const struct addrinfo *a = all; a && fd < 0; a = a->ai_next) {
        const struct timeval patience = {.tv_sec = PLAIN_MS / 1000};
        const int on = 1;
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (fd >= 0) { // Linux has the time for sending hold for connecting, too
            setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        }
        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) == 0) break;
        free(*why);
        *why = memory_strdup(errno == EINPROGRESS ? "no answer" : strerror(errno));
        if (fd >= 0) close(fd);
        fd = -1;
    }
    if (all) freeaddrinfo(all);
    free(name);
    free(port);
    return fd;
}

// One more line or message of the server, waiting until then (by plain_now_ms()). 0: none came by then; below 0: the other side
// is gone, or this is to end.
static int plain_next(plain *p, plain_link *l, plain_line *line, int64_t until_ms)
{
    int got;
    while ((got = plain_lines_next(&l->in, line)) == 0) {
        int64_t left = until_ms - plain_now_ms();
        struct pollfd fds[] = {{.fd = l->fd, .events = POLLIN}, {.fd = p->wake[0], .events = POLLIN}};
        int n = poll(fds, 2, left > 0 ? (int)left : 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0 || fds[1].revents) return n == 0 ? 0 : -1;
        if (!plain_lines_read(&l->in, l->fd)) return -1;
    }
    return got;
}

static void plain_hang_up(plain_link *l)
{
    if (l->fd >= 0) close(l->fd);
    plain_lines_free(&l->in);
    *l = (plain_link){.fd = -1};
}

// The words of the two sides, until the server has said that it takes this program. *refused: it does not know it.
static bool plain_greet(plain *p, plain_link *l, const char *user, const char *password, bool *refused)
{
    plain_line line;
    int64_t until = plain_now_ms() + PLAIN_MS;
    int got = plain_next(p, l, &line, until);
    if (got <= 0 || line.kind != PLAIN_INFO) {
        plain_note(p, got == 0 ? "the server took the connection and said nothing for 3 s"
                               : "what answers there is no NATS server");
        return false;
    }
    l->most = line.max_payload;
    if (line.tls) {
        plain_note(p, "the server asks for TLS, which this program was built without");
        return false;
    }
    char *hello = plain_lines_hello(p->name, user, password);
    bool sent = plain_write_text(l->fd, hello);
    free(hello);
    got = -1;
    while (sent && (got = plain_next(p, l, &line, until)) > 0 && line.kind != PLAIN_PONG && line.kind != PLAIN_ERROR)
        if (line.kind == PLAIN_PING && !plain_write_text(l->fd, "PONG\r\n")) break;
    if (got > 0 && line.kind == PLAIN_PONG) return true;
    if (got > 0 && line.kind == PLAIN_ERROR) *refused = strcasestr(line.text, "authorization") != NULL;
    plain_note(p, got > 0 && line.kind == PLAIN_ERROR ? line.text
                  : got == 0                          ? "the server did not answer for 3 s"
                                                      : "the server went away");
    return false;
}

static bool plain_connect(plain *p, plain_link *l, const char *user, const char *password, bool *refused)
{
    char *why = NULL;
    *refused = false;
    l->fd = plain_dial(p->servers[p->server], &why);
    if (l->fd < 0) plain_note(p, why ? why : "no such server");
    free(why);
    if (l->fd >= 0 && plain_greet(p, l, user, password, refused)) return true;
    plain_hang_up(l);
    p->server = (p->server + 1) % p->server_count;
    return false;
}

// Tells the server who this is, over a connection of its own, and waits for the answer.
static bool plain_join(plain *p)
{
    plain_link l = {.fd = -1};
    plain_line line;
    bool refused, answered = false, good = false;
    if (!plain_connect(p, &l, p->join_user, p->join_password, &refused)) return false;
    if (plain_write_subscription(l.fd, p->join_reply, 0) &&
        plain_write_message(l.fd, p->join_subject, p->join_text, strlen(p->join_text))) {
        int64_t until = plain_now_ms() + PLAIN_MS;
        while (!answered && plain_next(p, &l, &line, until) > 0) {
            answered = line.kind == PLAIN_MESSAGE;
            good = answered && line.size > 0 && *line.data == 'y';
        }
    }
    if (!good)
        plain_note(
            p, answered
                   ? "the head does not let this node in: another has its name and is heard from, or it has too many "
                     "names; the head says which"
                   : "no head answers there");
    plain_hang_up(&l);
    return good;
}

// ---- the thread ----

static void plain_listen(plain *p, const plain_line *line)
{
    pthread_mutex_lock(&p->lock);
    plain_listener l = {0};
    if (line->number >= 1 && line->number <= p->count) l = p->listeners[line->number - 1];
    pthread_mutex_unlock(&p->lock);
    if (l.heard) l.heard(l.user, l.subject, line->data, line->size);
}

// Locked writing: a message of another thread may be under way.
static bool plain_say(plain *p, const char *text)
{
    pthread_mutex_lock(&p->lock);
    bool good = p->up >= 0 && plain_write_text(p->up, text);
    pthread_mutex_unlock(&p->lock);
    return good;
}

static bool plain_raise(plain *p, const plain_link *l)
{
    bool good = true;
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; good && i < p->count; i++)
        good = plain_write_subscription(l->fd, p->listeners[i].subject, i);
    p->up = good ? l->fd : -1;
    p->most = l->most;
    if (good) *p->problem = 0;
    pthread_mutex_unlock(&p->lock);
    if (good && p->connected) p->connected(p->connected_user);
    return good;
}

// As long as it lasts. False: this is to end.
static bool plain_stay(plain *p, plain_link *l)
{
    plain_line line;
    int pings = 0;
    bool lost = !plain_raise(p, l);
    while (!lost) {
        int got = plain_next(p, l, &line, plain_now_ms() + PLAIN_PING_MS);
        if (got < 0) break;
        if (got == 0) { // nothing for so long: is it there?
            lost = ++pings > PLAIN_PINGS || !plain_say(p, "PING\r\n");
            continue;
        }
        pings = 0;
        if (line.kind == PLAIN_MESSAGE) plain_listen(p, &line);
        if (line.kind == PLAIN_PING) lost = !plain_say(p, "PONG\r\n");
        if (line.kind == PLAIN_ERROR) plain_note(p, line.text);
    }
    pthread_mutex_lock(&p->lock);
    if (!*p->problem) snprintf(p->problem, sizeof p->problem, "the server went away");
    p->up = -1;
    pthread_mutex_unlock(&p->lock);
    plain_hang_up(l);
    struct pollfd end = {.fd = p->wake[0], .events = POLLIN};
    return poll(&end, 1, 0) == 0;
}

static void *plain_run(void *user)
{
    plain *p = user;
    unsigned seed =
        (unsigned)plain_now_ms() ^ (unsigned)getpid(); // alike on nodes that started together, but for the name
    for (const char *c = p->name; *c; c++)
        seed = 31 * seed + (unsigned char)*c;
    struct pollfd end = {.fd = p->wake[0], .events = POLLIN};
    int pause = 0;
    while (poll(&end, 1, pause) == 0) { // all nodes at once would be too many
        plain_link l = {.fd = -1};
        bool refused;
        pause = p->again_ms + (int)((unsigned)rand_r(&seed) % (unsigned)p->again_ms);
        if (p->refused && p->join_user) p->refused = !plain_join(p);
        if (p->refused && p->join_user) continue;
        if (!plain_connect(p, &l, p->user, p->password, &refused))
            p->refused = refused;
        else if (!plain_stay(p, &l))
            break;
    }
    return NULL;
}

// ---- outside ----

static void plain_set_servers(plain *p, const char *urls)
{
    char *copy = memory_strdup(urls), *at = copy;
    for (char *word; p->server_count < PLAIN_SERVERS && (word = strsep(&at, ","));)
        if (*word) p->servers[p->server_count++] = memory_strdup(word);
    free(copy);
}

static char *plain_own(const char *text)
{
    return text ? memory_strdup(text) : NULL;
}

// Who it is: as told, or as the first URL has it (USER:PASSWORD@).
static void plain_set_who(plain *p, const bus_options *o)
{
    const char *host = strstr(o->url, "://") ? strstr(o->url, "://") + 3 : o->url,
               *at = memrchr(host, '@', strcspn(host, ","));
    p->name = memory_strdup(o->name ? o->name : "");
    p->user = plain_own(o->user);
    p->password = plain_own(o->password);
    if (!p->user && at) {
        size_t length = strcspn(host, ":@");
        p->user = memory_strndup(host, length);
        p->password = host[length] == ':' ? memory_strndup(host + length + 1, (size_t)(at - host) - length - 1) : NULL;
    }
    p->join_user = plain_own(o->joining.user);
    p->join_password = plain_own(o->joining.password);
    p->join_subject = plain_own(o->joining.subject);
    p->join_text = plain_own(o->joining.text);
    p->join_reply = plain_own(o->joining.reply);
    p->refused = o->joining.user && !o->joining.known;
}

plain *plain_open(const bus_options *o, char **why)
{
    const char *missing = NULL;
    if (o->tls.on || strstr(o->url, "tls://")) missing = "TLS";
    if (o->credentials) missing = "files of credentials";
    if (missing) {
        *why = memory_format("this program was built without libnats, and knows no %s", missing);
        return NULL;
    }
    plain *p = memory_calloc(1, sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    p->up = -1;
    p->again_ms = o->again_ms > 0 && o->again_ms < 1000000 ? (int)o->again_ms : 1000;
    p->connected = o->connected;
    p->connected_user = o->user_data;
    plain_set_servers(p, o->url);
    plain_set_who(p, o);
    if (!p->server_count)
        *why = memory_strdup("no server is named");
    else if (pipe2(p->wake, O_CLOEXEC))
        *why = memory_strdup(strerror(errno));
    else if (!(p->started = pthread_create(&p->thread, NULL, plain_run, p) == 0))
        *why = memory_strdup("no thread can be started");
    if (p->started) return p;
    plain_close(p);
    return NULL;
}

bool plain_is_up(plain *p)
{
    pthread_mutex_lock(&p->lock);
    bool up = p->up >= 0;
    pthread_mutex_unlock(&p->lock);
    return up;
}

size_t plain_most(plain *p)
{
    pthread_mutex_lock(&p->lock);
    size_t most = p->up >= 0 && p->most > 0 ? (size_t)p->most : 0;
    pthread_mutex_unlock(&p->lock);
    return most;
}

void plain_problem(plain *p, char to[160])
{
    pthread_mutex_lock(&p->lock);
    memcpy(to, p->problem, sizeof p->problem);
    pthread_mutex_unlock(&p->lock);
}

// A connection on which half a message stands is of no use: its thread finds it shut down, and begins anew.
bool plain_publish(plain *p, const char *subject, const void *data, size_t size)
{
    pthread_mutex_lock(&p->lock);
    bool fits = p->up >= 0 && (p->most <= 0 || size <= (size_t)p->most), good = false;
    if (fits) good = plain_write_message(p->up, subject, data, size);
    if (fits && !good) {
        shutdown(p->up, SHUT_RDWR);
        p->up = -1;
    }
    pthread_mutex_unlock(&p->lock);
    return good;
}

bool plain_subscribe(plain *p, const char *subject, bus_heard heard, void *user)
{
    pthread_mutex_lock(&p->lock);
    bool room = p->count < PLAIN_SUBSCRIPTIONS;
    if (room) {
        p->listeners[p->count] = (plain_listener){memory_strdup(subject), heard, user};
        if (p->up >= 0 && !plain_write_subscription(p->up, subject, p->count)) shutdown(p->up, SHUT_RDWR);
        p->count++;
    }
    pthread_mutex_unlock(&p->lock);
    return room;
}

void plain_close(plain *p)
{
    if (!p) return;
    if (p->started) {
        while (write(p->wake[1], "", 1) < 0 && errno == EINTR)
            ;
        pthread_join(p->thread, NULL);
    }
    for (size_t i = 0; i < 2; i++)
        if (p->wake[i] > 0) close(p->wake[i]);
    for (size_t i = 0; i < p->count; i++)
        free(p->listeners[i].subject);
    for (size_t i = 0; i < p->server_count; i++)
        free(p->servers[i]);
    char *const texts[] = {p->name,          p->user,         p->password,  p->join_user,
                           p->join_password, p->join_subject, p->join_text, p->join_reply};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

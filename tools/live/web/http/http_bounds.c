#define _GNU_SOURCE
#include "http_bounds.h"

#include "analysis/base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

typedef struct bound {
    struct bound *before, *after; // in the order in which they began
    int fd;
    bool busy, down; // down: shut, and about to be told
    int64_t since_ns;
} bound;

enum { BOUNDS_ADDRESSES = 1024 };

// A bucket for each address; addresses that share one share it.
typedef struct bound_bucket {
    unsigned char address[16];
    double left;
    int64_t at_ns;
} bound_bucket;

struct http_bounds {
    pthread_mutex_t lock;
    unsigned most, open;
    uint64_t dropped;
    bound *first, *last;
    bound_bucket buckets[BOUNDS_ADDRESSES];
};

http_bounds *http_bounds_open(unsigned most)
{
    http_bounds *b = memory_calloc(1, sizeof *b);
    b->most = most;
    pthread_mutex_init(&b->lock, NULL);
    return b;
}

static void bounds_drop(http_bounds *b, bound *c)
{
    shutdown(c->fd, SHUT_RDWR); // the server's thread sees its end, and closes it
    c->down = true;
    b->open--;
    b->dropped++;
}

static void bounds_make_room(http_bounds *b)
{
    bound *oldest = NULL;
    for (bound *c = b->first; c && (!oldest || oldest->busy); c = c->after)
        if (!c->down && (!oldest || !c->busy)) oldest = c;
    if (oldest) bounds_drop(b, oldest);
}

void *http_bounds_begin(http_bounds *b, int fd, int64_t now_ns)
{
    bound *c = memory_calloc(1, sizeof *c);
    pthread_mutex_lock(&b->lock);
    if (b->open >= b->most) bounds_make_room(b);
    *c = (bound){.before = b->last, .fd = fd, .since_ns = now_ns};
    *(b->last ? &b->last->after : &b->first) = c;
    b->last = c;
    b->open++;
    pthread_mutex_unlock(&b->lock);
    return c;
}

void http_bounds_busy(http_bounds *b, void *connection, bool busy, int64_t now_ns)
{
    bound *c = connection;
    pthread_mutex_lock(&b->lock);
    c->busy = busy;
    c->since_ns = now_ns;
    pthread_mutex_unlock(&b->lock);
}

void http_bounds_end(http_bounds *b, void *connection)
{
    bound *c = connection;
    pthread_mutex_lock(&b->lock);
    *(c->before ? &c->before->after : &b->first) = c->after;
    *(c->after ? &c->after->before : &b->last) = c->before;
    if (!c->down) b->open--;
    pthread_mutex_unlock(&b->lock);
    free(c);
}

void http_bounds_look(http_bounds *b, int64_t now_ns)
{
    pthread_mutex_lock(&b->lock);
    for (bound *c = b->first; c; c = c->after)
        if (!c->down && !c->busy && now_ns - c->since_ns > HTTP_SLOW_S * INT64_C(1000000000)) bounds_drop(b, c);
    pthread_mutex_unlock(&b->lock);
}

static bound_bucket *bounds_find(http_bounds *b, const struct sockaddr *from)
{
    unsigned char address[16] = {0};
    uint32_t hash = 2166136261u;
    if (from->sa_family == AF_INET) memcpy(address, &((const struct sockaddr_in *)(const void *)from)->sin_addr, 4);
    if (from->sa_family == AF_INET6)
        memcpy(address, &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr, 8); // a network of one owner
    for (size_t i = 0; i < sizeof address; i++)
        hash = (hash ^ address[i]) * 16777619u;
    bound_bucket *k = &b->buckets[hash % BOUNDS_ADDRESSES];
    if (memcmp(k->address, address, sizeof address) != 0 || !k->at_ns) {
        memcpy(k->address, address, sizeof address);
        if (!k->at_ns) k->left = HTTP_BURST;
    }
    return k;
}

bool http_bounds_may(http_bounds *b, const struct sockaddr *from, unsigned cost, int64_t now_ns)
{
    pthread_mutex_lock(&b->lock);
    bound_bucket *k = bounds_find(b, from);
    if (k->at_ns) k->left += (double)(now_ns - k->at_ns) / 1e9 * HTTP_PER_S;
    if (k->left > HTTP_BURST) k->left = HTTP_BURST;
    k->at_ns = now_ns;
    bool may = k->left >= 1;
    k->left -= cost;
    if (k->left < -HTTP_BURST) k->left = -HTTP_BURST;
    pthread_mutex_unlock(&b->lock);
    return may;
}

void http_bounds_count(http_bounds *b, uint64_t *open, uint64_t *dropped)
{
    pthread_mutex_lock(&b->lock);
    *open = b->open;
    *dropped = b->dropped;
    pthread_mutex_unlock(&b->lock);
}

void http_bounds_close(http_bounds *b)
{
    if (!b) return;
    while (b->first) {
        bound *c = b->first;
        b->first = c->after;
        free(c);
    }
    pthread_mutex_destroy(&b->lock);
    free(b);
}

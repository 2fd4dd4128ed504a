// TCP ping-pong between two threads over 127.0.0.1: how long does a message of each size take there and back? A region
// for each size, whose name is made while the program runs, holds round trips, bytes and the histogram of the times.
#define NETPROF_IMPLEMENTATION
#include "netprof.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LARGEST = 256 * 1024, ROUND_TRIPS = 200 };
static const size_t sizes[] = {8, 512, 32 * 1024, LARGEST};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void send_all(int fd, const char *data, size_t size)
{
    for (ssize_t n; size; data += n, size -= (size_t)n)
        if ((n = send(fd, data, size, MSG_NOSIGNAL)) < 0) die("send");
}

// False at the end of the stream.
static int receive_all(int fd, char *data, size_t size)
{
    for (ssize_t n; size; data += n, size -= (size_t)n)
        if ((n = recv(fd, data, size, 0)) <= 0) return 0;
    return 1;
}

static void *answer(void *argument)
{
    static char message[LARGEST];
    int fd = *(int *)argument;
    for (size_t i = 0; i < SIZES; i++)
        for (int k = 0; k < ROUND_TRIPS && receive_all(fd, message, sizes[i]); k++)
            send_all(fd, message, sizes[i]);
    return NULL;
}

// Both ends of a connection.
static void connect_pair(int ends[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&address, &length) ||
        connect(ends[0], (struct sockaddr *)&address, length) || (ends[1] = accept(listener, NULL, NULL)) < 0)
        die("connection");
    for (int i = 0; i < 2; i++)
        setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    close(listener);
}

static uint64_t ping_pong(int fd, size_t size)
{
    static char message[LARGEST];
    char name[32];
    snprintf(name, sizeof name, "ping-pong %zu B", size);
    netprof_region_id region = netprof_region(name);
    for (int i = 0; i < ROUND_TRIPS; i++) {
        netprof_begin(region);
        send_all(fd, message, size);
        if (!receive_all(fd, message, size)) die("recv");
        NETPROF_BYTES(2 * size);
        netprof_end(region);
    }
    return 2 * size * ROUND_TRIPS;
}

static void print_regions(void)
{
    netprof_regions r;
    if (netprof_regions_take(&r, NULL)) return;
    for (size_t i = 0; i < r.count; i++) {
        const netprof_stat *s = &r.stats[i];
        if (s->measured)
            printf("%-18s  mean %8.1f us, shortest %8.1f us, longest %8.1f us\n", s->region,
                   (double)s->total_ns / 1e3 / (double)s->measured, (double)s->min_ns / 1e3, (double)s->max_ns / 1e3);
    }
    netprof_regions_free(&r);
}

int main(void)
{
    int ends[2];
    uint64_t bytes = 0;
    pthread_t peer;
    connect_pair(ends);
    if (pthread_create(&peer, NULL, answer, &ends[1])) die("thread");
    for (size_t i = 0; i < SIZES; i++)
        bytes += ping_pong(ends[0], sizes[i]);
    pthread_join(peer, NULL);
    print_regions();
    printf("%llu bytes there and back\n", (unsigned long long)bytes);
    close(ends[0]);
    close(ends[1]);
    return 0;
}

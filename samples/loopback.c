// Moves real traffic over 127.0.0.1 between two threads, a ping-pong of small messages and a bulk stream, by TCP and by
// UDP, each as a region of netprof.h, and prints what it sent. Needs no root and no second host.
#define NETPROF_IMPLEMENTATION
#include "netprof.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum {
    BLOCK_BYTES = 64 * 1024,   // one write of the TCP stream
    DATAGRAM_BYTES = 8 * 1024, // one datagram of the UDP stream
    WINDOW = 8,                // datagrams on their way at once: few enough for any receive buffer
    PATIENCE_S = 10,           // how long an answer is waited for
};

// The first byte of a message tells the peer what to do with it.
enum { ECHO = 'E', DATA = 'D', ACKNOWLEDGE = 'A', QUIT = 'Q' };

struct options {
    size_t message_bytes;
    uint64_t messages;
    uint64_t bulk_bytes;
    double seconds;
};

struct phase {
    uint64_t messages;
    uint64_t bytes;
    uint64_t lost;
    double seconds;
};

static unsigned char zeros[BLOCK_BYTES];

static void die(const char *what)
{
    fprintf(stderr, "loopback: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void send_all(int fd, const void *data, size_t size)
{
    const unsigned char *next = data;
    while (size) {
        ssize_t sent = send(fd, next, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) die("send");
        next += sent;
        size -= (size_t)sent;
    }
}

// False at the end of the stream.
static int receive_all(int fd, void *data, size_t size)
{
    unsigned char *next = data;
    while (size) {
        ssize_t got = recv(fd, next, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) die("recv");
        if (got == 0) return 0;
        next += got;
        size -= (size_t)got;
    }
    return 1;
}

// A bound socket on 127.0.0.1, at a port that the kernel chooses.
static int bound_socket(int type, struct sockaddr_in *address)
{
    int fd = socket(AF_INET, type, 0);
    socklen_t size = sizeof *address;
    *address = (struct sockaddr_in){.sin_family = AF_INET};
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, (struct sockaddr *)address, size) || getsockname(fd, (struct sockaddr *)address, &size))
        die("socket");
    return fd;
}

static void connect_to(int fd, const struct sockaddr_in *address)
{
    if (connect(fd, (const struct sockaddr *)address, sizeof *address)) die("connect");
}

// The TCP peer: answers messages of message_bytes with themselves until the first DATA, then only counts.
struct tcp_peer {
    int listener;
    size_t message_bytes;
};

static void *tcp_peer_main(void *argument)
{
    struct tcp_peer *peer = argument;
    unsigned char *block = malloc(BLOCK_BYTES);
    int fd = accept(peer->listener, NULL, NULL);
    int on = 1;
    if (fd < 0 || !block) die("accept");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    while (receive_all(fd, block, peer->message_bytes) && block[0] == ECHO)
        send_all(fd, block, peer->message_bytes);
    uint64_t total = 0;
    for (ssize_t got; (got = recv(fd, block, BLOCK_BYTES, 0)) != 0;) {
        if (got > 0)
            total += (uint64_t)got;
        else if (errno != EINTR)
            die("recv");
    }
    send_all(fd, &total, sizeof total);
    close(fd);
    free(block);
    return NULL;
}

static void run_tcp(const struct options *options, struct phase *pings, struct phase *bulk)
{
    struct sockaddr_in address;
    struct tcp_peer peer = {bound_socket(SOCK_STREAM, &address), options->message_bytes};
    pthread_t thread;
    if (listen(peer.listener, 1) || pthread_create(&thread, NULL, tcp_peer_main, &peer)) die("peer thread");
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int on = 1;
    if (fd < 0) die("socket");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connect_to(fd, &address);

    unsigned char message[BLOCK_BYTES] = {ECHO};
    double start = now_s();
    while (pings->messages < 2 * options->messages && now_s() - start < options->seconds) {
        NETPROF_BEGIN("TCP ping-pong");
        send_all(fd, message, options->message_bytes);
        if (!receive_all(fd, message, options->message_bytes)) die("peer is gone");
        NETPROF_BYTES(2 * options->message_bytes);
        NETPROF_END("TCP ping-pong");
        pings->messages += 2;
        pings->bytes += 2 * options->message_bytes;
    }
    pings->seconds = now_s() - start;

    message[0] = DATA;
    send_all(fd, message, options->message_bytes);
    start = now_s();
    while (bulk->bytes < options->bulk_bytes && now_s() - start < options->seconds) {
        uint64_t left = options->bulk_bytes - bulk->bytes;
        size_t size = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
        NETPROF_BEGIN("TCP stream");
        send_all(fd, zeros, size);
        NETPROF_BYTES(size);
        NETPROF_END("TCP stream");
        bulk->messages++;
        bulk->bytes += size;
    }
    shutdown(fd, SHUT_WR);
    uint64_t total = 0;
    if (!receive_all(fd, &total, sizeof total)) die("peer is gone");
    bulk->seconds = now_s() - start;
    bulk->lost = bulk->bytes - total;
    pthread_join(thread, NULL);
    close(fd);
    close(peer.listener);
}

// The UDP peer: echoes, counts data, and tells its count when asked to.
static void *udp_peer_main(void *argument)
{
    int fd = *(int *)argument;
    unsigned char *block = malloc(BLOCK_BYTES);
    uint64_t datagrams = 0;
    if (!block) die("malloc");
    for (;;) {
        ssize_t got = recv(fd, block, BLOCK_BYTES, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0 || block[0] == QUIT) break; // asked to, or nothing came for PATIENCE_S
        if (block[0] == ECHO) {
            send(fd, block, (size_t)got, 0);
            continue;
        }
        datagrams++;
        if (block[0] == ACKNOWLEDGE) send(fd, &datagrams, sizeof datagrams, 0);
    }
    free(block);
    return NULL;
}

static void run_udp(const struct options *options, struct phase *pings, struct phase *bulk)
{
    struct sockaddr_in address, peer_address;
    int fd = bound_socket(SOCK_DGRAM, &address);
    int peer = bound_socket(SOCK_DGRAM, &peer_address);
    struct timeval patience = {.tv_sec = PATIENCE_S};
    pthread_t thread;
    connect_to(fd, &peer_address);
    connect_to(peer, &address);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (pthread_create(&thread, NULL, udp_peer_main, &peer)) die("peer thread");

    unsigned char message[BLOCK_BYTES] = {ECHO};
    double start = now_s();
    while (pings->messages < 2 * options->messages && now_s() - start < options->seconds) {
        NETPROF_BEGIN("UDP ping-pong");
        if (send(fd, message, options->message_bytes, 0) < 0) die("send");
        pings->messages++;
        pings->bytes += options->message_bytes;
        int lost = recv(fd, message, options->message_bytes, 0) < 0;
        NETPROF_BYTES((lost ? 1 : 2) * options->message_bytes);
        NETPROF_END("UDP ping-pong");
        if (lost) {
            pings->lost++;
            continue;
        }
        pings->messages++;
        pings->bytes += options->message_bytes;
    }
    pings->seconds = now_s() - start;

    uint64_t received = 0;
    start = now_s();
    while (bulk->bytes < options->bulk_bytes && now_s() - start < options->seconds) {
        NETPROF_BEGIN("UDP stream");
        for (int i = 1; i <= WINDOW; i++) {
            message[0] = i == WINDOW ? ACKNOWLEDGE : DATA;
            if (send(fd, message, DATAGRAM_BYTES, 0) < 0) die("send");
            bulk->messages++;
            bulk->bytes += DATAGRAM_BYTES;
        }
        int told = recv(fd, &received, sizeof received, 0) >= 0;
        NETPROF_BYTES(WINDOW * DATAGRAM_BYTES);
        NETPROF_END("UDP stream");
        if (!told) break;
    }
    bulk->seconds = now_s() - start;
    bulk->lost = bulk->messages - received;
    message[0] = QUIT;
    send(fd, message, 1, 0);
    pthread_join(thread, NULL);
    close(fd);
    close(peer);
}

static void print_phase(const char *name, const struct phase *phase)
{
    double rate = phase->seconds > 0 ? (double)phase->bytes / phase->seconds / 1e6 : 0;
    printf("%-13s  %10llu messages  %12llu bytes  %8.3f s  %10.1f MB/s", name, (unsigned long long)phase->messages,
           (unsigned long long)phase->bytes, phase->seconds, rate);
    if (phase->lost) printf("  %llu lost", (unsigned long long)phase->lost);
    printf("\n");
}

static void usage(FILE *out)
{
    fputs("usage: loopback [-m BYTES] [-n COUNT] [-b MIB] [-t SECONDS]\n"
          "Moves TCP and UDP traffic over 127.0.0.1 and prints what it sent.\n"
          "  -m BYTES    size of a ping-pong message, 1 to 8192 (64)\n"
          "  -n COUNT    ping-pongs by each protocol (as many as the time allows)\n"
          "  -b MIB      bulk data by each protocol, in MiB, at most 65536 (as much as the time allows)\n"
          "  -t SECONDS  limit of each of the four phases, at most 3600 (2)\n",
          out);
}

static double number(const char *text, double least, double most)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= least && value <= most)) {
        fprintf(stderr, "loopback: %s: expected a number from %g to %g\n", text, least, most);
        exit(2);
    }
    return value;
}

int main(int argc, char **argv)
{
    struct options options = {
        .message_bytes = 64, .messages = 1000000000, .bulk_bytes = UINT64_C(1) << 40, .seconds = 2};
    for (int option; (option = getopt(argc, argv, "m:n:b:t:h")) != -1;) {
        switch (option) {
        case 'm': options.message_bytes = (size_t)number(optarg, 1, DATAGRAM_BYTES); break;
        case 'n': options.messages = (uint64_t)number(optarg, 0, 1e9); break;
        case 'b': options.bulk_bytes = (uint64_t)(number(optarg, 0, 65536) * 1048576); break;
        case 't': options.seconds = number(optarg, 0, 3600); break;
        case 'h': usage(stdout); return 0;
        default: usage(stderr); return 2;
        }
    }
    if (optind < argc) {
        usage(stderr);
        return 2;
    }

    struct phase tcp_pings = {0}, tcp_bulk = {0}, udp_pings = {0}, udp_bulk = {0};
    run_tcp(&options, &tcp_pings, &tcp_bulk);
    run_udp(&options, &udp_pings, &udp_bulk);
    print_phase("TCP ping-pong", &tcp_pings);
    print_phase("TCP stream", &tcp_bulk);
    print_phase("UDP ping-pong", &udp_pings);
    print_phase("UDP stream", &udp_bulk);
    return 0;
}

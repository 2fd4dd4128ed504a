// The time of a round trip and the bandwidth for messages of growing size, over TCP on 127.0.0.1, with the bytes that the
// device counted beside them: netprof_bench_run() does the warm-up, the repetitions and the table.
#define NETPROF_IMPLEMENTATION
#include "netprof.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>

enum { LARGEST = 1 << 20 };

struct peers {
    int here, there;
};

static char out[LARGEST], back[LARGEST], echoed[LARGEST];

// Returns 0 or an errno.
static int move_all(int fd, char *data, size_t size, int send_it)
{
    while (size) {
        ssize_t n = send_it ? send(fd, data, size, MSG_NOSIGNAL) : recv(fd, data, size, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : ECONNRESET;
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

// Each message begins with its size.
static void *echo(void *user)
{
    const struct peers *p = user;
    size_t size;
    while (!move_all(p->there, (char *)&size, sizeof size, 0) && size <= LARGEST)
        if (move_all(p->there, echoed, size, 0) || move_all(p->there, echoed, size, 1)) break;
    return NULL;
}

static int round_trip(void *user, size_t size)
{
    const struct peers *p = user;
    int failed = move_all(p->here, (char *)&size, sizeof size, 1);
    if (!failed) failed = move_all(p->here, out, size, 1);
    return failed ? failed : move_all(p->here, back, size, 0);
}

static int connect_peers(struct peers *p)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof to;
    int listener = socket(AF_INET, SOCK_STREAM, 0), at_once = 1, failed;
    p->here = socket(AF_INET, SOCK_STREAM, 0);
    failed = bind(listener, (struct sockaddr *)&to, size) || listen(listener, 1) ||
             getsockname(listener, (struct sockaddr *)&to, &size) || connect(p->here, (struct sockaddr *)&to, size);
    p->there = failed ? -1 : accept(listener, NULL, NULL);
    close(listener);
    if (p->there < 0) return errno;
    setsockopt(p->here, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    setsockopt(p->there, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    return 0;
}

int main(void)
{
    struct peers p = {0};
    pthread_t thread;
    int failed = connect_peers(&p);
    if (failed || (failed = pthread_create(&thread, NULL, echo, &p))) {
        fprintf(stderr, "message_sizes: %s\n", strerror(failed));
        return 1;
    }
    // Two messages a call: there and back.
    netprof_bench bench = {
        .run = round_trip, .user = &p, .to = LARGEST, .messages = 2, .seconds = 0.2, .devices = "lo"};
    netprof_bench_row rows[32];
    size_t count = 32;
    netprof_error error;
    netprof_err code = netprof_bench_run(&bench, rows, &count, &error);
    netprof_print_bench(STDOUT_FILENO, rows, count);
    if (code) fprintf(stderr, "message_sizes: %s: %s\n", netprof_strerror(code), error.text);
    shutdown(p.here, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(p.here);
    close(p.there);
    return code != NETPROF_OK;
}

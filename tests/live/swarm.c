// live_swarm URL NODES SECONDS [BYTES|SPOOL]: plays NODES agents at 1 tick a second, 5 ticks a message, over one connection, each
// with the sender of the real agent, for one head. Ticks are so many bytes of nothing (1000), or, of SPOOL, those that an agent
// writes there meanwhile, one a second: what the head's readers take for readings of so many nodes. Prints what was sent and
// confirmed and how long confirmation took; exits with 1 where not all is confirmed 60 s after the end. The token is in
// NETPROF_TOKEN.
#include "live/bus/bus.h"
#include "live/spool/little.h"
#include "live/spool/spool_reader.h"
#include "live/wire/sender.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SWARM_BATCH = 5, SWARM_MOST = 1 << 20, SWARM_TIMES = 1 << 22, SWARM_SECONDS = 10 };
static const int64_t second_ns = 1000000000;

typedef struct swarm_node {
    sender sender;
    char name[24], subject[64];
    uint64_t high;
    int64_t next_ns;                     // of its next frame
    int64_t sent_ns[SENDER_WINDOW_MOST]; // when the frame that ends with this number went
} swarm_node;

static struct {
    pthread_mutex_t lock;
    swarm_node *nodes;
    size_t count;
    double *waits;
    size_t wait_count, settled;      // settled: those before this one are of the first 10 s, in which all begin at once
    size_t begun[SWARM_SECONDS + 1]; // those before this one came before this second
    unsigned char *data, hash[SHA256_BYTES];
    size_t bytes;
    spool_reader *spool; // NULL: ticks are made up
    spool_tick *spooled; // copies, by number from 1; stb_ds
    size_t schemas;      // that they had, one after the other
} swarm;

static int64_t swarm_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * second_ns + t.tv_nsec;
}

static bool swarm_get(void *user, uint64_t number, uint64_t high, spool_tick *t)
{
    (void)user;
    if (number > high) return false;
    if (swarm.spool) {
        *t = swarm.spooled[number - 1];
        return true;
    }
    little_put(swarm.data, number, 8);
    *t = (spool_tick){.number = number,
                      .is_key = number % 64 == 1,
                      .wall_ns = (int64_t)number,
                      .data = swarm.data,
                      .size = swarm.bytes,
                      .preamble = (const unsigned char *)"swarm",
                      .preamble_size = 5,
                      .hash = swarm.hash};
    return true;
}

static void swarm_heard(void *user, const char *subject, const void *data, size_t size)
{
    watermark w;
    size_t i = strtoul(strrchr(subject, '.') + 2, NULL, 10);
    (void)user;
    if (!watermark_parse(&w, data, size) || i >= swarm.count) return;
    int64_t now = swarm_now();
    pthread_mutex_lock(&swarm.lock);
    swarm_node *n = &swarm.nodes[i];
    int64_t sent = n->sent_ns[w.durable / SWARM_BATCH % SENDER_WINDOW_MOST];
    if (sender_heard(&n->sender, &w, n->high, now) && swarm.wait_count < SWARM_TIMES)
        swarm.waits[swarm.wait_count++] = (double)(now - sent) / 1e6;
    pthread_mutex_unlock(&swarm.lock);
}

static void swarm_send(bus *b, frame_buffer *buffer, swarm_node *n, int64_t now)
{
    static const sender_limits limits = {.ticks = SWARM_BATCH, .bytes = SWARM_MOST - 1000};
    while (sender_pack(&n->sender, buffer, &limits, swarm_get, NULL, 1, n->high, now)) {
        n->sent_ns[(n->sender.next - 1) / SWARM_BATCH % SENDER_WINDOW_MOST] = now;
        bus_publish(b, n->subject, buffer->data, buffer->size);
    }
}

static void swarm_make(size_t i)
{
    swarm_node *n = &swarm.nodes[i];
    unsigned char stream[16];
    if (seglog_random(stream, sizeof stream)) abort();
    snprintf(n->name, sizeof n->name, "s%zu", i);
    snprintf(n->subject, sizeof n->subject, "np.default.data.%u.%s", frame_part(n->name), n->name);
    sender_begin(&n->sender, stream, 0, 0, 0, i + 1);
    n->next_ns = swarm_now() + (int64_t)((double)i / (double)swarm.count * 5e9);
}

static const void *swarm_copy(const void *data, size_t size)
{
    return memcpy(memory_alloc(size + 1), data, size);
}

// Takes what the agent has written since, and returns the number of its last tick.
static uint64_t swarm_look(void)
{
    spool_tick t;
    while (spool_reader_get(swarm.spool, arrlenu(swarm.spooled) + 1, UINT64_MAX - 1, &t) &&
           t.number == arrlenu(swarm.spooled) + 1) {
        const spool_tick *before = arrlenu(swarm.spooled) ? &arrlast(swarm.spooled) : NULL;
        bool same = before && memcmp(before->hash, t.hash, SHA256_BYTES) == 0;
        swarm.schemas += !same;
        t.data = swarm_copy(t.data, t.size);
        t.preamble = same ? before->preamble : swarm_copy(t.preamble, t.preamble_size);
        t.hash = same ? before->hash : swarm_copy(t.hash, SHA256_BYTES);
        arrput(swarm.spooled, t);
    }
    return arrlenu(swarm.spooled);
}

static int swarm_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void swarm_report_start(void)
{
    printf("  in its first seconds p99");
    for (size_t k = 0; k < SWARM_SECONDS; k++) {
        size_t count = swarm.begun[k + 1] - swarm.begun[k];
        double *waits = swarm.waits + swarm.begun[k];
        qsort(waits, count, sizeof *waits, swarm_order);
        if (count) printf(" %.0f", waits[count * 99 / 100]);
    }
    printf(" ms\n");
}

static uint64_t swarm_report(double seconds)
{
    uint64_t ticks = 0, confirmed = 0, frames = 0, again = 0;
    for (size_t i = 0; i < swarm.count; i++) {
        ticks += swarm.nodes[i].high;
        confirmed += swarm.nodes[i].sender.base;
        frames += swarm.nodes[i].sender.sent;
        again += swarm.nodes[i].sender.again;
    }
    swarm_report_start();
    size_t later = swarm.wait_count - swarm.settled;
    double *settled = swarm.waits + swarm.settled;
    qsort(settled, later, sizeof *settled, swarm_order);
    double median = later ? settled[later / 2] : 0, slow = later ? settled[later * 99 / 100] : 0;
    qsort(swarm.waits, swarm.wait_count, sizeof *swarm.waits, swarm_order);
    if (swarm.wait_count)
        printf("%zu nodes, %.1f s: %llu ticks (%.0f/s), %llu confirmed, %llu frames, %llu times back; confirmed after "
               "p50 %.0f ms, p99 %.0f ms, at most %.0f ms; from the tenth second on p50 %.0f ms, p99 %.0f ms\n",
               swarm.count, seconds, (unsigned long long)ticks, (double)ticks / seconds, (unsigned long long)confirmed,
               (unsigned long long)frames, (unsigned long long)again, swarm.waits[swarm.wait_count / 2],
               swarm.waits[swarm.wait_count * 99 / 100], swarm.waits[swarm.wait_count - 1], median, slow);
    if (swarm.schemas)
        printf("  %zu schemas, the last one of %zu bytes: each node sent each of them\n", swarm.schemas,
               arrlast(swarm.spooled).preamble_size);
    return ticks - confirmed;
}

static uint64_t swarm_missing(void)
{
    uint64_t missing = 0;
    for (size_t i = 0; i < swarm.count; i++)
        missing += swarm.nodes[i].high - swarm.nodes[i].sender.base;
    return missing;
}

int main(int argc, char **argv)
{
    char *why = NULL;
    frame_buffer buffer = {0};
    if (argc < 4) return 2;
    swarm.count = strtoul(argv[2], NULL, 10);
    double seconds = strtod(argv[3], NULL);
    char *digits = NULL;
    swarm.bytes = argc > 4 ? strtoul(argv[4], &digits, 10) : 1000;
    if (digits && *digits) swarm.spool = spool_reader_open(argv[4]);
    swarm.data = memory_calloc(1, swarm.bytes + 8);
    swarm.nodes = memory_calloc(swarm.count, sizeof *swarm.nodes);
    swarm.waits = memory_array(NULL, SWARM_TIMES, sizeof *swarm.waits);
    sha256(swarm.hash, "swarm", 5);
    pthread_mutex_init(&swarm.lock, NULL);
    const bus_options o = {
        .url = argv[1], .name = "swarm", .user = "agent", .password = getenv("NETPROF_TOKEN"), .again_ms = 500};
    bus *b = bus_open(&o, &why);
    if (!b || !bus_subscribe(b, "np.default.ack.*", swarm_heard, NULL)) return 2;
    while (!bus_is_up(b))
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    for (size_t i = 0; i < swarm.count; i++)
        swarm_make(i);
    int64_t begin = swarm_now(), end = begin + (int64_t)(seconds * 1e9);
    bool missing = true;
    uint64_t spooled = 0;
    while (swarm_now() < end || (missing && swarm_now() < end + 60 * second_ns)) {
        pthread_mutex_lock(&swarm.lock);
        if (swarm.spool) spooled = swarm_look();
        for (int64_t k = SWARM_SECONDS; k > (swarm_now() - begin) / second_ns; k--)
            swarm.begun[k] = swarm.wait_count;
        if (swarm_now() < begin + SWARM_SECONDS * second_ns) swarm.settled = swarm.wait_count;
        for (size_t i = 0; i < swarm.count; i++) {
            swarm_node *n = &swarm.nodes[i];
            int64_t now = swarm_now();
            bool due = now >= n->next_ns && now < end;
            if (due) n->high = swarm.spool ? spooled : n->high + SWARM_BATCH;
            if (due) n->next_ns += 5 * second_ns;
            if (due || n->sender.base < n->high)
                swarm_send(b, &buffer, n, now); // also what went back and flies no more
        }
        missing = swarm_missing() > 0;
        pthread_mutex_unlock(&swarm.lock);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    uint64_t lost = swarm_report(seconds);
    bus_close(b);
    frame_buffer_free(&buffer);
    free(swarm.nodes);
    free(swarm.waits);
    free(swarm.data);
    return lost != 0;
}

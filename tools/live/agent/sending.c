#define _GNU_SOURCE
#include "sending.h"

#include "confirmed.h"
#include "secret.h"
#include "live/spool/spool_reader.h"
#include "live/spool/spool_segments.h"
#include "live/wire/sender.h"

#include "analysis/base/memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SENDING_HEARD = 8, SENDING_OVERHEAD = 512 };
static const int64_t sending_second_ns = 1000000000;

struct sending {
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; // of all down to `state`
    pthread_cond_t changed;
    uint64_t low, high;
    watermark heard[SENDING_HEARD];
    unsigned heard_count;
    bool connected, finishing, stop;
    sending_state state;
    // the thread's own
    bus *bus;
    sender sender;
    spool_reader *reader;
    frame_buffer buffer;
    char subject[1200], acknowledgements[1000];
    char *directory;
    confirmed kept;
    unsigned batch;
    int64_t every_ns, sync_ns, flush_at, sync_at, keep_at;
    uint64_t bytes_per_s;
    int64_t free_at;               // what was sent before is paid for then
    uint64_t none_from, none_high; // no tick of these numbers is there: the disk refused them
    int64_t none_until;            // then it is looked for again
};

static int64_t sending_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// ---- on the library's threads ----

static void sending_on_watermark(void *user, const char *subject, const void *data, size_t size)
{
    sending *s = user;
    watermark w;
    (void)subject;
    if (!watermark_parse(&w, data, size)) return;
    pthread_mutex_lock(&s->lock);
    if (s->heard_count == SENDING_HEARD) memmove(s->heard, s->heard + 1, --s->heard_count * sizeof *s->heard);
    s->heard[s->heard_count++] = w;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void sending_on_connected(void *user)
{
    sending *s = user;
    pthread_mutex_lock(&s->lock);
    s->connected = true;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

// ---- the thread ----

static bool sending_get(void *user, uint64_t number, uint64_t high, spool_tick *t)
{
    return spool_reader_get(user, number, high, t);
}

// What the disk refused is not looked for all the time.
static bool sending_has_ticks(const sending *s, uint64_t high, int64_t now)
{
    bool none = s->sender.next == s->none_from && high == s->none_high && now < s->none_until;
    return s->sender.next <= high && !none;
}

// Whole frames as soon as there are enough ticks for one, the rest every so often.
static bool sending_is_due(sending *s, uint64_t high, int64_t now)
{
    if (!sending_has_ticks(s, high, now) || now < s->free_at) return false;
    return high - s->sender.next + 1 >= s->batch || now >= s->flush_at;
}

static void sending_send(sending *s, uint64_t low, uint64_t high, int64_t now)
{
    size_t most = bus_most(s->bus);
    if (!most) return;
    if (most > FRAME_MOST) most = FRAME_MOST;
    const sender_limits limits = {.ticks = s->batch, .bytes = most - SENDING_OVERHEAD};
    while (sending_is_due(s, high, now)) {
        if (!sender_pack(&s->sender, &s->buffer, &limits, sending_get, s->reader, low, high, now)) {
            if (s->sender.flying < s->sender.credit) {
                s->none_from = s->sender.next;
                s->none_high = high;
                s->none_until = now + sending_second_ns;
            }
            break;
        }
        if (!bus_publish(s->bus, s->subject, s->buffer.data, s->buffer.size))
            break; // it goes again when its time is over
        int64_t cost = (int64_t)(s->buffer.size * (uint64_t)sending_second_ns / s->bytes_per_s);
        s->free_at = (s->free_at > now - sending_second_ns ? s->free_at : now - sending_second_ns) + cost;
    }
    if (now >= s->flush_at) s->flush_at += (1 + (now - s->flush_at) / s->every_ns) * s->every_ns;
}

static void sending_keep(sending *s, int64_t now)
{
    confirmed c = {.base = s->sender.base, .head = s->sender.head, .epoch = s->sender.epoch};
    memcpy(c.stream, s->sender.stream, sizeof c.stream);
    if (now < s->keep_at || memcmp(&c, &s->kept, sizeof c) == 0) return;
    s->keep_at = now + sending_second_ns;
    if (confirmed_write(s->directory, &c)) s->kept = c;
}

static int64_t sending_wake(const sending *s, uint64_t high, int64_t now)
{
    int64_t wake = sender_patience(&s->sender);
    if (sending_has_ticks(s, high, now)) {
        if (s->flush_at < wake) wake = s->flush_at;
        if (high - s->sender.next + 1 >= s->batch && s->sender.flying < s->sender.credit) wake = s->free_at;
    }
    if (s->sync_at < wake) wake = s->sync_at;
    return wake;
}

static void sending_work(sending *s, uint64_t low, uint64_t high, int64_t now)
{
    if (s->heard_count) {
        for (unsigned i = 0; i < s->heard_count; i++)
            sender_heard(&s->sender, &s->heard[i], high, now);
        s->heard_count = 0;
    }
    if (s->connected) sender_connected(&s->sender, now);
    s->connected = false;
    if (s->finishing) s->flush_at = now;
    pthread_mutex_unlock(&s->lock);
    sending_send(s, low, high, now);
    sending_keep(s, now);
    if (now >= s->sync_at) {
        spool_segments_sync(s->directory);
        s->sync_at = sending_now() + s->sync_ns;
    }
    bool up = bus_is_up(s->bus);
    char problem[160];
    bus_problem(s->bus, problem);
    pthread_mutex_lock(&s->lock);
    s->state =
        (sending_state){.confirmed = s->sender.base, .frames = s->sender.sent, .again = s->sender.again, .up = up};
    memcpy(s->state.problem, problem, sizeof problem);
}

static void *sending_run(void *user)
{
    sending *s = user;
    pthread_mutex_lock(&s->lock);
    while (!s->stop) {
        int64_t now = sending_now();
        sending_work(s, s->low, s->high, now);
        if (s->heard_count || s->connected || s->stop) continue;
        int64_t wake = sending_wake(s, s->high, now), least = now + 1000000;
        if (wake < least) wake = least; // nothing is so urgent that it may take a processor
        if (!s->state.up) wake = now + sending_second_ns / 10;
        const struct timespec until = {wake / sending_second_ns, wake % sending_second_ns};
        pthread_cond_timedwait(&s->changed, &s->lock, &until);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

// ---- outside ----

static void sending_init(sending *s, const sending_options *o)
{
    pthread_condattr_t clock;
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &clock);
    pthread_condattr_destroy(&clock);
    s->batch = o->batch;
    s->every_ns = o->every_ns;
    s->sync_ns = o->sync_ns;
    s->bytes_per_s = o->bytes_per_s;
    s->low = o->low;
    s->high = o->high;
    s->directory = memory_strdup(o->directory);
    s->reader = spool_reader_open(o->directory);
    int64_t now = sending_now();
    // All sample at the same instant; each sends at a time of its own.
    uint64_t place = frame_part(o->node) + FRAME_PARTS * (strlen(o->node) % 64);
    s->flush_at = now + (int64_t)(place % 1024) * (o->every_ns / 1024);
    s->sync_at = now + o->sync_ns;
    if (!confirmed_read(o->directory, &s->kept) || memcmp(s->kept.stream, o->stream, 16) != 0 || s->kept.base > o->high)
        s->kept = (confirmed){.base = 0};
    sender_begin(&s->sender, o->stream, s->kept.base, s->kept.head, s->kept.epoch, (uint64_t)now);
    s->state.confirmed = s->kept.base;
}

// Connects as the node that it is, or has itself let in first.
static bus *sending_connect(const sending_options *o, bus_options *b, const char *token, char **why)
{
    char secret[SECRET_SIZE + 1];
    bool known;
    if (!o->token) return bus_open(b, why);
    int error = secret_find(o->directory, secret, &known);
    if (error) {
        *why = memory_strdup(strerror(error));
        return NULL;
    }
    char *user = memory_format("node:%s", token), *subject = memory_format("np.%s.join", o->cluster),
         *text = memory_format("%s %s", secret, token), *reply = memory_format("np.%s.joined.%s", o->cluster, token);
    b->user = user;
    b->password = secret;
    b->joining = (bus_joining){
        .user = "agent", .password = o->token, .subject = subject, .text = text, .reply = reply, .known = known};
    bus *opened = bus_open(b, why);
    free(user);
    free(subject);
    free(text);
    free(reply);
    return opened;
}

sending *sending_open(const sending_options *o, char **why)
{
    sending *s = memory_calloc(1, sizeof *s);
    char token[3 * FRAME_NODE_MOST + 1];
    bus_options b = o->bus;
    sending_init(s, o);
    if (!frame_token(token, o->node)) {
        *why = memory_strdup("a node's name has 1 to 255 bytes");
        sending_close(s);
        return NULL;
    }
    snprintf(s->subject, sizeof s->subject, "np.%s.data.%u.%s", o->cluster, frame_part(o->node), token);
    snprintf(s->acknowledgements, sizeof s->acknowledgements, "np.%s.ack.%s", o->cluster, token);
    b.connected = sending_on_connected;
    b.user_data = s;
    s->bus = sending_connect(o, &b, token, why);
    if (s->bus && !bus_subscribe(s->bus, s->acknowledgements, sending_on_watermark, s))
        *why = memory_strdup("cannot subscribe");
    else if (s->bus)
        s->started = pthread_create(&s->thread, NULL, sending_run, s) == 0;
    if (s->started) return s;
    if (!*why) *why = memory_strdup(strerror(errno));
    sending_close(s);
    return NULL;
}

uint64_t sending_tell(sending *s, uint64_t low, uint64_t high)
{
    pthread_mutex_lock(&s->lock);
    s->low = low;
    s->high = high;
    uint64_t base = s->state.confirmed;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return base;
}

void sending_look(sending *s, sending_state *state)
{
    pthread_mutex_lock(&s->lock);
    *state = s->state;
    pthread_mutex_unlock(&s->lock);
}

void sending_finish(sending *s, int64_t patience_ns)
{
    int64_t until = sending_now() + patience_ns;
    pthread_mutex_lock(&s->lock);
    s->finishing = true;
    pthread_cond_signal(&s->changed);
    while (s->state.up && s->state.confirmed < s->high && sending_now() < until) {
        const struct timespec nap = {.tv_nsec = 10000000};
        pthread_mutex_unlock(&s->lock);
        nanosleep(&nap, NULL);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

void sending_close(sending *s)
{
    if (!s) return;
    if (s->started) {
        pthread_mutex_lock(&s->lock);
        s->stop = true;
        pthread_cond_signal(&s->changed);
        pthread_mutex_unlock(&s->lock);
        pthread_join(s->thread, NULL);
    }
    bus_close(s->bus);
    s->keep_at = 0;
    if (s->started) sending_keep(s, 1);
    spool_reader_close(s->reader);
    frame_buffer_free(&s->buffer);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
    free(s->directory);
    free(s);
}

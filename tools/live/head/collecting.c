#define _GNU_SOURCE
#include "collecting.h"

#include "cli/messages.h"
#include "cli/output.h"
#include "cli/terminal_text.h"
#include "live/journal/journal.h"
#include "live/wire/succession.h"
#include "peers.h"
#include "status.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    COLLECTING_CREDIT = 4,
    COLLECTING_SEGMENT = 256 << 20,
    COLLECTING_WAITING = 64 << 20,
    COLLECTING_COMMIT = 4 << 20
};
static const int64_t collecting_commit_ns = 200000000, collecting_rest_ns = 20000000, collecting_retry_ns = 500000000,
                     collecting_status_ns = 2000000000;

typedef struct collecting_message {
    char *node;
    watermark mark;
} collecting_message;

struct collecting {
    char *directory, *cluster;
    uint64_t journal_bytes;
    int64_t began_ns; // since 1970
    bus *bus;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; // of all that follows
    pthread_cond_t changed;
    journal *journal;
    bool stop, superseded, connected;
    bool has_others; // heads that take over from each other
    succession succession;
    status_facts facts;
    int64_t status_at, say_at, shrink_at; // of the thread that looks, as what follows
    status_copy seen;
    peers peers;
    int64_t commit_begun_ns;      // of the one that is on its way to the disk; 0: none is
    int64_t took_ns;              // by a commit, the longest of late; of the commit thread, as what follows
    collecting_message *messages; // stb_ds
};

static int64_t collecting_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// ---- what comes ----

// np.CLUSTER.data.PART.NODE
static bool collecting_find_node(const char *subject, char node[FRAME_NODE_MOST + 1])
{
    const char *token = strrchr(subject, '.');
    if (!token || !frame_node(node, token + 1, strlen(token + 1))) return false;
    const char *part = memrchr(subject, '.', (size_t)(token - subject));
    return part && strtoul(part + 1, NULL, 10) == frame_part(node);
}

static void collecting_on_frame(void *user, const char *subject, const void *data, size_t size)
{
    collecting *c = user;
    char node[FRAME_NODE_MOST + 1];
    frame f;
    receiver_verdict verdict = RECEIVER_AHEAD;
    bool good = collecting_find_node(subject, node) && frame_parse(&f, data, size);
    pthread_mutex_lock(&c->lock);
    if (c->has_others && !c->succession.collects) {
        pthread_mutex_unlock(&c->lock);
        return;
    }
    if (!good)
        c->facts.malformed++;
    else if (!c->stop && !journal_take(c->journal, node, &f, collecting_clock(CLOCK_REALTIME), &verdict))
        *(verdict == RECEIVER_IMPOSSIBLE ? &c->facts.malformed : &c->facts.turned_away) += 1;
    if (verdict == RECEIVER_SUPERSEDED && c->has_others)
        succession_hear_epoch(&c->succession, f.epoch, collecting_clock(CLOCK_MONOTONIC));
    else if (verdict == RECEIVER_SUPERSEDED)
        c->superseded = true;
    if (journal_waiting(c->journal) >= COLLECTING_COMMIT) pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void collecting_on_head(void *user, const char *subject, const void *data, size_t size)
{
    collecting *c = user;
    (void)subject;
    pthread_mutex_lock(&c->lock);
    if (!succession_hear(&c->succession, data, size, collecting_clock(CLOCK_MONOTONIC))) c->facts.malformed++;
    pthread_mutex_unlock(&c->lock);
}

static void collecting_on_session(void *user, const char *subject, const void *data, size_t size)
{
    const collecting *c = user;
    peers_hear(c->directory, subject, data, size);
}

static void collecting_on_connected(void *user)
{
    collecting *c = user;
    pthread_mutex_lock(&c->lock);
    c->connected = true;
    pthread_mutex_unlock(&c->lock);
}

// ---- the commit thread ----

static void collecting_owe(void *user, const char *node, const watermark *w)
{
    collecting *c = user;
    arrput(c->messages, ((collecting_message){memory_strdup(node), *w}));
}

static void collecting_publish(collecting *c, bool tells)
{
    char token[3 * FRAME_NODE_MOST + 1], subject[1000];
    unsigned char bytes[WATERMARK_SIZE];
    for (size_t i = 0; i < arrlenu(c->messages); i++) {
        collecting_message *m = &c->messages[i];
        if (tells && frame_token(token, m->node)) {
            snprintf(subject, sizeof subject, "np.%s.ack.%s", c->cluster, token);
            watermark_write(bytes, &m->mark);
            bus_publish(c->bus, subject, bytes, sizeof bytes); // one that is lost is asked for again
        }
        free(m->node);
    }
    if (c->messages) arrsetlen(c->messages, 0);
}

static void collecting_wait(collecting *c, int64_t ns)
{
    int64_t until = collecting_clock(CLOCK_MONOTONIC) + ns;
    const struct timespec at = {until / 1000000000, until % 1000000000};
    pthread_cond_timedwait(&c->changed, &c->lock, &at);
}

// Locked. True: all that was accepted is on the disk.
static bool collecting_commit(collecting *c)
{
    if (!journal_begin_commit(c->journal)) return true;
    int64_t begun = c->commit_begun_ns = collecting_clock(CLOCK_MONOTONIC);
    pthread_mutex_unlock(&c->lock);
    int error = journal_write(c->journal);
    int64_t took = collecting_clock(CLOCK_MONOTONIC) - begun;
    pthread_mutex_lock(&c->lock);
    c->commit_begun_ns = 0;
    if (took > c->facts.commit_ns) c->facts.commit_ns = took;
    if (error != c->facts.disk_error) {
        if (error)
            warn("%s: %s: nothing is confirmed until it can be written; the agents keep it", safe(c->directory),
                 strerror(error));
        else
            warn("%s: can be written again", safe(c->directory));
        c->facts.disk_since_ns = error ? collecting_clock(CLOCK_REALTIME) : 0;
    }
    c->facts.disk_error = error;
    if (error) return false;
    journal_end_commit(c->journal, collecting_owe, c);
    c->facts.commits++;
    bool tells = !c->has_others || c->succession.collects;
    pthread_mutex_unlock(&c->lock);
    collecting_publish(c, tells);
    pthread_mutex_lock(&c->lock);
    return true;
}

// How long it rests after a commit that was begun then. What comes just after that waits for the next one, and for the disk: so
// the next begins as much earlier as the disk has needed of late, and both together are 200 ms, as far as it can be done.
static int64_t collecting_rest(collecting *c, int64_t begun)
{
    int64_t now = collecting_clock(CLOCK_MONOTONIC), took = now - begun;
    c->took_ns = took > c->took_ns - c->took_ns / 8 ? took : c->took_ns - c->took_ns / 8;
    int64_t rest = begun + collecting_commit_ns - c->took_ns - now;
    return rest > collecting_rest_ns ? rest : collecting_rest_ns;
}

static void *collecting_run(void *user)
{
    collecting *c = user;
    pthread_mutex_lock(&c->lock);
    while (!c->stop) {
        int64_t begun = collecting_clock(CLOCK_MONOTONIC);
        // One that stands by tells agents nothing: they would follow it.
        bool tells = !c->has_others || c->succession.collects;
        if (c->connected && tells) journal_tell_all(c->journal);
        c->connected &= !tells;
        bool good = collecting_commit(c);
        if (!c->stop && (!good || journal_waiting(c->journal) < COLLECTING_COMMIT))
            collecting_wait(c, good ? collecting_rest(c, begun) : collecting_retry_ns);
    }
    for (int i = 0; i < 2 && collecting_commit(c); i++) // what was put aside before, and what came after
        continue;
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

// ---- outside ----

int collecting_open_journal(collecting **out, const char *directory, uint64_t journal_bytes)
{
    char *why = NULL;
    pthread_condattr_t clock;
    uint64_t segment = journal_bytes / 8 < COLLECTING_SEGMENT ? journal_bytes / 8 : COLLECTING_SEGMENT;
    const journal_options o = {.directory = directory,
                               .segment_bytes = segment,
                               .waiting_bytes = COLLECTING_WAITING,
                               .credit = COLLECTING_CREDIT,
                               .wall_ns = collecting_clock(CLOCK_REALTIME)};
    journal *j = journal_open(&o, &why);
    if (!j) {
        int code = fail(EXIT_FILE, "%s", safe(why));
        free(why);
        return code;
    }
    if (journal_cut(j))
        warn("%s: %s at the end of the journal were not whole and are cut; the agents send them again", safe(directory),
             words_amount((double)journal_cut(j), "bytes").text);
    collecting *c = memory_calloc(1, sizeof *c);
    *c = (collecting){.directory = memory_strdup(directory),
                      .journal = j,
                      .journal_bytes = journal_bytes,
                      .began_ns = o.wall_ns,
                      .facts = {.journal_limit = journal_bytes}};
    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &clock);
    pthread_condattr_destroy(&clock);
    *out = c;
    return EXIT_DONE;
}

static bool collecting_listen_to_heads(collecting *c)
{
    char subject[128];
    snprintf(subject, sizeof subject, "np.%s.head", c->cluster);
    if (!bus_subscribe(c->bus, subject, collecting_on_head, c)) return false;
    snprintf(subject, sizeof subject, "np.%s.session.*", c->cluster);
    return bus_subscribe(c->bus, subject, collecting_on_session, c);
}

bool collecting_begin(collecting *c, const bus_options *options, const char *cluster, bool stands_by, char **why)
{
    char subject[128];
    const receiver_head *own = journal_head(c->journal);
    c->cluster = memory_strdup(cluster);
    c->has_others = stands_by;
    c->peers = (peers){.directory = c->directory, .cluster = c->cluster};
    succession_begin(&c->succession, own->id, own->epoch, collecting_clock(CLOCK_MONOTONIC));
    snprintf(subject, sizeof subject, "np.%s.data.*.*", cluster);
    bus_options o = *options;
    o.connected = collecting_on_connected;
    o.user_data = c;
    c->bus = bus_open(&o, why);
    if (!c->bus) return false;
    if ((stands_by && !collecting_listen_to_heads(c)) || !bus_subscribe(c->bus, subject, collecting_on_frame, c)) {
        *why = memory_strdup("cannot subscribe");
        return false;
    }
    int error = pthread_create(&c->thread, NULL, collecting_run, c);
    c->started = error == 0;
    if (error) *why = memory_strdup(strerror(error));
    return c->started;
}

bool collecting_hear(collecting *c, const char *what, bus_heard heard, void *user)
{
    char subject[128];
    snprintf(subject, sizeof subject, "np.%s.%s", c->cluster, what);
    return bus_subscribe(c->bus, subject, heard, user);
}

void collecting_tell(collecting *c, const char *what, const char *text)
{
    char *subject = memory_format("np.%s.%s", c->cluster, what);
    bus_publish(c->bus, subject, text, strlen(text));
    free(subject);
}

int64_t collecting_silence(collecting *c, const char *node)
{
    pthread_mutex_lock(&c->lock);
    int64_t heard = journal_heard(c->journal, node);
    pthread_mutex_unlock(&c->lock);
    // While no head was there, it is not the node that was silent.
    int64_t since = heard > c->began_ns ? heard : c->began_ns;
    return heard ? collecting_clock(CLOCK_REALTIME) - since : INT64_MAX;
}

// Takes over where nobody collects, and says that it does.
static void collecting_succeed(collecting *c, int64_t now)
{
    char subject[128];
    unsigned char said[SUCCESSION_SAID];
    bool up = bus_is_up(c->bus);
    pthread_mutex_lock(&c->lock);
    bool begins = succession_look(&c->succession, up, now), collects = c->succession.collects;
    if (begins) journal_raise(c->journal, c->succession.epoch);
    c->connected |= begins; // every node is told what is durable here, and of which epoch this head is
    bool news = collects == c->facts.stands_by;
    c->facts.stands_by = !collects;
    succession_say(&c->succession, said);
    pthread_mutex_unlock(&c->lock);
    if (news)
        warn("%s: %s", safe(c->directory),
             collects ? "this head collects" : "this head stands by, and takes over when no other one collects");
    if (collects && up && (begins || now >= c->say_at)) {
        snprintf(subject, sizeof subject, "np.%s.head", c->cluster);
        bus_publish(c->bus, subject, said, sizeof said);
        c->say_at = now + 1000000000;
    }
    peers_look(&c->peers, c->bus, now);
}

// Drops the oldest segments above the size that no session needs. They are read while frames are taken and committed.
static void collecting_shrink(collecting *c, int64_t now)
{
    uint64_t *surplus = NULL;
    if (now < c->shrink_at) return;
    pthread_mutex_lock(&c->lock);
    journal_surplus(c->journal, c->journal_bytes, &surplus);
    pthread_mutex_unlock(&c->lock);
    if (!surplus) return;
    c->shrink_at = now + 60000000000;
    size_t count = status_free_segments(c->directory, surplus);
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < count && journal_drop(c->journal, surplus[i]);)
        i++;
    pthread_mutex_unlock(&c->lock);
    arrfree(surplus);
}

void collecting_look(collecting *c)
{
    int64_t now = collecting_clock(CLOCK_MONOTONIC);
    if (c->has_others) collecting_succeed(c, now);
    if (now < c->status_at) return;
    c->status_at = now + collecting_status_ns;
    collecting_shrink(c, now);
    bool up = bus_is_up(c->bus);
    uint64_t dropped = bus_dropped(c->bus);
    pthread_mutex_lock(&c->lock);
    c->facts.up = up;
    c->facts.dropped = dropped;
    status_facts facts = c->facts;
    if (c->commit_begun_ns && now - c->commit_begun_ns > facts.commit_ns) facts.commit_ns = now - c->commit_begun_ns;
    c->facts.commit_ns = 0;
    status_copy_take(&c->seen, c->journal);
    pthread_mutex_unlock(&c->lock);
    char *text = status_text(&c->seen, &facts, collecting_clock(CLOCK_REALTIME));
    status_write(c->directory, text);
    free(text);
}

bool collecting_is_up(collecting *c)
{
    return bus_is_up(c->bus);
}

bool collecting_is_superseded(collecting *c)
{
    pthread_mutex_lock(&c->lock);
    bool is = c->superseded;
    pthread_mutex_unlock(&c->lock);
    return is;
}

void collecting_close(collecting *c)
{
    if (!c) return;
    pthread_mutex_lock(&c->lock);
    c->stop = true;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (c->started) pthread_join(c->thread, NULL);
    if (c->bus) {
        c->status_at = 0;
        collecting_look(c);
    }
    bus_close(c->bus);
    journal_close(c->journal);
    peers_free(&c->peers);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->changed);
    arrfree(c->messages);
    status_copy_free(&c->seen);
    free(c->directory);
    free(c->cluster);
    free(c);
}

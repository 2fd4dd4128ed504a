// Which program and which connection stand behind a finding about TCP: recordings tell of the sockets that sent the most
// again, or whose programs left the most unread (facts tcp_socket_1 and so on, see tools/sources/tcp/tcp_sockets.h).
#include "findings_making.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"
#include "analysis/base/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Of the time between the two readings. Texts are of the facts, and not ended.
typedef struct peer_socket {
    uint64_t cookie, again, unread;
    long pid; // 0: not known
    bool ended;
    const char *command, *local, *remote, *uid;
} peer_socket;

// ---- facts ----

// The word behind " KEY="; NULL: there is none. That of a command goes to the end.
static const char *findings_socket_word(const char *text, const char *key)
{
    size_t n = strlen(key);
    for (const char *at = text; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, key, n) == 0 && at[n] == '=') return at + n + 1;
        if (strncmp(at, "command=", 8) == 0) return NULL; // hostile words may be in it
    }
    return NULL;
}

static uint64_t findings_socket_number(const char *text, const char *key, int base)
{
    const char *word = findings_socket_word(text, key);
    return word ? strtoull(word, NULL, base) : 0;
}

static const char *findings_socket_fact(const difference *d, const char *begin, size_t number)
{
    char key[64];
    if (number)
        snprintf(key, sizeof key, "%stcp_socket_%zu", begin, number);
    else
        snprintf(key, sizeof key, "%stcp_sockets", begin);
    return netprof_fact_of(d->run_facts, d->run_fact_count, key);
}

static peer_socket findings_parse_socket(const char *text)
{
    return (peer_socket){.cookie = findings_socket_number(text, "cookie", 16),
                         .again = findings_socket_number(text, "retransmitted", 10),
                         .unread = findings_socket_number(text, "unread", 10),
                         .pid = (long)findings_socket_number(text, "pid", 10),
                         .ended = findings_socket_number(text, "ended", 10) != 0,
                         .command = findings_socket_word(text, "command"),
                         .local = findings_socket_word(text, "local"),
                         .remote = findings_socket_word(text, "remote"),
                         .uid = findings_socket_word(text, "uid")};
}

static const char *findings_socket_at_begin(const difference *d, uint64_t cookie)
{
    const char *text;
    for (size_t i = 1; (text = findings_socket_fact(d, DIFFERENCE_AT_BEGIN, i)); i++)
        if (findings_socket_number(text, "cookie", 16) == cookie) return text;
    return NULL;
}

// Two snapshots in two files: each tells of its sockets since they were opened. Where the first did not tell of all that
// had sent something again, what is not in it is not known. False: leave it out.
static bool findings_socket_subtract(const difference *d, peer_socket *x)
{
    const char *all = findings_socket_fact(d, DIFFERENCE_AT_BEGIN, 0), *before;
    if (!all) return false;
    if ((before = findings_socket_at_begin(d, x->cookie))) {
        uint64_t again = findings_socket_number(before, "retransmitted", 10);
        x->again -= again < x->again ? again : x->again;
        return true;
    }
    uint64_t worth = findings_socket_number(all, "worth", 10);
    return worth == 0 || findings_socket_fact(d, DIFFERENCE_AT_BEGIN, worth) != NULL;
}

static peer_socket *findings_read_sockets(const difference *d)
{
    const char *all = findings_socket_fact(d, "", 0), *text;
    const char *since = all ? findings_socket_word(all, "since") : NULL;
    bool of_recording = since && strncmp(since, "recording", 9) == 0;
    peer_socket *list = NULL;
    for (size_t i = 1; all && (text = findings_socket_fact(d, "", i)); i++) {
        peer_socket x = findings_parse_socket(text);
        if (x.local && x.remote && (of_recording || findings_socket_subtract(d, &x))) arrput(list, x);
    }
    return list;
}

// ---- the words ----

static int findings_word_length(const char *word)
{
    return word ? (int)strcspn(word, " ") : 0;
}

// "iperf3 (process 4123)", "a program of user 1001 that may not be looked at", "a program that had ended".
static void findings_append_owner(finding *x, const peer_socket *s)
{
    if (s->pid)
        text_append(&x->claim, "%.60s (process %ld)", s->command ? s->command : "?", s->pid);
    else if (s->ended)
        text_append(&x->claim, "a program that had ended before it was looked for");
    else if (findings_word_length(s->uid))
        text_append(&x->claim, "a program of user %.*s that may not be looked at", findings_word_length(s->uid),
                    s->uid);
    else
        text_append(&x->claim, "a program that may not be looked at");
}

static void findings_append_connection(finding *x, const peer_socket *s)
{
    text_append(&x->claim, ", %.*s to %.*s", findings_word_length(s->local), s->local, findings_word_length(s->remote),
                s->remote);
}

// Connections of one process; of those whose process is not known each is for itself.
static uint64_t findings_of_same(const peer_socket *list, size_t of, size_t *count)
{
    uint64_t sum = 0;
    *count = 0;
    for (size_t i = 0; i < arrlenu(list); i++) {
        if (i != of && (!list[of].pid || list[i].pid != list[of].pid)) continue;
        sum += list[i].again;
        *count += list[i].again > 0;
    }
    return sum;
}

static uint64_t findings_repeats_of_node(const difference *d)
{
    size_t i = netprof_find(d->delta->schema, "ip", "Tcp", "RetransSegs");
    return i == NETPROF_NONE || !d->rows[i].compared ? 0 : d->rows[i].magnitude;
}

// "; 812 of the 840 segments sent again were of iperf3 (process 4123), 10.0.0.1:5201 to 10.0.0.2:38472".
static void findings_append_senders(const difference *d, finding *x, const peer_socket *list)
{
    uint64_t all = findings_repeats_of_node(d), most = 0, sum = 0;
    size_t best = 0, of = 0, count;
    for (size_t i = 0; i < arrlenu(list); i++) {
        uint64_t own = findings_of_same(list, i, &count);
        sum += list[i].again;
        if (own <= most) continue;
        most = own;
        best = i;
    }
    if (!most) return;
    if (all < sum) all = sum;                  // looked at a little later
    for (size_t i = 0; i < arrlenu(list); i++) // the one of them with the most
        if (i != best && list[best].pid && list[i].pid == list[best].pid && list[i].again > list[best].again) best = i;
    findings_of_same(list, best, &of);
    if (most == all)
        text_append(&x->claim, most > 1 ? "; all %s segments sent again were of " : "; the segment sent again was of ",
                    words_exact(most).text);
    else
        text_append(&x->claim, "; %s of the %s segments sent again%s of ", words_exact(most).text,
                    words_exact(all).text, most * 2 > all ? " were" : ", the most, were");
    findings_append_owner(x, &list[best]);
    findings_append_connection(x, &list[best]);
    if (of > 1) text_append(&x->claim, " and %s", words_many(of - 1, "other connection").text);
}

// Less than this waits in a socket whose program reads in time, too (our own, as in tools/sources/tcp/tcp_sockets.c).
#define FINDINGS_UNREAD_LEAST 65536

// "; the most unread, 6.2 MB, was left by nginx (process 812), 10.0.0.1:80 to 10.0.0.2:38472".
static void findings_append_readers(finding *x, const peer_socket *list)
{
    size_t best = 0;
    for (size_t i = 0; i < arrlenu(list); i++)
        if (list[i].unread > list[best].unread) best = i;
    if (!list || list[best].unread < FINDINGS_UNREAD_LEAST) return;
    text_append(&x->claim, "; the most unread, %s, was left by ",
                words_amount((double)list[best].unread, "bytes").text);
    findings_append_owner(x, &list[best]);
    findings_append_connection(x, &list[best]);
}

void findings_append_sockets(findings_making *m, finding *x)
{
    static const char senders[] = "tcp-retrans-ratio,tcp-rto,tcp-lost-retransmit,tcp-spurious,tcp-host-queue",
                      readers[] = "tcp-zero-window,tcp-rcv-prune,tcp-rcv-collapse,tcp-backlog-drop";
    bool sends = findings_names_rule(senders, x->rule->name), reads = findings_names_rule(readers, x->rule->name);
    if (!sends && !reads) return;
    peer_socket *list = findings_read_sockets(m->f->d);
    if (sends) findings_append_senders(m->f->d, x, list);
    if (reads) findings_append_readers(x, list);
    arrfree(list);
}

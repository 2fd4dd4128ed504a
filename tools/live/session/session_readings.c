#include "session_readings.h"

#include "analysis/base/words.h"
#include "analysis/data/dataset_filter.h"

#include <stdlib.h>
#include <string.h>

typedef struct session_readings {
    const session *session;
    const session_readings_visitor *to;
    dataset_filtering *filtering; // NULL: all counters
    netprof_snapshot small;
    int64_t place; // of the last one that was taken, in intervals
    bool any;
} session_readings;

// At most one in each interval, at the same instants on all nodes.
static bool session_readings_take(session_readings *r, int64_t wall_ns)
{
    if (!r->session->interval_ns) return true;
    int64_t place = wall_ns / r->session->interval_ns;
    if (r->any && place == r->place) return false;
    r->place = place;
    r->any = true;
    return true;
}

static void session_readings_snapshot(void *user, const netprof_snapshot *s)
{
    session_readings *r = user;
    if (!session_readings_take(r, s->wall_ns)) return;
    if (!r->filtering)
        r->to->snapshot(r->to->user, s);
    else if (dataset_filtering_snapshot(r->filtering, &r->small, s))
        r->to->snapshot(r->to->user, &r->small);
}

static void session_readings_fact(void *user, const char *key, const char *value)
{
    const session_readings *r = user;
    const words_text own = words_integer(r->session->interval_ns);
    // What is left out on purpose is not missing.
    if (strcmp(key, "interval_ns") == 0 && strtod(value, NULL) < (double)r->session->interval_ns) value = own.text;
    if (r->to->fact) r->to->fact(r->to->user, key, value);
}

uint64_t session_readings_visit(journal_index *x, size_t stream, const session *s, int64_t now_ns,
                                const session_readings_visitor *v)
{
    const dataset_filter f = {.include = s->include, .exclude = s->exclude, .sources = s->sources, .fast = s->fast};
    session_readings r = {.session = s, .to = v};
    const journal_visitor own = {.snapshot = session_readings_snapshot, .fact = session_readings_fact, .user = &r};
    if (s->include || s->exclude || s->sources || s->fast) r.filtering = dataset_filtering_open(&f);
    uint64_t unread = journal_snapshots_visit(x, stream, s->start_ns, s->stop_ns ? s->stop_ns : now_ns, &own);
    netprof_snapshot_free(&r.small);
    dataset_filtering_close(r.filtering);
    return unread;
}

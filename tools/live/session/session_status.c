#include "session_status.h"

#include "cli/output.h"
#include "live/spool/spool_model.h"

#include "analysis/base/json_values.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { SESSION_STATUS_MOST = 256 << 20 };
static const int64_t session_silent_ns = 30000000000;

bool session_head_runs(const char *directory)
{
    char *path = memory_format("%s/lock", directory);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool runs = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
    if (fd >= 0) close(fd); // with it the lock
    free(path);
    return runs;
}

static uint64_t session_member(json_object *o, const char *key)
{
    json_object *v;
    return json_object_object_get_ex(o, key, &v) ? json_object_get_uint64(v) : 0;
}

static const char *session_member_text(json_object *o, const char *key)
{
    json_object *v;
    const char *text = json_object_object_get_ex(o, key, &v) ? json_object_get_string(v) : NULL;
    return text ? text : "";
}

static json_object *session_read_status(const char *directory)
{
    char *path = memory_format("%s/status.json", directory);
    json_object *o = NULL;
    FILE *f = fopen(path, "re");
    if (f) {
        json_tokener *tokener = json_new_tokener(8);
        char piece[65536];
        size_t n, all = 0;
        while ((n = fread(piece, 1, sizeof piece, f)) > 0 && !o && (all += n) < SESSION_STATUS_MOST)
            o = json_feed_tokener(tokener, piece, (int)n);
        json_tokener_free(tokener);
        fclose(f);
    }
    free(path);
    if (o && !json_object_is_type(o, json_type_object)) {
        json_object_put(o);
        o = NULL;
    }
    return o;
}

static uint64_t session_missing(json_object *node)
{
    json_object *missing;
    uint64_t sum = 0;
    if (!json_object_object_get_ex(node, "missing_ticks", &missing)) return 0;
    for (unsigned i = 0; i < SPOOL_REASONS; i++) // numbers passed over, and what another head has, are not lost
        if (i != SPOOL_RESTARTED && i != SPOOL_ELSEWHERE) sum += session_member(missing, spool_reason_name(i));
    return sum;
}

// For how long nothing was heard; -1: not since the head was started.
static int64_t session_silence(json_object *node)
{
    json_object *v;
    return json_object_object_get_ex(node, "silent_ns", &v) && v ? json_object_get_int64(v) : -1;
}

// A node, in the order of the file. It has a row for each spool that it ever had.
typedef struct session_seen {
    char *key;
    struct session_seen_node {
        json_object *row; // of the spool that was heard from last
        uint64_t lost;    // of all
        int64_t since_ns; // the head counts what is lost from then on; 0: it has not heard of the node
    } value;
} session_seen;

static session_seen *session_gather(json_object *nodes)
{
    session_seen *seen = NULL;
    sh_new_strdup(seen);
    for (size_t i = 0; i < json_object_array_length(nodes); i++) {
        json_object *row = json_object_array_get_idx(nodes, i);
        const char *name = session_member_text(row, "node");
        ptrdiff_t at = shgeti(seen, name);
        if (at < 0) {
            shput(seen, name, ((struct session_seen_node){.row = row}));
            at = shgeti(seen, name);
        }
        int64_t silent = session_silence(row), before = session_silence(seen[at].value.row);
        if (silent >= 0 && (before < 0 || silent < before)) seen[at].value.row = row;
        seen[at].value.lost += session_missing(row);
        int64_t since_ns = (int64_t)session_member(row, "missing_since_ns");
        if (since_ns > 0 && (!seen[at].value.since_ns || since_ns < seen[at].value.since_ns))
            seen[at].value.since_ns = since_ns;
    }
    return seen;
}

// "812 ticks behind, 0 lost"
static bool session_print_node(table *t, const session_seen *seen, int64_t age_ns)
{
    json_object *node = seen->value.row;
    int64_t heard = session_silence(node), silent = heard + age_ns,
            last = (int64_t)session_member(node, "last_tick_ns");
    uint64_t behind = session_member(node, "behind_ticks"), lost = seen->value.lost;
    bool is_silent = heard < 0 || silent > session_silent_ns;
    table_cell(t, PLAIN, seen->key);
    table_cell(t, is_silent ? ALARM : PLAIN, is_silent ? "silent" : behind > 20 ? "catching up" : "ok");
    if (heard < 0)
        table_cell(t, PLAIN, "not since the head started");
    else
        table_printf(t, PLAIN, "%s ago", words_duration((double)silent / 1e9).text);
    table_cell(t, PLAIN, words_many(behind, "tick|ticks").text);
    table_cell(t, lost ? WARNING : PLAIN, words_many(lost, "tick|ticks").text);
    table_cell(t, PLAIN, seen->value.since_ns > 0 ? words_time(seen->value.since_ns).text : "");
    table_cell(t, PLAIN, last > 0 ? words_time(last).text : "");
    return is_silent;
}

static bool session_print_status(json_object *o, bool runs, int64_t now_ns)
{
    static const column columns[] = {{"node", 0},
                                     {"state", 0},
                                     {"heard from", COLUMN_RIGHT},
                                     {"behind", COLUMN_RIGHT},
                                     {"lost", COLUMN_RIGHT},
                                     {"since", 0},
                                     {"last reading", 0}};
    json_object *nodes;
    int64_t age = runs ? 0 : now_ns - (int64_t)session_member(o, "wall_ns");
    bool bad = !runs;
    if (!runs)
        printf("No head runs here; this is what the last one saw at %s.\n",
               words_time((int64_t)session_member(o, "wall_ns")).text);
    else if (!session_member(o, "connected"))
        printf("The head does not reach its NATS server.\n");
    uint64_t turned_away = session_member(o, "turned_away");
    if (runs && turned_away)
        printf("%s turned away since the head started: its disk took nothing, or a node has had too many spools. The "
               "agents keep what they hold.\n",
               words_many(turned_away, "message was|messages were").text);
    uint64_t malformed = session_member(o, "malformed");
    if (runs && malformed)
        printf("%s refused since the head started: of another node than the sender, damaged, or no message of an "
               "agent.\n",
               words_many(malformed, "message was|messages were").text);
    const char *disk = session_member_text(o, "disk_error");
    if (runs && disk && *disk)
        printf("The head's disk takes nothing since %s: %s.\n",
               words_time((int64_t)session_member(o, "disk_since_ns")).text, safe(disk));
    if (!json_object_object_get_ex(o, "nodes", &nodes) || !json_object_is_type(nodes, json_type_array)) return bad;
    session_seen *seen = session_gather(nodes);
    printf("%s, journal of %s\n", words_many(shlenu(seen), "node|nodes").text,
           words_amount((double)session_member(o, "journal_bytes"), "bytes").text);
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < shlenu(seen); i++)
        bad |= session_print_node(t, &seen[i], age);
    table_end(t, stdout, 0);
    shfree(seen);
    return bad;
}

int session_status(const char *directory, int64_t now_ns)
{
    json_object *o = session_read_status(directory);
    bool runs = session_head_runs(directory);
    if (!o) return fail_file(EXIT_FILE, directory, "no head has written what it sees here");
    bool bad = session_print_status(o, runs, now_ns);
    json_object_put(o);
    return bad ? EXIT_WORTH_FAILING : EXIT_DONE;
}

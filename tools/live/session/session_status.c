#include "session_status.h"

#include "cli/output.h"
#include "live/journal/status_file.h"

#include "analysis/base/json_values.h"
#include "analysis/base/stb_ds.h"

#include <string.h>

static const int64_t session_silent_ns = 30000000000, session_late_ns = 10000000000; // a head writes every 2 s

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
        const char *name = status_file_text(row, "node");
        ptrdiff_t at = shgeti(seen, name);
        if (at < 0) {
            shput(seen, name, ((struct session_seen_node){.row = row}));
            at = shgeti(seen, name);
        }
        int64_t silent = status_file_silence(row), before = status_file_silence(seen[at].value.row);
        if (silent >= 0 && (before < 0 || silent < before)) seen[at].value.row = row;
        seen[at].value.lost += status_file_missing(row);
        int64_t since_ns = (int64_t)status_file_number(row, "missing_since_ns");
        if (since_ns > 0 && (!seen[at].value.since_ns || since_ns < seen[at].value.since_ns))
            seen[at].value.since_ns = since_ns;
    }
    return seen;
}

// "812 ticks behind, 0 lost"
static bool session_print_node(table *t, const session_seen *seen, int64_t age_ns)
{
    json_object *node = seen->value.row;
    int64_t heard = status_file_silence(node), silent = heard + age_ns,
            last = (int64_t)status_file_number(node, "last_tick_ns");
    uint64_t behind = status_file_number(node, "behind_ticks"), lost = seen->value.lost;
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

// For how long nothing more is known of the nodes: no head runs, or the one that does cannot write what it sees.
static int64_t session_age(json_object *o, bool runs, int64_t now_ns)
{
    int64_t age = now_ns - (int64_t)status_file_number(o, "wall_ns");
    return age < 0 || (runs && age <= session_late_ns) ? 0 : age;
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
    int64_t age = session_age(o, runs, now_ns);
    bool bad = !runs;
    if (runs && age)
        printf("The head has written nothing of its nodes for %s: its disk may be full. This is what it saw then.\n",
               words_duration((double)age / 1e9).text);
    if (!runs)
        printf("No head runs here; this is what the last one saw at %s.\n",
               words_time((int64_t)status_file_number(o, "wall_ns")).text);
    else if (!status_file_number(o, "connected"))
        printf("The head does not reach its NATS server.\n");
    bool stands_by = runs && status_file_number(o, "stands_by");
    if (stands_by) printf("This head stands by: another one collects. What follows is what this one has seen.\n");
    uint64_t turned_away = status_file_number(o, "turned_away");
    if (runs && turned_away)
        printf("%s turned away since the head started: its disk took nothing, or a node has had too many spools. The "
               "agents keep what they hold.\n",
               words_many(turned_away, "message was|messages were").text);
    uint64_t malformed = status_file_number(o, "malformed");
    if (runs && malformed)
        printf("%s refused since the head started: of another node than the sender, damaged, or no message of an "
               "agent.\n",
               words_many(malformed, "message was|messages were").text);
    const char *disk = status_file_text(o, "disk_error");
    if (runs && disk && *disk)
        printf("The head's disk takes nothing since %s: %s.\n",
               words_time((int64_t)status_file_number(o, "disk_since_ns")).text, safe(disk));
    if (!json_object_object_get_ex(o, "nodes", &nodes) || !json_object_is_type(nodes, json_type_array)) return bad;
    session_seen *seen = session_gather(nodes);
    printf("%s, journal of %s\n", words_many(shlenu(seen), "node|nodes").text,
           words_amount((double)status_file_number(o, "journal_bytes"), "bytes").text);
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < shlenu(seen); i++)
        bad |= session_print_node(t, &seen[i], age);
    table_end(t, stdout, 0);
    shfree(seen);
    return bad && !stands_by;
}

static json_object *session_seen_json(const session_seen *seen, int64_t age_ns, bool *silent)
{
    json_object *o = json_new_object(), *node = seen->value.row;
    int64_t heard = status_file_silence(node), last = (int64_t)status_file_number(node, "last_tick_ns");
    uint64_t behind = status_file_number(node, "behind_ticks");
    bool is_silent = heard < 0 || heard + age_ns > session_silent_ns;
    json_put_text(o, "host", seen->key);
    json_put_text(o, "state", is_silent ? "silent" : behind > 20 ? "catching up" : "ok");
    json_put(o, "silent_ns", heard >= 0 ? json_new_int64(heard + age_ns) : NULL);
    json_put_exact(o, "behind_ticks", behind);
    json_put_exact(o, "lost_ticks", seen->value.lost);
    json_put(o, "begin_ns", seen->value.since_ns > 0 ? json_new_int64(seen->value.since_ns) : NULL);
    json_put(o, "last_tick_ns", last > 0 ? json_new_int64(last) : NULL);
    *silent |= is_silent;
    return o;
}

static bool session_status_json(json_object *of, bool runs, int64_t now_ns)
{
    json_object *o = json_document("live-hosts"), *hosts = json_new_array(), *nodes;
    int64_t age = session_age(of, runs, now_ns);
    bool bad = !runs, stands_by = runs && status_file_number(of, "stands_by");
    json_put(o, "wall_ns", json_new_int64((int64_t)status_file_number(of, "wall_ns")));
    json_put(o, "head_runs", json_new_boolean(runs));
    json_put(o, "server_reached", json_new_boolean(status_file_number(of, "connected") != 0));
    json_put_exact(o, "journal_bytes", status_file_number(of, "journal_bytes"));
    json_put_exact(o, "turned_away_count", status_file_number(of, "turned_away"));
    const char *disk = status_file_text(of, "disk_error");
    json_put(o, "disk_error", disk && *disk ? json_text_value(disk) : NULL);
    if (json_object_object_get_ex(of, "nodes", &nodes) && json_object_is_type(nodes, json_type_array)) {
        session_seen *seen = session_gather(nodes);
        for (size_t i = 0; i < shlenu(seen); i++)
            json_append(hosts, session_seen_json(&seen[i], age, &bad));
        shfree(seen);
    }
    json_put(o, "hosts", hosts);
    json_print(stdout, o);
    return bad && !stands_by;
}

int session_status(const char *directory, int64_t now_ns, bool as_json)
{
    json_object *o = status_file_read(directory);
    bool runs = status_file_head_runs(directory);
    if (!o) return fail_file(EXIT_FILE, directory, "no head has written what it sees here");
    bool bad = as_json ? session_status_json(o, runs, now_ns) : session_print_status(o, runs, now_ns);
    json_object_put(o);
    return bad ? EXIT_WORTH_FAILING : EXIT_DONE;
}

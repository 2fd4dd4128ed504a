// net_prof's raw text: the telemetry files of a node one after another, a line each, NIC after NIC, in the
// order of `ls`. A line's counter is known by its position alone; interface n is cxi(n-1).
#include "dataset_net_prof.h"

#include "analysis/base/index_map.h"
#include "analysis/catalog/catalog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_PER_COUNTER = 64 }; // of schema and snapshot, about

typedef struct names {
    const char **name;
    size_t count;
    const char *origin; // for messages
    char *text;         // of a names file
} names;

static void names_add(names *list, const char *name)
{
    arrput(list->name, name);
    list->count = arrlenu(list->name);
}

static void names_free(names *list)
{
    arrfree(list->name);
    free(list->text);
    *list = (names){0};
}

// ---- the names of the counters ----

// The last word of a line, which is changed; NULL in an empty line.
static char *names_last_word(char *line)
{
    size_t end = strlen(line);
    while (end && strchr(" \t\r", line[end - 1]))
        line[--end] = 0;
    char *word = strrchr(line, ' ');
    word = word ? word + 1 : line;
    return *word ? word : NULL;
}

// Takes the last word of each line, as in the output of ls -l.
static netprof_err names_from_file(dataset_input *in, names *list)
{
    dataset_input file = *in;
    index_map *seen = NULL;
    size_t size;
    uint64_t number = 0;
    file.path = list->origin = in->options->names;
    netprof_err err = dataset_slurp(&file, file.path, &list->text, &size);
    for (char *line = list->text, *next; !err && line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        number++;
        char *word = names_last_word(line);
        if (!word) continue;
        if (index_map_put(&seen, map_key_of_name(0, word), list->count) != list->count)
            err = dataset_fail(&file, NETPROF_ERR_PARSE, number, "the name %.60s is there twice", word);
        else
            names_add(list, word);
    }
    hmfree(seen);
    if (!err && !list->count) err = dataset_fail(&file, NETPROF_ERR_PARSE, 0, "expected a counter name on each line");
    return err;
}

static int names_by_order(const void *a, const void *b)
{
    return catalog_name_compare(*(const char *const *)a, *(const char *const *)b);
}

static void names_of_cassini_1(names *list)
{
    size_t count;
    const char *const *first = catalog_cassini_1_names(&count);
    list->origin = "Cassini-1";
    for (size_t i = 0; i < count; i++)
        names_add(list, first[i]);
}

// All counters of the driver: Cassini-1's and those that Cassini-2 adds, in the same order.
static void names_of_cassini_2(names *list)
{
    const catalog_entry *e;
    names_of_cassini_1(list);
    list->origin = "Cassini-2";
    for (size_t i = 0; (e = catalog_at(i)); i++)
        if (e->marks & CATALOG_CASSINI_2) names_add(list, e->name);
    qsort(list->name, list->count, sizeof *list->name, names_by_order);
}

static netprof_err names_choose(dataset_input *in, size_t lines, names *list)
{
    if (in->options->names) return names_from_file(in, list);
    names_of_cassini_2(list);
    if (lines % list->count == 0) return NETPROF_OK;
    names_free(list);
    names_of_cassini_1(list);
    return NETPROF_OK;
}

// ---- lines ----

// "value@seconds.nanoseconds", with nine decimals as the driver writes them: a cut line is not
// mistaken for a whole one.
static bool text_parse_digits(const char **at, const char *end, uint64_t *value)
{
    const char *from = *at;
    uint64_t v = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        uint64_t digit = (uint64_t)(**at - '0');
        if (v > (UINT64_MAX - digit) / 10) return false;
        v = 10 * v + digit;
    }
    *value = v;
    return *at > from;
}

static bool text_parse_line(const char *at, const char *end, uint64_t *value, int64_t *stamp_ns)
{
    uint64_t seconds, fraction;
    if (!text_parse_digits(&at, end, value) || at == end || *at++ != '@') return false;
    if (!text_parse_digits(&at, end, &seconds) || at == end || *at++ != '.' || end - at != 9) return false;
    if (!text_parse_digits(&at, end, &fraction) || at != end || seconds > INT64_MAX / 1000000000 - 1) return false;
    *stamp_ns = (int64_t)(seconds * 1000000000 + fraction);
    return true;
}

// The end of the line at `at`, without its carriage return; *next is where the next one begins.
static const char *text_line_end(const char *at, const char *end, const char **next)
{
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    *next = stop ? stop + 1 : end;
    if (!stop) stop = end;
    return stop > at && stop[-1] == '\r' ? stop - 1 : stop;
}

static size_t text_count_lines(const char *at, const char *end)
{
    size_t lines = 0;
    for (; at < end; lines++)
        text_line_end(at, end, &at);
    return lines;
}

static const char *text_trim_end(const char *from, const char *end)
{
    while (end > from && strchr("\r\n \t", end[-1]) && end[-1])
        end--;
    return end;
}

// ---- the snapshot ----

static netprof_err text_make_schema(dataset_input *in, const names *list, size_t devices, const netprof_schema **schema)
{
    netprof_counter *counters = memory_array(NULL, list->count, sizeof *counters);
    netprof_list *build = memory_check(netprof_build_begin(in->error));
    for (size_t i = 0; i < list->count; i++)
        counters[i] = dataset_cassini_counter(list->name[i]);
    netprof_build_source(build, "cxi");
    for (size_t d = 0; d < devices; d++) {
        char name[32];
        snprintf(name, sizeof name, "cxi%zu", d);
        netprof_list_device(build, name, 0, NETPROF_DEVICE_PHYSICAL);
        for (size_t i = 0; i < list->count; i++)
            netprof_list_counter(build, &counters[i]);
    }
    free(counters);
    return netprof_build_end(build, schema, in->error);
}

static void text_read_lines(dataset_input *in, const char *at, const char *end, netprof_snapshot *snapshot)
{
    const netprof_schema *schema = snapshot->schema;
    size_t i = 0;
    for (const char *next; at < end; at = next, i++) {
        const char *stop = text_line_end(at, end, &next);
        if (text_parse_line(at, stop, &snapshot->values[i], &snapshot->stamps_ns[i])) {
            snapshot->status[i] = NETPROF_STATUS_OK;
            continue;
        }
        snapshot->values[i] = 0;
        snapshot->status[i] = NETPROF_STATUS_UNREADABLE;
        snapshot->errnos[i] = EBADMSG;
        snapshot->not_ok++;
        in->run.complete = false;
        dataset_warn(in, i + 1, 0, "expected value@seconds.nanoseconds for %s of %s", schema->counters[i].name,
                     schema->devices[schema->counters[i].device].name);
    }
    for (; i < schema->counter_count; i++) {
        snapshot->status[i] = NETPROF_STATUS_ABSENT;
        snapshot->not_ok++;
    }
}

static void text_warn_of_partial(dataset_input *in, const names *list, size_t lines)
{
    size_t whole = lines / list->count, more = lines % list->count;
    if (!more) return;
    in->run.complete = false;
    dataset_warn(in, lines, 0,
                 "%zu lines: expected a multiple of %zu, one for each name of %s; there are %zu whole NICs and "
                 "%zu lines of one more",
                 lines, list->count, list->origin, whole, more);
}

netprof_err dataset_read_net_prof_text(dataset_input *in)
{
    const char *at = in->data, *end = text_trim_end(at, at + in->size);
    while (at < end && strchr(" \t\r\n", *at))
        at++;
    size_t lines = text_count_lines(at, end);
    names list = {0};
    const netprof_schema *schema = NULL;
    netprof_snapshot snapshot = NETPROF_ZERO;
    in->run.complete = true;
    if (lines > in->room / BYTES_PER_COUNTER)
        return dataset_fail(in, NETPROF_ERR_LIMIT, lines, "more lines than the allowed memory holds");
    netprof_err err = names_choose(in, lines, &list);
    if (!err) err = text_make_schema(in, &list, (lines + list.count - 1) / list.count, &schema);
    if (!err) err = netprof_snapshot_make(&snapshot, schema, in->error);
    netprof_schema_release(schema);
    if (!err) {
        text_warn_of_partial(in, &list, lines);
        text_read_lines(in, at, end, &snapshot);
        dataset_times_from_stamps(&snapshot);
        err = dataset_add_snapshot(in, &snapshot);
        netprof_snapshot_free(&snapshot);
    }
    names_free(&list);
    return err;
}

// ---- counters and times, for net_prof's JSON as well ----

netprof_counter dataset_cassini_counter(const char *name)
{
    netprof_counter counter = {.name = name, .unit = "", .width = 56, .flags = NETPROF_STAMPED};
    const catalog_entry *entry = catalog_find("cxi", name);
    if (!entry) return counter;
    counter.unit = entry->unit;
    counter.kind = entry->kind;
    counter.width = entry->width;
    if (entry->marks & CATALOG_FAST) counter.flags |= NETPROF_FAST;
    return counter;
}

static void cassini_widen(int64_t stamp, int64_t *first, int64_t *last)
{
    if (!stamp) return;
    if (!*first || stamp < *first) *first = stamp;
    if (stamp > *last) *last = stamp;
}

void dataset_times_from_stamps(netprof_snapshot *snapshot)
{
    const netprof_schema *schema = snapshot->schema;
    for (size_t i = 0; i < schema->counter_count; i++) {
        size_t d = schema->counters[i].device;
        if (snapshot->status[i] != NETPROF_STATUS_OK) continue;
        cassini_widen(snapshot->stamps_ns[i], &snapshot->device_begin_ns[d], &snapshot->device_end_ns[d]);
        cassini_widen(snapshot->stamps_ns[i], &snapshot->begin_ns, &snapshot->end_ns);
    }
    snapshot->wall_ns = snapshot->begin_ns;
}

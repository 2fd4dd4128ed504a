// netprof list: sources, devices with their facts, counters; what cannot be read and why.
#include "analysis/base/memory.h"
#include "analysis/catalog/catalog.h"
#include "commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "measure/node_options.h"
#include "measure/record.h"
#include "commands/print/interval_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int want_sources, want_devices, want_counters, as_csv, as_json, wanted;
static char *every_text;
static bool chosen_only; // patterns were given: devices of which none matches are left out

static const struct poptOption options[] = {
    {"devices", 'd', POPT_ARG_NONE, &want_devices, 0, "devices with all their facts", NULL},
    {"counters", 'c', POPT_ARG_NONE, &want_counters, 0, "counters with value, unit, kind and meaning", NULL},
    {"every", 0, POPT_ARG_STRING, &every_text, 0,
     "what passed each interface, interval after interval, as sar -n DEV: 1s, 500ms", "TIME"},
    {"count", 'n', POPT_ARG_INT, &wanted, 0, "with --every: end after so many intervals", "N"},
    {"json", 0, POPT_ARG_NONE, &as_json, 0, "as JSON (--every: a line for each interval)", NULL},
    {"csv", 0, POPT_ARG_NONE, &as_csv, 0, "as CSV: the sources, devices or counters, or the intervals", NULL},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)reading_options, 0, NULL, NULL},
    POPT_TABLEEND,
};

// One reading of everything, and how much of each device had no value.
typedef struct node {
    const netprof_schema *schema;
    netprof_snapshot snapshot;
    size_t *unreadable; // by device
    size_t *fast;
} node;

static const char *cmd_list_or_empty(const char *text)
{
    return text ? text : "";
}

static const char *cmd_list_node_fact(const node *n, const char *key)
{
    return netprof_fact_of(n->schema->facts, n->schema->fact_count, key);
}

static bool cmd_list_has_value(const node *n, size_t i)
{
    return n->snapshot.status[i] == NETPROF_STATUS_OK || n->snapshot.status[i] == NETPROF_STATUS_SATURATED;
}

static bool cmd_list_is_shown(const node *n, size_t device)
{
    return n->schema->devices[device].count || !chosen_only;
}

// ---- columns of the device overview: the first fact that exists ----

static const struct {
    const char *title, *key;
    const char *facts[4];
} device_columns[] = {
    {"LINK", "link", {"link", "operstate", "state"}},
    {"SPEED", "speed", {"speed_mbps", "rate", "port_speed"}},
    {"NUMA", "numa_node", {"numa_node"}},
    {"BUS", "bus", {"pci", "bus", "bus_info"}},
    {"NETDEV", "netdev", {"netdev"}},
    {"DRIVER", "driver", {"driver", "driver_rev"}},
    {"MASTER", "master", {"master"}},
};
enum { DEVICE_COLUMNS = sizeof device_columns / sizeof *device_columns };

static const char *cmd_list_device_column(const netprof_device *d, size_t c)
{
    for (const char *const *key = device_columns[c].facts; *key; key++) {
        const char *value = netprof_fact_of(d->facts, d->fact_count, *key);
        if (value && strcmp(value, "-1") != 0) return value; // no NUMA node, no speed
    }
    return NULL;
}

// "200000" (Mbit/s) as "200 Gb/s"; other texts as they are.
static const char *cmd_list_speed_text(const char *value)
{
    char *end;
    double mbps = value ? strtod(value, &end) : 0;
    if (!value || *end || mbps <= 0) return value;
    return safe(words_link_speed(mbps * 1e6).text);
}

static const char *cmd_list_device_type(const netprof_device *d)
{
    return d->flags & NETPROF_DEVICE_PHYSICAL ? "physical" : d->flags & NETPROF_DEVICE_VIRTUAL ? "virtual" : "";
}

// ---- text ----

static void cmd_list_source_counts(const netprof_schema *schema, const char *source, size_t *devices, size_t *counters)
{
    *devices = *counters = 0;
    for (size_t i = 0; i < schema->device_count; i++) {
        if (strcmp(schema->devices[i].source, source) != 0) continue;
        ++*devices;
        *counters += schema->devices[i].count;
    }
}

static void cmd_list_text_sources(const node *n)
{
    static const column columns[] = {
        {"SOURCE", 0}, {"STATE", 0}, {"DEVICES", COLUMN_RIGHT}, {"COUNTERS", COLUMN_RIGHT}, {"WHERE", 0}};
    table *t = table_begin(columns, 5);
    for (size_t i = 0; i < n->schema->source_count; i++) {
        const netprof_source_state *s = &n->schema->sources[i];
        size_t devices, counters;
        cmd_list_source_counts(n->schema, s->name, &devices, &counters);
        bool denied = s->status != NETPROF_STATUS_OK && s->status != NETPROF_STATUS_ABSENT;
        table_cell(t, PLAIN, s->name);
        table_cell(t,
                   denied                           ? WARNING
                   : s->status == NETPROF_STATUS_OK ? PLAIN
                                                    : DIM,
                   s->status == NETPROF_STATUS_OK && !devices ? "nothing" : netprof_status_name(s->status));
        table_cell(t, PLAIN, devices ? words_exact(devices).text : "-");
        table_cell(t, PLAIN, devices ? words_exact(counters).text : "-");
        table_printf(t, PLAIN, "%s%s%s", cmd_list_or_empty(s->path), s->sys_errno && s->path && *s->path ? ": " : "",
                     s->sys_errno ? strerror(s->sys_errno) : "");
    }
    table_end(t, stdout, 0);
}

static void cmd_list_text_device_overview(const node *n)
{
    column columns[6 + DEVICE_COLUMNS] = {{"DEVICE", 0},
                                          {"SOURCE", 0},
                                          {"TYPE", COLUMN_LEAN},
                                          {"COUNTERS", COLUMN_RIGHT},
                                          {"FAST", COLUMN_RIGHT | COLUMN_LEAN},
                                          {"UNREADABLE", COLUMN_RIGHT | COLUMN_LEAN}};
    for (size_t c = 0; c < DEVICE_COLUMNS; c++)
        columns[6 + c] = (column){device_columns[c].title, COLUMN_LEAN};
    table *t = table_begin(columns, 6 + DEVICE_COLUMNS);
    for (size_t i = 0; i < n->schema->device_count; i++) {
        const netprof_device *d = &n->schema->devices[i];
        if (!cmd_list_is_shown(n, i)) continue;
        table_cell(t, PLAIN, d->name);
        table_cell(t, PLAIN, d->source);
        table_cell(t, PLAIN, cmd_list_device_type(d));
        table_cell(t, PLAIN, words_exact(d->count).text);
        table_cell(t, PLAIN, n->fast[i] ? words_exact(n->fast[i]).text : NULL);
        table_cell(t, WARNING, n->unreadable[i] ? words_exact(n->unreadable[i]).text : NULL);
        for (size_t c = 0; c < DEVICE_COLUMNS; c++) {
            const char *value = cmd_list_device_column(d, c);
            table_cell(t, PLAIN, strcmp(device_columns[c].key, "speed") == 0 ? cmd_list_speed_text(value) : value);
        }
    }
    if (table_lines(t)) heading(stdout, "Devices");
    table_end(t, stdout, 0);
}

static void cmd_list_text_device_facts(const node *n)
{
    static const column columns[] = {{"DEVICE", 0}, {"FACT", 0}, {"VALUE", 0}};
    table *t = table_begin(columns, 3);
    for (size_t i = 0; i < n->schema->device_count; i++) {
        const netprof_device *d = &n->schema->devices[i];
        for (uint32_t f = 0; f < d->fact_count && cmd_list_is_shown(n, i); f++) {
            table_cell(t, PLAIN, f ? NULL : d->name);
            table_cell(t, PLAIN, d->facts[f].key);
            table_cell(t, PLAIN, d->facts[f].value);
        }
    }
    if (table_lines(t)) heading(stdout, "Facts");
    table_end(t, stdout, 0);
}

static const char *cmd_list_unreadable_text(const node *n, size_t i)
{
    static char text[96];
    const char *status = netprof_status_name((netprof_status)n->snapshot.status[i]);
    if (!n->snapshot.errnos[i]) return status;
    snprintf(text, sizeof text, "%s: %s", status, strerror(n->snapshot.errnos[i]));
    return text;
}

static words_text cmd_list_value_text(const node *n, size_t i)
{
    uint64_t value = n->snapshot.values[i];
    return n->schema->counters[i].flags & NETPROF_SIGNED ? words_integer((int64_t)value) : words_exact(value);
}

static const char *cmd_list_description_of(const netprof_schema *schema, const netprof_counter *c)
{
    const catalog_entry *e = catalog_find(schema->devices[c->device].source, c->name);
    return e ? e->description : "";
}

static void cmd_list_text_counters(const node *n)
{
    static const column columns[] = {{"DEVICE", 0},
                                     {"COUNTER", 0},
                                     {"VALUE", COLUMN_RIGHT},
                                     {"UNIT", COLUMN_LEAN},
                                     {"KIND", 0},
                                     {"BITS", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"FAST", COLUMN_LEAN},
                                     {"MEANING", COLUMN_WRAP | COLUMN_LEAN}};
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n->schema->counter_count; i++) {
        const netprof_counter *c = &n->schema->counters[i];
        bool readable = cmd_list_has_value(n, i);
        table_cell(t, PLAIN, n->schema->devices[c->device].name);
        table_cell(t, PLAIN, c->name);
        table_cell(t, readable ? PLAIN : WARNING,
                   readable ? cmd_list_value_text(n, i).text : cmd_list_unreadable_text(n, i));
        table_cell(t, PLAIN, c->unit);
        table_cell(t, PLAIN, netprof_kind_name((netprof_kind)c->kind));
        table_cell(t, PLAIN, c->width ? words_exact(c->width).text : NULL);
        table_cell(t, PLAIN, c->flags & NETPROF_FAST ? "fast" : NULL);
        table_cell(t, PLAIN, cmd_list_description_of(n->schema, c));
    }
    if (table_lines(t)) heading(stdout, "Counters");
    table_end(t, stdout, 0);
}

// How many values are missing, by reason: one line each, the commonest reason of a device first.
static void cmd_list_text_unreadable(const node *n)
{
    static const column columns[] = {{"DEVICE", 0}, {"COUNTERS", COLUMN_RIGHT}, {"WHY", 0}, {"FOR EXAMPLE", 0}};
    table *t = table_begin(columns, 4);
    for (size_t d = 0; d < n->schema->device_count; d++) {
        const netprof_device *device = &n->schema->devices[d];
        uint64_t seen[256][8] = {{0}};
        for (size_t i = device->first; i < device->first + device->count && n->unreadable[d]; i++)
            if (!cmd_list_has_value(n, i)) seen[n->snapshot.errnos[i]][n->snapshot.status[i] & 7]++;
        for (size_t i = device->first; i < device->first + device->count && n->unreadable[d]; i++) {
            uint64_t *count = &seen[n->snapshot.errnos[i]][n->snapshot.status[i] & 7];
            if (cmd_list_has_value(n, i) || !*count) continue;
            table_cell(t, PLAIN, device->name);
            table_cell(t, PLAIN, words_exact(*count).text);
            table_cell(t, WARNING, cmd_list_unreadable_text(n, i));
            table_cell(t, PLAIN, n->schema->counters[i].name);
            *count = 0;
        }
    }
    if (table_lines(t)) heading(stdout, "Not readable");
    table_end(t, stdout, 0);
}

static void cmd_list_print_text(const node *n)
{
    const char *host = cmd_list_node_fact(n, "host"), *kernel = cmd_list_node_fact(n, "kernel"),
               *root = cmd_list_node_fact(n, "root");
    heading(stdout, "Node %s%s%s%s%s", host ? safe(host) : "(unnamed)", kernel ? ", Linux " : "",
            kernel ? safe(kernel) : "", root ? ", read below " : "", root ? safe(root) : "");
    if (want_sources) cmd_list_text_sources(n);
    if (want_sources || want_devices) cmd_list_text_device_overview(n);
    if (want_devices) cmd_list_text_device_facts(n);
    if (want_counters) cmd_list_text_counters(n);
    cmd_list_text_unreadable(n);
}

// ---- JSON ----

static json_object *cmd_list_json_facts(const netprof_fact *facts, size_t count)
{
    json_object *o = json_new_object();
    for (size_t i = 0; i < count; i++)
        json_put_text(o, facts[i].key, facts[i].value);
    return o;
}

static json_object *cmd_list_json_source(const netprof_schema *schema, const netprof_source_state *s)
{
    json_object *o = json_new_object();
    size_t devices, counters;
    cmd_list_source_counts(schema, s->name, &devices, &counters);
    json_put_text(o, "source", s->name);
    json_put_text(o, "status", netprof_status_name(s->status));
    json_put(o, "errno", json_new_int64(s->sys_errno));
    json_put_text(o, "error", s->sys_errno ? strerror(s->sys_errno) : NULL);
    json_put_text(o, "source_path", s->path);
    json_put(o, "device_count", json_exact_value(devices));
    json_put(o, "counter_count", json_exact_value(counters));
    return o;
}

static json_object *cmd_list_json_device(const node *n, size_t i)
{
    const netprof_device *d = &n->schema->devices[i];
    json_object *o = json_new_object();
    json_put_text(o, "device", d->name);
    json_put_text(o, "source", d->source);
    json_put(o, "physical", json_new_boolean((d->flags & NETPROF_DEVICE_PHYSICAL) != 0));
    json_put(o, "counter_count", json_exact_value(d->count));
    json_put(o, "fast_count", json_exact_value(n->fast[i]));
    json_put(o, "unreadable_count", json_exact_value(n->unreadable[i]));
    json_put(o, "facts", cmd_list_json_facts(d->facts, d->fact_count));
    return o;
}

static json_object *cmd_list_json_counter(const node *n, size_t i)
{
    const netprof_counter *c = &n->schema->counters[i];
    json_object *o = json_new_object();
    bool is_signed = c->flags & NETPROF_SIGNED;
    uint64_t value = n->snapshot.values[i];
    json_put_text(o, "device", n->schema->devices[c->device].name);
    json_put_text(o, "counter", c->name);
    json_put(o, "value",
             !cmd_list_has_value(n, i) ? NULL
             : is_signed               ? json_new_int64((int64_t)value)
                                       : json_exact_value(value));
    json_put_text(o, "status", netprof_status_name((netprof_status)n->snapshot.status[i]));
    json_put(o, "errno", json_new_int64(n->snapshot.errnos[i]));
    json_put_text(o, "unit", c->unit);
    json_put_text(o, "kind", netprof_kind_name((netprof_kind)c->kind));
    json_put(o, "width_bits", json_new_int64(c->width));
    json_put(o, "fast", json_new_boolean((c->flags & NETPROF_FAST) != 0));
    json_put_text(o, "description", cmd_list_description_of(n->schema, c));
    return o;
}

static void cmd_list_print_json(const node *n)
{
    json_object *o = json_document("list"), *sources = json_new_array(), *devices = json_new_array();
    json_put(o, "facts", cmd_list_json_facts(n->schema->facts, n->schema->fact_count));
    for (size_t i = 0; i < n->schema->source_count; i++)
        json_append(sources, cmd_list_json_source(n->schema, &n->schema->sources[i]));
    for (size_t i = 0; i < n->schema->device_count; i++)
        if (cmd_list_is_shown(n, i)) json_append(devices, cmd_list_json_device(n, i));
    json_put(o, "sources", sources);
    json_put(o, "devices", devices);
    if (want_counters) {
        json_object *counters = json_new_array();
        for (size_t i = 0; i < n->schema->counter_count; i++)
            json_append(counters, cmd_list_json_counter(n, i));
        json_put(o, "counters", counters);
    }
    json_print(stdout, o);
}

// ---- CSV ----

static void cmd_list_csv_sources(const node *n)
{
    csv_line(stdout, (const char *const[]){"source", "state", "errno", "path", "devices", "counters"}, 6);
    for (size_t i = 0; i < n->schema->source_count; i++) {
        const netprof_source_state *s = &n->schema->sources[i];
        size_t devices, counters;
        cmd_list_source_counts(n->schema, s->name, &devices, &counters);
        csv_cell(stdout, s->name);
        csv_cell(stdout, netprof_status_name(s->status));
        csv_printf(stdout, "%d", s->sys_errno);
        csv_cell(stdout, s->path);
        csv_printf(stdout, "%zu", devices);
        csv_printf(stdout, "%zu", counters);
        csv_end(stdout);
    }
}

static void cmd_list_csv_devices(const node *n)
{
    static const char *const titles[] = {"device", "source", "type", "counters", "fast", "unreadable"};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        csv_cell(stdout, titles[i]);
    for (size_t c = 0; c < DEVICE_COLUMNS; c++)
        csv_cell(stdout, device_columns[c].key);
    csv_end(stdout);
    for (size_t i = 0; i < n->schema->device_count; i++) {
        const netprof_device *d = &n->schema->devices[i];
        if (!cmd_list_is_shown(n, i)) continue;
        csv_cell(stdout, d->name);
        csv_cell(stdout, d->source);
        csv_cell(stdout, cmd_list_device_type(d));
        csv_printf(stdout, "%u", (unsigned)d->count);
        csv_printf(stdout, "%zu", n->fast[i]);
        csv_printf(stdout, "%zu", n->unreadable[i]);
        for (size_t c = 0; c < DEVICE_COLUMNS; c++)
            csv_cell(stdout, cmd_list_device_column(d, c));
        csv_end(stdout);
    }
}

static void cmd_list_csv_counters(const node *n)
{
    csv_line(stdout,
             (const char *const[]){"device", "counter", "value", "status", "errno", "unit", "kind", "width_bits",
                                   "fast", "description"},
             10);
    for (size_t i = 0; i < n->schema->counter_count; i++) {
        const netprof_counter *c = &n->schema->counters[i];
        csv_cell(stdout, n->schema->devices[c->device].name);
        csv_cell(stdout, c->name);
        csv_cell(stdout, cmd_list_has_value(n, i) ? cmd_list_value_text(n, i).text : NULL);
        csv_cell(stdout, netprof_status_name((netprof_status)n->snapshot.status[i]));
        csv_printf(stdout, "%d", n->snapshot.errnos[i]);
        csv_cell(stdout, c->unit);
        csv_cell(stdout, netprof_kind_name((netprof_kind)c->kind));
        csv_printf(stdout, "%d", c->width);
        csv_cell(stdout, c->flags & NETPROF_FAST ? "1" : "0");
        csv_cell(stdout, cmd_list_description_of(n->schema, c));
        csv_end(stdout);
    }
}

// ---- interval after interval ----

static void cmd_list_every_heading(const netprof_snapshot *s)
{
    const netprof_schema *schema = s->schema;
    const char *host = netprof_fact_of(schema->facts, schema->fact_count, "host"),
               *kernel = netprof_fact_of(schema->facts, schema->fact_count, "kernel");
    printf("Node %s%s%s, %.10s UTC; a kB is 1000 bytes\n\n", host ? safe(host) : "(unnamed)", kernel ? ", Linux " : "",
           kernel ? safe(kernel) : "", words_utc(s->wall_ns, 0).text);
}

// Ends with the wanted intervals, by a signal, or when nobody reads any more; the averages come last.
static int cmd_list_every(netprof *np, int64_t step_ns)
{
    schedule clock;
    sigset_t signals;
    siginfo_t info;
    netprof_error error;
    netprof_snapshot s = NETPROF_ZERO;
    interval_table t = {.to = stdout,
                        .format = as_json  ? INTERVAL_JSON
                                  : as_csv ? INTERVAL_CSV
                                           : INTERVAL_TEXT,
                        .step_ns = step_ns};
    int code = EXIT_DONE;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    if (!schedule_open(&clock, &signals)) return fail(EXIT_FILE, "no signals: %s", strerror(errno));
    schedule_add(&clock, step_ns, schedule_now());
    do {
        code = netprof_take(np, &s, NETPROF_SET_ALL, &error) ? fail_error(NULL, &error) : EXIT_DONE;
        if (!code && !s.schema->device_count) break;
        if (!code && !t.last.schema && t.format == INTERVAL_TEXT) cmd_list_every_heading(&s);
        if (!code) code = interval_table_add(&t, &s);
    } while (!code && !(wanted && t.printed == (size_t)wanted) && schedule_wait(&clock, &info) >= 0);
    if (!code) code = interval_table_average(&t);
    interval_table_free(&t);
    netprof_snapshot_free(&s);
    schedule_close(&clock);
    return code;
}

static int cmd_list_check_every(int64_t *step_ns)
{
    *step_ns = 0;
    if (as_json && as_csv) return fail_usage("--json and --csv exclude each other");
    if (wanted < 0) return fail_usage("--count: %d: expected 0 or more", wanted);
    if (wanted && !every_text) return fail_usage("--count: only with --every");
    if (!every_text) return EXIT_DONE;
    if (want_devices || want_counters) return fail_usage("--every shows intervals, neither --devices nor --counters");
    if (!parse_duration(every_text, step_ns))
        return fail_usage("--every: %s: expected a time like 500ms, 1s or 1m", safe(every_text));
    return EXIT_DONE;
}

// ---- the command ----

static int cmd_list_read_node(node *n, netprof *np)
{
    netprof_error error;
    if (netprof_take(np, &n->snapshot, NETPROF_SET_ALL, &error)) return fail_error(NULL, &error);
    n->schema = n->snapshot.schema;
    n->unreadable = memory_calloc(n->schema->device_count + 1, sizeof *n->unreadable);
    n->fast = memory_calloc(n->schema->device_count + 1, sizeof *n->fast);
    for (size_t i = 0; i < n->schema->counter_count; i++) {
        n->unreadable[n->schema->counters[i].device] += !cmd_list_has_value(n, i);
        n->fast[n->schema->counters[i].device] += (n->schema->counters[i].flags & NETPROF_FAST) != 0;
    }
    return EXIT_DONE;
}

static void cmd_list_print(const node *n)
{
    if (as_json)
        cmd_list_print_json(n);
    else if (!as_csv)
        cmd_list_print_text(n);
    else if (want_counters)
        cmd_list_csv_counters(n);
    else if (want_devices)
        cmd_list_csv_devices(n);
    else
        cmd_list_csv_sources(n);
}

// Names of counters ask for counters, names of devices for devices.
static void cmd_list_choose_parts(const char **globs, size_t count)
{
    for (size_t i = 0; i < count && !want_devices; i++)
        if (strchr(globs[i], '/')) want_counters = 1;
    if (count && !want_counters) want_devices = 1;
    chosen_only = count > 0;
    want_sources = !want_devices && !want_counters;
}

static int cmd_list_run(const char **globs, size_t count)
{
    node n = {0};
    netprof *np;
    int64_t step_ns;
    int code = cmd_list_check_every(&step_ns);
    if (code) return code;
    cmd_list_choose_parts(globs, count);
    code = reading_open(&np, globs);
    int nothing = code == EXIT_NOTHING;
    if (nothing && ((count && !as_json) || step_ns))
        code = reading_nothing(np);
    else if (code == EXIT_DONE && step_ns)
        code = cmd_list_every(np, step_ns);
    else if (nothing || code == EXIT_DONE)
        code = cmd_list_read_node(&n, np);
    if (n.schema) {
        cmd_list_print(&n);
        code = output_close();
        if (!code && nothing) code = EXIT_NOTHING;
    }
    free(n.unreadable);
    free(n.fast);
    netprof_snapshot_free(&n.snapshot);
    netprof_close(np);
    return code;
}

const command command_list = {
    .name = "list",
    .summary = "show sources, devices and counters of this node, and what cannot be read",
    .arguments = "[DEVICE|DEVICE/COUNTER...]",
    .text =
        "Shows what there is to read. Arguments are glob patterns: those that name devices show these with all their\n"
        "facts, those with a slash show counters with their present values and meanings. With --every, what passed\n"
        "each interface and what was damaged or dropped, interval after interval, as sar -n DEV and EDEV print it;\n"
        "averages come at the end, also after Ctrl-C.",
    .examples = "netprof list\n"
                "netprof list --every 1s -n 1 'eth*' lo\n"
                "netprof list --devices\n"
                "netprof list '*/*bytes*'\n"
                "netprof list --counters --csv",
    .exits = "0 done, 2 wrong usage, 3 output failed, 4 nothing to read on this node.",
    .options = options,
    .source_names = reading_source_names,
    .run = cmd_list_run,
    .json = &as_json,
};

#include "view.h"

#include "cli/output.h"
#include "analysis/data/traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- what went wrong ----

// Kinds of events, the worst first.
typedef enum happening { ERROR = 0, RETRY, WAITING, HAPPENINGS } happening;

static const struct {
    const char *word;
    style style;
} happenings[HAPPENINGS] = {[ERROR] = {"error", DANGER}, [RETRY] = {"retry", CAUTION}, [WAITING] = {"pause", CAUTION}};

static const struct {
    const char *group;
    happening what;
} happening_groups[] = {{"CxiRetryHandler", RETRY}, {"RdmaRetries", RETRY},     {"IpRetries", RETRY},
                        {"TcpRetries", RETRY},      {"CxiCongestion", WAITING}, {"EthPause", WAITING},
                        {"RdmaCongestion", WAITING}};

static happening view_group_of(const catalog_entry *entry, happening otherwise)
{
    for (size_t i = 0; i < sizeof happening_groups / sizeof *happening_groups; i++) {
        size_t group = catalog_group_find(happening_groups[i].group);
        if (group != CATALOG_NO_GROUP && entry->groups >> group & 1) return happening_groups[i].what;
    }
    return otherwise;
}

// HAPPENINGS: nothing bad.
static happening view_happening_of(const difference *d, size_t counter)
{
    const difference_row *row = &d->rows[counter];
    const netprof_counter *c = &d->delta->schema->counters[counter];
    const char *source = d->delta->schema->devices[c->device].source;
    uint32_t marks = catalog_marks(source, c->name);
    if (!row->compared || row->flag == NETPROF_FLAG_GAUGE || !row->magnitude) return HAPPENINGS;
    if (traffic_is_trouble(d, counter)) return row->entry ? view_group_of(row->entry, ERROR) : ERROR;
    if (!row->entry || marks & (CATALOG_HARMLESS | CATALOG_UNUSABLE | CATALOG_SAME_AS | CATALOG_CLOCK_ONLY))
        return HAPPENINGS;
    bool moved = strcmp(row->unit, "packets") == 0 || strcmp(row->unit, "bytes") == 0;
    return !moved && view_group_of(row->entry, HAPPENINGS) == WAITING ? WAITING : HAPPENINGS;
}

// "12 nacks", "1.20 M cycles".
static const char *view_amount_text(const difference_row *row)
{
    return safe(words_at_least(row->lower_bound, words_volume((double)row->magnitude, row->unit)).text);
}

// The largest of each kind: kinds overlap, so nothing is added.
static void view_set_trouble(const difference *d, view_port *p, const netprof_device *device)
{
    size_t most[HAPPENINGS] = {DIFFERENCE_NONE, DIFFERENCE_NONE, DIFFERENCE_NONE};
    p->trouble = memory_strdup("");
    for (size_t i = device->first; i < (size_t)device->first + device->count; i++) {
        happening what = view_happening_of(d, i);
        if (what == HAPPENINGS) continue;
        if (most[what] == DIFFERENCE_NONE || d->rows[i].magnitude > d->rows[most[what]].magnitude) most[what] = i;
    }
    for (int k = 0; k < HAPPENINGS; k++) {
        if (most[k] == DIFFERENCE_NONE) continue;
        if (!*p->trouble) p->style = happenings[k].style;
        char *longer = memory_format("%s%s%s %s", p->trouble, *p->trouble ? ", " : "", happenings[k].word,
                                     view_amount_text(&d->rows[most[k]]));
        free(p->trouble);
        p->trouble = longer;
    }
}

static int view_compare_events(const void *a, const void *b)
{
    const view_event *x = a, *y = b;
    return x->rank != y->rank ? x->rank - y->rank : strcmp(x->text, y->text);
}

static void view_make_events(view *v)
{
    const difference *d = &v->last;
    const netprof_schema *schema = d->delta->schema;
    for (size_t i = 0; i < schema->counter_count; i++) {
        happening what = view_happening_of(d, i);
        if (what == HAPPENINGS) continue;
        const netprof_counter *c = &schema->counters[i];
        const char *told = d->rows[i].entry ? d->rows[i].entry->description : "";
        view_event event = {memory_format("%-5s  %s %s +%s%s%s", happenings[what].word,
                                          safe(schema->devices[c->device].name), safe(c->name),
                                          view_amount_text(&d->rows[i]), *told ? ": " : "", safe(told)),
                            (int)what, happenings[what].style};
        arrput(v->events, event);
    }
    v->event_count = arrlenu(v->events);
    if (v->event_count) qsort(v->events, v->event_count, sizeof *v->events, view_compare_events);
}

// ---- ports ----

static void view_make_ports(view *v)
{
    const difference *d = &v->last;
    const netprof_schema *schema = d->delta->schema;
    traffic *list = traffic_make(d);
    v->ports = memory_calloc(schema->device_count + 1, sizeof *v->ports);
    for (size_t i = 0; i < schema->device_count; i++) {
        const traffic *t = &list[i];
        // A device whose bytes cannot be read is shown, too; one that has none is no port.
        bool port = catalog_count(schema->devices[i].source, CATALOG_RX_BYTES | CATALOG_TX_BYTES) > 0 &&
                    strcmp(schema->devices[i].source, "ip") != 0;
        if (!port || t->repeated) continue;
        view_port *p = &v->ports[v->port_count++];
        *p = (view_port){.name = schema->devices[i].name,
                         .line_rate = t->line_rate,
                         .physical = schema->devices[i].flags & NETPROF_DEVICE_PHYSICAL,
                         .packets_per_s = NAN};
        for (int way = 0; way < 2; way++) {
            p->rate[way] = t->bytes_known[way] ? t->byte_rate[way] : NAN;
            p->bound[way] = t->bytes_bound[way];
        }
        if (t->packets_known[0] && t->packets_known[1]) p->packets_per_s = t->packet_rate[0] + t->packet_rate[1];
        view_set_trouble(d, p, &schema->devices[i]);
    }
    free(list);
}

static double view_port_rate(const view_port *p)
{
    return fmax(p->rate[0], p->rate[1]); // NAN only when both are
}

static double view_port_share(const view_port *p, int way)
{
    return p->line_rate > 0 ? p->rate[way] / p->line_rate : NAN;
}

static int view_falling(double x, double y)
{
    if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
    return x > y ? -1 : x < y;
}

static int view_by_rate(const void *a, const void *b)
{
    const view_port *x = a, *y = b;
    int order = view_falling(view_port_rate(x), view_port_rate(y));
    return order ? order : strcmp(x->name, y->name);
}

static int view_by_share(const void *a, const void *b)
{
    const view_port *x = a, *y = b;
    int order = view_falling(fmax(view_port_share(x, 0), view_port_share(x, 1)),
                             fmax(view_port_share(y, 0), view_port_share(y, 1)));
    return order ? order : view_by_rate(a, b);
}

static int view_by_name(const void *a, const void *b)
{
    const view_port *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static const struct {
    const char *name;
    int (*compare)(const void *a, const void *b);
} orders[VIEW_ORDERS] = {[VIEW_AS_FOUND] = {"as found", NULL},
                         [VIEW_BY_RATE] = {"by rate", view_by_rate},
                         [VIEW_BY_SHARE] = {"by share of the line", view_by_share},
                         [VIEW_BY_NAME] = {"by name", view_by_name}};

const char *view_order_name(view_order order)
{
    return orders[order].name;
}

void view_sort(view *v, view_order order)
{
    if (orders[order].compare && v->port_count) qsort(v->ports, v->port_count, sizeof *v->ports, orders[order].compare);
}

// ---- the node ----

static size_t view_find_counter(const difference *d, const char *source, const char *device, const char *name)
{
    return netprof_find(d->delta->schema, source, device, name);
}

// Per second; NAN when it is not known.
static double view_rate_of(const difference *d, size_t counter)
{
    if (counter == NETPROF_NONE || !d->rows[counter].compared || d->rows[counter].flag == NETPROF_FLAG_GAUGE)
        return NAN;
    return d->rows[counter].rate_per_s;
}

static double view_value_of(const difference *d, size_t counter)
{
    if (counter == NETPROF_NONE || d->delta->after_status[counter] != NETPROF_STATUS_OK) return NAN;
    return (double)d->delta->after[counter];
}

static void view_add_load(view *v, const char *title, double share, char *text)
{
    arrput(v->loads, ((view_load){title, share, text}));
    v->load_count = arrlenu(v->loads);
}

static const char *view_share_text(double share)
{
    return isnan(share) ? "?" : safe(words_share(share).text);
}

static const char *view_memory_text(double bytes)
{
    return isnan(bytes) ? "?" : safe(words_binary(bytes).text);
}

static const char *view_bytes_rate(double rate)
{
    return isnan(rate) ? "?" : safe(words_amount_rate(rate, "bytes").text);
}

static bool view_has_source(const difference *d, const char *source)
{
    const netprof_schema *schema = d->delta->schema;
    for (size_t i = 0; i < schema->device_count; i++)
        if (strcmp(schema->devices[i].source, source) == 0) return true;
    return false;
}

static void view_load_cpu(view *v, const difference *d)
{
    static const char *const names[] = {"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"};
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, NAMES };
    double rates[NAMES], all = 0;
    if (!view_has_source(d, "cpu")) return;
    for (size_t i = 0; i < NAMES; i++) {
        rates[i] = view_rate_of(d, view_find_counter(d, "cpu", "cpu", names[i]));
        if (!isnan(rates[i]) || i < IOWAIT) all += rates[i]; // old kernels have fewer columns
    }
    double waiting = isnan(rates[IOWAIT]) ? 0 : rates[IOWAIT], busy = all > 0 ? 1 - (rates[IDLE] + waiting) / all : NAN;
    view_add_load(v, "CPU", busy,
                  memory_format("%s: user %s, system %s, iowait %s, steal %s", view_share_text(busy),
                                view_share_text((rates[USER] + rates[NICE]) / all),
                                view_share_text(rates[SYSTEM] / all), view_share_text(rates[IOWAIT] / all),
                                view_share_text(rates[STEAL] / all)));
}

// How busy a CPU was; NAN: not known.
static double view_core_share(const difference *d, const char *name)
{
    static const char *const busy[] = {"user", "nice", "system", "irq", "softirq", "steal"}, *const idle[] = {"idle",
                                                                                                              "iowait"};
    double used = 0, rest = 0;
    for (size_t i = 0; i < sizeof busy / sizeof *busy; i++)
        used += view_rate_of(d, view_find_counter(d, "cpu", name, busy[i]));
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        rest += view_rate_of(d, view_find_counter(d, "cpu", name, idle[i]));
    return used + rest > 0 ? used / (used + rest) : NAN;
}

// A character for each CPU, so many in a line, and the busiest of them.
static void view_load_cores(view *v, const difference *d)
{
    enum { IN_A_LINE = 32 };
    const netprof_schema *schema = d->delta->schema;
    const char *busiest = "";
    char *text = memory_strdup("");
    double most = NAN;
    size_t shown = 0;
    for (size_t i = 0; i < schema->device_count; i++) {
        const char *name = schema->devices[i].name;
        if (strcmp(schema->devices[i].source, "cpu") != 0 || strcmp(name, "cpu") == 0) continue;
        double share = view_core_share(d, name);
        char *longer = memory_format("%s%s", text, lines_block(share));
        free(text);
        text = longer;
        if (isnan(most) || share > most) most = share, busiest = name;
        if (++shown % IN_A_LINE) continue;
        view_add_load(v, "Cores", most, memory_format("%s busiest %s: %s", text, safe(busiest), view_share_text(most)));
        *text = 0;
        most = NAN;
    }
    if (*text)
        view_add_load(v, "Cores", most, memory_format("%s busiest %s: %s", text, safe(busiest), view_share_text(most)));
    free(text);
}

static void view_load_memory(view *v, const difference *d)
{
    if (!view_has_source(d, "memory")) return;
    double total = view_value_of(d, view_find_counter(d, "memory", "memory", "MemTotal"));
    double used = total - view_value_of(d, view_find_counter(d, "memory", "memory", "MemAvailable"));
    double swap = view_value_of(d, view_find_counter(d, "memory", "memory", "SwapTotal"));
    double swapped = swap - view_value_of(d, view_find_counter(d, "memory", "memory", "SwapFree"));
    char *text = memory_format("%s of %s in use (%s)", view_memory_text(used), view_memory_text(total),
                               view_share_text(used / total));
    if (swap > 0) {
        char *longer = memory_format("%s, swap %s of %s", text, view_memory_text(swapped), view_memory_text(swap));
        free(text);
        text = longer;
    }
    view_add_load(v, "Memory", used / total, text);
}

static void view_load_pressure(view *v, const difference *d)
{
    double shares[3];
    static const char *const names[] = {"cpu_some", "memory_some", "io_some"};
    if (!view_has_source(d, "pressure")) return;
    for (size_t i = 0; i < 3; i++)
        shares[i] = view_rate_of(d, view_find_counter(d, "pressure", "pressure", names[i])) / 1e6;
    view_add_load(v, "Pressure", fmax(fmax(shares[0], shares[1]), shares[2]),
                  memory_format("waited for CPU %s, memory %s, I/O %s of the time", view_share_text(shares[0]),
                                view_share_text(shares[1]), view_share_text(shares[2])));
}

// Sums over the physical devices of a source; unknown when a part is.
static double view_sum_of(const difference *d, const char *source, const char *counter, size_t *devices)
{
    const netprof_schema *schema = d->delta->schema;
    double sum = 0;
    *devices = 0;
    for (size_t i = 0; i < schema->device_count; i++) {
        const netprof_device *device = &schema->devices[i];
        if (strcmp(device->source, source) != 0 || !(device->flags & NETPROF_DEVICE_PHYSICAL)) continue;
        sum += view_rate_of(d, view_find_counter(d, source, device->name, counter));
        ++*devices;
    }
    return *devices ? sum : NAN;
}

static void view_load_disks(view *v, const difference *d)
{
    const netprof_schema *schema = d->delta->schema;
    size_t devices;
    double read = view_sum_of(d, "disk", "read_bytes", &devices),
           written = view_sum_of(d, "disk", "write_bytes", &devices), most = NAN;
    const char *busiest = "";
    for (size_t i = 0; i < schema->device_count; i++) {
        if (strcmp(schema->devices[i].source, "disk") != 0) continue;
        double busy = view_rate_of(d, view_find_counter(d, "disk", schema->devices[i].name, "busy_time")) / 1e6;
        if (isnan(busy) || busy <= most) continue;
        most = busy;
        busiest = schema->devices[i].name;
    }
    if (devices)
        view_add_load(v, "Disks", most,
                      memory_format("read %s, written %s; %s busy %s", view_bytes_rate(read), view_bytes_rate(written),
                                    *busiest ? safe(busiest) : "?", view_share_text(most)));
}

static void view_load_power(view *v, const difference *d)
{
    size_t zones;
    double power = view_sum_of(d, "energy", "energy", &zones) / 1e6; // uJ/s
    if (!zones) return;
    view_add_load(v, "Power", NAN,
                  isnan(power)
                      ? memory_format("? (not readable)")
                      : memory_format("%s in %s", words_quantity(power, "W").text, words_many(zones, "package").text));
}

static void view_load_job(view *v, const difference *d)
{
    if (!view_has_source(d, "process")) return;
    double cpu = view_rate_of(d, view_find_counter(d, "process", "job", "cpu_user")) +
                 view_rate_of(d, view_find_counter(d, "process", "job", "cpu_system"));
    double processes = view_value_of(d, view_find_counter(d, "process", "job", "processes"));
    double resident = view_value_of(d, view_find_counter(d, "process", "job", "resident"));
    view_add_load(v, "Job", NAN,
                  memory_format("%s processes, %s cores busy, %s resident",
                                isnan(processes) ? "?" : words_count(processes).text,
                                isnan(cpu) ? "?" : words_number(cpu / 1e6).text, view_memory_text(resident)));
}

// One line for each GPU: how busy, memory, power, temperature, as far as its driver reports them.
static void view_load_gpus(view *v, const difference *d)
{
    static const struct {
        const char *counter, *unit;
        double scale;
    } parts[] = {{"power", "W", 1e-6}, {"temperature", "C", 1e-3}};
    const netprof_schema *schema = d->delta->schema;
    for (size_t i = 0; i < schema->device_count; i++) {
        const netprof_device *device = &schema->devices[i];
        if (strcmp(device->source, "gpu") != 0 || device->flags & NETPROF_DEVICE_VIRTUAL) continue;
        double busy = view_rate_of(d, view_find_counter(d, "gpu", device->name, "busy_time")) / 1e6;
        if (isnan(busy)) busy = view_value_of(d, view_find_counter(d, "gpu", device->name, "busy")) / 100;
        double used = view_value_of(d, view_find_counter(d, "gpu", device->name, "memory_used"));
        double total = view_value_of(d, view_find_counter(d, "gpu", device->name, "memory_total"));
        char *text = memory_format("%s: %s busy, memory %s of %s", safe(device->name), view_share_text(busy),
                                   view_memory_text(used), view_memory_text(total));
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            double value = view_value_of(d, view_find_counter(d, "gpu", device->name, parts[k].counter));
            if (isnan(value)) continue;
            char *longer = memory_format("%s, %s", text, words_quantity(value * parts[k].scale, parts[k].unit).text);
            free(text);
            text = longer;
        }
        view_add_load(v, "GPU", busy, text);
    }
}

static void view_load_self(view *v, const difference *d)
{
    if (!view_has_source(d, "self")) return;
    double cpu = view_rate_of(d, view_find_counter(d, "self", "netprof", "cpu_time")) / 1e9;
    double memory = view_value_of(d, view_find_counter(d, "self", "netprof", "memory_peak"));
    view_add_load(v, "netprof", NAN,
                  memory_format("%s of one core, %s", view_share_text(cpu), view_memory_text(memory)));
}

// ---- all ----

static netprof_err view_compare(difference *d, const netprof_snapshot *before, const netprof_snapshot *after,
                                netprof_error *error)
{
    return difference_of_snapshots(d, before, after, false, error);
}

netprof_err view_make(view **out, const history *h, const rules *set, netprof_error *error)
{
    const netprof_snapshot *first, *before, *last;
    *out = NULL;
    if (!history_last(h, &first, &before, &last)) return NETPROF_ERR_NOSOURCE;
    view *v = memory_calloc(1, sizeof *v);
    netprof_err err = view_compare(&v->last, before, last, error);
    if (!err) err = view_compare(&v->window, first, last, error);
    if (err) {
        view_free(v);
        return err;
    }
    findings_make(&v->findings, &v->window, set);
    const char *host = netprof_fact_of(last->schema->facts, last->schema->fact_count, "host");
    v->host = memory_strdup(host ? safe(host) : "?");
    v->wall_ns = last->wall_ns;
    v->elapsed_s = (double)v->last.delta->interval_ns / 1e9;
    v->window_s = (double)v->window.delta->interval_ns / 1e9;
    view_make_ports(v);
    view_make_events(v);
    view_load_cpu(v, &v->last);
    view_load_cores(v, &v->last);
    view_load_memory(v, &v->last);
    view_load_pressure(v, &v->last);
    view_load_disks(v, &v->last);
    view_load_power(v, &v->last);
    view_load_gpus(v, &v->last);
    view_load_job(v, &v->last);
    view_load_self(v, &v->last);
    *out = v;
    return NETPROF_OK;
}

void view_free(view *v)
{
    if (!v) return;
    for (size_t i = 0; i < v->port_count; i++)
        free(v->ports[i].trouble);
    for (size_t i = 0; i < v->load_count; i++)
        free(v->loads[i].text);
    for (size_t i = 0; i < v->event_count; i++)
        free(v->events[i].text);
    findings_free(&v->findings);
    difference_free(&v->last);
    difference_free(&v->window);
    free(v->host);
    free(v->ports);
    arrfree(v->loads);
    arrfree(v->events);
    free(v);
}

// ---- as text ----

static style view_severity_style(severity s)
{
    return s >= SEVERITY_HIGH ? DANGER : s >= SEVERITY_WATCH ? CAUTION : NORMAL;
}

void view_verdict(const view *v, lines *l)
{
    severity s = v->findings.severity;
    const char *verdict = safe(v->findings.verdict);
    int word = s > SEVERITY_WATCH ? (int)strcspn(verdict, ":") : 0; // it begins with how bad it is
    if (word)
        lines_printf(l, view_severity_style(s), "%.*s", word, verdict);
    else
        lines_printf(l, view_severity_style(s), "%s: ", severity_name(s));
    lines_add(l, s >= SEVERITY_WATCH ? STRONG : NORMAL, verdict + word);
    lines_printf(l, FAINT, " (last %s)", safe(words_duration(v->window_s).text));
}

static void view_finding_lines(const view *v, lines *l)
{
    enum { SHOWN = 8 };
    size_t shown = 0, more = 0;
    for (size_t i = 0; i < v->findings.count; i++) {
        const finding *x = &v->findings.items[i];
        if (x->severity < SEVERITY_WATCH) continue;
        if (l->width && shown == SHOWN) {
            more++;
            continue;
        }
        shown++;
        lines_begin(l);
        lines_cell(l, view_severity_style(x->severity), 9, false, severity_name(x->severity));
        lines_printf(l, NORMAL, "%s: %s", safe(finding_device(&v->findings, x)), safe(x->claim));
    }
    if (!more) return;
    lines_begin(l);
    lines_printf(l, FAINT, "         and %zu more; netprof check tells all", more);
}

static void view_load_lines(const view *v, lines *l)
{
    int bar = l->width >= 60 ? 12 : 0;
    for (size_t i = 0; i < v->load_count; i++) {
        const view_load *x = &v->loads[i];
        lines_begin(l);
        lines_cell(l, STRONG, 9, false, x->title);
        if (bar && !isnan(x->share)) {
            lines_bar(l, x->share >= 0.9 ? CAUTION : NORMAL, bar, x->share);
            lines_blank(l, 1);
        } else if (bar) {
            lines_blank(l, bar + 1);
        }
        lines_add(l, NORMAL, x->text);
    }
}

// Widths of a port's columns in a line of so many; 0: left out.
typedef struct port_columns {
    int name, rate, bar, line, packets;
} port_columns;

static port_columns view_columns_for(const view *v, int width)
{
    port_columns c = {.name = 10, .rate = 9, .line = 9, .packets = 7};
    for (size_t i = 0; i < v->port_count; i++) {
        int columns = text_columns(safe(v->ports[i].name));
        if (columns > c.name) c.name = columns;
    }
    if (!width) return c;
    int most = width >= 120 ? 24 : width >= 100 ? 16 : 10;
    if (c.name > most) c.name = most;
    c.bar = width >= 140 ? 22 : width >= 110 ? 14 : width >= 76 ? 7 : 0;
    if (width < 56) c.packets = 0;
    if (width < 44) c.line = 0;
    return c;
}

static void view_port_heading(const view *v, lines *l, const port_columns *c)
{
    lines_begin(l);
    lines_cell(l, TITLE, c->name, false, "DEVICE");
    for (int way = 0; way < 2; way++) {
        lines_cell(l, TITLE, c->rate + 1, true, way ? "SENT" : "RECEIVED");
        if (c->bar) lines_cell(l, TITLE, c->bar + 1, false, " OF LINE");
    }
    if (c->line) lines_cell(l, TITLE, c->line + 1, true, "LINE");
    if (c->packets) lines_cell(l, TITLE, c->packets + 1, true, "PKTS/s");
    if (l->width && l->width < 100) // the first line tells how long
        lines_add(l, TITLE, "  TROUBLE");
    else
        lines_printf(l, TITLE, "  TROUBLE IN %s", safe(words_duration(v->elapsed_s).text));
}

static void view_port_line(const view_port *p, lines *l, const port_columns *c)
{
    style s = p->physical ? NORMAL : FAINT;
    lines_begin(l);
    lines_cell(l, p->physical ? STRONG : FAINT, c->name, false, safe(p->name));
    for (int way = 0; way < 2; way++) {
        words_text rate = {"?"};
        if (!isnan(p->rate[way])) rate = words_at_least(p->bound[way], words_amount_rate(p->rate[way], "bytes"));
        lines_blank(l, 1);
        lines_cell(l, s, c->rate, true, safe(rate.text));
        if (!c->bar) continue;
        lines_blank(l, 1);
        if (p->line_rate > 0)
            lines_bar(l, view_port_share(p, way) >= 0.9 ? CAUTION : s, c->bar, view_port_share(p, way));
        else
            lines_blank(l, c->bar);
    }
    if (c->line) {
        lines_blank(l, 1);
        lines_cell(l, s, c->line, true,
                   p->line_rate > 0 ? words_amount_rate(p->line_rate, "bytes").text
                   : p->physical    ? "?"
                                    : "-");
    }
    if (c->packets) {
        lines_blank(l, 1);
        lines_cell(l, s, c->packets, true, isnan(p->packets_per_s) ? "?" : words_count(p->packets_per_s).text);
    }
    lines_blank(l, 2);
    lines_add(l, *p->trouble ? p->style : FAINT, *p->trouble ? p->trouble : "-");
}

static void view_event_lines(const view *v, lines *l)
{
    enum { SHOWN = 24 };
    if (!v->event_count) return;
    lines_begin(l);
    lines_printf(l, TITLE, "ERRORS, RETRIES AND PAUSES IN %s", safe(words_duration(v->elapsed_s).text));
    for (size_t i = 0; i < v->event_count && (!l->width || i < SHOWN); i++) {
        lines_begin(l);
        lines_add(l, v->events[i].style, v->events[i].text);
    }
    if (!l->width || v->event_count <= SHOWN) return;
    lines_begin(l);
    lines_printf(l, FAINT, "and %zu more", v->event_count - SHOWN);
}

void view_lines(const view *v, lines *l)
{
    port_columns c = view_columns_for(v, l->width);
    view_finding_lines(v, l);
    view_load_lines(v, l);
    if (v->port_count) view_port_heading(v, l, &c);
    for (size_t i = 0; i < v->port_count; i++)
        view_port_line(&v->ports[i], l, &c);
    view_event_lines(v, l);
}

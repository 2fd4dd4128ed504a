// InfluxDB's line protocol, as Telegraf, VictoriaMetrics, QuestDB and ClusterCockpit read it, too: a line for each rate and
// each gauge, with one field, which is called value, at a time in ns. Totals are not written: not all of these readers make
// rates of them. What is not known has no line.
//
//     cxi_hni_sts_tx_ok_octets_per_s,hostname=n1,stype=cxi,stype-id=cxi0,type=node,unit=bytes/s value=1250 1700000000000000000
#include "export/export.h"
#include "sink_chosen.h"
#include "sink_text.h"
#include "analysis/base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct influx_state {
    export_sink *sink;
    FILE *to;
    chosen chosen;
    // The fabric's ports of one node in one interval, both ways, for net_bw.
    bool any, lacks; // there are some; one of them is not known
    uint64_t run;
    int64_t time_ns;
    const char *node, *unit; // of the chosen counters, whose texts stay where they are
    double sum;
} influx_state;

// Neither a line's end nor a backslash can be written so that all readers take it back; what else has a meaning is escaped.
static void influx_put_name(FILE *to, const char *text, const char *escaped)
{
    for (const char *t = utf8(text); *t; t++) {
        bool bad = (unsigned char)*t < ' ' || *t == 0x7f || *t == '\\';
        if (!bad && strchr(escaped, *t)) putc('\\', to);
        putc(bad ? '_' : *t, to);
    }
}

static void influx_put_tag(FILE *to, const char *key, const char *value)
{
    if (!value || !*value) return; // a tag without a value is an error
    fprintf(to, ",%s=", key);
    influx_put_name(to, value, ", =");
}

// The tags are in the order of their keys, as InfluxDB would have them.
static void influx_put_head(influx_state *x, const char *node, const char *source, const char *device)
{
    influx_put_tag(x->to, "hostname", node);
    influx_put_tag(x->to, "stype", source);
    influx_put_tag(x->to, "stype-id", device);
    fputs(",type=node", x->to);
}

static void influx_put_tags(influx_state *x, const char *const *tags)
{
    for (; tags && *tags; tags++) {
        const char *equals = strchr(*tags, '=');
        char *key = memory_strndup(*tags, (size_t)(equals - *tags));
        putc(',', x->to);
        influx_put_name(x->to, key, ", =");
        putc('=', x->to);
        influx_put_name(x->to, equals + 1, ", =");
        free(key);
    }
}

static void influx_put_measurement(FILE *to, const char *source, const char *counter, const char *per)
{
    if (*source == '#') putc('_', to); // a line that begins so is a comment
    influx_put_name(to, source, ", ");
    putc('_', to);
    influx_put_name(to, counter, ", ");
    fputs(per, to);
}

static void influx_put_end(influx_state *x, const char *unit, const char *per, int64_t time_ns,
                           const export_cell *value, bool whole)
{
    influx_put_tags(x, export_options_of(x->sink)->tags);
    if (*unit) {
        char *text = memory_format("%s%s", unit, per);
        influx_put_tag(x->to, "unit", text);
        free(text);
    }
    fputs(" value=", x->to);
    if (whole)
        put_i64(x->to, value->as.i64);
    else
        put_f64(x->to, value->as.f64);
    fputs(whole ? "i " : " ", x->to);
    put_i64(x->to, time_ns);
    putc('\n', x->to);
}

// The bytes of a port under the names that ClusterCockpit draws.
static const char *influx_known_name(const chosen_counter *c)
{
    bool fabric = strcmp(c->source, "cxi") == 0 || strcmp(c->source, "rdma") == 0;
    if (!c->port || !(fabric || strcmp(c->source, "netdev") == 0)) return NULL;
    if (c->role == CHOSEN_RECEIVED) return fabric ? "ic_read_bw" : "eth_read_bw";
    return c->role == CHOSEN_SENT ? fabric ? "ic_write_bw" : "eth_write_bw" : NULL;
}

// All that the fabric carried for the node, in and out, in one number: where a port is not known, it is not known.
static void influx_end_interval(influx_state *x)
{
    if (x->any && !x->lacks) {
        fputs("net_bw", x->to);
        influx_put_head(x, x->node, "network", "");
        influx_put_end(x, x->unit, "/s", x->time_ns, &(export_cell){.known = true, .as.f64 = x->sum}, false);
    }
    x->any = x->lacks = false;
    x->sum = 0;
}

static void influx_add_port(influx_state *x, const chosen_counter *k, const export_cell *c, bool known)
{
    const char *name = influx_known_name(k);
    if (!name || strncmp(name, "ic_", 3) != 0) return;
    if (x->any && (x->run != c[0].as.u64 || x->time_ns != c[3].as.i64)) influx_end_interval(x);
    x->any = true;
    x->run = c[0].as.u64;
    x->time_ns = c[3].as.i64;
    x->node = k->node;
    x->unit = k->unit;
    x->lacks |= !known;
    if (known) x->sum += c[9].as.f64;
}

static void influx_take_rate(influx_state *x, const export_cell *c)
{
    const chosen_counter *k = chosen_find(&x->chosen, c, &c[4]);
    bool bound = c[14].known && c[14].as.u64;
    if (k && c[3].known) influx_add_port(x, k, c, c[9].known && !bound);
    if (!k || bound || !c[9].known || !c[3].known) return;
    influx_put_measurement(x->to, k->source, k->counter, "_per_s");
    influx_put_head(x, k->node, k->source, k->device);
    influx_put_end(x, *k->unit ? k->unit : "1", "/s", c[3].as.i64, &c[9], false);
    const char *known = influx_known_name(k);
    if (!known) return;
    fputs(known, x->to);
    influx_put_head(x, k->node, "network", k->device);
    influx_put_end(x, k->unit, "/s", c[3].as.i64, &c[9], false);
}

// A gauge is an integer everywhere, or the database would refuse the second kind of it.
static void influx_take_value(influx_state *x, const export_cell *c)
{
    const chosen_counter *k = chosen_find(&x->chosen, c, &c[4]);
    if (!k || !k->gauge || !c[3].known || !(c[7].known || c[8].known)) return;
    if (c[7].known && c[7].as.u64 > INT64_MAX) return; // there is no such integer
    influx_put_measurement(x->to, k->source, k->counter, "");
    influx_put_head(x, k->node, k->source, k->device);
    influx_put_end(x, k->unit, "", c[3].as.i64, c[7].known ? &c[7] : &c[8], true);
}

static void influx_take_finding(influx_state *x, const export_cell *c)
{
    if (!c[4].known) return;
    fputs("netprof_finding", x->to);
    if (c[9].known) influx_put_tag(x->to, "device", c[9].as.text);
    influx_put_tag(x->to, "hostname", chosen_node(&x->chosen, c[0].as.u64));
    if (c[6].known) influx_put_tag(x->to, "rule", c[6].as.text);
    if (c[5].known) influx_put_tag(x->to, "severity", c[5].as.text);
    fputs(",type=node", x->to);
    influx_put_end(x, "", "", c[4].as.i64, &(export_cell){.known = true, .as.i64 = 1}, true);
}

static void *sink_influx_open(export_sink *sink, const char *path)
{
    influx_state *x = memory_calloc(1, sizeof *x);
    x->sink = sink;
    x->to = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    if (!x->to) export_fail(sink, "%s", strerror(errno ? errno : EIO));
    return x;
}

static void sink_influx_table(void *state, export_id id, const export_table *table)
{
    (void)state, (void)id, (void)table; // lines, no tables
}

static void sink_influx_row(void *state, export_id id, const export_table *table, const export_cell *cells)
{
    influx_state *x = state;
    (void)table;
    switch (id) {
    case EXPORT_RATES: influx_take_rate(x, cells); break;
    case EXPORT_VALUES: influx_take_value(x, cells); break;
    case EXPORT_FINDINGS: influx_take_finding(x, cells); break;
    default: chosen_take(&x->chosen, id, cells, export_options_of(x->sink)->include != NULL); break;
    }
    if (ferror(x->to)) export_fail(x->sink, "%s", strerror(errno ? errno : EIO));
}

static void sink_influx_close(void *state, bool finish)
{
    influx_state *x = state;
    if (x->to && finish) influx_end_interval(x);
    if (x->to && x->to != stdout && fclose(x->to) && finish) export_fail(x->sink, "%s", strerror(errno ? errno : EIO));
    chosen_free(&x->chosen);
    free(x);
}

const export_driver export_influx = {.name = "influx",
                                     .stream = true,
                                     .events = true,
                                     .open = sink_influx_open,
                                     .table = sink_influx_table,
                                     .row = sink_influx_row,
                                     .close = sink_influx_close};

#include "evaluate.h"

#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const netprof_device *evaluate_device_at(const evaluation *e, size_t i)
{
    return &e->d->delta->schema->devices[i];
}

static size_t evaluate_device_count(const evaluation *e)
{
    return e->d->delta->schema->device_count;
}

static const char *evaluate_own_fact(const evaluation *e, size_t device, const char *key)
{
    const netprof_device *dev = evaluate_device_at(e, device);
    return netprof_fact_of(dev->facts, dev->fact_count, key);
}

// ---- devices ----

// Names in order. Sorted arrays, not hash maps: evaluations are made in several threads at once (see stb_ds.h).
typedef struct evaluation_name {
    const char *name;
    size_t index;
} evaluation_name;

static int evaluate_name_order(const void *a, const void *b)
{
    const evaluation_name *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : x->index < y->index ? -1 : x->index > y->index;
}

// The position of the first element that is not below (name, index).
static size_t evaluate_name_position(const evaluation_name *names, const char *name, size_t index)
{
    const evaluation_name key = {name, index};
    size_t low = 0, high = arrlenu(names);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (evaluate_name_order(&names[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void evaluate_name_sort(evaluation_name *names)
{
    if (arrlenu(names)) qsort(names, arrlenu(names), sizeof *names, evaluate_name_order);
}

// The interface of the source netdev that a device belongs to.
static size_t evaluate_find_interface(const evaluation *e, const evaluation_name *interfaces, size_t device)
{
    const netprof_device *dev = evaluate_device_at(e, device);
    const char *name = evaluate_own_fact(e, device, "netdev");
    if (!name && strcmp(dev->source, "ethtool") == 0) name = dev->name;
    if (!name && strcmp(dev->source, "netdev") == 0) return device;
    if (!name) return DIFFERENCE_NONE;
    size_t after = evaluate_name_position(interfaces, name, SIZE_MAX); // of several of this name the last
    return after && strcmp(interfaces[after - 1].name, name) == 0 ? interfaces[after - 1].index : DIFFERENCE_NONE;
}

static void evaluate_find_twins(evaluation *e)
{
    evaluation_name *interfaces = NULL;
    for (size_t i = 0; i < evaluate_device_count(e); i++)
        if (strcmp(evaluate_device_at(e, i)->source, "netdev") == 0)
            arrput(interfaces, ((evaluation_name){evaluate_device_at(e, i)->name, i}));
    evaluate_name_sort(interfaces);
    for (size_t i = 0; i < evaluate_device_count(e); i++)
        e->twins[i] = evaluate_find_interface(e, interfaces, i);
    arrfree(interfaces);
}

// Chains in the order of the devices: those of one interface, and those of one master.
static void evaluate_find_groups(evaluation *e)
{
    evaluation_name *masters = NULL;
    for (size_t i = 0; i < evaluate_device_count(e); i++)
        e->groups[i] = (evaluation_group){DIFFERENCE_NONE, DIFFERENCE_NONE, DIFFERENCE_NONE, DIFFERENCE_NONE};
    for (size_t i = evaluate_device_count(e); i-- > 0;) {
        const char *master = evaluate_own_fact(e, i, "master");
        size_t twin = e->twins[i];
        if (twin != DIFFERENCE_NONE) {
            e->groups[i].next_twin = e->groups[twin].first_twin;
            e->groups[twin].first_twin = i;
        }
        if (master) arrput(masters, ((evaluation_name){master, i}));
    }
    evaluate_name_sort(masters);
    for (size_t k = 0; k + 1 < arrlenu(masters); k++)
        if (strcmp(masters[k].name, masters[k + 1].name) == 0)
            e->groups[masters[k].index].next_member = masters[k + 1].index;
    for (size_t i = 0; i < evaluate_device_count(e); i++) {
        size_t k = evaluate_name_position(masters, evaluate_device_at(e, i)->name, 0);
        if (k < arrlenu(masters) && strcmp(masters[k].name, evaluate_device_at(e, i)->name) == 0)
            e->groups[i].first_member = masters[k].index;
    }
    arrfree(masters);
}

static void evaluate_order_counters(evaluation *e)
{
    const netprof_schema *schema = e->d->delta->schema;
    evaluation_name *names = NULL;
    e->counters = memory_array(NULL, schema->counter_count, sizeof *e->counters);
    for (size_t d = 0; d < schema->device_count; d++) {
        const netprof_device *dev = &schema->devices[d];
        arrsetlen(names, 0);
        for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++)
            arrput(names, ((evaluation_name){schema->counters[i].name, i}));
        evaluate_name_sort(names);
        for (size_t k = 0; k < dev->count; k++)
            e->counters[dev->first + k] = names[k].index;
    }
    arrfree(names);
}

// The first of those that evaluation_linked() to a device; `groups` leads on.
static size_t evaluate_first_linked(const evaluation *e, size_t device)
{
    size_t twin = e->twins[device];
    return twin == DIFFERENCE_NONE ? device : e->groups[twin].first_twin;
}

void evaluation_begin(evaluation *e, const difference *d)
{
    const netprof_schema *schema = d->delta->schema;
    *e = (evaluation){.d = d, .device = DIFFERENCE_NONE, .line_share = NAN, .wire_bytes = NAN};
    e->twins = memory_calloc(schema->device_count, sizeof *e->twins);
    e->groups = memory_calloc(schema->device_count, sizeof *e->groups);
    evaluate_find_twins(e);
    evaluate_find_groups(e);
    evaluate_order_counters(e);
}

void evaluation_end(evaluation *e)
{
    free(e->counters);
    free(e->twins);
    free(e->groups);
    *e = (evaluation){0};
}

size_t evaluation_counter(const evaluation *e, size_t device, const char *name)
{
    const netprof_device *dev = evaluate_device_at(e, device);
    const netprof_counter *counters = e->d->delta->schema->counters;
    size_t low = dev->first, high = low + dev->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(counters[e->counters[middle]].name, name);
        if (order == 0) return e->counters[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return DIFFERENCE_NONE;
}

void evaluation_of(evaluation *e, const rule *x, size_t device)
{
    e->rule = x;
    e->device = device;
    e->value = (reading){.status = READING_NONE};
    memset(e->local_known, 0, sizeof e->local_known);
}

bool evaluation_linked(const evaluation *e, size_t a, size_t b)
{
    return a == b || (e->twins[a] != DIFFERENCE_NONE && e->twins[a] == e->twins[b]);
}

// An InfiniBand port counts the packets of its own network interface (IPoIB); RoCE is not in its interface's counters.
static bool evaluate_is_ipoib(const evaluation *e, size_t port)
{
    const char *layer = evaluate_own_fact(e, port, "link_layer");
    return strcmp(evaluate_device_at(e, port)->source, "rdma") == 0 && layer && strcmp(layer, "InfiniBand") == 0;
}

// Each byte once: an interface that belongs to a NIC of another source is that NIC's, and ethtool's figures are its
// interface's.
bool evaluation_counts_again(const evaluation *e, size_t device)
{
    const char *source = evaluate_device_at(e, device)->source;
    if (strcmp(source, "netdev") != 0 && strcmp(source, "ethtool") != 0) return false;
    for (size_t i = evaluate_first_linked(e, device); i != DIFFERENCE_NONE; i = e->groups[i].next_twin) {
        if (i == device) continue;
        bool by_nic = strcmp(evaluate_device_at(e, i)->source, "cxi") == 0 || evaluate_is_ipoib(e, i);
        if (by_nic || strcmp(source, "ethtool") == 0) return true;
    }
    return false;
}

bool evaluation_applies(const evaluation *e, const rule *x, size_t device)
{
    const netprof_device *d = evaluate_device_at(e, device);
    if (strcmp(x->source, "*") != 0 && strcmp(x->source, d->source) != 0) return false;
    return x->value.changes || !device_is_watched(d) || difference_has_both_ends(e->d, device);
}

// A sibling: a device that others are compared with.
static bool evaluate_is_sibling(const evaluation *e, size_t device)
{
    return evaluate_device_at(e, device)->flags & NETPROF_DEVICE_PHYSICAL && evaluation_applies(e, e->rule, device);
}

// ---- counters ----

static reading evaluate_good(double number)
{
    return (reading){.number = number};
}

static reading evaluate_none(void)
{
    return (reading){.status = READING_NONE};
}

static reading evaluate_unknown(const char *reason)
{
    return (reading){.status = READING_UNKNOWN, .reason = reason};
}

static reading evaluate_unknown_counter(const evaluation *e, size_t i, const char *reason)
{
    const char *name = e->d->delta->schema->counters[i].name;
    return (reading){.status = READING_UNKNOWN, .reason = reason, .counter = name, .at = i + 1};
}

static bool evaluate_has_value(uint8_t status)
{
    return status == NETPROF_STATUS_OK || status == NETPROF_STATUS_SATURATED;
}

static reading evaluate_unread(const evaluation *e, size_t i, uint8_t status)
{
    const char *name = e->d->delta->schema->counters[i].name;
    if (status == NETPROF_STATUS_ABSENT || status == NETPROF_STATUS_UNSUPPORTED) return evaluate_none();
    if (status == NETPROF_STATUS_SKIPPED)
        return (reading){
            .status = READING_SKIPPED, .reason = "not in the set that was read", .counter = name, .at = i + 1};
    return evaluate_unknown_counter(e, i, netprof_status_name((netprof_status)status));
}

// Hardware errata that make a counter show more than there was: no evidence. One that is merely unreliable is: what was
// lost is not excused, and a finding says the erratum.
static bool evaluate_is_bad(const evaluation *e, size_t i)
{
    const catalog_entry *entry = e->d->rows[i].entry;
    return entry && entry->marks & (CATALOG_UNUSABLE | CATALOG_OVERCOUNTS);
}

static reading evaluate_difference_of(const evaluation *e, size_t i)
{
    const netprof_delta *delta = e->d->delta;
    const difference_row *row = &e->d->rows[i];
    if (evaluate_is_bad(e, i)) return evaluate_none();
    switch (row->flag) {
    case NETPROF_FLAG_OK:
    case NETPROF_FLAG_WRAPPED: return evaluate_good(row->negative ? -(double)row->magnitude : (double)row->magnitude);
    case NETPROF_FLAG_GAUGE: return evaluate_none();
    case NETPROF_FLAG_UNKNOWN:
        return evaluate_unread(
            e, i, evaluate_has_value(delta->after_status[i]) ? delta->before_status[i] : delta->after_status[i]);
    default: return evaluate_unknown_counter(e, i, netprof_flag_name((netprof_flag)row->flag));
    }
}

static reading evaluate_value_of(const evaluation *e, size_t i, expression_op op)
{
    const netprof_delta *delta = e->d->delta;
    uint8_t status = op == EXPRESSION_BEFORE ? delta->before_status[i] : delta->after_status[i];
    uint64_t value = op == EXPRESSION_BEFORE ? delta->before[i] : delta->after[i];
    const netprof_counter *counter = &delta->schema->counters[i];
    if (status == NETPROF_STATUS_SATURATED) return evaluate_unknown_counter(e, i, "saturated");
    if (status != NETPROF_STATUS_OK) return evaluate_unread(e, i, status);
    return evaluate_good(counter->flags & NETPROF_SIGNED ? (double)(int64_t)value : (double)value);
}

static void evaluate_match_in_device(const evaluation *e, const expression_node *n, size_t device,
                                     void (*visit)(void *user, size_t counter), void *user)
{
    const netprof_device *dev = evaluate_device_at(e, device);
    if (!n->is_list) {
        size_t i = evaluation_counter(e, device, n->text);
        if (i != DIFFERENCE_NONE) visit(user, i);
        return;
    }
    size_t head = strcspn(n->text, "*?[");
    for (uint32_t i = dev->first; i < dev->first + dev->count; i++) {
        const char *name = e->d->delta->schema->counters[i].name;
        bool begins = !head || (*name == *n->text && strncmp(name, n->text, head) == 0); // most differ at once
        if (begins && text_like(n->text + head, name + head)) visit(user, i);
    }
}

// Of the whole node the qualifier names devices, of a device the source of others that belong to the same port.
static void evaluate_each_match(const evaluation *e, const expression_node *n,
                                void (*visit)(void *user, size_t counter), void *user)
{
    if (e->device == DIFFERENCE_NONE) {
        for (size_t i = 0; i < evaluate_device_count(e); i++)
            if (evaluation_applies(e, e->rule, i) &&
                (!n->qualifier || text_like(n->qualifier, evaluate_device_at(e, i)->name)))
                evaluate_match_in_device(e, n, i, visit, user);
    } else if (!n->qualifier) {
        evaluate_match_in_device(e, n, e->device, visit, user);
    } else {
        for (size_t i = evaluate_first_linked(e, e->device); i != DIFFERENCE_NONE; i = e->groups[i].next_twin)
            if (strcmp(evaluate_device_at(e, i)->source, n->qualifier) == 0)
                evaluate_match_in_device(e, n, i, visit, user);
    }
}

// ---- lists: sum, max, min, mean, count ----

typedef struct gathering {
    const evaluation *e;
    expression_op op, of;           // of: what is taken of a counter (its difference, or BEFORE, AFTER)
    double sum, max, min, second;   // second: the next after the largest
    size_t count, changed, largest; // largest: the counter
    reading worst;                  // of those without a value
} gathering;

static void evaluate_gather(gathering *g, reading r)
{
    if (r.status != READING_OK) {
        if (r.status > g->worst.status) g->worst = r;
        return;
    }
    g->second = !g->count ? -INFINITY : r.number > g->max ? g->max : fmax(g->second, r.number);
    g->max = g->count ? fmax(g->max, r.number) : r.number;
    g->min = g->count ? fmin(g->min, r.number) : r.number;
    g->sum += r.number;
    g->count++;
}

static void evaluate_gather_counter(void *user, size_t counter)
{
    gathering *g = user;
    reading r =
        g->of == EXPRESSION_COUNTER ? evaluate_difference_of(g->e, counter) : evaluate_value_of(g->e, counter, g->of);
    if (r.status == READING_OK && (!g->count || r.number > g->max)) g->largest = counter;
    evaluate_gather(g, r);
    if (g->op == EXPRESSION_CHANGED) {
        evaluate_gather(g, evaluate_value_of(g->e, counter, EXPRESSION_BEFORE));
        g->changed += g->e->d->rows[counter].changed;
    }
}

// The last number in a name: 3 of "tx_prio3_pause_duration" and of "hni_tx_paused_3".
static reading evaluate_name_number(const char *name)
{
    size_t end = strlen(name), first;
    while (end && !(name[end - 1] >= '0' && name[end - 1] <= '9'))
        end--;
    for (first = end; first && name[first - 1] >= '0' && name[first - 1] <= '9';)
        first--;
    return end ? evaluate_good(strtod(name + first, NULL)) : evaluate_none();
}

static reading evaluate_which(const gathering *g)
{
    if (!(g->max > 0) || g->second >= 0.99 * g->max) return evaluate_none();
    return evaluate_name_number(g->e->d->delta->schema->counters[g->largest].name);
}

// Missing values are left out, unread ones too as long as one was read; an unknown value makes the result unknown.
static reading evaluate_gathered(const gathering *g)
{
    if (g->worst.status == READING_UNKNOWN) return g->worst;
    if (!g->count) return g->worst.status ? g->worst : evaluate_none();
    switch (g->op) {
    case EXPRESSION_MAX: return evaluate_good(g->max);
    case EXPRESSION_MIN: return evaluate_good(g->min);
    case EXPRESSION_MEAN: return evaluate_good(g->sum / (double)g->count);
    case EXPRESSION_COUNT: return evaluate_good((double)g->count);
    case EXPRESSION_CHANGED: return evaluate_good((double)g->changed);
    case EXPRESSION_WHICH: return evaluate_which(g);
    case EXPRESSION_SPREAD: return g->sum > 0 ? evaluate_good(g->max / (g->sum / (double)g->count)) : evaluate_none();
    default: return evaluate_good(g->sum);
    }
}

static reading evaluate_counter_reading(const evaluation *e, const expression_node *n, expression_op of)
{
    gathering g = {.e = e, .op = EXPRESSION_SUM, .of = of};
    evaluate_each_match(e, n, evaluate_gather_counter, &g);
    return evaluate_gathered(&g);
}

static reading evaluate_node(evaluation *e, const expression *x, uint32_t index);

static reading evaluate_list_reading(evaluation *e, const expression *x, const expression_node *n)
{
    gathering g = {.e = e, .op = n->op, .of = EXPRESSION_COUNTER};
    if (n->op == EXPRESSION_CHANGED) g.of = EXPRESSION_AFTER;
    for (uint32_t i = n->first; i; i = x->nodes[i].next) {
        if (x->nodes[i].op == EXPRESSION_COUNTER)
            evaluate_each_match(e, &x->nodes[i], evaluate_gather_counter, &g);
        else
            evaluate_gather(&g, evaluate_node(e, x, i));
    }
    return evaluate_gathered(&g);
}

// Over the other devices of the source, each with its own locals.
static reading evaluate_devices_reading(const evaluation *e, const expression *x, const expression_node *n)
{
    gathering g = {.e = e, .op = n->op == EXPRESSION_PEERS ? EXPRESSION_MEAN : n->op};
    for (size_t i = 0; i < evaluate_device_count(e); i++) {
        if (!evaluate_is_sibling(e, i) || (n->op == EXPRESSION_PEERS && i == e->device)) continue;
        evaluation other = *e;
        evaluation_of(&other, e->rule, i);
        evaluate_gather(&g, evaluate_node(&other, x, n->first));
    }
    return evaluate_gathered(&g);
}

// How many are not idle, of a share of their line.
static reading evaluate_used_reading(const evaluation *e, const expression *x, const expression_node *n)
{
    gathering g = {.e = e, .op = EXPRESSION_MAX};
    size_t used = 0;
    for (size_t i = 0; i < evaluate_device_count(e); i++) {
        if (!evaluate_is_sibling(e, i)) continue;
        evaluation other = *e;
        evaluation_of(&other, e->rule, i);
        reading r = evaluate_node(&other, x, n->first);
        evaluate_gather(&g, r);
        used += !r.status && r.number >= EVALUATION_IDLE_SHARE;
    }
    reading most = evaluate_gathered(&g);
    return most.status ? most : evaluate_good((double)used);
}

static reading evaluate_far_reading(const evaluation *e, const expression *x, const expression_node *n)
{
    size_t there = e->far && e->device != DIFFERENCE_NONE ? e->far_devices[e->device] : DIFFERENCE_NONE;
    if (there == DIFFERENCE_NONE) return evaluate_none();
    evaluation other = *e->far;
    evaluation_of(&other, e->rule, there);
    return evaluate_node(&other, x, n->first);
}

static reading evaluate_members_reading(const evaluation *e, const expression *x, const expression_node *n)
{
    gathering g = {.e = e, .op = EXPRESSION_SUM};
    size_t i = e->device == DIFFERENCE_NONE ? DIFFERENCE_NONE : e->groups[e->device].first_member;
    for (; i != DIFFERENCE_NONE; i = e->groups[i].next_member) {
        if (i == e->device || !evaluation_applies(e, e->rule, i)) continue;
        evaluation other = *e;
        evaluation_of(&other, e->rule, i);
        evaluate_gather(&g, evaluate_node(&other, x, n->first));
    }
    return evaluate_gathered(&g);
}

static const char *evaluate_fact_text(const evaluation *e, const char *key);

static reading evaluate_best_reading(const evaluation *e, const expression *x, const expression_node *n)
{
    const char *key = x->nodes[n->first].text, *own = e->device == DIFFERENCE_NONE ? NULL : evaluate_fact_text(e, key);
    gathering g = {.e = e, .op = EXPRESSION_MAX};
    for (size_t i = 0; own && i < evaluate_device_count(e); i++) {
        if (i == e->device || !evaluation_applies(e, e->rule, i)) continue;
        evaluation other = *e;
        evaluation_of(&other, e->rule, i);
        const char *theirs = evaluate_fact_text(&other, key);
        if (theirs && strcmp(own, theirs) == 0) evaluate_gather(&g, evaluate_node(&other, x, x->nodes[n->first].next));
    }
    return evaluate_gathered(&g);
}

// ---- variables, facts ----

// Names of Cassini's port speeds, as cxi_stat knows them; Cassini-2 writes "ck400G".
static double evaluate_cassini_line_rate(const char *name)
{
    static const struct {
        const char *pattern;
        double bits_per_s;
    } rows[] = {{"*400*", 425e9},       {"*200*", 212.5e9},  {"bj*100*", 103.125e9},
                {"BJ*100*", 103.125e9}, {"*100*", 106.25e9}, {"*50*", 53.125e9}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (text_like(rows[i].pattern, name)) return rows[i].bits_per_s;
    return 0;
}

static double evaluate_rate_of(const evaluation *e, size_t device, const char *counter)
{
    size_t i = evaluation_counter(e, device, counter);
    double rate = i == DIFFERENCE_NONE || evaluate_difference_of(e, i).status ? NAN : e->d->rows[i].rate_per_s;
    return rate > 0 ? rate : 0;
}

static double evaluate_fact_number(const char *text)
{
    return text ? strtod(text, NULL) : 0;
}

static double evaluate_plausible(double bits_per_s)
{
    return bits_per_s > 0 && bits_per_s < 1e14 ? bits_per_s : 0;
}

double evaluation_speed(const evaluation *e, size_t device)
{
    double mbps = evaluate_fact_number(evaluate_own_fact(e, device, "speed_mbps")),
           rate = evaluate_fact_number(evaluate_own_fact(e, device, "rate_bps"));
    size_t twin = e->twins[device];
    if (mbps <= 0 && rate <= 0 && twin != DIFFERENCE_NONE)
        mbps = evaluate_fact_number(evaluate_own_fact(e, twin, "speed_mbps"));
    if (mbps >= 4294967295.0) mbps = 0; // a driver's value for "unknown"
    if (mbps > 0 || rate > 0) return evaluate_plausible(mbps > 0 ? mbps * 1e6 : rate);
    return strcmp(evaluate_device_at(e, device)->source, "cxi") == 0 ? evaluation_line_rate(e, device) / 1.0625 : 0;
}

// A Cassini link always receives codewords of 5440 bits, which give its speed where no fact does.
double evaluation_line_rate(const evaluation *e, size_t device)
{
    const char *port = evaluate_own_fact(e, device, "port_speed");
    double rate = port ? evaluate_cassini_line_rate(port) : 0;
    if (strcmp(evaluate_device_at(e, device)->source, "cxi") != 0) return evaluation_speed(e, device);
    if (rate <= 0) rate = evaluate_fact_number(evaluate_own_fact(e, device, "speed_mbps")) * 1.0625e6;
    if (rate <= 0) rate = evaluate_rate_of(e, device, "hni_pcs_good_cw") * 5440;
    return evaluate_plausible(rate);
}

double evaluation_clock(const evaluation *e, size_t device)
{
    const char *version = evaluate_own_fact(e, device, "cassini_version");
    if (version) return *version == '2' ? 1.1e9 : 1e9;
    return evaluate_rate_of(e, device, "tou_tou_oxe_num_idles") > 1.02e9 ? 1.1e9 : 1e9;
}

static double evaluate_sibling_count(const evaluation *e)
{
    double count = 0;
    for (size_t i = 0; i < evaluate_device_count(e); i++)
        count += evaluate_is_sibling(e, i);
    return count;
}

static reading evaluate_when_positive(double number, const char *reason)
{
    return number > 0 ? evaluate_good(number) : evaluate_unknown(reason);
}

static reading evaluate_variable_reading(const evaluation *e, uint32_t variable)
{
    bool node = e->device == DIFFERENCE_NONE;
    int64_t elapsed = node ? e->d->total.elapsed_ns : e->d->devices[e->device].elapsed_ns;
    switch ((expression_variable)variable) {
    case EXPRESSION_VALUE: return e->value;
    case EXPRESSION_SECONDS: return evaluate_when_positive((double)elapsed / 1e9, expression_timeless);
    case EXPRESSION_DEVICES: return evaluate_good(evaluate_sibling_count(e));
    case EXPRESSION_SWEEP: return evaluate_when_positive((double)e->d->delta->sweep_ns / 1e9, expression_timeless);
    case EXPRESSION_LINE: return isnan(e->line_share) ? evaluate_none() : evaluate_good(e->line_share);
    case EXPRESSION_LOSSES: return evaluate_good((double)e->losses);
    case EXPRESSION_WIRE: return isnan(e->wire_bytes) ? evaluate_none() : evaluate_good(e->wire_bytes);
    case EXPRESSION_WITHIN: return isnan(e->within) ? evaluate_unknown("IP bytes not read") : evaluate_good(e->within);
    default: break;
    }
    if (node) return evaluate_none();
    switch ((expression_variable)variable) {
    case EXPRESSION_CLOCK: return evaluate_good(evaluation_clock(e, e->device));
    case EXPRESSION_LINE_RATE:
        return evaluate_when_positive(evaluation_line_rate(e, e->device), "the speed is not known");
    case EXPRESSION_SPEED: return evaluate_when_positive(evaluation_speed(e, e->device), "the speed is not known");
    default: return evaluate_good((evaluate_device_at(e, e->device)->flags & NETPROF_DEVICE_PHYSICAL) != 0);
    }
}

static const char *evaluate_fact_text(const evaluation *e, const char *key)
{
    if (e->device == DIFFERENCE_NONE) {
        const netprof_schema *schema = e->d->delta->schema;
        const char *node = netprof_fact_of(schema->facts, schema->fact_count, key);
        return node ? node : netprof_fact_of(e->d->run_facts, e->d->run_fact_count, key);
    }
    const char *text = evaluate_own_fact(e, e->device, key);
    return text || e->twins[e->device] == DIFFERENCE_NONE ? text : evaluate_own_fact(e, e->twins[e->device], key);
}

static reading evaluate_fact_reading(const evaluation *e, const char *key)
{
    const char *text = evaluate_fact_text(e, key);
    char *end;
    double number = text ? strtod(text, &end) : 0;
    return text && end != text && isfinite(number) ? evaluate_good(number) : evaluate_none();
}

static reading evaluate_flagged_reading(const evaluation *e, const char *flag)
{
    if (e->device == DIFFERENCE_NONE) return evaluate_none();
    if (strcmp(flag, "saturated") == 0) return evaluate_good((double)e->d->devices[e->device].saturated);
    for (int f = 0; f < DIFFERENCE_FLAGS; f++)
        if (strcmp(netprof_flag_name((netprof_flag)f), flag) == 0)
            return evaluate_good((double)e->d->devices[e->device].flagged[f]);
    return evaluate_none();
}

// One finding for one event: a rule about changes does not tell it again of the interface of a NIC.
static const device_change *evaluate_change(const evaluation *e, const char *word)
{
    bool slower = strcmp(word, "slower") == 0;
    device_change_kind kind = DEVICE_SPEED;
    if (e->device == DIFFERENCE_NONE || (!slower && !device_change_parse(word, &kind))) return NULL;
    const device_change *c = difference_change(e->d, e->device, kind);
    return c && (!c->repeated || !e->rule->value.changes) && (!slower || c->slower) ? c : NULL;
}

const device_change *evaluation_change(const evaluation *e, const expression *x)
{
    const expression_node *n = &x->nodes[x->root];
    return n->op == EXPRESSION_DEVICE ? evaluate_change(e, x->nodes[n->first].text) : NULL;
}

// ---- nodes ----

static reading evaluate_worse(reading a, reading b)
{
    return b.status > a.status ? b : a;
}

static reading evaluate_calculate(expression_op op, reading a, reading b)
{
    if (a.status == READING_NONE || b.status == READING_NONE) return evaluate_none(); // nothing there to be unknown
    if (a.status || b.status) return evaluate_worse(a, b);
    double x = a.number, y = b.number;
    switch (op) {
    case EXPRESSION_ADD: return evaluate_good(x + y);
    case EXPRESSION_SUBTRACT: return evaluate_good(x - y);
    case EXPRESSION_MULTIPLY: return evaluate_good(x * y);
    case EXPRESSION_DIVIDE: return y > 0 || y < 0 ? evaluate_good(x / y) : evaluate_none();
    case EXPRESSION_LESS: return evaluate_good(x < y);
    case EXPRESSION_LESS_EQUAL: return evaluate_good(x <= y);
    case EXPRESSION_GREATER: return evaluate_good(x > y);
    case EXPRESSION_GREATER_EQUAL: return evaluate_good(x >= y);
    default: return evaluate_good(!(x < y) && !(x > y));
    }
}

// One side that is known to decide is enough.
static reading evaluate_connect(expression_op op, reading a, reading b)
{
    bool decides = op == EXPRESSION_OR;
    if (a.status == READING_OK && (a.number != 0) == decides) return evaluate_good(decides);
    if (b.status == READING_OK && (b.number != 0) == decides) return evaluate_good(decides);
    reading worst = evaluate_worse(a, b);
    return worst.status ? worst : evaluate_good(!decides);
}

static reading evaluate_first_reading(evaluation *e, const expression *x, const expression_node *n)
{
    reading last = evaluate_none();
    for (uint32_t i = n->first; i; i = x->nodes[i].next) {
        reading r = evaluate_node(e, x, i);
        if (r.status == READING_OK || r.status == READING_UNKNOWN) return r;
        last = evaluate_worse(last, r);
    }
    return last;
}

static reading evaluate_local_reading(evaluation *e, uint32_t index)
{
    if (!e->local_known[index]) {
        e->locals[index] = evaluate(e, &e->rule->locals[index]);
        e->local_known[index] = true;
    }
    return e->locals[index];
}

static reading evaluate_one_argument(evaluation *e, const expression *x, const expression_node *n)
{
    reading r = evaluate_node(e, x, n->first);
    if (n->op == EXPRESSION_KNOWN) return evaluate_good(r.status == READING_OK);
    if (n->op == EXPRESSION_RATE)
        return evaluate_calculate(EXPRESSION_DIVIDE, r, evaluate_variable_reading(e, EXPRESSION_SECONDS));
    if (r.status) return r;
    return evaluate_good(n->op == EXPRESSION_NEGATE ? -r.number : !(r.number != 0));
}

static reading evaluate_node(evaluation *e, const expression *x, uint32_t index)
{
    const expression_node *n = &x->nodes[index], *first = &x->nodes[n->first];
    switch (n->op) {
    case EXPRESSION_NUMBER: return evaluate_good(n->number);
    case EXPRESSION_COUNTER: return evaluate_counter_reading(e, n, EXPRESSION_COUNTER);
    case EXPRESSION_VARIABLE: return evaluate_variable_reading(e, n->index);
    case EXPRESSION_LOCAL: return evaluate_local_reading(e, n->index);
    case EXPRESSION_NEGATE:
    case EXPRESSION_NOT:
    case EXPRESSION_KNOWN:
    case EXPRESSION_RATE: return evaluate_one_argument(e, x, n);
    case EXPRESSION_AND:
    case EXPRESSION_OR: return evaluate_connect(n->op, evaluate_node(e, x, n->first), evaluate_node(e, x, first->next));
    case EXPRESSION_SUM:
    case EXPRESSION_MAX:
    case EXPRESSION_MIN:
    case EXPRESSION_MEAN:
    case EXPRESSION_COUNT:
    case EXPRESSION_WHICH:
    case EXPRESSION_CHANGED: return evaluate_list_reading(e, x, n);
    case EXPRESSION_FIRST: return evaluate_first_reading(e, x, n);
    case EXPRESSION_BEFORE:
    case EXPRESSION_AFTER: return evaluate_counter_reading(e, first, n->op);
    case EXPRESSION_FACT: return evaluate_fact_reading(e, first->text);
    case EXPRESSION_IS: {
        const char *text = evaluate_fact_text(e, first->text);
        return text ? evaluate_good(strcmp(text, x->nodes[first->next].text) == 0) : evaluate_none();
    }
    case EXPRESSION_FLAGGED: return evaluate_flagged_reading(e, first->text);
    case EXPRESSION_DEVICE: return evaluate_change(e, first->text) ? evaluate_good(1) : evaluate_none();
    case EXPRESSION_PEERS:
    case EXPRESSION_SPREAD:
    case EXPRESSION_TOTAL: return evaluate_devices_reading(e, x, n);
    case EXPRESSION_USED: return evaluate_used_reading(e, x, n);
    case EXPRESSION_MEMBERS: return evaluate_members_reading(e, x, n);
    case EXPRESSION_BEST: return evaluate_best_reading(e, x, n);
    case EXPRESSION_FAR: return evaluate_far_reading(e, x, n);
    default: return evaluate_calculate(n->op, evaluate_node(e, x, n->first), evaluate_node(e, x, first->next));
    }
}

reading evaluate(evaluation *e, const expression *x)
{
    reading r = x->root ? evaluate_node(e, x, x->root) : evaluate_none();
    return r.status == READING_OK && !isfinite(r.number) ? evaluate_none() : r;
}

bool evaluate_condition(evaluation *e, const expression *x)
{
    reading r = x->root ? evaluate(e, x) : evaluate_good(1);
    return r.status == READING_OK && r.number != 0;
}

// ---- the counters and facts of a formula ----

static uint32_t evaluate_chosen(evaluation *e, const expression *x, const expression_node *n)
{
    for (uint32_t i = n->first; i; i = x->nodes[i].next)
        if (evaluate_node(e, x, i).status == READING_OK) return i;
    return 0;
}

typedef struct walker {
    evaluation *e;
    void (*counter)(void *user, size_t counter);
    void (*fact)(void *user, const char *fact, double number);
    void *user;
    unsigned done; // locals that were looked at, one bit each
} walker;

static void evaluate_walk(walker *w, const expression *x, uint32_t index)
{
    const expression_node *n = &x->nodes[index];
    uint32_t alone = n->op == EXPRESSION_FIRST ? evaluate_chosen(w->e, x, n) : 0;
    if (n->op == EXPRESSION_COUNTER && w->counter) evaluate_each_match(w->e, n, w->counter, w->user);
    if (n->op == EXPRESSION_LOCAL && !(w->done >> n->index & 1)) {
        const expression *local = &w->e->rule->locals[n->index];
        w->done |= 1u << n->index;
        evaluate_walk(w, local, local->root);
    }
    if (n->op == EXPRESSION_FACT && w->fact) {
        reading r = evaluate_fact_reading(w->e, x->nodes[n->first].text);
        if (r.status == READING_OK) w->fact(w->user, x->nodes[n->first].text, r.number);
    }
    if (n->op == EXPRESSION_FACT || n->op == EXPRESSION_IS || n->op == EXPRESSION_FLAGGED) return;
    if (n->op == EXPRESSION_DEVICE) return;
    if (n->op == EXPRESSION_FAR) return; // another node's counters
    for (uint32_t i = alone ? alone : n->first; i; i = alone ? 0 : x->nodes[i].next)
        evaluate_walk(w, x, i);
}

void evaluation_counters(evaluation *e, const expression *x, void (*visit)(void *user, size_t counter), void *user)
{
    walker w = {.e = e, .counter = visit, .user = user};
    if (x->root) evaluate_walk(&w, x, x->root);
}

void evaluation_facts(evaluation *e, const expression *x, void (*visit)(void *user, const char *fact, double number),
                      void *user)
{
    walker w = {.e = e, .fact = visit, .user = user};
    if (x->root) evaluate_walk(&w, x, x->root);
}

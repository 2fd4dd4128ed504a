#include "findings_nodes.h"

#include "findings_making.h"
#include "node_settings.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"
#include "analysis/base/words.h"
#include "analysis/peers/peers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double nodes_matter = 1, nodes_context = 0.5; // values of the told rules

// ---- adding ----

static size_t nodes_device(const findings *f, const char *source, const char *device)
{
    const netprof_schema *schema = f->d->delta->schema;
    for (size_t i = 0; i < schema->device_count; i++)
        if (strcmp(schema->devices[i].source, source) == 0 && strcmp(schema->devices[i].name, device) == 0) return i;
    return DIFFERENCE_NONE;
}

// Returns the finding; NULL: the table has no such rule.
static finding *nodes_add(findings_node *n, const rules *set, const char *rule_name, size_t device, const char *subject,
                          double value, char *claim)
{
    findings_making m = {.f = n->f, .set = set};
    size_t before = n->f->count;
    findings_add_told(&m, rule_name, device, subject, value, claim);
    return n->f->count > before ? &n->f->items[before] : NULL;
}

// ---- settings ----

static void nodes_add_setting(findings_node *nodes, const rules *set, const node_settings_one *x)
{
    bool alone = x->node != NODE_SETTINGS_NONE;
    findings_node *n = &nodes[alone ? x->node : 0];
    size_t device = alone ? nodes_device(n->f, x->source, x->device) : DIFFERENCE_NONE;
    finding *made = nodes_add(n, set, "node-settings", device, x->who,
                              x->severity >= SEVERITY_WATCH ? nodes_matter : nodes_context, memory_strdup(x->claim));
    if (made && !alone) made->of_nodes = x->of;
}

static void nodes_compare_settings(findings_node *nodes, size_t count, const rules *set)
{
    node_settings s = {0};
    for (size_t i = 0; i < count; i++)
        node_settings_add(&s, nodes[i].name, nodes[i].f->d->delta->schema);
    node_settings_judge(&s);
    for (size_t i = 0; i < arrlenu(s.found); i++)
        nodes_add_setting(nodes, set, &s.found[i]);
    node_settings_free(&s);
}

// ---- what they moved ----

// Of the ports together, bit/s; 0: of some it is not known.
static double nodes_speed(const findings *f)
{
    evaluation e = {0};
    double sum = 0;
    bool known = true;
    evaluation_begin(&e, f->d);
    for (size_t i = 0; i < f->d->delta->schema->device_count; i++) {
        if (!(f->d->delta->schema->devices[i].flags & NETPROF_DEVICE_PHYSICAL) || evaluation_counts_again(&e, i))
            continue;
        double speed = evaluation_speed(&e, i);
        known &= speed > 0 || !expression_is_source(f->d->delta->schema->devices[i].source,
                                                    strlen(f->d->delta->schema->devices[i].source));
        sum += speed > 0 ? speed : 0;
    }
    evaluation_end(&e);
    return known ? sum : 0;
}

static bool nodes_is_one_job(const findings_node *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!nodes[i].job || strcmp(nodes[i].job, nodes[0].job) != 0) return false;
    return count > 0;
}

// At the same time, as far as that is known.
static bool nodes_are_together(const findings_node *nodes, size_t count)
{
    int64_t from = INT64_MIN, to = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        if (!nodes[i].from_ns || nodes[i].to_ns <= nodes[i].from_ns) return false;
        from = nodes[i].from_ns > from ? nodes[i].from_ns : from;
        to = nodes[i].to_ns < to ? nodes[i].to_ns : to;
    }
    return from < to;
}

static char *nodes_claim(const peers_outcome *o)
{
    words_text value = words_quantity(o->value, "B/s"), low = words_quantity(o->low, "B/s"),
               high = words_quantity(o->high, "B/s"), others = words_many(o->known - 1, "other node");
    const char *amount = o->is_silent ? "nothing" : value.text;
    char *claim = NULL;
    text_append(&claim, "alone moved %s; the %s %s", amount, others.text, low.text);
    if (strcmp(low.text, high.text) == 0)
        text_append(&claim, " each");
    else
        text_append(&claim, " to %s", high.text);
    if (o->doubtful) text_append(&claim, "; %zu may differ so by chance", o->known);
    return claim;
}

// Nodes of the same ports. Who does nothing may take no part, but in a job.
static void nodes_compare_load(findings_node *nodes, size_t count, const rules *set)
{
    double *values = memory_calloc(count + 1, sizeof *values), most = 0, speed = nodes_speed(nodes[0].f);
    bool job = nodes_is_one_job(nodes, count);
    peers_outcome o;
    for (size_t i = 0; i < count; i++) {
        const findings_load *l = &nodes[i].f->load;
        bool idle = !l->devices || l->idle == l->devices, same = fabs(nodes_speed(nodes[i].f) - speed) <= 1e-3 * speed;
        values[i] = !same || (idle && !job) ? NAN : l->rate[0] + l->rate[1];
        if (values[i] > most) most = values[i];
    }
    double nothing = 0.001 * speed / 8;
    peers_weigh(&o, values, count, nothing, NULL);
    free(values);
    if (!(speed > 0) || most < 10 * nothing) return;
    if (o.kind == PEERS_ONE) {
        nodes_add(&nodes[o.odd], set, "node-peers", DIFFERENCE_NONE, "node", o.doubtful ? nodes_context : nodes_matter,
                  nodes_claim(&o));
    } else if (o.kind >= PEERS_TWO) {
        words_text value = words_quantity(o.value, "B/s"), centre = words_quantity(o.centre, "B/s");
        finding *made = nodes_add(&nodes[0], set, "node-peers", DIFFERENCE_NONE, "nodes", nodes_context,
                                  memory_format("%zu of %zu moved about %s, the other%s %s", o.unlike, o.known,
                                                value.text, o.known > 2 ? "s about" : "", centre.text));
        if (made) made->of_nodes = o.known;
    }
}

// ---- faults that one of them alone has ----

bool findings_is_of_faults(const rule *x)
{
    static const char *const classes[] = {"link-down", "link-errors", "host-loss", "transport"};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strcmp(x->class_name, classes[i]) == 0) return !x->of_peers;
    return false;
}

static bool nodes_less_is_worse(const rule *x)
{
    for (int s = SEVERITY_INFO; s < SEVERITIES; s++)
        if (x->thresholds[s].op == EXPRESSION_LESS || x->thresholds[s].op == EXPRESSION_LESS_EQUAL) return true;
    return false;
}

// most: of the others; NAN: not all of them are known.
static char *nodes_others_text(const rule *x, double value, double most, size_t count)
{
    char most_text[48];
    if (count < 2 || !findings_is_of_faults(x) || nodes_less_is_worse(x)) return NULL;
    if (isnan(most) || 2 * most > value) return NULL;
    if (!(most > 0)) return memory_format("; none on the %zu other nodes", count);
    finding_number_text(x, most, most_text, sizeof most_text);
    return *most_text ? memory_format("; at most %s on the %zu other nodes", most_text, count) : NULL;
}

char *findings_others_text(const rule *x, double value, const double *others, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count && !isnan(most); i++)
        if (!(others[i] <= most)) most = others[i];
    return nodes_others_text(x, value, most, count);
}

// The worst value of a rule on a node; NAN: nothing to judge there; INFINITY: of a device it could not be judged.
static double nodes_worst(const findings *f, const rule *x)
{
    double most = NAN;
    for (size_t i = 0; i < f->check_count; i++)
        if (f->checks[i].rule == x) most = fmax(most, f->checks[i].judged ? f->checks[i].value : INFINITY);
    return most;
}

// A rule's worst values, of all nodes, once: thousands of nodes may each have a fault.
typedef struct nodes_values {
    const rule *rule;
    double *worst;       // of each node, as nodes_worst()
    size_t unknown;      // nodes
    double most, second; // the two largest, at least 0
} nodes_values;

static nodes_values nodes_value(const findings_node *nodes, size_t count, const rule *x)
{
    nodes_values v = {.rule = x, .worst = memory_calloc(count + 1, sizeof *v.worst)};
    for (size_t i = 0; i < count; i++) {
        double one = v.worst[i] = nodes_worst(nodes[i].f, x);
        v.unknown += isnan(one) != 0;
        if (one > v.second) v.second = one;
        if (one > v.most) {
            v.second = v.most;
            v.most = one;
        }
    }
    return v;
}

static const nodes_values *nodes_find_values(nodes_values **all, const findings_node *nodes, size_t count,
                                             const rule *x)
{
    for (size_t i = 0; i < arrlenu(*all); i++)
        if ((*all)[i].rule == x) return &(*all)[i];
    arrput(*all, nodes_value(nodes, count, x));
    return &arrlast(*all);
}

static void nodes_tell_alone(findings_node *nodes, size_t count)
{
    nodes_values *all = NULL;
    for (size_t n = 0; n < count; n++)
        for (size_t i = 0; i < nodes[n].f->count; i++) {
            finding *x = &nodes[n].f->items[i];
            if (x->severity < SEVERITY_WATCH || x->of_nodes || !findings_is_of_faults(x->rule)) continue;
            const nodes_values *v = nodes_find_values(&all, nodes, count, x->rule);
            double own = v->worst[n], most = own >= v->most ? v->second : v->most;
            bool known = v->unknown == (isnan(own) ? 1u : 0u);
            char *text = nodes_others_text(x->rule, x->value, known ? most : NAN, count - 1);
            if (text) text_append(&x->claim, "%s", text);
            free(text);
        }
    for (size_t i = 0; i < arrlenu(all); i++)
        free(all[i].worst);
    arrfree(all);
}

// ---- all ----

static int nodes_order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool nodes_are_different(const findings_node *nodes, size_t count)
{
    const char **names = memory_array(NULL, count + 1, sizeof *names);
    bool different = count > 1;
    for (size_t i = 0; i < count; i++) {
        names[i] = nodes[i].name ? nodes[i].name : "";
        different &= *names[i] != 0;
    }
    qsort(names, count, sizeof *names, nodes_order);
    for (size_t i = 1; i < count; i++)
        different &= strcmp(names[i - 1], names[i]) != 0;
    free(names);
    return different;
}

void findings_compare_nodes(findings_node *nodes, size_t count, const rules *set)
{
    if (!nodes_are_different(nodes, count)) return;
    nodes_compare_settings(nodes, count, set);
    if (nodes_are_together(nodes, count)) nodes_compare_load(nodes, count, set);
    nodes_tell_alone(nodes, count);
    for (size_t i = 0; i < count; i++) {
        findings *f = nodes[i].f;
        findings_sort(f, set);
        free(f->verdict);
        f->verdict = NULL;
        findings_conclude(f);
    }
}

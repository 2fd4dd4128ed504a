#include "compare.h"

#include "analysis/base/json_values.h"

#include <math.h>
#include <stdlib.h>

static json_object *compare_range_json(const comparison_range *r)
{
    json_object *o = json_new_object();
    json_put_number(o, "median", r->median);
    json_put_number(o, "min", r->min);
    json_put_number(o, "max", r->max);
    return o;
}

// A number of a recording's facts.
static void compare_json_put_whole(json_object *o, const char *key, const char *text)
{
    if (text) json_put(o, key, json_new_int64(strtoll(text, NULL, 10)));
}

static json_object *compare_run_json(const comparison_run *run)
{
    json_object *o = json_new_object(), *verdict = json_new_object();
    json_put_text(o, "side", comparison_side_name(run->side));
    json_put_text(o, "files", run->label);
    json_put_text(o, "host", run->host);
    json_put_text(o, "command", run->command);
    if (run->wall_ns) json_put(o, "begin_ns", json_new_int64(run->wall_ns));
    json_put_number(o, "elapsed_s", run->elapsed_ns > 0 ? (double)run->elapsed_ns / 1e9 : NAN);
    json_put_number(o, "bytes", run->bytes);
    json_put_number(o, "packets", run->packets);
    compare_json_put_whole(o, "exit_status", run->exit_status);
    compare_json_put_whole(o, "signal", run->signal);
    json_put(o, "damaged", json_new_boolean(run->damaged));
    json_put_text(verdict, "severity", severity_name(run->f.severity));
    json_put_text(verdict, "text", run->f.verdict);
    json_put(o, "verdict", verdict);
    return o;
}

static json_object *compare_sentence_json(severity s, const char *text)
{
    json_object *o = json_new_object();
    json_put_text(o, "severity", severity_name(s));
    json_put_text(o, "text", text);
    return o;
}

static json_object *compare_finding_json(const comparison *c, const comparison_sentence *x)
{
    json_object *o = json_new_object();
    json_put_text(o, "severity", severity_name(x->severity));
    json_put_text(o, "subject", comparison_subject_name(x->subject));
    json_put_text(o, "rule", x->rule);
    json_put_text(o, "device", x->device == DIFFERENCE_NONE ? NULL : c->devices[x->device].name);
    json_put_text(o, "claim", x->text);
    json_put_number(o, "cost_s", x->cost_s);
    return o;
}

static json_object *compare_work_json(const comparison_work *w)
{
    json_object *o = json_new_object();
    json_put_text(o, "amount", comparison_same_name(w->same));
    json_put_text(o, "slower_by", isnan(w->slower) ? NULL : w->by_throughput ? "throughput" : "duration");
    json_put_number(o, "times_slower", w->slower);
    json_put_number(o, "times_slower_of_the_nearest_runs", w->gap);
    json_put_number(o, "chance", w->chance);
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        json_object *s = json_new_object();
        json_put(s, "elapsed_s", compare_range_json(&w->seconds[side]));
        json_put(s, "bytes", compare_range_json(&w->bytes[side]));
        json_put(s, "packets", compare_range_json(&w->packets[side]));
        json_put(s, "bytes_per_s", compare_range_json(&w->bytes_per_s[side]));
        json_put_exact(s, "commands_that_ended", w->ended[side]);
        json_put_exact(s, "commands_that_failed", w->failed[side]);
        json_put(o, comparison_side_name((comparison_side)side), s);
    }
    return o;
}

static json_object *compare_missing_json(const comparison *c, const comparison_missing *x)
{
    json_object *o = json_new_object();
    json_put_text(o, "device", c->devices[x->device].name);
    json_put_text(o, "source", c->devices[x->device].source);
    json_put_text(o, "counter", x->name);
    for (int side = 0; side < COMPARISON_SIDES; side++)
        json_put_text(o, comparison_side_name((comparison_side)side), x->reason[side]);
    return o;
}

static json_object *compare_amount_json(const comparison_amount *a)
{
    json_object *o = json_new_object();
    json_put_exact(o, "run_count", a->runs);
    if (a->runs == 1)
        json_put_exact(o, "delta", a->exact);
    else
        json_put_number(o, "delta", a->count);
    json_put(o, "per_s", compare_range_json(&a->per_s));
    json_put(o, "per_byte", compare_range_json(&a->per_byte));
    return o;
}

static json_object *compare_cell_json(const comparison *c, const comparison_line *line, size_t i)
{
    const comparison_cell *cell = &line->cells[i];
    json_object *o = json_new_object();
    json_put_text(o, "device", c->devices[line->first_device + i].name);
    json_put_text(o, "state", comparison_state_name(cell->state));
    json_put_text(o, "reason", cell->reason);
    for (int side = 0; side < COMPARISON_SIDES; side++)
        json_put(o, comparison_side_name((comparison_side)side), compare_amount_json(&cell->side[side]));
    json_put_number(o, "worst_per_s", cell->worst_per_s);
    json_put_number(o, "worst_per_byte", cell->worst_per_byte);
    if (cell->worst_run != DIFFERENCE_NONE) json_put_text(o, "worst_run", c->runs[cell->worst_run]->label);
    json_put_exact(o, "faulty_run_outside_count", cell->outside);
    json_put_number(o, "ratio_per_s", cell->ratio_per_s);
    json_put_number(o, "ratio_per_byte", cell->ratio_per_byte);
    json_put_number(o, "robust_z", cell->z);
    json_put_number(o, "chance", cell->chance);
    json_put(o, "beyond_chance", json_new_boolean(cell->beyond));
    json_put(o, "direction", json_new_int(cell->direction));
    json_put_number(o, "score", cell->score);
    return o;
}

static json_object *compare_line_json(const comparison *c, const comparison_line *line)
{
    json_object *o = json_new_object(), *equal = json_new_array(), *devices = json_new_array();
    json_put_text(o, "counter", line->name);
    json_put_text(o, "source", line->source);
    json_put_text(o, "unit", line->unit);
    json_put_text(o, "class", comparison_class_name(line->kind));
    json_put_text(o, "description", line->gloss);
    json_put_text(o, "state", comparison_state_name(line->cells[line->worst].state));
    json_put_text(o, "device", c->devices[line->first_device + line->worst].name);
    json_put_number(o, "score", line->score);
    json_put_text(o, "where", line->pattern_text);
    for (size_t i = 0; i < line->equal_count; i++)
        json_append(equal, json_text_value(line->equal[i]));
    json_put(o, "equal", equal);
    for (size_t i = 0; i < line->device_count; i++)
        json_append(devices, compare_cell_json(c, line, i));
    json_put(o, "devices", devices);
    return o;
}

static json_object *compare_verdict_json(const comparison *c, const comparison_check *check, size_t i)
{
    const comparison_verdict *v = &check->cells[i];
    json_object *o = json_new_object();
    json_put_text(o, "device", check->of_node ? check->rule->source : c->devices[check->first_device + i].name);
    json_put(o, "flipped", json_new_boolean(v->flipped));
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        json_object *s = json_new_object();
        severity s_ = v->judged[side] == COMPARISON_NOT_KNOWN ? SEVERITY_UNKNOWN : v->severity[side];
        json_put(s, "severity", v->judged[side] == COMPARISON_NOT_THERE ? NULL : json_text_value(severity_name(s_)));
        json_put_number(s, "value", v->value[side]);
        if (v->finding[side]) json_put_text(s, "claim", v->finding[side]->claim);
        json_put_exact(s, "run_count", v->runs[side]);
        json_put_exact(s, "found_run_count", v->found[side]);
        json_put(o, comparison_side_name((comparison_side)side), s);
    }
    json_put_number(o, "chance", v->chance);
    return o;
}

static json_object *compare_check_json(const comparison *c, const comparison_check *check)
{
    json_object *o = json_new_object(), *devices = json_new_array();
    json_put_text(o, "rule", check->rule->name);
    json_put_text(o, "class", check->rule->class_name);
    json_put_text(o, "unit", check->rule->unit);
    json_put(o, "flipped", json_new_boolean(check->flipped));
    for (size_t i = 0; i < check->cell_count; i++)
        json_append(devices, compare_verdict_json(c, check, i));
    json_put(o, "devices", devices);
    return o;
}

static json_object *compare_shape_json(const comparison *c, const comparison_shape *shape)
{
    json_object *o = json_new_object();
    json_put_text(o, "name", shape->name);
    json_put_text(o, "source", shape->source);
    json_put_text(o, "device", c->devices[shape->device].name);
    json_put_number(o, "moved", shape->moved);
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        json_object *s = json_new_object(), *shares = json_new_array();
        json_put_text(s, "middle", shape->middle[side]);
        json_put_exact(s, "bin", shape->middle_bin[side]);
        for (size_t b = 0; b < shape->bins; b++)
            json_append(shares, json_number_value(shape->share[side][b]));
        json_put(s, "shares", shares);
        json_put(o, comparison_side_name((comparison_side)side), s);
    }
    return o;
}

static json_object *compare_device_json(const comparison_device *d)
{
    static const char *const bases[] = {"unknown", "its own", "its interface's", "the IP layer's", "the node's"};
    json_object *o = json_new_object();
    json_put_text(o, "device", d->name);
    json_put_text(o, "source", d->source);
    json_put(o, "physical", json_new_boolean(d->physical));
    json_put_text(o, "bytes_from", bases[d->basis]);
    if (d->speed_bits_per_s > 0) json_put_number(o, "line_rate_bytes_per_s", d->speed_bits_per_s / 8);
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        json_object *s = json_new_object();
        json_put_exact(s, "run_count", d->runs[side]);
        json_put(s, "rx_bytes_per_s", compare_range_json(&d->received[side]));
        json_put(s, "tx_bytes_per_s", compare_range_json(&d->sent[side]));
        json_put(o, comparison_side_name((comparison_side)side), s);
    }
    return o;
}

static json_object *compare_gauge_json(const comparison *c, const comparison_gauge *g)
{
    json_object *o = json_new_object();
    json_put_text(o, "device", c->devices[g->device].name);
    json_put_text(o, "source", c->devices[g->device].source);
    json_put_text(o, "counter", g->name);
    json_put_text(o, "unit", g->unit);
    for (int side = 0; side < COMPARISON_SIDES; side++)
        json_put(o, comparison_side_name((comparison_side)side), compare_range_json(&g->side[side]));
    return o;
}

static json_object *compare_fact_json(const comparison *c, const comparison_fact *fact)
{
    json_object *o = json_new_object();
    if (fact->device != DIFFERENCE_NONE) {
        json_put_text(o, "device", c->devices[fact->device].name);
        json_put_text(o, "source", c->devices[fact->device].source);
    }
    json_put_text(o, "fact", fact->key);
    for (int side = 0; side < COMPARISON_SIDES; side++)
        json_put_text(o, comparison_side_name((comparison_side)side), fact->side[side]);
    return o;
}

static json_object *compare_counts_json(const comparison *c)
{
    json_object *o = json_new_object(), *states = json_new_object();
    for (int state = 0; state <= COMPARISON_GONE; state++)
        json_put_exact(states, comparison_state_name((comparison_state)state), c->counts.states[state]);
    json_put(o, "states", states);
    json_put_exact(o, "only_healthy", c->counts.only[COMPARISON_HEALTHY]);
    json_put_exact(o, "only_faulty", c->counts.only[COMPARISON_FAULTY]);
    json_put_exact(o, "clock_counters", c->counts.clocks);
    json_put_exact(o, "errata_counters", c->counts.bad);
    json_put_exact(o, "histogram_buckets", c->counts.histograms);
    json_put_exact(o, "gauge_counters", c->counts.gauges);
    json_put_exact(o, "context_counters", c->counts.context);
    return o;
}

static json_object *compare_findings_json(const comparison *c)
{
    json_object *list = json_new_array();
    for (size_t i = 0; i < c->sentence_count; i++)
        if (c->sentences[i].subject != COMPARISON_OF_CONTEXT)
            json_append(list, compare_finding_json(c, &c->sentences[i]));
    return list;
}

json_object *comparison_json(const comparison *c, size_t top, bool all)
{
    json_object *o = json_new_object();
    size_t lines = all ? c->line_count : c->ranked_count;
    json_put_text(o, "format", "netprof-comparison");
    json_put(o, "version", json_new_int(3));
    json_put(o, "verdict", compare_sentence_json(c->severity, c->title));
    json_put_text(o, "filter", c->scope);
    json_put(o, "findings", compare_findings_json(c));
    json_put(o, "work", compare_work_json(&c->work));
    json_put_text(o, "basis", comparison_basis_name(c->basis));
    json_put_number(o, "bytes_ratio", c->bytes_ratio);
    json_put_number(o, "elapsed_ratio", c->seconds_ratio);
    json_put_number(o, "splits", c->splits);
#define LIST(key, count, value)                                                                                        \
    do {                                                                                                               \
        json_object *list = json_new_array();                                                                          \
        for (size_t i = 0; i < (count); i++)                                                                           \
            json_append(list, value);                                                                                  \
        json_put(o, key, list);                                                                                        \
    } while (0)
    LIST("runs", c->run_count, compare_run_json(c->runs[i]));
    LIST("sentences", c->sentence_count, compare_sentence_json(c->sentences[i].severity, c->sentences[i].text));
    LIST("notes", c->note_count, json_text_value(c->notes[i]));
    LIST("differences", top && top < lines ? top : lines, compare_line_json(c, &c->lines[i]));
    LIST("checks", c->check_count, compare_check_json(c, &c->checks[i]));
    LIST("histograms", c->shape_count, compare_shape_json(c, &c->shapes[i]));
    LIST("gauges", c->gauge_count, compare_gauge_json(c, &c->gauges[i]));
    LIST("changed_facts", c->fact_count, compare_fact_json(c, &c->facts[i]));
    LIST("not_compared", c->missing_count, compare_missing_json(c, &c->missing[i]));
    LIST("devices", c->device_count, compare_device_json(&c->devices[i]));
#undef LIST
    json_put(o, "counts", compare_counts_json(c));
    return o;
}

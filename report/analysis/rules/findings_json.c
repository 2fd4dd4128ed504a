#include "findings.h"

#include "analysis/base/json_values.h"

static const char *findings_device_name(const findings *f, size_t device)
{
    return device == DIFFERENCE_NONE ? NULL : f->d->delta->schema->devices[device].name;
}

static json_object *findings_evidence_json(const findings *f, const finding_evidence *e)
{
    json_object *o = json_new_object();
    bool counter = e->counter != DIFFERENCE_NONE;
    json_put_text(o, "counter", e->name);
    if (!counter || e->number < 0)
        json_put_number(o, "value", e->number);
    else
        json_put_exact(o, "value", e->value);
    json_put_text(o, "unit", e->unit);
    if (counter && !e->gauge) json_put_number(o, "rate_per_s", f->d->rows[e->counter].rate_per_s);
    if (counter) json_put_text(o, "device", findings_device_name(f, f->d->delta->schema->counters[e->counter].device));
    return o;
}

static json_object *findings_finding_json(const findings *f, const finding *x)
{
    json_object *o = json_new_object(), *list = json_new_array(), *threshold = json_new_object();
    json_put_text(o, "rule", x->rule->name);
    json_put_text(o, "severity", severity_name(x->severity));
    json_put_text(o, "device", x->of_devices ? NULL : finding_device(f, x));
    if (x->of_devices) json_put(o, "device", NULL);
    if (x->of_devices) json_put_exact(o, "device_count", x->of_devices);
    if (x->of_nodes) json_put_exact(o, "host_count", x->of_nodes);
    json_put_text(o, "class", x->rule->class_name);
    json_put_text(o, "claim", x->claim);
    json_put_number(o, "value", x->value);
    json_put_text(o, "unit", x->rule->unit);
    if (x->cost_s > 0) json_put_number(o, "cost_s", x->cost_s);
    if (x->alike) json_put_exact(o, "alike", x->alike);
    for (size_t i = 0; i < x->evidence_count; i++)
        json_append(list, findings_evidence_json(f, &x->evidence[i]));
    json_put(o, "evidence", list);
    json_put_number(threshold, "value", x->threshold->value);
    json_put_text(threshold, "origin", x->threshold->origin);
    json_put(o, "threshold", threshold);
    if (x->peers) {
        json_object *peers = json_new_object();
        json_put_exact(peers, "device_count", x->peers);
        json_put_number(peers, "min", x->peers_min);
        json_put_number(peers, "max", x->peers_max);
        json_put(o, "peers", peers);
    }
    json_put_text(o, "explained_by", x->explained_by);
    json_put_text(o, "advice", x->rule->advice);
    return o;
}

static json_object *findings_unknown_json(const findings *f, const finding_unknown *u)
{
    json_object *o = json_new_object();
    json_put_text(o, "source", u->source);
    json_put_text(o, "rule", u->rule ? u->rule->name : NULL);
    if (u->subject)
        json_put_text(o, "device", u->subject);
    else if (u->device != DIFFERENCE_NONE)
        json_put_text(o, "device", findings_device_name(f, u->device));
    else
        json_put_text(o, "device", u->rule ? u->source : NULL);
    json_put_text(o, "counter", u->counter);
    json_put_text(o, "source_path", u->path);
    json_put_exact(o, "errno", (uint64_t)u->sys_errno);
    json_put_text(o, "reason", u->reason);
    json_put_exact(o, "check_count", u->checks);
    json_put_text(o, "hides", severity_name(u->hides));
    json_put(o, "matters", json_new_boolean(u->matters));
    return o;
}

static json_object *findings_background_json(const finding_background *b)
{
    json_object *o = json_new_object();
    json_put_text(o, "counter", b->counter);
    json_put_text(o, "source", b->source);
    json_put_text(o, "unit", b->unit);
    json_put_exact(o, "min", b->min);
    json_put_exact(o, "max", b->max);
    json_put_exact(o, "device_count", b->devices);
    json_put_number(o, "rate_per_s", b->rate_per_s);
    return o;
}

json_object *findings_json(const findings *f)
{
    json_object *o = json_new_object(), *verdict = json_new_object();
    json_object *items = json_new_array(), *unknown = json_new_array(), *background = json_new_array();
    json_put_text(o, "format", "netprof-findings");
    json_put(o, "version", json_new_int(2));
    json_put_text(verdict, "severity", severity_name(f->severity));
    json_put_text(verdict, "text", f->verdict);
    json_put(o, "verdict", verdict);
    json_put_text(o, "filter", f->d->scope);
    for (size_t i = 0; i < f->count; i++)
        json_append(items, findings_finding_json(f, &f->items[i]));
    for (size_t i = 0; i < f->unknown_count; i++)
        json_append(unknown, findings_unknown_json(f, &f->unknown[i]));
    for (size_t i = 0; i < f->background_count; i++)
        json_append(background, findings_background_json(&f->background[i]));
    json_put(o, "findings", items);
    json_put(o, "unknown", unknown);
    json_put(o, "background", background);
    json_put_exact(o, "judged", f->judged);
    return o;
}

#include "findings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Length of the valid UTF-8 character at the start of text, 0 when it is none (RFC 3629).
static size_t character_length(const unsigned char *text)
{
    static const struct {
        unsigned char low, high; // of the first byte
        size_t length;
        unsigned char second_low, second_high;
    } rows[] = {{0x01, 0x7f, 1, 0, 0xff},    {0xc2, 0xdf, 2, 0x80, 0xbf}, {0xe0, 0xe0, 3, 0xa0, 0xbf},
                {0xe1, 0xec, 3, 0x80, 0xbf}, {0xed, 0xed, 3, 0x80, 0x9f}, {0xee, 0xef, 3, 0x80, 0xbf},
                {0xf0, 0xf0, 4, 0x90, 0xbf}, {0xf1, 0xf3, 4, 0x80, 0xbf}, {0xf4, 0xf4, 4, 0x80, 0x8f}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (*text < rows[i].low || *text > rows[i].high) continue;
        if (rows[i].length == 1) return 1;
        if (text[1] < rows[i].second_low || text[1] > rows[i].second_high) return 0;
        for (size_t k = 2; k < rows[i].length; k++)
            if ((text[k] & 0xc0) != 0x80) return 0;
        return rows[i].length;
    }
    return 0;
}

// Text from outside: '?' for every byte that is no UTF-8.
static json_object *text_json(const char *text)
{
    char safe[2048];
    size_t n = 0;
    while (*text && n + 4 < sizeof safe) {
        size_t length = character_length((const unsigned char *)text);
        if (length) memcpy(safe + n, text, length);
        else safe[n] = '?';
        n += length ? length : 1;
        text += length ? length : 1;
    }
    return json_object_new_string_len(safe, (int)n);
}

static void add(json_object *o, const char *key, json_object *value)
{
    json_object_object_add(o, key, value);
}

static void add_text(json_object *o, const char *key, const char *text)
{
    if (text) add(o, key, text_json(text));
}

static json_object *number_json(double number)
{
    char text[40];
    if (!isfinite(number)) return NULL;
    snprintf(text, sizeof text, "%.9g", number);
    return json_object_new_double_s(number, text);
}

static json_object *exact_json(uint64_t value)
{
    return json_object_new_uint64(value);
}

static const char *device_name(const findings *f, size_t device)
{
    return device == DIFFERENCE_NONE ? NULL : f->d->delta->schema->devices[device].name;
}

static json_object *evidence_json(const findings *f, const finding_evidence *e)
{
    json_object *o = json_object_new_object();
    bool counter = e->counter != DIFFERENCE_NONE;
    add_text(o, "counter", e->name);
    add(o, "value", !counter || e->number < 0 ? number_json(e->number) : exact_json(e->value));
    add_text(o, "unit", e->unit);
    if (counter && !e->gauge) add(o, "rate_per_s", number_json(f->d->rows[e->counter].rate_per_s));
    if (counter)
        add_text(o, "device", device_name(f, f->d->delta->schema->counters[e->counter].device));
    return o;
}

static json_object *finding_json(const findings *f, const finding *x)
{
    json_object *o = json_object_new_object(), *list = json_object_new_array(), *threshold = json_object_new_object();
    add_text(o, "rule", x->rule->name);
    add_text(o, "severity", severity_name(x->severity));
    add_text(o, "device", finding_device(f, x));
    add_text(o, "class", x->rule->class_name);
    add_text(o, "claim", x->claim);
    add(o, "value", number_json(x->value));
    add_text(o, "unit", x->rule->unit);
    for (size_t i = 0; i < x->evidence_count; i++)
        json_object_array_add(list, evidence_json(f, &x->evidence[i]));
    add(o, "evidence", list);
    add(threshold, "value", number_json(x->threshold->value));
    add_text(threshold, "origin", x->threshold->origin);
    add(o, "threshold", threshold);
    if (x->peers) {
        json_object *peers = json_object_new_object();
        add(peers, "devices", exact_json(x->peers));
        add(peers, "min", number_json(x->peers_min));
        add(peers, "max", number_json(x->peers_max));
        add(o, "peers", peers);
    }
    add_text(o, "explained_by", x->explained_by);
    add_text(o, "advice", x->rule->advice);
    return o;
}

static json_object *unknown_json(const findings *f, const finding_unknown *u)
{
    json_object *o = json_object_new_object();
    add_text(o, "rule", u->rule->name);
    add_text(o, "device", u->device == DIFFERENCE_NONE ? u->rule->source : device_name(f, u->device));
    add_text(o, "counter", u->counter);
    add_text(o, "reason", u->reason);
    return o;
}

static json_object *background_json(const finding_background *b)
{
    json_object *o = json_object_new_object();
    add_text(o, "counter", b->counter);
    add_text(o, "source", b->source);
    add_text(o, "unit", b->unit);
    add(o, "min", exact_json(b->min));
    add(o, "max", exact_json(b->max));
    add(o, "devices", exact_json(b->devices));
    add(o, "rate_per_s", number_json(b->rate_per_s));
    return o;
}

json_object *findings_json(const findings *f)
{
    json_object *o = json_object_new_object(), *verdict = json_object_new_object();
    json_object *items = json_object_new_array(), *unknown = json_object_new_array(),
                *background = json_object_new_array();
    add_text(o, "format", "netprof-findings");
    add(o, "version", json_object_new_int(1));
    add_text(verdict, "severity", severity_name(f->severity));
    add_text(verdict, "text", f->verdict);
    add(o, "verdict", verdict);
    for (size_t i = 0; i < f->count; i++)
        json_object_array_add(items, finding_json(f, &f->items[i]));
    for (size_t i = 0; i < f->unknown_count; i++)
        json_object_array_add(unknown, unknown_json(f, &f->unknown[i]));
    for (size_t i = 0; i < f->background_count; i++)
        json_object_array_add(background, background_json(&f->background[i]));
    add(o, "findings", items);
    add(o, "unknown", unknown);
    add(o, "background", background);
    add(o, "judged", exact_json(f->judged));
    return o;
}

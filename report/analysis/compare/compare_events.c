// What changed, one event a row: a check that went worse stands for the counters that tell the same on its device, a counter for
// those of nearly the same ratio there.
#include "comparer.h"

#include "analysis/base/stb_ds.h"

#include <math.h>
#include <string.h>

static bool events_has_evidence(const comparison_check *check, const comparison_line *line)
{
    const finding *x = check->cells[check->worst].finding[COMPARISON_FAULTY];
    for (size_t k = 0; x && k < x->evidence_count; k++)
        if (strcmp(x->evidence[k].name, line->name) == 0) return true;
    return false;
}

// The counter whose ratio stands beside the check's values: of its evidence the one that changed most.
static const comparison_line *events_lead(const comparison *c, const comparison_check *check)
{
    for (size_t i = 0; i < c->ranked_count; i++)
        if (c->lines[i].kind <= COMPARISON_STALLS && events_has_evidence(check, &c->lines[i])) return &c->lines[i];
    return NULL;
}

static comparison_event *events_add(comparison *c, comparison_event e)
{
    arrput(c->events, e);
    c->event_count = arrlenu(c->events);
    return &c->events[c->event_count - 1];
}

static size_t events_alike(const comparison_check *check)
{
    const comparison_verdict *worst = &check->cells[check->worst];
    const finding *x = worst->finding[COMPARISON_FAULTY];
    return x && x->alike > 1 && x->alike == x->alike_of ? x->alike : 0;
}

static void events_add_check(comparison *c, const comparison_check *check)
{
    const comparison_verdict *v = &check->cells[check->worst];
    const comparison_line *lead = events_lead(c, check);
    size_t device = check->of_node ? DIFFERENCE_NONE : check->first_device + check->worst;
    const comparison_cell *cell = NULL;
    if (lead && device != DIFFERENCE_NONE && device >= lead->first_device &&
        device < lead->first_device + lead->device_count)
        cell = &lead->cells[device - lead->first_device];
    double h = v->value[COMPARISON_HEALTHY], f = v->value[COMPARISON_FAULTY];
    events_add(c, (comparison_event){.words = rules_words(check->rule),
                                     .unit = check->rule->unit,
                                     .device = device,
                                     .alike = events_alike(check),
                                     .is_finding = true,
                                     .severity = v->severity[COMPARISON_FAULTY],
                                     .value = {h, f},
                                     .low = NAN,
                                     .high = NAN,
                                     .ratio_per_s = h > 0 ? f / h : NAN,
                                     .ratio_per_byte = cell ? cell->ratio_per_byte : NAN,
                                     .state = h > 0    ? COMPARISON_CHANGED
                                              : h == 0 ? COMPARISON_NEW
                                                       : COMPARISON_UNKNOWN,
                                     .check = check,
                                     .line = lead});
}

// ---- counters ----

// The finding of a check on a device of the faulty side; NULL: none.
static const finding *events_finding_at(const comparison_check *check, size_t device)
{
    if (check->of_node || device < check->first_device || device >= check->first_device + check->cell_count)
        return NULL;
    return check->cells[device - check->first_device].finding[COMPARISON_FAULTY];
}

static bool events_explains(const finding *x, const finding *cause)
{
    return x->explained_by && findings_names_rule(x->explained_by, cause->rule->name);
}

// Is the counter read by a finding that follows from the event's, or that the event's follows from, on the same device?
static bool events_follows(const comparison *c, const comparison_event *e, const comparison_line *line, size_t device)
{
    const finding *own = e->check ? events_finding_at(e->check, device) : NULL;
    for (size_t i = 0; own && i < c->check_count; i++) {
        const finding *x = events_finding_at(&c->checks[i], device);
        if (!x || !(x == own || events_explains(x, own) || events_explains(own, x))) continue;
        for (size_t k = 0; k < x->evidence_count; k++)
            if (strcmp(x->evidence[k].name, line->name) == 0) return true;
    }
    return false;
}

// The event that a counter tells once more: of a check whose finding reads it, of one there that this finding follows from or
// explains, or of a counter of its class with nearly the same ratio. Another trouble of the same device is its own event.
static comparison_event *events_told_by(comparison *c, const comparison_line *line)
{
    const comparison_cell *x = &line->cells[line->worst];
    size_t device = line->first_device + line->worst;
    for (size_t i = 0; i < c->event_count; i++)
        if (c->events[i].check && events_has_evidence(c->events[i].check, line)) return &c->events[i];
    for (size_t i = 0; i < c->event_count; i++) {
        comparison_event *e = &c->events[i];
        bool here = e->device == device || (e->alike && line->pattern == COMPARISON_ALL_ALIKE);
        if (!here) continue;
        if (x->direction > 0 && events_follows(c, e, line, device)) return e;
        if (!e->line || e->line->kind != line->kind) continue;
        const comparison_cell *y = &e->line->cells[e->line->worst];
        double ratio = x->ratio_per_s / y->ratio_per_s;
        bool both_new = isnan(x->ratio_per_s) && isnan(y->ratio_per_s) && x->state == y->state;
        if ((ratio > .8 && ratio < 1.25) || both_new) return e;
    }
    return NULL;
}

// Does the catalog say more than the letters of the name? "inbound engine: rx pkt drop rmu norsp" does not.
static bool events_is_told(const comparison_line *line)
{
    size_t fresh = 0;
    const char *colon = strstr(line->gloss, ": ");
    for (const char *at = colon ? colon + 2 : line->gloss; *at;) {
        char word[40];
        size_t n = strcspn(at, " ,()-/"), k = n < sizeof word ? n : sizeof word - 1;
        memcpy(word, at, k);
        word[k] = 0;
        fresh += k > 2 && strcmp(word, "index") != 0 && !strstr(line->name, word);
        at += n + strspn(at + n, " ,()-/");
    }
    return fresh > 0;
}

static void events_add_line(comparison *c, const comparison_line *line)
{
    const comparison_cell *x = &line->cells[line->worst];
    const comparison_range *h = &x->side[COMPARISON_HEALTHY].per_s, *f = &x->side[COMPARISON_FAULTY].per_s;
    bool ranged = c->side_count[COMPARISON_HEALTHY] > 1;
    events_add(c, (comparison_event){.words = events_is_told(line) ? line->gloss : line->name,
                                     .unit = *line->unit ? line->unit : "events",
                                     .device = line->first_device + line->worst,
                                     .alike = line->pattern == COMPARISON_ALL_ALIKE ? line->device_count : 0,
                                     .severity = SEVERITY_INFO,
                                     .value = {h->median, f->median},
                                     .low = ranged ? h->min : NAN,
                                     .high = ranged ? h->max : NAN,
                                     .ratio_per_s = x->ratio_per_s,
                                     .ratio_per_byte = line->time_driven ? NAN : x->ratio_per_byte,
                                     .state = x->state,
                                     .line = line,
                                     .more = line->equal_count});
}

// A finding of a counter keeps its severity.
static severity events_line_severity(const comparison *c, const comparison_line *line)
{
    for (size_t i = 0; i < c->sentence_count; i++)
        if (c->sentences[i].subject == COMPARISON_OF_COUNTER && strcmp(c->sentences[i].rule, line->name) == 0)
            return c->sentences[i].severity;
    return SEVERITY_INFO;
}

static void events_take_lines(comparison *c)
{
    enum { MOST = 8, OF_KIND = 2 };
    size_t of_kind[COMPARISON_CLASSES] = {0};
    for (size_t i = 0; i < c->ranked_count; i++) {
        const comparison_line *line = &c->lines[i];
        comparison_event *e = events_told_by(c, line);
        if (e && e->line != line) e->more += 1 + line->equal_count;
        if (e && e->line == line) e->more += line->equal_count;
        severity s = events_line_severity(c, line);
        // Beside what went worse a name that says nothing to a reader says nothing; it is in the list of all that changed.
        bool mute = c->event_count && c->events[0].is_finding && s < SEVERITY_WATCH &&
                    line->kind >= COMPARISON_PACKETS && !events_is_told(line);
        if (e || c->event_count >= MOST || line->kind >= COMPARISON_BYTES || mute || of_kind[line->kind]++ >= OF_KIND)
            continue;
        events_add_line(c, line);
        c->events[c->event_count - 1].severity = s;
        c->events[c->event_count - 1].is_finding = s >= SEVERITY_WATCH;
    }
}

// What was moved, by all devices together: less a second of the same bytes is slower, not less work.
static void events_add_work(comparison *c)
{
    const comparison_range *rate = c->work.bytes_per_s;
    double h = rate[COMPARISON_HEALTHY].median, f = rate[COMPARISON_FAULTY].median;
    if (!(h > 0) && !(f > 0)) return;
    bool ranged = c->side_count[COMPARISON_HEALTHY] > 1;
    events_add(c, (comparison_event){.words = "Moved by the node, in and out",
                                     .unit = "bytes",
                                     .device = DIFFERENCE_NONE,
                                     .severity = SEVERITY_INFO,
                                     .value = {h, f},
                                     .low = ranged ? rate[COMPARISON_HEALTHY].min : NAN,
                                     .high = ranged ? rate[COMPARISON_HEALTHY].max : NAN,
                                     .ratio_per_s = h > 0 ? f / h : NAN,
                                     .ratio_per_byte = NAN,
                                     .state = isnan(h) || isnan(f) ? COMPARISON_UNKNOWN
                                              : h > 0 && f > 0     ? COMPARISON_CHANGED
                                              : f > 0              ? COMPARISON_NEW
                                                                   : COMPARISON_GONE});
}

void comparer_events(comparer *m)
{
    comparison *c = m->c;
    enum { CHECKS = 6 };
    for (size_t i = 0; i < c->check_count && c->event_count < CHECKS; i++)
        if (comparison_is_worse(&c->checks[i].cells[c->checks[i].worst])) events_add_check(c, &c->checks[i]);
    events_take_lines(c);
    events_add_work(c);
}

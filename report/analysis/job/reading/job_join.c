// A piece becomes part of the report: what it numbers from 0 gets the report's numbers.
#include "job_pieces.h"

#include <stdlib.h>

static size_t job_join_known(const job_reader *reader, map_key key)
{
    job_known *known = reader->known;
    ptrdiff_t at;
    return !known || hmgeti_ts(known, key, at) < 0 ? JOB_NONE : (size_t)at;
}

bool job_piece_agrees(const job_report *r, const job_report *piece)
{
    const job_reader *from = piece->reader;
    if (index_map_find(r->reader->node_of, map_key_of_name(0, piece->nodes[0].name)) != INDEX_NONE) return false;
    for (size_t i = 0; i < hmlenu(from->known); i++) {
        const job_known_counter *x = &from->known[i].value;
        size_t at = job_join_known(r->reader, from->known[i].key);
        if (at == JOB_NONE) continue;
        const job_known_counter *own = &r->reader->known[at].value;
        if (own->trouble != x->trouble || own->bytes != x->bytes) return false;
    }
    return r->node_count > 0;
}

// ---- events ----

static size_t job_join_new_event(job_report *r, job_event *from)
{
    const char *words = rules_words_of(r->reader->options->rules, from->source, from->counter);
    job_event new = *from;
    if (words) new.words = memory_strdup(words);
    new.lanes = NULL;
    new.lane_count = 0;
    from->source = from->counter = from->unit = NULL; // the report's now
    arrput(r->events, new);
    return r->event_count++;
}

static void job_join_event(job_event *to, job_event *from, size_t node)
{
    to->known |= from->known;
    if (from->severity > to->severity) to->severity = from->severity;
    for (size_t i = 0; i < from->lane_count; i++) {
        arrput(to->lanes, ((job_event_lane){node, from->lanes[i].bins}));
        to->lane_count++;
    }
    arrfree(from->lanes);
    from->lane_count = 0;
}

// Returns the report's number of each event of the piece; free() it.
static size_t *job_join_events(job_report *r, job_report *piece, size_t node)
{
    job_reader *to = r->reader, *from = piece->reader;
    size_t *numbers = memory_calloc(piece->event_count, sizeof *numbers);
    size_t *places = memory_calloc(piece->event_count, sizeof *places);
    for (size_t i = 0; i < hmlenu(from->known); i++) {
        size_t at = job_join_known(to, from->known[i].key);
        job_known_counter new = from->known[i].value;
        new.event = JOB_NONE;
        if (at == JOB_NONE) {
            at = hmlenu(to->known);
            hmput(to->known, from->known[i].key, new);
        }
        if (from->known[i].value.event != JOB_NONE) places[from->known[i].value.event] = at;
    }
    for (size_t i = 0; i < piece->event_count; i++) { // in the order in which they were met
        size_t *event = &to->known[places[i]].value.event;
        if (*event == JOB_NONE) *event = job_join_new_event(r, &piece->events[i]);
        numbers[i] = *event;
        job_join_event(&r->events[*event], &piece->events[i], node);
    }
    free(places);
    return numbers;
}

static void job_join_troubles(job_report *r, job_reader *from, const size_t *events, size_t first_device)
{
    job_reader *to = r->reader;
    for (size_t i = 0; i < arrlenu(from->troubles); i++) {
        job_trouble new = from->troubles[i];
        new.event = events[new.event];
        new.device += first_device;
        map_key key = map_key_of_pair((int64_t) new.event, (int64_t) new.device);
        hmput(to->trouble_of, key, arrlenu(to->troubles));
        arrput(to->troubles, new);
    }
    if (from->troubles) arrsetlen(from->troubles, 0);
}

// ---- nodes and devices ----

static void job_join_devices(job_report *r, job_report *piece, size_t node)
{
    for (size_t i = 0; i < piece->device_count; i++) {
        job_device new = piece->devices[i];
        new.node = node;
        for (int m = 0; m < JOB_METERS; m++)
            if (new.lanes[m]) new.lanes[m]->node = node, new.lanes[m]->device = r->device_count;
        arrput(r->devices, new);
        r->device_count++;
    }
    piece->device_count = 0;
}

static void job_join_own_node(job_report *r, job_report *piece)
{
    job_reader *to = r->reader, *from = piece->reader;
    job_node_reader more = from->nodes[0];
    size_t node = r->node_count++, first_run = arrlenu(to->runs);
    hmput(to->node_of, map_key_of_name(0, piece->nodes[0].name), node);
    for (int m = 0; m < JOB_METERS; m++)
        for (int s = 0; s < JOB_SCOPES; s++)
            if (more.lanes[m][s]) more.lanes[m][s]->node = node;
    for (size_t i = 0; i < arrlenu(more.runs); i++)
        more.runs[i].run += first_run;
    arrput(r->nodes, piece->nodes[0]);
    arrput(to->nodes, more);
    for (size_t i = 0; i < arrlenu(from->runs); i++) {
        from->runs[i].node = node;
        arrput(to->runs, from->runs[i]);
    }
    piece->node_count = 0;
    arrsetlen(from->nodes, 0);
    arrsetlen(from->runs, 0);
}

static void job_join_episodes(job_reader *to, const job_reader *from, size_t first_device)
{
    for (size_t i = 0; i < arrlenu(from->episodes) && arrlenu(to->episodes) < JOB_EPISODES_MOST; i++) {
        job_episode new = from->episodes[i];
        new.device += first_device;
        arrput(to->episodes, new);
    }
}

// ---- what the rules found ----

static void job_join_findings(job_reader *to, job_reader *from, size_t node)
{
    for (size_t i = 0; i < arrlenu(from->found); i++) {
        from->found[i].node = node;
        arrput(to->found, from->found[i]);
    }
    for (size_t i = 0; i < arrlenu(from->rule_values); i++) {
        from->rule_values[i].node = node;
        arrput(to->rule_values, from->rule_values[i]);
    }
    if (from->found) arrsetlen(from->found, 0);
    to->judged += from->judged;
    to->unknown += from->unknown;
    node_settings_join(&to->settings, &from->settings);
}

void job_piece_join(job_report *r, job_report *piece)
{
    size_t node = r->node_count, first_device = r->device_count;
    job_join_own_node(r, piece);
    job_join_devices(r, piece, node);
    size_t *events = job_join_events(r, piece, node);
    job_join_troubles(r, piece->reader, events, first_device);
    free(events);
    job_join_episodes(r->reader, piece->reader, first_device);
    job_join_findings(r->reader, piece->reader, node);
}

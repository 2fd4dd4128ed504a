// Page 1 of a job: the verdict, how well the nodes were used, when they sent less, which NIC made them wait, what else.
#include "render/base/buffer.h"
#include "pages_job_view.h"
#include "pages_job_regions.h"
#include "analysis/base/saturating_sum.h"
#include "analysis/base/words.h"
#include "analysis/job/job_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL = 42, MAP_NODES = 16, PAUSED = 5, EVENTS = 6, STILL = 3, INCIDENT_ROWS = 3, NIC_ROWS = 8 };
static const double HALF = .5;
static const double beside_left = 96, beside_right = 56; // of all charts with the axis of time

// ---- head ----

static size_t job_overview_most_of(const job_report *job, const char *source, bool physical)
{
    size_t most = 0;
    for (size_t i = 0; i < job->node_count; i++) {
        size_t n = 0;
        for (size_t k = 0; k < job->nodes[i].device_count; k++) {
            const job_device *d = &job->devices[job->nodes[i].first_device + k];
            n += physical ? d->line_rate > 0 && d->lanes[JOB_SENT] != NULL : strcmp(d->source, source) == 0;
        }
        if (n > most) most = n;
    }
    return most;
}

// "16 nodes x 4 GPUs, 4 x 200 Gb/s"
static void job_overview_append_machine(const job_view *v, buffer *b)
{
    const job_report *job = v->job;
    size_t gpus = job_overview_most_of(job, "gpu", false), nics = job_overview_most_of(job, "", true);
    double rate = NAN;
    if (job->node_count > 1) buffer_text(b, words_many(job->node_count, "node").text);
    if (gpus) buffer_printf(b, " \xc3\x97 %s", words_many(gpus, "GPU").text);
    for (size_t i = 0; i < job->device_count; i++) {
        const job_device *d = &job->devices[i];
        if (!(d->line_rate > 0) || !d->lanes[JOB_SENT]) continue;
        if (!isnan(rate) && rate != d->line_rate) return; // not all alike
        rate = d->line_rate;
    }
    if (nics && rate > 0) buffer_printf(b, ", %zu \xc3\x97 %s", nics, number_line_rate(rate).text);
}

static const char *job_overview_fact(const job_report *job, const char *key)
{
    for (size_t i = 0; i < job->fact_count; i++)
        if (strcmp(job->facts[i].key, key) == 0) return job->facts[i].text;
    return NULL;
}

// "loopback": the program alone, without its path and what it was given.
static const char *job_overview_program(const job_view *v)
{
    const char *command = job_overview_fact(v->job, "command");
    if (!command) return NULL;
    size_t end = strcspn(command, " "), begin = end;
    while (begin && command[begin - 1] != '/')
        begin--;
    return end > begin && *command != '\'' ? arena_format(v->memory, "%.*s", (int)(end - begin), command + begin)
                                           : NULL;
}

// "vm, 2 CPUs" of one node, which has a name.
static void job_overview_append_node(const job_view *v, buffer *b)
{
    const job_node *node = &v->job->nodes[0];
    const char *program = *v->job->job_name ? NULL : job_overview_program(v);
    if (program) buffer_printf(b, "%s  \xc2\xb7  ", program);
    buffer_printf(b, "node %s", node->name);
    if (node->cpus >= 1) buffer_printf(b, ", %s", words_many((uint64_t)llround(node->cpus), "CPU").text);
}

static void job_overview_add_head(const job_view *v, document *doc)
{
    static const char dot[] = "  \xc2\xb7  ";
    const job_report *job = v->job;
    buffer b = {0};
    number_text begin = number_utc(job->begin_ns, 0),
                end = number_utc(sum_capped_signed(job->begin_ns, llround(fmin(job->end_s * 1e9, 9e18))), 0);
    bool same_day = strncmp(begin.text, end.text, 10) == 0 && strlen(end.text) > 11;
    document_title(doc, job->title);
    if (*job->job_id || *job->job_name)
        buffer_printf(&b, "job %s%s%s%s", job->job_id, *job->job_id && *job->job_name ? " " : "", job->job_name, dot);
    const char *status = job->node_count == 1 ? job_overview_fact(job, "exit_status") : NULL;
    if (job->node_count == 1) job_overview_append_node(v, &b);
    job_overview_append_machine(v, &b);
    buffer_printf(&b, "%s%s \xe2\x86\x92 %s UTC%s%s", dot, begin.text, end.text + (same_day ? 11 : 0), dot,
                  number_duration(job->end_s).text);
    if (status) buffer_printf(&b, "%sexit status %s", dot, status);
    document_subline(doc, b.data ? b.data : "");
    for (size_t i = 0; i < job->note_count; i++)
        document_verdict(doc, job->notes[i].severity, job->notes[i].text);
    buffer_free(&b);
}

// ---- use of the nodes ----

static theme_ink job_overview_use_ink(job_meter meter)
{
    return meter == JOB_SENT ? INK_SENT : meter == JOB_RECEIVED ? INK_RECEIVED : (theme_ink)(INK_PART + 1);
}

static bool job_overview_is_virtual(job_meter meter)
{
    return meter == JOB_VIRTUAL_SENT || meter == JOB_VIRTUAL_RECEIVED;
}

// "172" and "GiB of 512 GiB": the value, drawn strong, and then its unit and what it is a part of.
static void job_overview_split_value(const job_view *v, const job_use *u, use_row *row)
{
    static const char space[] = NUMBER_SPACE;
    bool of_all = u->meter == JOB_CPU || u->meter == JOB_NODE_CPU;
    const char *whole = arena_text(v->memory, of_all && u->capacity > 0 ? number_percent(u->mean / u->capacity).text
                                                                        : job_view_text(u->meter, u->mean).text);
    const char *unit = strstr(whole, space);
    const char *of = "";
    if (of_all && u->capacity > 0)
        of = arena_format(v->memory, " of %s", job_view_text(u->meter, u->capacity).text);
    else if (*job_meter_of(u->meter)->unit)
        of = job_overview_is_virtual(u->meter) ? ", in no network figure"
             : u->capacity > 0 ? arena_format(v->memory, " of %s", job_view_text(u->meter, u->capacity).text)
                               : ", no limit known";
    row->value = arena_format(v->memory, "%s%.*s", u->upper_bound ? "\xe2\x89\xa4 " : "",
                              (int)(unit ? unit - whole : (ptrdiff_t)strlen(whole)), whole);
    row->of = arena_format(v->memory, "%s%s", unit ? unit + strlen(space) : "", of);
}

static use_row job_overview_make_use(const job_view *v, const job_use *u)
{
    double capacity = *job_meter_of(u->meter)->unit ? u->capacity : 1;
    use_row row = {
        .label = job_meter_of(u->meter)->title, .ink = job_overview_use_ink(u->meter), .no_capacity = !(capacity > 0)};
    row.share = u->mean / capacity;
    row.low = u->nodes > 1 ? u->low / capacity : NAN;
    row.high = u->nodes > 1 ? u->high / capacity : NAN;
    job_overview_split_value(v, u, &row);
    return row;
}

// Bars of memory and time against what was asked for; the CPU's bar is against what was given already.
static size_t job_overview_add_given(const job_view *v, use_row *rows)
{
    static const char space[] = NUMBER_SPACE;
    static const char *const titles[JOB_EFFICIENCIES] = {NULL, "Memory given", "Time limit"};
    size_t n = 0;
    for (int i = JOB_EFFICIENCY_MEMORY; i < JOB_EFFICIENCIES; i++) {
        const job_efficiency *e = &v->job->efficiency[i];
        bool memory = i == JOB_EFFICIENCY_MEMORY;
        if (!(e->used >= 0 && e->of > 0) || !isfinite(e->of) || e->basis == JOB_BASIS_NODE_MEMORY) continue;
        const char *used = arena_text(v->memory, memory ? number_binary(e->used).text : number_duration(e->used).text);
        if (memory && e->upper_bound) continue; // a bar would say that it was so much
        const char *of = arena_text(v->memory, memory ? number_binary(e->of).text : number_duration(e->of).text),
                   *unit = strstr(used, space);
        rows[n] = (use_row){
            .label = titles[i], .ink = (theme_ink)(INK_PART + 1), .share = e->used / e->of, .low = NAN, .high = NAN};
        rows[n].value = unit ? arena_format(v->memory, "%.*s", (int)(unit - used), used) : used;
        rows[n++].of =
            arena_format(v->memory, "%s of %s%s", unit ? unit + strlen(space) : "", of, memory ? " at the peak" : "");
    }
    return n;
}

// "63 %: 9 h of 14 h", and against what that was measured.
static size_t job_overview_add_efficiency(const job_view *v, fact_row *facts)
{
    const job_efficiency *e = &v->job->efficiency[JOB_EFFICIENCY_CPU];
    char against[400];
    if (!(e->used >= 0 && e->of > 0)) return 0;
    const char *of = arena_text(v->memory, number_duration(e->of).text);
    facts[0] = (fact_row){"CPU time",
                          arena_format(v->memory, "%s%s of %s (%s)", e->lower_bound ? "\xe2\x89\xa5 " : "",
                                       number_duration(e->used).text, of, number_percent(e->used / e->of).text),
                          true};
    facts[1] = (fact_row){
        "CPUs given", arena_text(v->memory, job_efficiency_text(against, sizeof against, v->job, JOB_EFFICIENCY_CPU)),
        false};
    facts[2] = (fact_row){"Measured", job_measure_text(e->by), false};
    return e->by ? 3 : 2;
}

// Below the title.
static bool job_overview_is_told_above(const job_fact *fact)
{
    return strcmp(fact->key, "job_id") == 0 || strcmp(fact->key, "job_name") == 0;
}

static void job_overview_add_use(const job_view *v, document *doc)
{
    static const job_meter meters[][2] = {{JOB_GPU_BUSY, JOB_GPU_BUSY},
                                          {JOB_GPU_MEMORY, JOB_GPU_MEMORY},
                                          {JOB_CPU, JOB_NODE_CPU},
                                          {JOB_MEMORY, JOB_NODE_MEMORY},
                                          {JOB_SENT, JOB_SENT},
                                          {JOB_RECEIVED, JOB_RECEIVED},
                                          {JOB_VIRTUAL_SENT, JOB_VIRTUAL_SENT},
                                          {JOB_VIRTUAL_RECEIVED, JOB_VIRTUAL_RECEIVED},
                                          {JOB_POWER, JOB_POWER}};
    enum { METERS = sizeof meters / sizeof *meters, FACTS = 9 };
    enum { GIVEN = 3 };
    const job_report *job = v->job;
    use_row rows[METERS + JOB_EFFICIENCIES];
    fact_row facts[FACTS + GIVEN + 1];
    size_t count = 0, fact_count = 0;
    for (size_t i = 0; i < METERS; i++) {
        const job_use *u = job_view_use_of(job, meters[i][0]);
        const char *why = job_view_why_not(job, meters[i][0]);
        if (!u) u = job_view_use_of(job, meters[i][1]);
        if (u && job_overview_is_virtual(u->meter) && !(u->mean > 0)) continue;
        if (u)
            rows[count++] = job_overview_make_use(v, u);
        else if (strcmp(why, "not recorded") != 0)
            rows[count++] = (use_row){.label = job_meter_of(meters[i][0])->title, .of = why, .unknown = true};
    }
    count += job_overview_add_given(v, rows + count);
    for (size_t i = 0; i < job->fact_count && fact_count < FACTS; i++)
        if (!job_overview_is_told_above(&job->facts[i]))
            facts[fact_count++] = (fact_row){job->facts[i].title, job->facts[i].text, false};
    fact_count += job_overview_add_efficiency(v, facts + fact_count);
    if (job->expected)
        facts[fact_count++] =
            (fact_row){"Samples",
                       arena_format(v->memory, "%s of %s (%s)", number_grouped(job->samples).text,
                                    number_grouped(job->expected).text,
                                    number_percent((double)job->samples / (double)job->expected).text),
                       true};
    const char *about = job->node_count > 1 ? "mean; mark = lowest and highest node" : "mean over the job";
    const chart_head about_job = {"facts", "Job", ""};
    if (!count) {
        if (fact_count) document_add(doc, chart_facts(about_job, facts, fact_count));
        return;
    }
    chart use = chart_use((chart_head){"use", job->node_count > 1 ? "Use of the nodes" : "Use of the node", about},
                          rows, count);
    if (!fact_count)
        document_add(doc, use);
    else
        document_beside(doc, use, chart_facts(about_job, facts, fact_count), .62);
}

// ---- time x node ----

typedef struct map_of {
    job_meter meter;
    const char *name, *title, *question;
} map_of;

// The network if it did anything worth mentioning, otherwise what the nodes did.
static map_of job_overview_choose_map(const job_report *job)
{
    static const map_of maps[] = {
        {JOB_SENT, "time-sent", "Bytes sent, time \xc3\x97 node", "when did the nodes send less?"},
        {JOB_RECEIVED, "time-received", "Bytes received, time \xc3\x97 node", "when did the nodes receive less?"},
        {JOB_GPU_BUSY, "time-gpu", "GPU busy, time \xc3\x97 node", "when did GPUs wait?"},
        {JOB_CPU, "time-cpu", "CPU, time \xc3\x97 node", "when did the job compute?"},
        {JOB_NODE_CPU, "time-cpu", "CPU of the nodes, time \xc3\x97 node", "when did the nodes compute?"}};
    enum { MAPS = sizeof maps / sizeof *maps };
    for (size_t i = 0; i < MAPS; i++) {
        const job_use *u = job_view_use_of(job, maps[i].meter);
        bool network = maps[i].meter == JOB_SENT || maps[i].meter == JOB_RECEIVED;
        if (u && u->peak > (network ? u->capacity > 0 ? 1e-3 * u->capacity : 1e6 : 0)) return maps[i];
    }
    for (size_t i = 0; i < MAPS; i++)
        if (job_view_has(job, maps[i].meter)) return maps[i];
    return (map_of){.meter = JOB_METERS};
}

static map_style job_overview_style_of(const job_view *v, job_meter meter)
{
    return (map_style){.columns = v->time.columns,
                       .axis = pages_time_axis(&v->time),
                       .from = 0,
                       .to = v->job->end_s,
                       .ramp = INK_BLUE,
                       .format = job_view_format(meter),
                       .unit = strcmp(job_meter_of(meter)->unit, "CPUs") == 0 ? "CPUs" : job_view_axis_unit(meter),
                       .label_head = "node",
                       .right_head = "mean",
                       .phases = v->phases,
                       .phase_count = v->phase_count,
                       .incidents = v->incidents,
                       .incident_count = v->incident_count,
                       .label_width = beside_left,
                       .right_width = beside_right,
                       .squeeze = true};
}

static void job_overview_add_node_map(const job_view *v, document *doc, const map_of *m)
{
    const job_report *job = v->job;
    job_selection shown = job_view_nodes(v, MAP_NODES);
    map_row *rows = arena_make(v->memory, shown.count + 1, sizeof *rows);
    map_style style = job_overview_style_of(v, m->meter);
    const char *question = arena_format(v->memory, "%s %s", m->question, job_view_column_words(v));
    for (size_t i = 0; i < shown.count; i++) {
        const job_node *n = &job->nodes[shown.nodes[i]];
        const job_lane *lane = n->lanes[m->meter];
        rows[i] = (map_row){.label = job_view_node_label(v, &shown, i),
                            .values = job_view_values(v, job_view_columns(v, m->meter, shown.nodes[i]), JOB_MEAN, 1),
                            .right = arena_text(v->memory, job_view_text(m->meter, lane ? lane->mean : NAN).text),
                            .marked = n->severity >= SEVERITY_WATCH,
                            .severity = n->severity};
        if (!rows[i].values) return;
    }
    if (shown.median != JOB_NONE)
        question = arena_format(v->memory, "%d of %zu nodes that tell most, the median, the plainest; %s", JOB_TELLING,
                                job->node_count, job_view_column_words(v));
    document_add(doc, chart_map((chart_head){m->name, m->title, question}, &style, rows, shown.count));
}

// One node: its NICs, each way, on one scale; a NIC that moved nothing is left out where there are others.
static bool job_overview_add_nic_map(const job_view *v, document *doc)
{
    static const job_meter ways[4] = {JOB_SENT, JOB_RECEIVED, JOB_VIRTUAL_SENT, JOB_VIRTUAL_RECEIVED};
    const job_report *job = v->job;
    map_row rows[2 * NIC_ROWS];
    size_t count = 0, left = 0;
    for (size_t turn = 0; turn < 2 * job->device_count; turn++) // ports first
        for (int way = turn < job->device_count ? 0 : 2, end = way + 2; way < end; way++) {
            size_t i = turn % job->device_count;
            const job_lane *lane = job->devices[i].lanes[ways[way]];
            if (!lane || !(lane->total > 0)) continue;
            if (count == 2 * NIC_ROWS) {
                left++;
                continue;
            }
            rows[count] = (map_row){.label = arena_format(v->memory, "%s%s %s", job->devices[i].label,
                                                          way > 1 ? ", virtual," : "", way % 2 ? "in" : "out"),
                                    .values = job_view_values(v, job_view_columns_of_lane(v, lane), JOB_MEAN, 1),
                                    .right = arena_text(v->memory, job_view_text(ways[way], lane->mean).text)};
            if (!rows[count++].values) return true;
        }
    if (!count) return false;
    map_style style = job_overview_style_of(v, JOB_SENT);
    style.label_head = "NIC, way";
    const char *question =
        left ? arena_format(v->memory, "when did they carry data? %zu more rows on the page about NICs", left)
             : arena_format(v->memory, "when did they carry data? %s", job_view_column_words(v));
    document_add(doc, chart_map((chart_head){"time-nic", "Bytes by NIC over time", question}, &style, rows, count));
    return true;
}

static void job_overview_add_map(const job_view *v, document *doc)
{
    map_of m = job_overview_choose_map(v->job);
    if (m.meter == JOB_METERS) {
        document_note(doc, "Neither traffic nor CPU time was recorded: there is no picture of time and nodes.");
        return;
    }
    bool network = m.meter == JOB_SENT || m.meter == JOB_RECEIVED;
    if (v->job->node_count == 1 && network && job_overview_add_nic_map(v, doc)) return;
    if (v->job->node_count == 1) {
        const char *title = arena_format(v->memory, "%s over time", job_meter_of(m.meter)->title);
        m.title = title;
        m.question = "when was it busy?";
    }
    job_overview_add_node_map(v, doc, &m);
}

// ---- pauses ----

static double job_overview_most(const map_row *rows, size_t count, size_t columns)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < columns; k++)
            most = fmax(most, isnan(rows[i].values[k]) ? 0 : rows[i].values[k]);
    return most;
}

static void job_overview_add_pauses(const job_view *v, document *doc)
{
    enum { WINDOW_S = 300 };
    const job_report *job = v->job;
    job_worst worst[PAUSED];
    map_row rows[PAUSED];
    size_t all = 0, filled = job_report_worst(job, JOB_PAUSED, WINDOW_S, worst, PAUSED, &all), count = 0;
    for (size_t i = 0; i < filled; i++) {
        const job_device *d = &job->devices[worst[i].device];
        if (!(worst[i].value > 0) || !d->lanes[JOB_PAUSED]) continue;
        severity of = SEVERITY_OK;
        for (size_t k = 0; k < job->finding_count; k++)
            if (job->findings[k].device == worst[i].device && job->findings[k].meter == JOB_PAUSED &&
                job->findings[k].severity > of)
                of = job->findings[k].severity;
        rows[count] =
            (map_row){.label = job->node_count > 1 ? arena_format(v->memory, "%s %s", job->nodes[d->node].name,
                                                                  job_view_short_label(v, d))
                                                   : d->label,
                      .values = job_view_values(v, job_view_columns_of_lane(v, d->lanes[JOB_PAUSED]), JOB_MEAN, 1),
                      .right = arena_text(v->memory, job_view_percent(worst[i].value).text),
                      .severity = of,
                      .marked = of >= SEVERITY_WATCH};
        if (rows[count++].values == NULL) return;
    }
    if (!all) return; // nothing here counts pauses: said in the appendix
    if (!count) {
        document_note(
            doc, arena_format(v->memory, "Time paused: the network stopped none of the %zu NICs that count it.", all));
        return;
    }
    map_style style = job_overview_style_of(v, JOB_PAUSED);
    style.ramp = INK_ORANGE;
    style.max =
        job_overview_most(rows, count, style.columns) > HALF ? 1 : HALF; // the same for all jobs: little is pale
    style.phase_count = 0;
    style.no_axis = job->event_count > 0; // that of the events serves both
    style.label_head = "NIC";
    style.right_head = job->end_s > WINDOW_S ? "worst 5 min" : "mean";
    const char *title =
        all > count ? arena_format(v->memory, "Time paused, %zu worst of %zu NICs", count, all) : "Time paused";
    document_add(doc, chart_map((chart_head){"time-paused", title,
                                             arena_format(v->memory, "which NIC made them wait? share of time, %s",
                                                          job_view_column_words(v))},
                                &style, rows, count));
}

// ---- events ----

typedef struct strip {
    events_row rows[EVENTS + INCIDENT_ROWS];
    size_t count;
} strip;

static void job_overview_add_event_row(const job_view *v, strip *s, const double *at, const job_event *e)
{
    const job_report *job = v->job;
    double *amounts = arena_make(v->memory, v->time.columns, sizeof *amounts);
    events_row *r = &s->rows[s->count];
    job_event_columns(job, e, 0, job->end_s, amounts, v->time.columns);
    bool placed = false;
    for (size_t i = 0; i < v->time.columns; i++)
        placed |= amounts[i] > 0;
    *r = (events_row){.label =
                          pages_time_event_label(v->memory, e->words, e->title, e->counter, s->rows, s->count, LABEL),
                      .at = at,
                      .amount = amounts,
                      .count = e->sum > 0 ? v->time.columns : 0,
                      .background = e->background,
                      .severity = e->severity};
    if (e->sum > 0 && !placed) {
        r->note = arena_format(v->memory, "%s in all; when is not known", number_volume(e->sum, e->unit).text);
    } else if (e->background) {
        r->note = "background, all alike";
    } else if (e->worst < job->device_count) {
        const job_device *d = &job->devices[e->worst];
        const char *more = e->devices > 1 ? arena_format(v->memory, " + %zu more", e->devices - 1) : "";
        r->note = arena_format(v->memory, "%s%s%s: %s%s", job->node_count > 1 ? job->nodes[d->node].name : "",
                               job->node_count > 1 ? " " : "", job_view_short_label(v, d),
                               number_prefixed(e->worst_sum, "").text, more);
    }
    s->count++;
}

// An incident that the maps above do not show: as long as it lasted.
static void job_overview_add_incident_row(const job_view *v, strip *s, const double *at, const job_finding *f)
{
    double *amounts = arena_make(v->memory, v->time.columns, sizeof *amounts);
    for (size_t i = 0; i < v->time.columns; i++)
        amounts[i] = at[i] + v->column_s / 2 > f->from_s && at[i] - v->column_s / 2 < f->to_s;
    const char *node = f->node < v->job->node_count ? v->job->nodes[f->node].name : "";
    const char *words = job_incident_words(f->meter);
    s->rows[s->count++] = (events_row){
        .label = arena_text(v->memory, words ? words : f->rule),
        .at = at,
        .amount = amounts,
        .count = v->time.columns,
        .severity = f->severity,
        .note = arena_format(v->memory, "%s%s%s", node, *node ? ": " : "", words_duration(f->to_s - f->from_s).text)};
}

static bool job_overview_is_of_network(job_meter m)
{
    return m == JOB_SENT || m == JOB_RECEIVED || m == JOB_PAUSED || m == JOB_RETRIES;
}

static void job_overview_add_events(const job_view *v, document *doc)
{
    const job_report *job = v->job;
    strip s = {.count = 0};
    double *at = arena_make(v->memory, v->time.columns, sizeof *at);
    size_t moved = 0, still = 0, left = 0;
    for (size_t i = 0; i < v->time.columns; i++)
        at[i] = v->column_s * ((double)i + .5);
    for (size_t i = 0; i < job->finding_count && s.count < INCIDENT_ROWS; i++)
        if (job->findings[i].incident && !job_overview_is_of_network(job->findings[i].meter))
            job_overview_add_incident_row(v, &s, at, &job->findings[i]);
    for (size_t i = 0; i < job->event_count; i++) {
        const job_event *e = &job->events[i];
        moved += e->sum > 0;
        still += e->known && !(e->sum > 0);
        if (s.count < EVENTS && (e->sum > 0 || (e->known && still <= STILL)))
            job_overview_add_event_row(v, &s, at, e);
        else
            left += e->sum > 0;
    }
    if (!s.count) {
        document_note(doc, "Events: the recordings have no counters of errors, drops, retries or waiting.");
        return;
    }
    if (!moved && s.count <= STILL) {
        document_note(
            doc, still == 1
                     ? "Events: one kind of errors, drops, retries or waiting was watched; none was seen."
                     : arena_format(v->memory,
                                    "Events: none of %zu kinds of errors, drops, retries or waiting was seen.", still));
        return;
    }
    events_style style = {.axis = pages_time_axis(&v->time),
                          .gaps = v->gaps,
                          .gap_count = v->gap_count,
                          .incidents = v->incidents,
                          .incident_count = v->incident_count,
                          .width = v->column_s,
                          .label_width = beside_left,
                          .right_width = beside_right,
                          .compact = true};
    const char *question = job->node_count > 1 ? "on the same time axis; height = how much; name = which node"
                                               : "on the same time axis; height = how much";
    if (still > STILL)
        question = arena_format(v->memory, "height = how much%s; %s %s watched and stood still",
                                job->node_count > 1 ? "; name = which node" : "", words_many(still, "kind").text,
                                still == 1 ? "was" : "were");
    if (left)
        question = arena_format(
            v->memory, "height = how much; name = which node; + %zu more kinds that moved, in the tables", left);
    document_add(doc, chart_events_over((chart_head){"time-events", "Events", question}, &style, s.rows, s.count));
}

void job_overview(job_view *v, document *doc)
{
    job_overview_add_head(v, doc);
    job_overview_add_use(v, doc);
    job_overview_add_map(v, doc);
    job_overview_add_pauses(v, doc);
    job_overview_add_events(v, doc);
}

void job_overview_of_one(job_view *v, document *doc, bool brief, bool full)
{
    job_overview_add_head(v, doc);
    bool drawn = job_first_over_time(v, doc);
    if (!drawn) job_overview_add_nic_map(v, doc);
    if (brief && !drawn) return; // these two fill the page
    full = full && !brief;
    if (full || (job_view_has(v->job, JOB_PAUSED) && !job_view_is_zero(v->job, JOB_PAUSED)))
        job_overview_add_pauses(v, doc);
    job_first_rest(v, doc);
    if (!full) return;
    job_overview_add_use(v, doc);
    job_overview_add_events(v, doc);
}

void job_overview_events(job_view *v, document *doc)
{
    job_overview_add_events(v, doc);
}

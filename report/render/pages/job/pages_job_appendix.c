// The last pages of a job: what was found, every node in numbers, what was read and what was not.
#include "pages_job_view.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FINDINGS = 60, FEW_FINDINGS = 3, NODE_ROWS = 512, EVENT_ROWS = 80, WARNINGS = 40 };

// ---- findings ----

static const char *job_appendix_where_of(const job_view *v, const job_finding *f)
{
    const job_report *job = v->job;
    const char *node = f->node < job->node_count ? job->nodes[f->node].name : "";
    const char *device = f->device < job->device_count ? job->devices[f->device].label : "";
    const char *more = f->nodes > 1 ? arena_format(v->memory, " + %zu more", f->nodes - 1) : "";
    if (!*node && !*device) return f->nodes > 1 ? arena_format(v->memory, "%zu nodes", f->nodes) : "the job";
    return arena_format(v->memory, "%s%s%s%s", node, *node && *device ? " " : "", device, more);
}

// "5 % of the time (own: more than 5 % for 30 s)"
static const char *job_appendix_limit_of(const job_view *v, const job_finding *f)
{
    if (isnan(f->threshold)) return "";
    bool share = strncmp(f->unit, "of ", 3) == 0 || (!*f->unit && f->threshold <= 1), time = strcmp(f->unit, "s") == 0;
    number_text limit = share  ? number_percent(f->threshold)
                        : time ? number_duration(f->threshold)
                               : number_plain(f->threshold);
    const char *unit = time ? "" : f->unit, *origin = strcmp(f->origin, "own") == 0 ? "our own judgement" : f->origin;
    return arena_format(v->memory, "%s%s%s%s%s%s", limit.text, *unit ? " " : "", unit, *origin ? " (" : "", origin,
                        *origin ? ")" : "");
}

void job_findings_page(job_view *v, document *doc, bool apart)
{
    const job_report *job = v->job;
    size_t count = job->finding_count < FINDINGS ? job->finding_count : FINDINGS;
    findings_row *rows = arena_make(v->memory, count + 1, sizeof *rows);
    if (!count) return;
    for (size_t i = 0; i < count; i++) {
        const job_finding *f = &job->findings[i];
        rows[i] = (findings_row){.severity = f->severity,
                                 .rule = f->rule,
                                 .devices = job_appendix_where_of(v, f),
                                 .claim = f->claim,
                                 .threshold = job_appendix_limit_of(v, f),
                                 .advice = f->advice,
                                 .explained_by = "",
                                 .limit = NAN,
                                 .unit = f->unit};
    }
    if (apart || job->node_count > 1 || count > FEW_FINDINGS)
        document_part(doc, "Findings"); // else below what they are about
    document_add(doc, chart_findings((chart_head){"findings", "What was found", "worst first"}, rows, count));
    if (count < job->finding_count)
        document_note(doc, arena_format(v->memory, "%zu more findings are in the JSON.", job->finding_count - count));
}

// ---- events ----

static void job_appendix_add_events(const job_view *v, document *doc)
{
    static const table_column columns[] = {{"counter", TABLE_NAME, 0}, {"what it counts", TABLE_TEXT, 1},
                                           {"sum", TABLE_NUMBER, 0},   {"on devices", TABLE_NUMBER, 0},
                                           {"most on", TABLE_TEXT, 0}, {"there", TABLE_NUMBER, 0}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    const job_report *job = v->job;
    sheet t = sheet_open(COLUMNS);
    size_t rows = 0, still = 0, left = 0;
    for (size_t i = 0; i < job->event_count; i++) {
        const job_event *e = &job->events[i];
        still += e->known && !(e->sum > 0);
        if (!(e->sum > 0)) continue;
        if (rows == EVENT_ROWS) {
            left++;
            continue;
        }
        const job_device *d = e->worst < job->device_count ? &job->devices[e->worst] : NULL;
        sheet_format(&t, "%s/%s", e->source, e->counter);
        sheet_text(&t, e->title);
        sheet_number(&t, number_volume(e->sum, e->unit));
        sheet_format(&t, "%zu", e->devices);
        sheet_text(&t, d ? arena_format(v->memory, "%s %s", job->nodes[d->node].name, d->label) : "");
        sheet_text(&t, arena_text(v->memory, d ? number_volume(e->worst_sum, e->unit).text : ""));
        rows++;
    }
    sheet_end(&t, doc,
              (chart_head){"event-table", "Errors, drops, retries and waiting",
                           "what moved, over all nodes and the whole time"},
              columns);
    if (left) document_note(doc, arena_format(v->memory, "%zu more kinds moved.", left));
    if (still)
        document_note(doc, arena_format(v->memory, "%s of such counters %s watched and stood still.",
                                        words_many(still, "other kind").text, still == 1 ? "was" : "were"));
}

// ---- every node ----

typedef struct node_column {
    job_meter meter;
    const char *head;
} node_column;

static void job_appendix_add_nodes(const job_view *v, document *doc)
{
    static const node_column of[] = {{JOB_CPU, "CPUs"},
                                     {JOB_NODE_CPU, "node's CPUs"},
                                     {JOB_MEMORY, "memory"},
                                     {JOB_SENT, "sent"},
                                     {JOB_RECEIVED, "received"},
                                     {JOB_DISK_READ, "disk read"},
                                     {JOB_DISK_WRITTEN, "disk written"},
                                     {JOB_GPU_BUSY, "GPU"},
                                     {JOB_POWER, "power"}};
    enum { OF = sizeof of / sizeof *of };
    const job_report *job = v->job;
    table_column columns[OF + 3];
    size_t width = 0, rows = job->node_count < NODE_ROWS ? job->node_count : NODE_ROWS;
    columns[width++] = (table_column){"node", TABLE_TEXT, 1};
    columns[width++] = (table_column){"status", TABLE_TEXT, 0};
    for (size_t k = 0; k < OF; k++)
        if (job_view_has(job, of[k].meter)) columns[width++] = (table_column){of[k].head, TABLE_NUMBER, 0};
    columns[width++] = (table_column){"most memory", TABLE_NUMBER, 0};
    sheet t = sheet_open(width);
    for (size_t i = 0; i < rows; i++) {
        const job_node *node = &job->nodes[i];
        sheet_text(&t, node->name);
        sheet_text(&t, theme_severity_word(node->severity));
        for (size_t k = 0; k < OF; k++) {
            const job_lane *lane = node->lanes[of[k].meter];
            if (!job_view_has(job, of[k].meter)) continue;
            sheet_text(&t, arena_text(v->memory, lane ? job_view_text(of[k].meter, lane->mean).text
                                                 : node->state[of[k].meter] == JOB_DENIED ? "no rights"
                                                                                          : NUMBER_UNKNOWN));
        }
        const job_lane *memory = node->lanes[JOB_MEMORY] ? node->lanes[JOB_MEMORY] : node->lanes[JOB_NODE_MEMORY];
        sheet_number(&t, number_binary(memory ? memory->high : NAN));
    }
    sheet_end(&t, doc,
              (chart_head){"nodes", "Every node", "means over the time that each is known; most memory: of any sample"},
              columns);
    if (rows < job->node_count)
        document_note(doc, arena_format(v->memory, "%zu more nodes are in the JSON.", job->node_count - rows));
}

// ---- what was read ----

static void job_appendix_add_samples(const job_view *v, document *doc)
{
    static const table_column columns[] = {
        {"node", TABLE_TEXT, 0},      {"machine", TABLE_TEXT, 1},        {"from", TABLE_NUMBER, 0},
        {"to", TABLE_NUMBER, 0},      {"every", TABLE_NUMBER, 0},        {"samples", TABLE_NUMBER, 0},
        {"of", TABLE_NUMBER, 0},      {"gaps", TABLE_NUMBER, 0},         {"missed", TABLE_NUMBER, 0},
        {"latest", TABLE_NUMBER, 0},  {"longest read", TABLE_NUMBER, 0}, {"clock", TABLE_NUMBER, 0},
        {"recorder", TABLE_NUMBER, 0}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    const job_report *job = v->job;
    size_t rows = job->node_count < NODE_ROWS ? job->node_count : NODE_ROWS;
    sheet t = sheet_open(COLUMNS);
    for (size_t i = 0; i < rows; i++) {
        const job_node *x = &job->nodes[i];
        sheet_format(&t, "%s%s", x->name, x->complete ? "" : " (cut)");
        sheet_text(&t, x->system);
        sheet_number(&t, number_duration(x->begin_s));
        sheet_number(&t, number_duration(x->end_s));
        sheet_number(&t, number_duration(x->interval_s));
        sheet_format(&t, "%llu", (unsigned long long)x->samples);
        sheet_text(&t, x->expected ? arena_format(v->memory, "%llu", (unsigned long long)x->expected) : "");
        size_t gaps = 0;
        for (size_t k = 0; k < x->gap_count; k++)
            gaps += !x->gaps[k].idle;
        sheet_format(&t, "%zu", gaps);
        sheet_format(&t, "%llu", (unsigned long long)x->missed);
        sheet_number(&t, number_duration(x->late_s));
        sheet_number(&t, number_duration(x->sweep_s));
        sheet_text(&t, isnan(x->uncertainty_s)
                           ? arena_text(v->memory, x->shift_s != 0 ? number_duration(x->shift_s).text : "as it is")
                           : arena_format(v->memory, "%s \xc2\xb1 %s", number_duration(x->shift_s).text,
                                          number_duration(x->uncertainty_s).text));
        sheet_text(&t, isnan(x->recorder_cpu)
                           ? NUMBER_UNKNOWN
                           : arena_format(v->memory, "%s CPU", number_percent(x->recorder_cpu).text));
    }
    sheet_end(&t, doc,
              (chart_head){"samples", "What was read",
                           "a step longer than 2.5 of the usual ones is a gap: left out of "
                           "pictures and means, not of volumes and energy"},
              columns);
}

static void job_appendix_add_missing(const job_view *v, document *doc)
{
    const char *text = "";
    for (int m = 0; m < JOB_METERS; m++)
        if (!job_view_has(v->job, (job_meter)m))
            text = arena_format(v->memory, "%s%s%s (%s)", text, *text ? ", " : "", job_meter_of((job_meter)m)->title,
                                job_view_why_not(v->job, (job_meter)m));
    if (*text) document_note(doc, arena_format(v->memory, "Not in this report: %s.", text));
}

static void job_appendix_add_warnings(const job_view *v, document *doc)
{
    const job_report *job = v->job;
    static const table_column columns[] = {{"file", TABLE_TEXT, 0}, {"what is wrong with it", TABLE_TEXT, 1}};
    size_t rows = job->warning_count < WARNINGS ? job->warning_count : WARNINGS;
    sheet t = sheet_open(2);
    for (size_t i = 0; i < rows; i++) {
        sheet_text(&t, job->warnings[i].path);
        sheet_text(&t, job->warnings[i].text);
    }
    sheet_end(&t, doc, (chart_head){"warnings", "Files that are not whole", ""}, columns);
    if (rows < job->warning_count) document_note(doc, arena_format(v->memory, "%zu more.", job->warning_count - rows));
}

void job_appendix(job_view *v, document *doc)
{
    const job_report *job = v->job;
    document_part(doc, "Appendix: nodes, events, samples");
    document_subline(doc,
                     arena_format(v->memory, "%s of %s; %s.", words_many(job->files, "file").text,
                                  words_many(job->node_count, "node").text, job->clock_text ? job->clock_text : ""));
    job_appendix_add_nodes(v, doc);
    job_appendix_add_events(v, doc);
    job_appendix_add_samples(v, doc);
    job_appendix_add_missing(v, doc);
    job_appendix_add_warnings(v, doc);
}

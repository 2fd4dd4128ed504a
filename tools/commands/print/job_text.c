// netprof job for people: the figures of seff and jobstats, and what went wrong, in about 25 lines of 80 columns.
#include "job_text.h"

#include "cli/fold.h"
#include "cli/output.h"
#include "analysis/base/memory.h"
#include "analysis/base/text.h"
#include "analysis/base/words.h"
#include "analysis/regions/pairs/regions_pairs.h"
#include "pairs_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80 };

// ---- words ----

// A value of a meter with its unit.
static words_text job_text_value(job_meter meter, double value)
{
    const char *unit = job_meter_of(meter)->unit;
    if (isnan(value)) return (words_text){"-"};
    if (!*unit) return words_share(value);
    if (strcmp(unit, "bytes") == 0) return words_binary(value);
    if (strcmp(unit, "bytes/s") == 0) return words_amount_rate(value, "bytes");
    return strcmp(unit, "CPUs") == 0 ? words_volume(value, unit) : words_quantity(value, unit);
}

// Prints words folded at WIDTH, or a narrower terminal's; lines after the first are indented.
static void job_text_folded(FILE *to, const char *text, size_t indent)
{
    size_t width = fold_width(to);
    fold_text(to, text, indent, indent, width && width < WIDTH ? width : WIDTH);
    putc('\n', to);
}

// Text of the report, safe on this terminal.
static const char *job_text_shown(const char *text)
{
    static const char apostrophe[] = "\xE2\x80\x99";
    if (terminal_utf8() || !strstr(text, apostrophe)) return safe(text);
    char *plain = memory_strdup(text), *at;
    while ((at = strstr(plain, apostrophe))) {
        *at = '\'';
        memmove(at + 1, at + 3, strlen(at + 3) + 1);
    }
    const char *made = safe(plain);
    free(plain);
    return made;
}

// ---- the verdict ----

static const char *job_text_severity_colour(severity s)
{
    static const char *const sequences[SEVERITIES] = {"\033[32m", "\033[2m",  "\033[2m", "\033[33m",
                                                      "\033[33m", "\033[31m", "\033[31m"};
    return sequences[s];
}

static void job_text_severity(FILE *to, severity s)
{
    bool painted = output_colour(to);
    fprintf(to, "%s%-8s%s  ", painted ? job_text_severity_colour(s) : "", severity_name(s), painted ? "\033[0m" : "");
}

static const char *job_text_fact_of(const job_report *job, const char *key)
{
    for (size_t i = 0; i < job->fact_count; i++)
        if (strcmp(job->facts[i].key, key) == 0) return job->facts[i].text;
    return NULL;
}

// "pod trainer-0 in namespace ml on node w3, started 2026-11-20 13:01:58 UTC".
static void job_text_place(FILE *to, const job_report *job)
{
    const char *space = job_text_fact_of(job, "pod_namespace"), *container = job_text_fact_of(job, "container"),
               *first = NULL;
    char *text = NULL;
    size_t pods = 0;
    for (size_t i = 0; i < job->node_count; i++) {
        if (job->nodes[i].pod && !pods++) first = job->nodes[i].pod;
    }
    if (!pods && !container) return;
    if (pods > 1)
        text_append(&text, "%zu pods, the first %s", pods, first);
    else if (pods)
        text_append(&text, "pod %s", first);
    if (pods && space) text_append(&text, " in namespace %s", space);
    if (pods == 1 && job->node_count == 1) text_append(&text, " on node %s", job->nodes[0].name);
    if (!pods) text_append(&text, "container %.12s", container);
    if (!isnan(job->pod_start_s) && job->pod_start_s < 9e9)
        text_append(&text, ", started %s", words_time((int64_t)(job->pod_start_s * 1e9)).text);
    job_text_folded(to, job_text_shown(text), 0);
    free(text);
}

// "job 51877 llm-pretrain, anna, proj-llm, gpu-b, 16 nodes, 2026-11-20 13:02:00 UTC, 60 min".
static void job_text_job(FILE *to, const job_report *job)
{
    static const char *const keys[] = {"job_user", "job_account", "job_partition"};
    char *text = memory_strdup("");
    if (*job->job_id || *job->job_name) {
        free(text);
        text = memory_format("job%s%s%s%s, ", *job->job_id ? " " : "", job->job_id, *job->job_name ? " " : "",
                             job->job_name);
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *value = job_text_fact_of(job, keys[i]);
        if (!value) continue;
        char *longer = memory_format("%s%s, ", text, value);
        free(text);
        text = longer;
    }
    bool lacks = job->given_nodes > job->node_count;
    char *count = lacks ? memory_format("%zu of %zu nodes", job->node_count, job->given_nodes)
                        : memory_strdup(words_many(job->node_count, "node").text);
    char *line =
        memory_format("%s%s, %s, %s", text, count, words_time(job->begin_ns).text, words_duration(job->end_s).text);
    job_text_folded(to, safe(line), 0);
    free(line);
    free(count);
    free(text);
    line = memory_format("state: %s", job->state);
    job_text_folded(to, safe(line), 0);
    free(line);
    job_text_place(to, job);
    if (job->bound_text) {
        line = memory_format("bound by: %s", job->bound_text);
        job_text_folded(to, job_text_shown(line), 0);
        free(line);
    }
    const char *ran = job_text_fact_of(job, "command");
    if (!ran) return;
    line = memory_format("command %s", ran);
    // A long command line is cut: the files have it.
    if (strlen(line) > 2 * WIDTH) strcpy(line + 2 * WIDTH - 3, "...");
    job_text_folded(to, safe(line), 0);
    free(line);
}

static void job_text_notes(FILE *to, const job_report *job)
{
    putc('\n', to);
    for (size_t i = 0; i < job->note_count; i++) {
        job_text_severity(to, job->notes[i].severity);
        job_text_folded(to, job_text_shown(job->notes[i].text), 10);
    }
}

// ---- used of what was given ----

static words_text job_text_amount(job_efficiency_of of, double amount)
{
    if (!isfinite(amount)) return (words_text){"no limit"};
    if (of == JOB_EFFICIENCY_CPU) return words_cpu_time(amount);
    return of == JOB_EFFICIENCY_MEMORY ? words_binary(amount) : words_duration(amount);
}

// "CPU time by its control group; memory, at most, by its processes, what they share counted in each".
static void job_text_measures(FILE *to, const job_report *job)
{
    const job_efficiency *cpu = &job->efficiency[JOB_EFFICIENCY_CPU], *memory = &job->efficiency[JOB_EFFICIENCY_MEMORY];
    char *text = NULL;
    if (cpu->by) text_append(&text, "CPU time%s %s", cpu->lower_bound ? ", at least," : "", job_measure_text(cpu->by));
    if (memory->by)
        text_append(&text, "%s%s %s", !text ? "Memory" : "; memory",
                    memory->upper_bound   ? ", at most,"
                    : memory->lower_bound ? ", at least,"
                                          : "",
                    job_measure_text(memory->by));
    if (text) job_text_folded(to, job_text_shown(text), 0);
    free(text);
}

// As seff and jobstats have it, and against what it was measured.
static void job_text_efficiency(FILE *to, const job_report *job)
{
    static const char *const names[JOB_EFFICIENCIES] = {"CPU time", "Memory, peak", "Time"};
    static const column columns[] = {{"EFFICIENCY", 0},
                                     {"SHARE", COLUMN_RIGHT},
                                     {"USED", COLUMN_RIGHT},
                                     {"OF", COLUMN_RIGHT},
                                     {"WHICH IS", COLUMN_LEAN}};
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < JOB_EFFICIENCIES; i++) {
        const job_efficiency *e = &job->efficiency[i];
        char against[400];
        if (isnan(e->used) || isnan(e->of)) continue;
        table_cell(t, PLAIN, names[i]);
        words_text share = words_at_most(e->upper_bound, words_at_least(e->lower_bound, words_share(e->used / e->of)));
        table_cell(t, PLAIN, isfinite(e->of) ? share.text : NULL);
        words_text used = job_text_amount((job_efficiency_of)i, e->used);
        table_cell(t, PLAIN, words_at_most(e->upper_bound, words_at_least(e->lower_bound, used)).text);
        table_cell(t, PLAIN, job_text_amount((job_efficiency_of)i, e->of).text);
        table_cell(t, DIM, job_efficiency_text(against, sizeof against, job, (job_efficiency_of)i));
    }
    if (table_lines(t)) putc('\n', to);
    table_end(t, to, 0);
    job_text_measures(to, job);
}

// ---- use of the nodes ----

static const job_meter shown[] = {JOB_GPU_BUSY,         JOB_GPU_MEMORY,   JOB_CPU,        JOB_MEMORY,
                                  JOB_IO_WAIT,          JOB_SENT,         JOB_RECEIVED,   JOB_VIRTUAL_SENT,
                                  JOB_VIRTUAL_RECEIVED, JOB_PAUSED,       JOB_FILES_READ, JOB_FILES_WRITTEN,
                                  JOB_DISK_READ,        JOB_DISK_WRITTEN, JOB_POWER};

static const job_use *job_text_use_of(const job_report *job, job_meter meter)
{
    for (size_t i = 0; i < job->use_count; i++)
        if (job->uses[i].meter == meter) return &job->uses[i];
    return NULL;
}

// What waits and pauses is a line only where it happened, disks only where the job's own files are not known.
static bool job_text_is_worth(const job_report *job, const job_use *use)
{
    bool trouble = use->meter == JOB_IO_WAIT || use->meter == JOB_PAUSED;
    if (use->meter == JOB_VIRTUAL_SENT || use->meter == JOB_VIRTUAL_RECEIVED) return use->mean > 0;
    bool files = job_text_use_of(job, JOB_FILES_READ) != NULL;
    if (files && (use->meter == JOB_DISK_READ || use->meter == JOB_DISK_WRITTEN)) return false;
    return !trouble || use->mean >= 0.001;
}

static words_text job_text_total(const job_use *use)
{
    const char *unit = job_meter_of(use->meter)->total_unit;
    if (!*unit || isnan(use->total)) return (words_text){""};
    return words_at_least(use->lower_bound, strcmp(unit, "s") == 0   ? words_cpu_time(use->total)
                                            : strcmp(unit, "J") == 0 ? words_energy(use->total)
                                                                     : words_amount(use->total, unit));
}

static void job_text_use(FILE *to, const job_report *job)
{
    static const column columns[] = {{"PER NODE", 0},
                                     {"MEAN", COLUMN_RIGHT},
                                     {"PEAK", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"OF", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"LOWEST", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"HIGHEST", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"ALL NODES", COLUMN_RIGHT | COLUMN_LEAN}};
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    bool several = job->node_count > 1;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const job_use *use = job_text_use_of(job, shown[i]);
        if (!use || !job_text_is_worth(job, use)) continue;
        table_cell(t, PLAIN, job_meter_of(shown[i])->title);
        table_cell(t, PLAIN, words_at_most(use->upper_bound, job_text_value(shown[i], use->mean)).text);
        table_cell(t, PLAIN, words_at_most(use->upper_bound, job_text_value(shown[i], use->peak)).text);
        table_cell(t, DIM,
                   use->capacity > 0 && *job_meter_of(shown[i])->unit ? job_text_value(shown[i], use->capacity).text
                                                                      : NULL);
        table_cell(t, PLAIN, several ? job_text_value(shown[i], use->low).text : NULL);
        table_cell(t, PLAIN, several ? job_text_value(shown[i], use->high).text : NULL);
        table_cell(t, PLAIN, job_text_total(use).text);
    }
    if (table_lines(t)) putc('\n', to);
    table_end(t, to, 0);
}

// ---- phases, nodes ----

static void job_text_phases(FILE *to, const job_report *job, bool all)
{
    enum { SHOWN = 6 };
    static const column columns[] = {{"PHASE", 0},
                                     {"TIME", COLUMN_RIGHT},
                                     {"CPU", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"GPU", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"SENT", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"ENERGY", COLUMN_RIGHT | COLUMN_LEAN}};
    if (!job->phase_count) return;
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < job->phase_count && (all || i < SHOWN); i++) {
        const job_phase *p = &job->phases[i];
        table_cell(t, p->finding == JOB_NONE ? PLAIN : WARNING, p->name);
        table_cell(t, PLAIN, words_duration(p->time_s).text);
        table_cell(t, PLAIN,
                   isnan(p->meters[JOB_CPU].mean) ? NULL : job_text_value(JOB_CPU, p->meters[JOB_CPU].mean).text);
        table_cell(t, PLAIN,
                   isnan(p->meters[JOB_GPU_BUSY].mean)
                       ? NULL
                       : job_text_value(JOB_GPU_BUSY, p->meters[JOB_GPU_BUSY].mean).text);
        table_cell(t, PLAIN,
                   isnan(p->meters[JOB_SENT].amount) ? NULL : words_amount(p->meters[JOB_SENT].amount, "bytes").text);
        table_cell(t, PLAIN, isnan(p->energy_j) ? NULL : words_energy(p->energy_j).text);
    }
    putc('\n', to);
    table_end(t, to, 0);
    if (!all && job->phase_count > SHOWN) fprintf(to, "and %zu more phases (--all)\n", job->phase_count - SHOWN);
}

// Where the ranks' time went by their regions: the largest own times.
static void job_text_regions(FILE *to, const job_report *job, bool all)
{
    enum { SHOWN = 5 };
    static const column columns[] = {{"REGION", 0},
                                     {"RANKS", COLUMN_RIGHT},
                                     {"CALLS", COLUMN_RIGHT},
                                     {"TIME PER RANK", COLUMN_RIGHT},
                                     {"OWN SHARE", COLUMN_RIGHT}};
    const regions *x = &job->regions;
    bool *done = memory_calloc(x->node_count + 1, sizeof *done);
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t row = 0; row < x->node_count && (all || row < SHOWN); row++) {
        size_t most = REGIONS_NONE;
        for (size_t i = 0; i < x->node_count; i++)
            if (!done[i] && (most == REGIONS_NONE || x->nodes[i].own_share > x->nodes[most].own_share)) most = i;
        done[most] = true;
        char *path = regions_path(x, most);
        table_cell(t, PLAIN, path);
        free(path);
        table_cell(t, PLAIN, words_exact(x->nodes[most].cell_count).text);
        table_cell(t, PLAIN, words_exact(x->nodes[most].sums.calls).text);
        table_cell(t, PLAIN, words_duration(x->nodes[most].mean_ns * 1e-9).text);
        table_cell(t, PLAIN, words_share(x->nodes[most].own_share).text);
    }
    if (table_lines(t)) putc('\n', to);
    table_end(t, to, 0);
    free(done);
}

// A name of a region in a table that is 80 columns wide; whole with --all.
static void job_text_name_cell(table *t, const char *name, bool all)
{
    enum { MOST = 24 };
    char text[MOST + 4];
    size_t n = strlen(name);
    if (all || n <= MOST + 3) {
        table_cell(t, PLAIN, name);
        return;
    }
    for (n = MOST; n && ((unsigned char)name[n] & 0xc0) == 0x80;)
        n--; // no half of a character
    snprintf(text, sizeof text, "%.*s...", (int)n, name);
    table_cell(t, PLAIN, text);
}

// The same over time: shares of the threads' time in equal parts of the job, the regions' own.
static void job_text_regions_over_time(FILE *to, const job_report *job, bool all)
{
    enum { SHOWN = 5, PARTS = 6 };
    char heads[PARTS][96];
    column columns[PARTS + 1] = {{"OWN TIME OF", 0}};
    double width = job->end_s / PARTS;
    if (!job->region_time_count || !job_region_ranks(job, JOB_ALL_NODES)) return;
    for (size_t i = 0; i < PARTS; i++) {
        snprintf(heads[i], sizeof heads[i], "%s%s", i ? "" : "FROM ", words_moment(width * (double)i, job->end_s).text);
        columns[i + 1] = (column){heads[i], COLUMN_RIGHT};
    }
    table *t = table_begin(columns, PARTS + 1);
    for (size_t k = 0; k < job->region_time_count && (all || k < SHOWN); k++) {
        job_text_name_cell(t, job->region_times[k].others ? "(others)" : job->region_times[k].name, all);
        for (size_t i = 0; i < PARTS; i++) {
            double share = job_region_share(job, k, JOB_ALL_NODES, width * (double)i, width * (double)(i + 1));
            table_cell(t, PLAIN, isnan(share) ? "-" : words_share(share).text);
        }
    }
    putc('\n', to);
    table_end(t, to, 0);
    size_t processes = job_region_ranks(job, JOB_ALL_NODES);
    fprintf(to, "Share of the time of the threads of %s\n", words_many(processes, "process|processes").text);
}

// What the NICs moved, and what of it the program accounts for.
static void job_text_explained(FILE *to, const job_report *job)
{
    pairs mpi;
    if (job->explained.text) {
        char *line = memory_format("Bytes explained: %s", job->explained.text);
        putc('\n', to);
        job_text_folded(to, safe(line), 0);
        free(line);
    }
    if (job->regions.runs == 1 && regions_pairs(&mpi, &job->regions)) {
        pairs_print(to, &mpi, regions_pairs_told(&job->regions), job->regions.rank_count - job->regions.children);
        pairs_free(&mpi);
    }
}

static words_text job_text_lane(const job_node *node, job_meter meter)
{
    static const words_text states[] = {{""}, {"denied"}, {"unreadable"}, {"-"}};
    return node->lanes[meter] ? job_text_value(meter, node->lanes[meter]->mean) : states[node->state[meter]];
}

static void job_text_nodes(FILE *to, const job_report *job)
{
    static const job_meter meters[] = {JOB_GPU_BUSY, JOB_CPU, JOB_MEMORY, JOB_SENT, JOB_RECEIVED, JOB_POWER};
    static const column columns[] = {{"NODE", 0},
                                     {"VERDICT", 0},
                                     {"GPU", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"CPU", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"MEMORY", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"SENT", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"RECEIVED", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"POWER", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"SAMPLES", COLUMN_RIGHT}};
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < job->node_count; i++) {
        const job_node *node = &job->nodes[i];
        table_cell(t, PLAIN, node->name);
        table_cell(t,
                   node->severity >= SEVERITY_HIGH    ? ALARM
                   : node->severity >= SEVERITY_WATCH ? WARNING
                                                      : PLAIN,
                   severity_name(node->severity));
        for (size_t m = 0; m < sizeof meters / sizeof *meters; m++)
            table_cell(t, PLAIN, job_text_lane(node, meters[m]).text);
        table_printf(t, PLAIN, "%llu of %llu", (unsigned long long)node->samples, (unsigned long long)node->expected);
    }
    putc('\n', to);
    table_end(t, to, 0);
}

static void job_text_findings(FILE *to, const job_report *job)
{
    for (size_t i = 0; i < job->finding_count; i++) {
        const job_finding *x = &job->findings[i];
        putc('\n', to);
        job_text_severity(to, x->severity);
        char *text = memory_format("%s: %s", x->rule, x->claim);
        job_text_folded(to, safe(text), 10);
        free(text);
        fprintf(to, "%10sthreshold: %.4g%s%s (%s)\n", "", x->threshold, *x->unit ? " " : "", safe(x->unit),
                safe(x->origin));
        if (!*x->advice) continue;
        fprintf(to, "%10sdo: ", "");
        job_text_folded(to, safe(x->advice), 14);
    }
}

static void job_text_foot(FILE *to, const job_report *job)
{
    bool known = !isnan(job->interval_s);
    char *text = memory_format("%llu of %llu samples%s%s; %s%s", (unsigned long long)job->samples,
                               (unsigned long long)job->expected, known ? " every " : "",
                               known ? words_duration(job->interval_s).text : "", job->clock_text,
                               job->damaged ? "; files are missing or damaged" : "");
    putc('\n', to);
    job_text_folded(to, safe(text), 0);
    free(text);
}

void job_print(FILE *to, const job_report *job, bool all)
{
    job_text_folded(to, job_text_shown(job->title), 0);
    job_text_job(to, job);
    job_text_notes(to, job);
    job_text_efficiency(to, job);
    job_text_use(to, job);
    job_text_phases(to, job, all);
    job_text_regions(to, job, all);
    job_text_regions_over_time(to, job, all);
    job_text_explained(to, job);
    if (all) job_text_nodes(to, job);
    if (all) job_text_findings(to, job);
    job_text_foot(to, job);
}

// ---- a line a job ----

job_lines *job_lines_begin(void)
{
    static const column columns[] = {{"JOB", 0},
                                     {"VERDICT", 0},
                                     {"STATE", COLUMN_LEAN},
                                     {"NODES", COLUMN_RIGHT},
                                     {"TIME", COLUMN_RIGHT},
                                     {"CPU TIME", COLUMN_RIGHT},
                                     {"SHARE", COLUMN_RIGHT},
                                     {"MEMORY", COLUMN_RIGHT},
                                     {"FIRST FINDING", COLUMN_LEAN}};
    return table_begin(columns, sizeof columns / sizeof *columns);
}

// "FAILED", "exit status 3"; what is longer is in the job's own block.
static words_text job_text_short_state(const job_report *job)
{
    words_text w;
    const char *state = job_text_fact_of(job, "job_state"), *status = job_text_fact_of(job, "exit_status"),
               *number = job_text_fact_of(job, "signal");
    if (state)
        snprintf(w.text, sizeof w.text, "%.*s", (int)strcspn(state, " "), state);
    else if (number)
        snprintf(w.text, sizeof w.text, "signal %.20s", number);
    else if (status)
        snprintf(w.text, sizeof w.text, "exit status %.20s", status);
    else
        snprintf(w.text, sizeof w.text, "not known");
    return w;
}

void job_lines_add(job_lines *t, const job_report *job, const char *name)
{
    const job_efficiency *cpu = &job->efficiency[JOB_EFFICIENCY_CPU], *memory = &job->efficiency[JOB_EFFICIENCY_MEMORY];
    bool worth = job->finding_count && job->findings[0].severity >= SEVERITY_UNKNOWN;
    table_cell(t, PLAIN, name);
    table_cell(t,
               job->severity >= SEVERITY_HIGH    ? ALARM
               : job->severity >= SEVERITY_WATCH ? WARNING
                                                 : PLAIN,
               severity_name(job->severity));
    table_cell(t, PLAIN, job_text_short_state(job).text);
    table_cell(t, PLAIN, words_exact(job->node_count).text);
    table_cell(t, PLAIN, words_duration(job->end_s).text);
    table_cell(t, PLAIN,
               isnan(cpu->used)
                   ? NULL
                   : words_at_least(cpu->lower_bound, job_text_amount(JOB_EFFICIENCY_CPU, cpu->used)).text);
    table_cell(t, PLAIN, cpu->of > 0 ? words_at_least(cpu->lower_bound, words_share(cpu->used / cpu->of)).text : NULL);
    table_cell(t, PLAIN,
               isnan(memory->used) ? NULL : words_at_most(memory->upper_bound, words_binary(memory->used)).text);
    table_cell(t, PLAIN, worth ? job->findings[0].rule : NULL);
}

void job_lines_end(job_lines *t, FILE *to)
{
    table_end(t, to, 0);
}

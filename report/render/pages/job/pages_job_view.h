// What the pages of a job share: the columns of time, what is drawn over them, the nodes that are shown, words.
#ifndef NETPROF_JOB_VIEW_H
#define NETPROF_JOB_VIEW_H

#include "render/base/arena.h"
#include "render/plot/axes.h"
#include "render/chart/charts_job.h"
#include "render/chart/charts_plots.h"
#include "render/document/document.h"
#include "analysis/job/job_report.h"
#include "render/base/number.h"
#include "render/pages/pages_time.h"
#include "render/pages/sheet.h"

// Where more nodes exist than fit, the most remarkable ones are shown, the median and the least remarkable one.
enum { JOB_NODES = 40, JOB_TELLING = 10 };

typedef struct job_selection {
    size_t *nodes, count;
    size_t median, plainest; // indexes into nodes; JOB_NONE: all nodes are shown
} job_selection;

typedef struct job_view {
    arena *memory;
    const job_report *job;
    pages_time time;
    double column_s; // of one of its columns
    const axes_span *phases, *gaps, *incidents;
    size_t phase_count, gap_count, incident_count;
} job_view;

job_view job_view_open(const job_report *job);
void job_view_close(job_view *v);

theme_ink job_view_phase_ink(const job_view *v, size_t phase);
job_selection job_view_nodes(const job_view *v, size_t most);
const char *job_view_node_label(const job_view *v, const job_selection *s, size_t i); // "n04", "n07 (median)"

const char *job_view_short_label(const job_view *v, const job_device *d); // "NIC 3" of "NIC 3 (cxi2)"

// Columns of a meter; NULL where no node has it.
job_column *job_view_columns(const job_view *v, job_meter meter, size_t node);
job_column *job_view_columns_of_lane(const job_view *v, const job_lane *lane);
// One figure of all columns, times factor.
typedef enum job_figure { JOB_MEAN = 0, JOB_LOW, JOB_HIGH, JOB_TOTAL } job_figure;
double *job_view_values(const job_view *v, const job_column *columns, job_figure figure, double factor);

// The same for lines: x and y of so many points.
size_t job_view_point_count(const job_view *v);
lines_style job_view_lines(const job_view *v); // over the times of the points, with phases, gaps and incidents
double *job_view_points(const job_view *v, const job_column *columns, job_figure figure, double factor);

const job_use *job_view_use_of(const job_report *job, job_meter meter); // NULL: not known
bool job_view_has(const job_report *job, job_meter meter);
bool job_view_is_zero(const job_report *job, job_meter meter); // known, and never anything else
// One line about those of the meters that were.
void job_view_say_zero(const job_view *v, document *doc, const job_meter *meters, size_t count);

// A value of a meter with its unit; an amount of its total.
number_text job_view_text(job_meter meter, double value);
number_text job_view_percent(double share); // of a column: one decimal, "< 0.1 %"
number_text job_view_amount(job_meter meter, double amount);
number_text job_view_energy_number(double joules); // in Wh, below one in J
axes_format job_view_format(job_meter meter);
const char *job_view_axis_unit(job_meter meter);
theme_ink job_view_ink(job_meter meter, bool pale);
// "of the job's processes", "of its control group", "of the whole node"; "" for meters that are always the node's.
const char *job_view_scope_of(const job_use *u);
// Why nothing is known: "not recorded", "may not be read", "could not be read".
const char *job_view_why_not(const job_report *job, job_meter meter);
const char *job_view_why_node_not(const job_node *node, job_meter meter); // the same of one node, in a word
// "mean of each 10 s": what a column is.
const char *job_view_column_words(const job_view *v);

// ---- the pages ----

void job_overview(job_view *v, document *doc);
// One node: what happened over time takes the first page.
void job_overview_of_one(job_view *v, document *doc, bool brief, bool full);
void job_overview_events(job_view *v, document *doc);
void job_rails(const job_view *v, document *doc); // the NICs of the nodes beside each other
void job_peers(const job_view *v, document *doc); // who sent to whom, bytes explained
// When NCCL's calls ran; NULL: nothing is told of them.
struct nccl_lanes;
void job_collectives(const job_view *v, document *doc, const struct nccl_lanes *collectives);
void job_series_page(job_view *v, document *doc);
void job_series_energy(job_view *v, document *doc); // its energy alone
// One node: what happened over time; false: it has too many NICs for panels of their own. And what comes below it.
bool job_first_over_time(const job_view *v, document *doc);
void job_first_rest(const job_view *v, document *doc);
void job_findings_page(job_view *v, document *doc, bool apart); // apart: on a page of their own
void job_meter_pages(job_view *v, document *doc);
void job_appendix(job_view *v, document *doc);

#endif

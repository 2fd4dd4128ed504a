// What the pages of a job share: the columns of time, what is drawn over them, the nodes that are shown, words.
#ifndef NETPROF_JOB_VIEW_H
#define NETPROF_JOB_VIEW_H

#include "render/base/arena.h"
#include "render/canvas/axes.h"
#include "render/chart/charts_job.h"
#include "render/chart/charts_plots.h"
#include "analysis/job/job_report.h"
#include "render/base/number.h"
#include "render/pages/pages_time.h"
#include "render/pages/sheet.h"

// Of more nodes than fit those are shown that tell most, the one in the middle and the one that tells least.
enum { JOB_NODES = 40, JOB_TELLING = 10 };

typedef struct job_selection {
    size_t *nodes, count;
    size_t median, plainest; // indexes into nodes; JOB_NONE: all are shown
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

theme_ink view_phase_ink(const job_view *v, size_t phase);
job_selection view_nodes(const job_view *v, size_t most);
const char *view_node_label(const job_view *v, const job_selection *s, size_t i); // "n04", "n07 (median)"

const char *view_short_label(const job_view *v, const job_device *d); // "NIC 3" of "NIC 3 (cxi2)"

// Columns of a meter; NULL where no node has it.
job_column *view_columns(const job_view *v, job_meter meter, size_t node);
job_column *view_columns_of_lane(const job_view *v, const job_lane *lane);
// One figure of all columns, times factor.
typedef enum job_figure { JOB_MEAN = 0, JOB_LOW, JOB_HIGH, JOB_TOTAL } job_figure;
double *view_values(const job_view *v, const job_column *columns, job_figure figure, double factor);

// The same for lines: x and y of so many points.
size_t view_point_count(const job_view *v);
lines_style view_lines(const job_view *v); // over the times of the points, with phases, gaps and incidents
double *view_points(const job_view *v, const job_column *columns, job_figure figure, double factor);

const job_use *view_use_of(const job_report *job, job_meter meter); // NULL: not known
bool view_has(const job_report *job, job_meter meter);
bool view_is_zero(const job_report *job, job_meter meter); // known, and never anything else
// One line about those of the meters that were.
void view_say_zero(const job_view *v, document *doc, const job_meter *meters, size_t count);

// A value of a meter with its unit; an amount of its total.
number_text view_text(job_meter meter, double value);
number_text view_percent(double share); // of a column: one decimal, "< 0.1 %"
number_text view_amount(job_meter meter, double amount);
number_text view_energy_number(double joules); // in Wh, below one in J
axes_format view_format(job_meter meter);
const char *view_axis_unit(job_meter meter);
theme_ink view_ink(job_meter meter, bool pale);
// "of the job's processes", "of its control group", "of the whole node", "".
const char *view_scope_words(job_scope scope);
const char *view_scope_of(const job_use *u); // likewise; "" for meters that are always the node's
// Why nothing is known: "not recorded", "may not be read", "could not be read".
const char *view_why_not(const job_report *job, job_meter meter);
// "mean of each 10 s": what a column is.
const char *view_column_words(const job_view *v);

// ---- the pages ----

void job_overview(job_view *v, document *doc);
void job_series_page(job_view *v, document *doc);
void job_findings_page(job_view *v, document *doc);
void job_meter_pages(job_view *v, document *doc);
void job_appendix(job_view *v, document *doc);

#endif

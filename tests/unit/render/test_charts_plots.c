// The charts made of plots: laid out at three widths and written in all formats, from data as they come and from data
// at the edges: none, one value, zeros, gaps, hostile names, 0 and 2^64-1.
// NETPROF_TEST_KEEP=DIRECTORY keeps what is written, to be looked at.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "render/chart/charts_job.h"
#include "render/chart/charts_peers.h"
#include "render/chart/charts_plots.h"
#include "render/canvas/canvas_model.h"
#include "render/plot/plot.h"
#include "render/plot/plot_parts.h"
#include "render/document/document.h"
#include "../sanitized.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if UNDER_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define HOSTILE      "a';system(\"touch x\")#`touch y`<script>alert(1)</script>&\"\033[31m\xff\xe2\x80\xae{/Bold z}_^"

static double noise(size_t i)
{
    return fmod(sin((double)i * 12.9898) * 43758.5453 + 1e6, 1.0);
}

// ---- data ----

enum { POINTS = 360 };
static double minutes[POINTS], sent[POINTS], low[POINTS], high[POINTS], memory[POINTS];

static const axes_span phases[] = {{0, 210, "init", (theme_ink)(INK_CATEGORY + 3)},
                                   {210, 1200, "train", (theme_ink)(INK_CATEGORY + 4)},
                                   {1200, 1250, "checkpoint", INK_PEER},
                                   {1250, 3600, "train", (theme_ink)(INK_CATEGORY + 4)}};
static const axes_span gaps[] = {{3080, 3120, "no samples", INK_NONE}},
                       incidents[] = {{2300, 2650, "n11 paused", INK_NONE}};

static void make_series(void)
{
    for (size_t i = 0; i < POINTS; i++) {
        double t = 10 * ((double)i + 0.5);
        minutes[i] = t;
        sent[i] = t < 210 ? 5e8 : t > 2300 && t < 2650 ? 20e9 + 1e9 * noise(i) : 31e9 + 2e9 * noise(i);
        if (t > 3080 && t < 3120) sent[i] = NAN;
        low[i] = sent[i] * 0.9;
        high[i] = sent[i] * 1.08;
        memory[i] = (150 + 180 * t / 3600) * 1073741824.0;
    }
}

static chart lines_of(const char *name, const char *label)
{
    const lines_curve out[] = {
        {.label = "", .ink = INK_SENT_TEXT, .pale = INK_SENT_PALE, .y = sent, .low = low, .high = high}};
    const lines_curve two[] = {
        {.label = "received", .ink = INK_RECEIVED, .y = sent},
        {.label = "limit of the switch", .ink = INK_PEER, .y = low, .step = true, .dashed = true}};
    const lines_curve bytes[] = {{.label = "", .ink = (theme_ink)(INK_CATEGORY + 6), .y = memory}};
    const lines_panel panels[] = {
        {label, "per node; line rate is 100 GB/s", AXES_SI, "B/s", false, out, 1, NAN, NULL},
        {"Network received", "per node", AXES_SI, "B/s", false, two, 2, NAN, NULL},
        {"Host memory", NULL, AXES_BINARY, "", false, bytes, 1, 512 * 1073741824.0, "limit 512 GiB"},
    };
    lines_style style = {.x = minutes,
                         .count = POINTS,
                         .axis = {.axis = {0, 3600, false, false}, .format = AXES_TIME},
                         .x_head = "seconds",
                         .phases = phases,
                         .phase_count = COUNT(phases),
                         .gaps = gaps,
                         .gap_count = 1,
                         .incidents = incidents,
                         .incident_count = 1};
    return chart_lines(
        (chart_head){name, "What moved together", "one time axis; line = mean, band = lowest to highest node"}, &style,
        panels, COUNT(panels));
}

static chart map_of(const char *name, size_t rows, const char *label)
{
    static double values[64][POINTS];
    static char labels[64][200];
    static char means[64][32];
    map_row *row = calloc(rows ? rows : 1, sizeof *row);
    for (size_t r = 0; r < rows; r++) {
        for (size_t i = 0; i < POINTS; i++)
            values[r % 64][i] = r % 64 == 7 ? 0 : sent[i] * (0.9 + 0.1 * noise(i + r));
        if (r % 64 == 5)
            for (size_t i = 140; i < 155; i++)
                values[5][i] = NAN;
        snprintf(labels[r % 64], sizeof labels[0], "%s%zu", label, r + 1);
        snprintf(means[r % 64], sizeof means[0], "%.1f", 26 + noise(r));
        row[r] = (map_row){labels[r % 64], values[r % 64], means[r % 64], r == 10, SEVERITY_HIGH, false, NULL, false};
    }
    if (rows > 3) row[3].marked = true, row[3].severity = SEVERITY_WATCH;
    map_style style = {.columns = POINTS,
                       .axis = {.axis = {0, 3600, false, false}, .format = AXES_TIME},
                       .from = 0,
                       .to = 3600,
                       .ramp = INK_BLUE,
                       .format = AXES_SI,
                       .unit = "B/s",
                       .label_head = "node",
                       .right_head = "mean GB/s",
                       .phases = phases,
                       .phase_count = COUNT(phases)};
    chart x = chart_map((chart_head){name, "Bytes sent, time \xc3\x97 node", "when did the nodes send less?"}, &style,
                        row, rows);
    free(row);
    return x;
}

static chart events_of(const char *name, const char *label)
{
    double pauses[POINTS] = {0}, corrected[POINTS];
    for (size_t i = 0; i < POINTS; i++) {
        if (minutes[i] > 2300 && minutes[i] < 2650) pauses[i] = 600 + 100 * noise(i);
        corrected[i] = noise(i) > 0.9 ? 3 * noise(i + 1) : 0;
    }
    const events_row rows[] = {
        {"Uncorrected", minutes, pauses, 0, NULL, NULL, false, SEVERITY_OK, false},
        {label, minutes, pauses, POINTS, "n11 NIC 2: 212 k", NULL, false, SEVERITY_HIGH, false},
        {"FEC corrected", minutes, corrected, POINTS, "background, all nodes alike", "412 codewords", true, SEVERITY_OK,
         false},
        {"Link down", NULL, NULL, 0, NULL, NULL, false, SEVERITY_OK, true},
    };
    return chart_events((chart_head){name, "Events", "on the same time axis; height = how much"},
                        (axes_scale){.axis = {0, 3600, false, false}, .format = AXES_TIME}, rows, COUNT(rows), gaps, 1);
}

static chart curve_of(const char *name, const char *label)
{
    double x[12], y[12], lo[12], hi[12], mean[12];
    for (size_t i = 0; i < 12; i++) {
        x[i] = 8192.0 * pow(2, 1.36 * (double)i);
        y[i] = 310e9 / (1 + 12e6 / x[i]);
        lo[i] = y[i] * 0.88;
        hi[i] = y[i] * 1.06;
        mean[i] = y[i] * 0.2;
    }
    const curve_line lines[] = {
        {label, INK_RECEIVED, INK_RECEIVED_PALE, y, lo, hi, false, "307, 77 %"},
        {"mean over ranks, includes waiting", INK_SECONDARY, INK_NONE, mean, NULL, NULL, true, "80"}};
    curve_style style = {.x = x,
                         .count = 12,
                         .x_scale = {.format = AXES_BINARY},
                         .y_scale = {.format = AXES_SI, .unit = "B/s"},
                         .peak = 400e9,
                         .peak_label = "peak 400 GB/s"};
    return chart_curve((chart_head){name, "Bandwidth by size", "AllReduce on dp0"}, &style, lines, 2);
}

static chart scatter_of(const char *name, size_t points, const char *label)
{
    double *x = malloc(2 * points * sizeof *x + 1), *y = x + points;
    for (size_t i = 0; i < points; i++) {
        x[i] = (double)i * 12000 / (double)(points ? points : 1);
        y[i] = 1.7e-3 + 0.4e-3 * (noise(i) + noise(3 * i)) + (noise(7 * i) > 0.98 ? 4e-3 * noise(i + 5) : 0);
    }
    const scatter_set sets[] = {{label, INK_RECEIVED, x, y, points / 2},
                                {"late", INK_BAD, x + points / 2, y + points / 2, points - points / 2}};
    scatter_style style = {.x_scale = {.format = AXES_SI, .unit = ""},
                           .y_scale = {.format = AXES_DURATION},
                           .x_head = "sn",
                           .y_head = "seconds"};
    chart c = chart_scatter((chart_head){name, "Every call", "time over sequence number"}, &style, sets, 2);
    free(x);
    return c;
}

static chart boxplot_of(const char *name, const char *label)
{
    const boxplot_row rows[] = {{"8 KiB", 1e-5, 2e-5, 3e-5, 5e-5, 9e-5, 4800, INK_RECEIVED},
                                {"1 MiB", 1e-4, 2e-4, 2.5e-4, 3e-4, 8e-4, 2400, INK_RECEIVED},
                                {label, NAN, NAN, NAN, NAN, NAN, 0, INK_RECEIVED},
                                {"256 MiB", 1.6e-3, 1.7e-3, 1.74e-3, 1.8e-3, 7.66e-3, 3600, INK_BAD}};
    boxplot_style style = {
        .y_scale = {.axis.log = true, .format = AXES_DURATION}, .low_name = "p5", .high_name = "p95"};
    return chart_boxplot((chart_head){name, "Time by size", "quartiles, whiskers from 5 % to 95 %"}, &style, rows,
                         COUNT(rows));
}

static chart histograms_of(const char *name, size_t sets, const char *label)
{
    static const char *const bins[] = {"27", "35", "64", "128", "256", "512", "1k", "2k", "4k", "8k", "16k", "more"};
    static double in[64][12], out[64][12], up[64][12];
    histogram_set *set = calloc(sets ? sets : 1, sizeof *set);
    for (size_t s = 0; s < sets; s++) {
        double sum = 0, all = 0;
        for (size_t i = 0; i < 12; i++)
            in[s % 64][i] = s == 2 ? 0 : 1e5 * noise(i + s), out[s % 64][i] = s == 2 ? 0 : 1e3 * noise(2 * i + s);
        for (size_t i = 0; i < 12; i++)
            all += in[s % 64][i];
        for (size_t i = 0; i < 12; i++)
            up[s % 64][i] = all > 0 ? (sum += in[s % 64][i]) / all : NAN;
        if (s == 3) in[3][4] = NAN, out[3][4] = NAN;
        set[s] = (histogram_set){label, {in[s % 64], out[s % 64]}, {s == 3 ? NULL : up[s % 64], NULL}};
    }
    const histogram_style style = {{"received", "sent"}, bins, 12, "packets", NULL};
    chart x = chart_histograms((chart_head){name, "Packet sizes", "share of packets"}, &style, set, sets);
    free(set);
    return x;
}

static chart distribution_of(const char *name, const char *label)
{
    double edges[14], all[13] = {0, 3, 20, 130, 290, 300, 165, 60, 20, 4, 0, 0, 0},
                      one[13] = {0, 0, 4, 80, 205, 260, 225, 157, 50, 10, 2, 0, 0};
    for (size_t i = 0; i < 14; i++)
        edges[i] = 1e-3 * pow(2, (double)i / 2);
    const distribution_set bars = {label, INK_PEER, all}, outline = {"rank 17, mean 8.4 ms", INK_WATCH, one};
    const distribution_style style = {.edges = edges,
                                      .bins = 13,
                                      .x_scale = {.axis = {1e-3, 64e-3, true, false}, .format = AXES_DURATION},
                                      .what = "calls"};
    return chart_distribution((chart_head){name, "wait: time per call", "share of calls"}, &style, &bars, &outline);
}

static chart use_of(const char *name, const char *label)
{
    const use_row rows[] = {{label, .79, .78, .8, INK_PEER, "79", "%", false, false},
                            {"Host memory", .34, .33, .66, INK_PEER, "172", "GiB of 512 GiB", false, false},
                            {"Network sent", .268, NAN, NAN, INK_SENT, "26.8", label, false, false},
                            {"Too much", 1.4, .9, 2, INK_PEER, "140", "%", false, false},
                            {"Power", NAN, NAN, NAN, INK_PEER, "2.4", "kW, no limit known", true, false},
                            {"Energy", NAN, NAN, NAN, INK_PEER, NULL, "may not be read (rights)", false, true}};
    return chart_use((chart_head){name, "Use of the nodes", "mean; mark = lowest and highest node"}, rows, COUNT(rows));
}

static chart facts_of(const char *name, const char *label)
{
    const fact_row rows[] = {{"User", "anna", false}, {label, label, true}, {"Samples", "56 820 of 57 600", true}};
    return chart_facts((chart_head){name, "Job", ""}, rows, COUNT(rows));
}

static chart shares_of(const char *name, const char *label)
{
    const share_segment parts[] = {{"GPU", "27.6 kWh", 27.6, INK_PART},
                                   {label, "5.4 kWh", 5.4, INK_PART + 1},
                                   {"none", "0", 0, INK_PART + 2},
                                   {"unknown", "", NAN, INK_PART + 3},
                                   {"rest", "0.1 kWh", .1, INK_NONE}};
    const share_segment nothing[] = {{"all", "0", 0, INK_PART}};
    const share_row rows[] = {
        {"by part", "37.8 kWh", parts, COUNT(parts)}, {label, label, parts, 2}, {"nothing", "", nothing, 1}};
    return chart_shares((chart_head){name, "Energy to solution", "where did it go?"}, rows, COUNT(rows));
}

// Four ranks on two nodes, the second of which sends late.
static chart matrix_of(const char *name, const char *label, bool medians)
{
    static const size_t groups[] = {0, 0, 1, 1};
    static const double late[] = {1e-6, 40e-6, NAN, 0};
    const char *const labels[] = {"rank 0", label, "rank 2", "rank 3"}, *const nodes[] = {label, "n2"};
    const matrix_cell cells[] = {
        {0, 1, 1e-6, false}, {1, 2, 40e-6, false}, {1, 3, 41e-6, false}, {2, 3, NAN, false}, {3, 0, 0, false}};
    const matrix_style style = {.labels = labels,
                                .groups = groups,
                                .nodes = nodes,
                                .count = 4,
                                .group_count = 2,
                                .format = AXES_DURATION,
                                .unit = "s",
                                .ramp = INK_ORANGE,
                                .mark_row = 1,
                                .mark_column = 4,
                                .medians = medians ? late : NULL,
                                .note = ""};
    return chart_matrix((chart_head){name, "Delay", ""}, &style, cells, COUNT(cells));
}

static chart latest_of(const char *name, const char *label, bool both)
{
    const latest_row rows[] = {
        {label, label, 40e-6, 1e-6, true}, {"rank 2", "n2", NAN, 2e-6, false}, {"rank 3", "n2", 0, NAN, false}};
    const latest_style style = {
        .who = "sender", .outside = both, .inside = true, .row = label, .others = 61, .others_most = 1e-6, .note = ""};
    return chart_latest((chart_head){name, "Latest senders", ""}, &style, rows, COUNT(rows));
}

// With everything that can stand over and beside the panels.
static chart full_lines_of(const char *name, const char *label)
{
    const lines_curve out = {
        .label = "", .ink = INK_SENT_TEXT, .pale = INK_SENT_PALE, .y = sent, .low = low, .high = high};
    const lines_panel panels[] = {{label, label, AXES_SI, "B/s", false, &out, 1, NAN, NULL},
                                  {"Second", "", AXES_SI, "B/s", false, &out, 1, NAN, NULL}};
    const axes_span boxes[] = {{0, 200, label, INK_NONE}, {300, 3500, "main, step \xc3\x97 1725", INK_NONE}};
    const double tops[] = {100e9, NAN};
    const lines_mark marks[] = {
        {0, 3590, 32e9, label, INK_BAD}, {1, 10, 90e9, "n04", INK_BAD}, {1, 1e9, 0, "nowhere", INK_BAD}};
    lines_style style = {.x = minutes,
                         .count = POINTS,
                         .axis = {.axis = {0, 3600, false, false}, .format = AXES_TIME},
                         .x_head = "seconds",
                         .phases = phases,
                         .phase_count = COUNT(phases),
                         .gaps = gaps,
                         .gap_count = 1,
                         .incidents = incidents,
                         .incident_count = 1,
                         .phases_label = label,
                         .boxes = boxes,
                         .box_count = COUNT(boxes),
                         .boxes_label = "Regions",
                         .boxes_below = label,
                         .tops = tops,
                         .marks = marks,
                         .mark_count = COUNT(marks),
                         .wash = true,
                         .squeeze = true};
    return chart_lines((chart_head){name, "All at once", ""}, &style, panels, COUNT(panels));
}

static chart compact_events_of(const char *name, const char *label)
{
    double all[POINTS], some[POINTS], none[POINTS] = {0};
    for (size_t i = 0; i < POINTS; i++)
        all[i] = 1 + noise(i), some[i] = i > 100 && i < 140;
    const events_row rows[] = {{label, minutes, all, POINTS, label, NULL, false, SEVERITY_WATCH, false},
                               {"Slowed", minutes, some, POINTS, "n03", NULL, false, SEVERITY_HIGH, false},
                               {"Link down", minutes, none, POINTS, NULL, NULL, false, SEVERITY_OK, false}};
    const events_style style = {.axis = {.axis = {0, 3600, false, false}, .format = AXES_TIME},
                                .gaps = gaps,
                                .gap_count = 1,
                                .incidents = incidents,
                                .incident_count = 1,
                                .width = 10,
                                .label_width = 96,
                                .right_width = 56,
                                .compact = true};
    return chart_events_over((chart_head){name, "Events", ""}, &style, rows, COUNT(rows));
}

// ---- documents ----

static document *gallery(const char *label)
{
    document *d = document_open("Gallery of charts");
    document_title(d, "n11\xe2\x80\x99s NIC 2 slowed all 16 nodes for 5 min 50 s");
    document_subline(d, "job 51877 \xc2\xb7 16 nodes \xc3\x97 4 GPUs \xc2\xb7 made up");
    document_verdict(d, SEVERITY_HIGH,
                     "38:20\xe2\x80\x93"
                     "44:10: n11 NIC 2 transmit paused 44 % of the time, 212 k retries; other 63 NICs at most 0.4 %.");
    document_verdict(d, SEVERITY_WATCH, "n04: memory grows 2.9 GiB/min, 336 of 512 GiB at the end: full in 61 min.");
    document_verdict(d, SEVERITY_OK, "No link down, no uncorrected codeword.");
    document_verdict(d, SEVERITY_INFO, label);
    document_foot(d, "made up \xc2\xb7 netprof");
    document_metadata(d, "charts", "netprof,charts", 1763700000000000000);
    document_add(d, map_of("map", 16, label));
    document_add(d, events_of("events", label));
    document_part(d, "The same over time");
    document_subline(d, "One time axis for all.");
    document_add(d, lines_of("lines", label));
    document_beside(d, curve_of("curve", label), distribution_of("distribution", label), 0.55);
    document_beside(d, boxplot_of("boxplot", label), scatter_of("scatter", 400, label), 0.5);
    document_add(d, scatter_of("density", 20000, label));
    document_add(d, histograms_of("histograms", 8, label));
    document_part(d, "Of jobs");
    document_beside(d, use_of("use", label), facts_of("facts", label), 0.6);
    document_add(d, full_lines_of("full-lines", label));
    document_add(d, compact_events_of("compact-events", label));
    document_add(d, shares_of("shares", label));
    document_note(d, label);
    return d;
}

static size_t faults;

static void on_page(void *user, size_t page, canvas_fault fault, const char *text, const char *other)
{
    (void)user;
    fprintf(stderr, "page %zu: %s: \"%s\" \"%s\"\n", page,
            fault == FAULT_OUTSIDE ? "outside"
            : fault == FAULT_SMALL ? "small"
                                   : "overlap",
            text, other ? other : "");
    faults++;
}

static void in_chart(void *user, canvas_fault fault, const char *text, const char *other)
{
    on_page(user, 0, fault, text, other);
}

// At widths as narrow as a telephone and as wide as a window, nothing leaves the box or lies over another.
static void expect_fits(chart x)
{
    static const double widths[] = {200, 340, 515, 640};
    for (size_t i = 0; i < COUNT(widths); i++) {
        canvas *c = canvas_open(widths[i], 4000);
        double height = x.height(&x, c, widths[i], 0, x.rows);
        assert_true(height > 10 && height < 4000);
        x.draw(&x, c, (canvas_box){0, 0, widths[i], height}, 0, x.rows);
        faults = 0;
        canvas_check(c, (canvas_box){-0.5, -0.5, widths[i] + 1, height + 1}, in_chart, NULL);
        if (faults) fail_msg("%s at %g pt: %zu faults", x.name, widths[i], faults);
        canvas_close(c);
    }
    if (x.twin.columns) assert_int_equal(x.twin.count % x.twin.columns, 0);
    chart_free(&x);
}

static void charts_fit_their_boxes(void **state)
{
    static const char *const labels[] = {"Network sent", HOSTILE, "", "n",
                                         "a name of more than sixty characters that nobody can read in one go at all"};
    (void)state;
    for (size_t i = 0; i < COUNT(labels); i++) {
        expect_fits(lines_of("lines", labels[i]));
        expect_fits(map_of("map", 16, labels[i]));
        expect_fits(events_of("events", labels[i]));
        expect_fits(curve_of("curve", labels[i]));
        expect_fits(scatter_of("scatter", 300, labels[i]));
        expect_fits(boxplot_of("boxplot", labels[i]));
        expect_fits(histograms_of("histograms", 8, labels[i]));
        expect_fits(distribution_of("distribution", labels[i]));
        expect_fits(use_of("use", labels[i]));
        expect_fits(facts_of("facts", labels[i]));
        expect_fits(shares_of("shares", labels[i]));
        expect_fits(full_lines_of("full-lines", labels[i]));
        expect_fits(compact_events_of("compact-events", labels[i]));
        expect_fits(matrix_of("matrix", labels[i], true));
        expect_fits(matrix_of("matrix", labels[i], false));
        expect_fits(latest_of("latest", labels[i], true));
        expect_fits(latest_of("latest", labels[i], false));
    }
    expect_fits(map_of("map", 1, "node "));
    expect_fits(map_of("map", 0, ""));
    expect_fits(map_of("map", 64, "node "));
    expect_fits(histograms_of("one", 1, "NIC 1"));
    expect_fits(histograms_of("none", 0, ""));
    expect_fits(scatter_of("none", 0, ""));
    expect_fits(scatter_of("density", 20000, "all"));
}

// Nothing, one value, all zero, all unknown, the largest numbers.
// What an incident is called stands on paper, over the curves, never under one of them.
static void labels_lie_over_curves(void **state)
{
    (void)state;
    chart x = lines_of("lines", "Network sent");
    canvas *c = canvas_open(500, 120);
    size_t curves = 0, label = 0;
    x.draw(&x, c, (canvas_box){0, 0, 500, canvas_height(c)}, 0, 1);
    for (size_t i = 0; i < c->count; i++) {
        if (c->ops[i].kind == CANVAS_PLOT) curves = i;
        if (c->ops[i].kind == CANVAS_TEXT && strcmp(c->ops[i].text, "n11 paused") == 0) label = i;
    }
    assert_true(curves > 0 && label > curves);
    const canvas_op *paper = &c->ops[label - 1], *text = &c->ops[label];
    assert_int_equal(paper->kind, CANVAS_RECT);
    assert_int_equal(paper->fill, INK_PAPER);
    assert_true(paper->box.x <= text->ink_box.x && paper->box.y <= text->ink_box.y);
    assert_true(paper->box.x + paper->box.width >= text->ink_box.x + text->ink_box.width);
    assert_true(paper->box.y + paper->box.height >= text->ink_box.y + text->ink_box.height);
    canvas_close(c);
    chart_free(&x);
}

// The rows' medians are as long as they are late, that of the marked row with its number; who is unknown has none.
static void late_rows_have_long_bars(void **state)
{
    (void)state;
    chart x = matrix_of("matrix", "rank 1", true);
    double height, marked = 0, usual = 0;
    canvas *c = canvas_open(300, 400);
    bool said = false;
    height = x.height(&x, c, 300, 0, x.rows);
    x.draw(&x, c, (canvas_box){0, 0, 300, height}, 0, x.rows);
    size_t bars = 0;
    for (size_t i = 0; i < c->count; i++) {
        const canvas_op *op = &c->ops[i];
        if (op->kind == CANVAS_TEXT) said |= strcmp(op->text, number_duration(40e-6).text) == 0;
        if (op->kind != CANVAS_RECT) continue;
        if (op->fill == INK_BAD) marked = op->box.width;
        if (op->fill == INK_PEER) usual = op->box.width;
        bars += op->fill == INK_BAD || op->fill == INK_PEER;
    }
    assert_int_equal(bars, 2);
    assert_true(said);
    assert_true(marked > 20 && usual > 0 && usual < marked / 20);
    canvas_close(c);
    chart_free(&x);
}

// What nobody explains is hatched, with its words on paper: no colour of a part.
static void what_is_not_explained_is_hatched(void **state)
{
    (void)state;
    const share_segment said[] = {{"MPI", "3 GB", 3e9, INK_BLUE + 20}, {"the rest", "7 GB", 7e9, INK_NONE}};
    const share_row row = {"1 node", "30 %", said, COUNT(said)};
    chart x = chart_shares((chart_head){"shares", "Bytes explained", ""}, &row, 1);
    canvas *c = canvas_open(500, 60);
    double height = x.height(&x, c, 500, 0, x.rows), wide = 0;
    size_t lines = 0;
    x.draw(&x, c, (canvas_box){0, 0, 500, height}, 0, x.rows);
    for (size_t i = 0; i < c->count; i++) {
        if (c->ops[i].kind == CANVAS_RECT && c->ops[i].fill == INK_EMPTY) wide = c->ops[i].box.width;
        lines += c->ops[i].kind == CANVAS_LINES && c->ops[i].count > 40;
    }
    assert_true(wide > 200); // of 500, less its labels
    assert_int_equal(lines, 1);
    canvas_close(c);
    chart_free(&x);
}

static void edges_of_data(void **state)
{
    static const double values[][4] = {{0, 0, 0, 0},
                                       {NAN, NAN, NAN, NAN},
                                       {18446744073709551615.0, 0, 18446744073709551615.0, 1},
                                       {1e-300, 1e300, -1e300, INFINITY},
                                       {-5, -3, NAN, -4}};
    const double x[4] = {0, 1, 2, 3}, edges[5] = {0, 1, 2, 3, 4};
    (void)state;
    for (size_t i = 0; i < COUNT(values); i++)
        for (size_t count = 0; count <= 4; count += count ? 3 : 1) {
            const double *v = values[i];
            const lines_curve k = {.label = "", .ink = INK_SENT, .pale = INK_SENT_PALE, .y = v, .low = v, .high = v};
            for (int log = 0; log < 2; log++) {
                const lines_panel p = {"all", "", AXES_SI, "B/s", log == 1, &k, 1, NAN, NULL};
                lines_style s = {
                    .x = x, .count = count, .axis = {.axis = {0, 3, false, false}, .format = AXES_TIME}, .x_head = "s"};
                expect_fits(chart_lines((chart_head){"a", "a", "a"}, &s, &p, 1));
            }
            map_style m = {.columns = count,
                           .axis = {.axis = {0, 3, false, false}, .format = AXES_TIME},
                           .from = 0,
                           .to = 3,
                           .ramp = INK_BLUE,
                           .unit = "B/s",
                           .label_head = "x",
                           .right_head = ""};
            const map_row r = {"row", v, NULL, false, SEVERITY_OK, false, NULL, false};
            expect_fits(chart_map((chart_head){"a", "a", "a"}, &m, &r, 1));
            const events_row e = {"row", x, v, count, NULL, NULL, false, SEVERITY_OK, false};
            expect_fits(chart_events((chart_head){"a", "a", "a"}, m.axis, &e, 1, NULL, 0));
            const curve_line l = {"row", INK_SENT, INK_SENT_PALE, v, v, v, false, "end"};
            const curve_style c = {
                .x = x, .count = count, .x_scale = {.format = AXES_BINARY}, .y_scale = {.unit = "B/s"}, .peak = NAN};
            expect_fits(chart_curve((chart_head){"a", "a", "a"}, &c, &l, 1));
            const scatter_set d = {"set", INK_SENT, x, v, count};
            const scatter_style t = {.x_scale = {.unit = ""}, .y_scale = {.unit = "B"}, .x_head = "x", .y_head = "y"};
            expect_fits(chart_scatter((chart_head){"a", "a", "a"}, &t, &d, 1));
            const boxplot_row b = {"row", v[0], v[1], v[2], v[3], v[3], 4, INK_SENT};
            const boxplot_style bs = {.y_scale = {.unit = "B"}, .low_name = "low", .high_name = "high"};
            expect_fits(chart_boxplot((chart_head){"a", "a", "a"}, &bs, &b, count ? 1 : 0));
            const distribution_set o = {"set", INK_SENT, v};
            const distribution_style ds = {.edges = edges, .bins = count, .x_scale = {.unit = "B"}, .what = "calls"};
            expect_fits(chart_distribution((chart_head){"a", "a", "a"}, &ds, &o, &o));
        }
}

// What a curve thinned out to LINES_COLUMNS still shows: the mean, in a band of the extremes.
static void many_points_become_bands(void **state)
{
    enum { N = 40000 };
    double *x = malloc(2 * N * sizeof *x), *y = x + N;
    (void)state;
    for (size_t i = 0; i < N; i++)
        x[i] = (double)i, y[i] = i % 2 ? 3 : 1; // mean 2
    y[N / 2] = 100;
    const lines_curve k = {.label = "", .ink = INK_SENT, .pale = INK_SENT_PALE, .y = y};
    const lines_panel p = {"all", "", AXES_SI, "B/s", false, &k, 1, NAN, NULL};
    lines_style s = {.x = x, .count = N, .axis = {.axis = {0, N, false, false}, .format = AXES_TIME}, .x_head = "s"};
    chart c = chart_lines((chart_head){"a", "a", "a"}, &s, &p, 1);
    assert_int_equal(c.twin.columns, 2);
    assert_int_equal(c.twin.count, 2 * (LINES_COLUMNS + 1));
    assert_string_equal(c.twin.cells[2], "49.5"); // of points 0 to 99
    assert_string_equal(c.twin.cells[3], "2");
    assert_string_equal(c.twin.cells[2 * (1 + LINES_COLUMNS / 2) + 1],
                        "2.99"); // (99 x 1 or 3 and 100) / 100: 200 - 1 + 100 = 299
    expect_fits(c);
    free(x);
}

// On a page a table has no more than 200 rows, each the mean of what is known of its points, and 5,000 cells.
static void long_tables_are_brief(void **state)
{
    enum { N = 400, MANY = 79 };
    double x[N], y[N];
    (void)state;
    for (size_t i = 0; i < N; i++)
        x[i] = (double)i, y[i] = (double)(i % 4);
    y[2] = y[3] = y[4] = NAN; // the second row knows nothing, the third one of two
    lines_curve k[MANY];
    for (size_t i = 0; i < MANY; i++)
        k[i] = (lines_curve){.label = "c", .ink = INK_SENT, .y = y};
    lines_panel p = {"all", "", AXES_SI, "B/s", false, k, 1, NAN, NULL};
    lines_style s = {.x = x, .count = N, .axis = {.axis = {0, N, false, false}, .format = AXES_TIME}, .x_head = "s"};
    chart c = chart_lines((chart_head){"a", "a", "a"}, &s, &p, 1);
    chart_twin t = {0};
    c.brief(&c, &t);
    assert_int_equal(c.twin.count, 2 * (N + 1));
    assert_int_equal(t.count, 2 * (200 + 1));
    assert_string_equal(t.cells[0], "s (each row the mean of 2 points)");
    assert_string_equal(t.cells[2], "0.5");
    assert_string_equal(t.cells[3], "0.5");
    assert_string_equal(t.cells[5], "not measured");
    assert_string_equal(t.cells[7], "1");
    assert_string_equal(t.cells[9], "2.5");
    chart_twin_clear(&t);
    chart_free(&c);
    p.curve_count = MANY; // 80 columns: at most 62 rows, of 7 points each
    c = chart_lines((chart_head){"a", "a", "a"}, &s, &p, 1);
    c.brief(&c, &t);
    assert_int_equal(t.columns, MANY + 1);
    assert_int_equal(t.count, (MANY + 1) * (58 + 1));
    assert_true(t.right >> 63 & 1); // so are those behind the 64th
    chart_twin_clear(&t);
    chart_free(&c);
}

// Layers of a stack are drawn from the last on, each down to the bottom: what is between two is drawn once.
static void stacks_share_their_edges(void **state)
{
    enum { N = 8 };
    double x[N], zero[N] = {0}, one[N], two[N];
    (void)state;
    for (size_t i = 0; i < N; i++)
        x[i] = (double)i, one[i] = 1 + (double)(i % 2), two[i] = 3;
    const lines_curve k[2] = {
        {.label = "a", .ink = INK_SENT, .pale = INK_SENT, .y = one, .low = zero, .high = one, .area = true},
        {.label = "b", .ink = INK_BAD, .pale = INK_BAD, .y = one, .low = one, .high = two, .area = true}};
    const lines_panel p = {"all", "", AXES_SI, "B/s", false, k, 2, NAN, NULL};
    lines_style s = {.x = x, .count = N, .axis = {.axis = {0, N, false, false}, .format = AXES_TIME}, .x_head = "s"};
    chart c = chart_lines((chart_head){"a", "a", "a"}, &s, &p, 1);
    canvas *drawn = canvas_open(400, 200);
    c.draw(&c, drawn, (canvas_box){0, 0, 400, 200}, 0, 1);
    size_t plots = 0;
    for (size_t i = 0; i < drawn->count; i++) {
        if (drawn->ops[i].kind != CANVAS_PLOT) continue;
        const plot *made = &drawn->ops[i].plot->plot;
        assert_int_equal(made->series_count, 2);
        assert_int_equal(made->series[0].ink, INK_BAD);
        assert_int_equal(made->series[1].ink, INK_SENT);
        for (size_t m = 0; m < N; m++) {
            assert_true(made->series[0].y[m] <= 0 && made->series[0].y[m] >= 0);
            assert_true(made->series[0].y2[m] >= 3);
            assert_true(made->series[1].y2[m] >= one[m] && made->series[1].y2[m] <= one[m]);
        }
        plots++;
    }
    assert_int_equal(plots, 1);
    canvas_close(drawn);
    chart_free(&c);
}

// What each segment's share is, of what is known.
static void shares_in_numbers(void **state)
{
    (void)state;
    chart c = shares_of("shares", "CPU");
    assert_int_equal(c.twin.columns, 4);
    assert_string_equal(c.twin.cells[4 + 1], "GPU");
    assert_string_equal(c.twin.cells[4 + 3], "83.4\xe2\x80\xaf%"); // 27.6 of 27.6 + 5.4 + 0.1
    assert_string_equal(c.twin.cells[4 * 4 + 2], "not measured");
    expect_fits(c);
}

static char directory[512];

static const char *file(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static char *contents(const char *path)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f);
    rewind(f);
    char *text = calloc(1, size + 1);
    assert_int_equal(fread(text, 1, size, f), size);
    fclose(f);
    return text;
}

static void not_warned(void *user, const char *text)
{
    (void)user;
    fail_msg("warned: %s", text);
}

static void write_all(const char *label, const char *stem)
{
    static const struct {
        document_format format;
        const char *ending;
    } formats[] = {{DOCUMENT_PDF, "pdf"}, {DOCUMENT_HTML, "html"}};
    for (size_t i = 0; i < COUNT(formats); i++) {
        document *d = gallery(label);
        document_options o = {.format = formats[i].format};
        char name[64];
        netprof_error error = {0};
        snprintf(name, sizeof name, "%s.%s", stem, formats[i].ending);
        faults = 0;
        document_check(d, PAPER_A4, on_page, NULL);
        document_check(d, PAPER_LETTER, on_page, NULL);
        assert_int_equal(faults, 0);
        if (document_write(d, file(name), &o, not_warned, &error)) fail_msg("%s", error.text);
        document_close(d);
    }
}

// Whole documents; nothing of what a name says is carried out or becomes markup.
static void documents_with_hostile_names(void **state)
{
    (void)state;
    if (system("command -v gnuplot >/dev/null 2>&1") != 0) skip();
    write_all("Network sent", "plain");
    write_all(HOSTILE, "hostile");
    char *html = contents(file("hostile.html"));
    assert_null(strstr(html, "<script"));
    assert_null(strchr(html, '\033'));
    assert_null(strstr(html, "\xe2\x80\xae"));
    assert_non_null(strstr(html, "&lt;script&gt;"));
    assert_non_null(strstr(html, "\\x1b[31m"));
    assert_non_null(strstr(html, "<path fill=\"var(--i"));
    free(html);
    assert_int_not_equal(access(file("x"), F_OK), 0);
    assert_int_not_equal(access("x", F_OK), 0);
    assert_int_not_equal(access("y", F_OK), 0);
    char command[1500];
    const char *kept = getenv("NETPROF_TEST_KEEP");
    if (system("command -v xmllint >/dev/null 2>&1") == 0) {
        snprintf(command, sizeof command, "xmllint --noout '%s/plain.html' '%s/hostile.html'", directory, directory);
        assert_int_equal(system(command), 0);
    }
    if (kept) {
        snprintf(command, sizeof command, "cp '%s'/*.* '%s'", directory, kept);
        assert_int_equal(system(command), 0);
    }
}

static void without_gnuplot(void **state)
{
    (void)state;
    document *d = gallery("Network sent");
    document_options o = {.format = DOCUMENT_HTML, .no_gnuplot = true};
    assert_int_equal(document_write(d, file("none.html"), &o, not_warned, NULL), NETPROF_OK);
    document_close(d);
    char *html = contents(file("none.html"));
    assert_non_null(strstr(html, "gnuplot is missing"));
    assert_null(strstr(html, "<path fill=\"var(--i"));
    assert_non_null(strstr(html, "<summary>Table: Bandwidth by size"));
    free(html);
}

// ---- figures ----

static char *figure_as(document *d, const char *chart_name, document_format format, document_figure f)
{
    char data[600];
    snprintf(data, sizeof data, "%s", file("figure.csv"));
    const document_options o = {.format = format, .chart = chart_name, .figure = &f, .data = data};
    assert_int_equal(document_write(d, file("figure.out"), &o, not_warned, NULL), NETPROF_OK);
    return contents(file("figure.out"));
}

static document *document_of(chart x)
{
    document *d = document_open("Figures");
    document_add(d, x);
    return d;
}

static size_t times_in(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

static void figures_are_as_wide_as_asked_for(void **state)
{
    (void)state;
    document *d = document_of(lines_of("lines", "Network sent"));
    const document_figure f = {.width = 3.3 * 72, .height = 400, .font_size = 8, .no_titles = true};
    char *svg = figure_as(d, "lines", DOCUMENT_SVG, f);
    assert_non_null(strstr(svg, "width=\"237.6pt\" height=\"400pt\""));
    // 237.6 pt are 207.9 units of 8/7 pt, and all type is 7 of them.
    assert_non_null(strstr(svg, "viewBox=\"0 0 207.9 350\""));
    assert_int_equal(times_in(svg, "{font:"), times_in(svg, " 7px "));
    assert_null(strstr(svg, "textLength"));
    assert_non_null(strstr(svg, ">Time since start (min)</text>"));
    assert_non_null(strstr(svg, "(GB/s)</text>"));
    assert_null(strstr(svg, " GB/s</text>")); // the tics are numbers, the title has the unit
    free(svg);
    document_close(d);
}

// The devices of a finding: which of those that were not found lie past its threshold, on either side of it.
static void devices_past_a_line_that_were_not_found_are_said(void **state)
{
    (void)state;
    static const struct {
        double values[4], limit;
        bool found[4];
        const char *said;
    } of[] = {{{0.122, 1, 0.01, 0}, 0.05, {true}, ">1 at zero, 1 past the line, exempt<"},
              {{0.2, 0.4, NAN, 1}, 0.3, {true}, ">1 not known<"}, // too little is what was found
              {{0.2, 0.1, 0.25, 1}, 0.3, {true}, ">2 past the line, exempt<"}};
    for (size_t i = 0; i < COUNT(of); i++) {
        const findings_row row = {.severity = SEVERITY_WATCH,
                                  .rule = "rule",
                                  .devices = "n1",
                                  .claim = "claim",
                                  .threshold = "a",
                                  .advice = "b",
                                  .explained_by = "",
                                  .values = of[i].values,
                                  .found = of[i].found,
                                  .value_count = 4,
                                  .limit = of[i].limit,
                                  .unit = ""};
        document *d = document_of(chart_findings((chart_head){"findings", "Findings", ""}, &row, 1));
        char *svg =
            figure_as(d, "findings", DOCUMENT_SVG, (document_figure){.width = 500, .height = 200, .font_size = 8});
        if (!strstr(svg, of[i].said)) fail_msg("case %zu: not '%s' in %s", i, of[i].said, svg);
        free(svg);
        document_close(d);
    }
}

static void figures_keep_what_is_asked_for(void **state)
{
    (void)state;
    document *d = document_of(lines_of("lines", "Network sent"));
    chart_pick none = {.metric = "n?thing"}, one = {.metric = "SENT"}, who = {.who = "nobody"};
    assert_false(document_pick(d, "lines", &none));
    assert_non_null(strstr(none.there, "Network sent"));
    assert_false(document_pick(d, "lines", &who));
    assert_true(document_pick(d, "lines", &one));
    char *svg = figure_as(d, "lines", DOCUMENT_SVG, (document_figure){.width = 240, .font_size = 8, .no_titles = true});
    assert_null(strstr(svg, "(GiB)"));
    free(svg);
    char *csv = contents(file("figure.csv"));
    // The heading, and a row for each sample: the third of them is at 25 s, with its band.
    char expected[200], *rows = csv;
    snprintf(expected, sizeof expected, "25,%.6g,%.6g,%.6g\n", sent[2], low[2], high[2]);
    assert_non_null(strstr(csv, expected));
    assert_non_null(strstr(csv, "\n3085,,,\n")); // in the gap
    assert_int_equal(times_in(rows, "\n"), POINTS + 1);
    free(csv);
    free(none.there), free(one.there), free(who.there);
    document_close(d);
}

static void figures_in_grey_have_no_colour(void **state)
{
    (void)state;
    document *d = document_of(lines_of("lines", "Network sent"));
    char *svg = figure_as(d, "lines", DOCUMENT_SVG, (document_figure){.width = 240, .font_size = 8, .grey = true});
    size_t colours = 0;
    for (const char *at = svg; (at = strstr(at, ":#")); at += 8, colours++) {
        assert_memory_equal(at + 2, at + 4, 2);
        assert_memory_equal(at + 2, at + 6, 2);
    }
    assert_true(colours > 3);
    free(svg);
    document_close(d);
}

static void tikz_is_text_for_tex(void **state)
{
    (void)state;
    document *d = document_of(lines_of("lines", "5%{a}_b\\input{x}$#~^& \"c\" ---d"));
    char *tex = figure_as(d, "lines", DOCUMENT_TIKZ, (document_figure){.width = 400, .font_size = 8});
    assert_non_null(
        strstr(tex, "5\\%\\{a\\}\\_b\\textbackslash{}input\\{x\\}\\$\\#\\textasciitilde{}\\textasciicircum{}\\&"));
    assert_null(strstr(tex, "\\input"));
    assert_non_null(strstr(tex, "\\char34{}c\\char34{} -{}-{}-d"));
    assert_non_null(strstr(tex, "\\begin{tikzpicture}"));
    assert_non_null(strstr(tex, "\\end{tikzpicture}\n"));
    free(tex);
    document_close(d);
}

// It is an anchor of HTML and a name on the command line.
static void a_chart_has_a_plain_name(void **state)
{
    (void)state;
    document *d = document_of(lines_of("changes-a\"><i>\n\xc3\xa9-1", "Network sent"));
    assert_true(document_has(d, "changes-a___i____-1"));
    document_close(d);
}

static void leaks_are_not_ours(bool begin)
{
#if UNDER_ADDRESS_SANITIZER
    begin ? __lsan_disable() : __lsan_enable();
#else
    (void)begin;
#endif
}

static void eps_is_the_same_twice(void **state)
{
    (void)state;
    document *d = document_of(lines_of("lines", "Network sent"));
    const document_figure f = {.width = 240, .height = 420, .font_size = 8};
    leaks_are_not_ours(true); // cairo 1.16 loses 5 kB for each font that it puts into PostScript
    char *eps = figure_as(d, "lines", DOCUMENT_EPS, f), *again = figure_as(d, "lines", DOCUMENT_EPS, f);
    leaks_are_not_ours(false);
    assert_non_null(strstr(eps, "%!PS-Adobe-3.0 EPSF-3.0"));
    assert_non_null(strstr(eps, "%%BoundingBox: 0 0 240 420"));
    assert_null(strstr(eps, "CreationDate"));
    assert_string_equal(eps, again);
    free(eps), free(again);
    document_close(d);
}

static void figure_faults_are_said(void *user, const char *text)
{
    ++*(size_t *)user;
    assert_non_null(strstr(text, "it needs a width of"));
}

static void figures_without_room_say_so(void **state)
{
    (void)state;
    size_t said = 0;
    const bars_row row = {.label = "cxi0", .value = {9.9e9, 8.1e9}, .pale = {NAN, NAN}, .share = {.4, .3}};
    const bars_style style = {.way = {"received", "sent"}, .unit = "bytes", .share_head = "% of line rate"};
    document *d = document_of(chart_bars((chart_head){"bars", "Traffic", ""}, &style, &row, 1));
    const document_figure f = {.width = 100, .font_size = 8}, wide = {.width = 600, .font_size = 8};
    document_options o = {.format = DOCUMENT_SVG, .chart = "bars", .figure = &f, .user = &said};
    assert_int_equal(document_write(d, file("figure.out"), &o, figure_faults_are_said, NULL), NETPROF_OK);
    assert_int_equal(said, 1);
    o.figure = &wide;
    assert_int_equal(document_write(d, file("figure.out"), &o, figure_faults_are_said, NULL), NETPROF_OK);
    assert_int_equal(said, 1);
    document_close(d);
}

typedef struct seen_titles {
    char titles[8][100], shows[8][200];
    size_t count;
} seen_titles;

static void see_title(void *user, const char *name, const char *title, const char *shows)
{
    seen_titles *s = user;
    (void)name;
    snprintf(s->titles[s->count], sizeof s->titles[0], "%s", title);
    snprintf(s->shows[s->count++], sizeof s->shows[0], "%s", shows);
}

static void charts_have_titles_of_their_own(void **state)
{
    (void)state;
    seen_titles s = {.count = 0};
    document *d = document_open("Titles");
    document_add(d, lines_of("first", "Network sent"));
    document_part(d, "CPU");
    document_add(d, lines_of("second", "CPU"));
    document_part(d, "Memory");
    document_add(d, lines_of("third", "Memory"));
    document_add(d, lines_of("fourth", "Memory"));
    document_charts(d, see_title, &s);
    assert_int_equal(s.count, 4);
    assert_string_equal(s.titles[1], "CPU: What moved together");
    assert_string_equal(s.titles[2], "Memory: What moved together");
    assert_string_equal(s.titles[3], "Memory: What moved together (fourth)");
    for (size_t i = 0; i < s.count; i++)
        assert_true(*s.shows[i]);
    document_close(d);
}

static int begin(void **state)
{
    (void)state;
    plot_limit_ms = 280000; // a slow machine is not what is tested
    make_series();
    snprintf(directory, sizeof directory, "/tmp/netprof-test-charts-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int end(void **state)
{
    static const char *const names[] = {"plain.pdf", "plain.html", "hostile.pdf", "hostile.html",
                                        "none.html", "figure.out", "figure.csv"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        unlink(file(names[i]));
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(charts_fit_their_boxes),
                                       cmocka_unit_test(labels_lie_over_curves),
                                       cmocka_unit_test(late_rows_have_long_bars),
                                       cmocka_unit_test(what_is_not_explained_is_hatched),
                                       cmocka_unit_test(edges_of_data),
                                       cmocka_unit_test(many_points_become_bands),
                                       cmocka_unit_test(long_tables_are_brief),
                                       cmocka_unit_test(stacks_share_their_edges),
                                       cmocka_unit_test(shares_in_numbers),
                                       cmocka_unit_test(documents_with_hostile_names),
                                       cmocka_unit_test(without_gnuplot),
                                       cmocka_unit_test(figures_are_as_wide_as_asked_for),
                                       cmocka_unit_test(figures_keep_what_is_asked_for),
                                       cmocka_unit_test(figures_in_grey_have_no_colour),
                                       cmocka_unit_test(tikz_is_text_for_tex),
                                       cmocka_unit_test(devices_past_a_line_that_were_not_found_are_said),
                                       cmocka_unit_test(eps_is_the_same_twice),
                                       cmocka_unit_test(a_chart_has_a_plain_name),
                                       cmocka_unit_test(figures_without_room_say_so),
                                       cmocka_unit_test(charts_have_titles_of_their_own)};
    return cmocka_run_group_tests(tests, begin, end);
}

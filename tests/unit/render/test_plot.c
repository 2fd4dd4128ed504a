// Plots: axes, tics, density by arithmetic; gnuplot itself where it is installed, and programs that only pretend.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "render/plot/plot.h"
#include "render/plot/plot_parts.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { patient_ms = 280000 }; // a slow machine is not what is tested

// ---- axes ----

static void expect_close(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fmax(1, fabs(expected)))) fail_msg("%.17g is not %.17g", value, expected);
}

static void places(void **state)
{
    plot_axis x = {10, 30, false, false}, l = {1, 10000, true, false};
    (void)state;
    expect_close(plot_at(x, 10), 0);
    expect_close(plot_at(x, 15), 0.25);
    expect_close(plot_at(x, 40), 1.5);
    expect_close(plot_at(l, 1), 0);
    expect_close(plot_at(l, 100), 0.5);
    expect_close(plot_at(l, 0.01), -0.5);
    assert_true(isnan(plot_at(l, 0)) && isnan(plot_at(l, -3)) && isnan(plot_at(x, NAN)) && isnan(plot_at(x, INFINITY)));
    plot_axis all = {0, 18446744073709551615.0, false, false};
    expect_close(plot_at(all, 9223372036854775808.0), 0.5);
}

static void expect_tics(plot_axis axis, size_t most, const double *expected, size_t count)
{
    double tics[10];
    size_t found = plot_tics(axis, most, tics);
    assert_int_equal(found, count);
    for (size_t i = 0; i < count; i++)
        expect_close(tics[i], expected[i]);
}
#define TICS(axis, most, ...)                                                                                          \
    expect_tics((plot_axis)axis, most, (const double[]){__VA_ARGS__}, COUNT(((const double[]){__VA_ARGS__})))
#define AXIS(...)                                                                                                      \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static void tics_of_linear_axes(void **state)
{
    (void)state;
    TICS(AXIS(0, 40, false, false), 3, 0, 20, 40);
    TICS(AXIS(0, 40, false, false), 5, 0, 10, 20, 30, 40);
    TICS(AXIS(0, 1, false, false), 5, 0, 0.25, 0.5, 0.75, 1);
    TICS(AXIS(-3, 3, false, false), 4, -2, 0, 2);
    TICS(AXIS(17, 63, false, false), 5, 20, 30, 40, 50, 60);
    TICS(AXIS(0, 3 * 65536, false, true), 4, 0, 65536, 131072, 196608);
    TICS(AXIS(0, 18446744073709551615.0, false, false), 4, 0, 5e18, 1e19, 1.5e19);
    TICS(AXIS(0, 1e-9, false, false), 3, 0, 5e-10, 1e-9);
    double tics[10];
    assert_int_equal(plot_tics((plot_axis){1, 1, false, false}, 5, tics), 0);
    assert_int_equal(plot_tics((plot_axis){0, NAN, false, false}, 5, tics), 0);
    assert_int_equal(plot_tics((plot_axis){0, 1, false, false}, 0, tics), 0);
    // The ends of what a double can tell: tics, or none, but numbers.
    const double ends[] = {5e-324, 1e-320, 2e-308, 1e-291, 1e-289, 1e300, 1.7e308};
    for (size_t i = 0; i < COUNT(ends); i++)
        for (size_t most = 1; most <= 10; most++) {
            size_t n = plot_tics((plot_axis){0, ends[i], false, most % 2}, most, tics);
            for (size_t k = 0; k < n; k++)
                assert_true(tics[k] >= 0 && tics[k] <= ends[i] * 1.000001);
        }
    assert_int_equal(plot_tics((plot_axis){0, 5e-324, false, false}, 5, tics), 0);
    TICS(AXIS(0, 1e300, false, false), 3, 0, 5e299, 1e300);
    for (int i = 0; i < 2000; i++) { // never more than were asked for, inside, rising
        double low = -exp(i % 37), high = low + exp(i % 83 - 20);
        size_t most = (size_t)i % 9 + 2;
        size_t n = plot_tics((plot_axis){low, high, false, i % 5 == 0}, most, tics);
        assert_true(n <= most);
        for (size_t k = 0; k < n; k++) {
            assert_true(tics[k] >= low - 1e-6 * (high - low) && tics[k] <= high + 1e-6 * (high - low));
            assert_true(!k || tics[k] > tics[k - 1]);
        }
    }
}

static void tics_of_log_axes(void **state)
{
    (void)state;
    TICS(AXIS(1, 1000, true, false), 5, 1, 10, 100, 1000);
    TICS(AXIS(1, 1e6, true, false), 4, 1, 100, 1e4, 1e6);
    TICS(AXIS(0.5, 2000, true, false), 10, 1, 10, 100, 1000);
    TICS(AXIS(8192, 268435456, true, true), 4, 8192, 131072, 2097152, 33554432);
    TICS(AXIS(8192, 268435456, true, true), 3, 8192, 524288, 33554432);
    TICS(AXIS(8, 64, true, true), 4, 8, 16, 32, 64);
    TICS(AXIS(2, 60, true, false), 6, 2, 5, 10, 20, 50);
    TICS(AXIS(31, 39, true, false), 5, 32, 34, 36, 38);
    double tics[10];
    assert_int_equal(plot_tics((plot_axis){0, 10, true, false}, 5, tics), 0);
}

static void axes_for_values(void **state)
{
    const double some[] = {3, NAN, 37, 12}, zeros[] = {0, 0}, below[] = {-7, 3}, wide[] = {0, 0.03, 700},
                 largest[] = {18446744073709551615.0};
    (void)state;
    plot_axis a = plot_axis_for(some, 4, false);
    assert_true(a.min == 0 && a.max == 40 && !a.log);
    a = plot_axis_for(zeros, 2, false);
    assert_true(a.min == 0 && a.max == 1);
    const double least[] = {5e-324, 0};
    a = plot_axis_for(least, 2, false); // no digits are left of it
    assert_true(a.min == 0 && a.max == 1);
    a = plot_axis_for(NULL, 0, false);
    assert_true(a.min == 0 && a.max == 1);
    a = plot_axis_for(below, 2, false);
    assert_true(a.min == -8 && a.max == 3);
    a = plot_axis_for(wide, 3, true);
    expect_close(a.min, 0.01);
    expect_close(a.max, 1000);
    assert_true(a.log);
    a = plot_axis_for(zeros, 2, true);
    assert_true(a.min == 1 && a.max == 10);
    a = plot_axis_for(largest, 1, false);
    assert_true(a.min == 0 && a.max == 2e19);
    const double hundred[] = {100};
    a = plot_axis_for(hundred, 1, true);
    assert_true(a.max > a.min && a.min <= 100 && a.max >= 100);
}

// ---- density ----

static void density_counts_points(void **state)
{
    // 4 x 2 cells of 1 x 1: one point at the very corner, 100 in a cell, 10 in another, some outside.
    double xs[120], ys[120];
    uint16_t inks[8];
    size_t n = 0;
    (void)state;
    xs[n] = 4, ys[n++] = 2; // the upper right end belongs to the last cell
    for (int i = 0; i < 100; i++)
        xs[n] = 0.5, ys[n++] = 0.5;
    for (int i = 0; i < 10; i++)
        xs[n] = 2.5, ys[n++] = 1.5;
    xs[n] = -0.1, ys[n++] = 1;
    xs[n] = 1, ys[n++] = 2.1;
    xs[n] = NAN, ys[n++] = 1;
    plot_axis x = {0, 4, false, false}, y = {0, 2, false, false};
    plot_density(x, y, xs, ys, n, INK_BLUE, 4, 2, inks);
    const uint16_t expected[8] = {INK_NONE,
                                  INK_NONE,
                                  (uint16_t)theme_ramp(INK_BLUE, 0.15 + 0.85 * 0.5),
                                  (uint16_t)theme_ramp(INK_BLUE, 0.15),
                                  (uint16_t)theme_ramp(INK_BLUE, 1),
                                  INK_NONE,
                                  INK_NONE,
                                  INK_NONE};
    assert_memory_equal(inks, expected, sizeof inks);
    assert_true(expected[2] != expected[3] && expected[3] != expected[4]);
    plot_density(x, y, xs, ys, 0, INK_BLUE, 4, 2, inks);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(inks[i], INK_NONE);
    // a logarithmic axis has no place for zero
    const double lx[] = {0, 1, 100}, ly[] = {0.5, 0.5, 0.5};
    plot_axis l = {1, 100, true, false}, one = {0, 1, false, false};
    plot_density(l, one, lx, ly, 3, INK_ORANGE, 2, 1, inks);
    assert_true(inks[0] != INK_NONE && inks[0] == inks[1]);
}

// ---- gnuplot ----

static bool have_gnuplot(void)
{
    return system("command -v gnuplot >/dev/null 2>&1") == 0;
}

static bool render(plot *p, plot_job *job, char message[512])
{
    *job = (plot_job){.plot = p, .width = 200, .height = 100};
    return plot_render(job, 1, message, 512);
}

// The points of a path, x and y of each: M is absolute, l, h and v go on from the point before. Returns its end.
static const char *path_points(const char *d, double *found, size_t *n, size_t room)
{
    double x = 0, y = 0;
    for (char command = 0; *d && *d != '"';) {
        char *end;
        if (strchr("Mlhvz", *d)) {
            command = *d++;
            continue;
        }
        double first = strtod(d, &end), second = 0;
        assert_true(end != d && command && command != 'z');
        d = end;
        if (command == 'M' || command == 'l') {
            second = strtod(d, &end);
            assert_true(end != d);
            d = end;
        }
        x = command == 'M' ? first : command == 'v' ? x : x + first;
        y = command == 'M' ? second : command == 'v' ? y + first : y + second;
        assert_true(*n + 2 <= room);
        found[(*n)++] = x, found[(*n)++] = y;
    }
    return d;
}

// Is this sequence of numbers in the text, each within what gnuplot rounds? Letters between them are looked over.
static bool has_numbers(const char *text, const double *wanted, size_t count)
{
    static double found[100000];
    size_t n = 0;
    while (*text && n < COUNT(found)) {
        if (strncmp(text, " d=\"", 4) == 0) {
            text = path_points(text + 4, found, &n, COUNT(found));
            continue;
        }
        char *end;
        double number = strchr("-0123456789", *text) ? strtod(text, &end) : (end = NULL, 0);
        if (end && end != text) found[n++] = number;
        text = end && end != text ? end : text + 1;
    }
    for (size_t i = 0; i + count <= n; i++) {
        size_t same = 0;
        while (same < count && fabs(found[i + same] - wanted[same]) < 0.035)
            same++;
        if (same == count) return true;
    }
    return false;
}
#define HAS(text, ...) has_numbers(text, (const double[]){__VA_ARGS__}, COUNT(((const double[]){__VA_ARGS__})))

static size_t times(const char *text, const char *what)
{
    size_t n = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        n++;
    return n;
}

// Directories of ours that were left behind.
static size_t leftovers(void)
{
    DIR *d = opendir(getenv("TMPDIR"));
    const struct dirent *entry;
    size_t n = 0;
    assert_non_null(d);
    while ((entry = readdir(d)))
        n += strncmp(entry->d_name, "netprof-plot-", 13) == 0;
    closedir(d);
    return n;
}

static void lines_have_gaps(void **state)
{
    const double x[] = {0, 1, 2, 3, 4, 5, 6, 7}, y[] = {0, 5, NAN, 5, 10, INFINITY, 5, NAN};
    plot_series s = {.kind = PLOT_LINE, .ink = INK_SENT, .line_width = 1.5, .x = x, .y = y, .count = 8};
    plot p = {{0, 10, false, false}, {0, 10, false, false}, &s, 1};
    plot_job job;
    char message[512];
    (void)state;
    if (!have_gnuplot()) skip();
    assert_true(render(&p, &job, message));
    assert_string_equal(message, "");
    // x: 20 pt for each unit; y: 10 pt downwards for each
    assert_true(HAS(job.svg, 0, 100, 20, 50));
    assert_true(HAS(job.svg, 60, 50, 80, 0));
    assert_int_equal(times(job.svg, "<path "), 1); // two strokes of one path
    assert_int_equal(times(job.svg, "M"), 2);
    assert_int_equal(times(job.svg, "<circle "), 1); // what stands alone between gaps
    assert_true(HAS(job.svg, 120, 50, 1.5));
    assert_non_null(strstr(job.svg, "stroke-width=\"1.5\""));
    assert_non_null(strstr(job.svg, "viewBox=\"0 0 200 100\""));
    size_t size;
    char *paper = plot_svg_inks(job.svg, job.svg_size, PLOT_PAPER, &size),
         *screen = plot_svg_inks(job.svg, job.svg_size, PLOT_VARIABLES, &size);
    theme_rgb c = theme_color(INK_SENT, false);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "stroke=\"#%02x%02x%02x\"", c.red, c.green, c.blue);
    assert_non_null(strstr(paper, wanted));
    snprintf(wanted, sizeof wanted, "stroke=\"var(--i%d)\"", INK_SENT);
    assert_non_null(strstr(screen, wanted));
    assert_null(strstr(paper, "#a7"));
    assert_null(strstr(screen, "#a7"));
    assert_int_equal(size, strlen(screen));
    free(paper);
    free(screen);
    free(job.svg);
    assert_int_equal(leftovers(), 0);
}

static void each_kind_has_its_shapes(void **state)
{
    const double x[] = {2, 5}, y[] = {4, 6}, y2[] = {1, 2}, width[] = {2, 1};
    const double boxes[2][5] = {{1, 2, 5, 6, 9}, {0, 2, NAN, 6, 9}};
    const plot_series all[] = {
        {.kind = PLOT_BAND, .ink = INK_SENT_PALE, .x = x, .y = y, .y2 = y2, .count = 2},
        {.kind = PLOT_STEP, .ink = INK_RECEIVED, .dashed = true, .x = x, .y = y, .count = 2},
        {.kind = PLOT_POINTS, .ink = INK_BAD, .line_width = 2, .x = x, .y = y, .count = 2},
        {.kind = PLOT_BARS, .ink = INK_PEER, .x = x, .y = y, .x2 = width, .count = 2},
        {.kind = PLOT_BOX, .ink = INK_OK, .x = x, .x2 = width, .boxes = boxes, .count = 2},
    };
    plot p = {{0, 10, false, false}, {0, 10, false, false}, all, COUNT(all)};
    plot_job job;
    char message[512];
    (void)state;
    if (!have_gnuplot()) skip();
    if (!render(&p, &job, message)) fail_msg("%s", message);
    // 200 x 100 pt: x 20 pt for a unit, y 10 pt
    assert_true(HAS(job.svg, 40, 60, 100, 40, 100, 80, 40, 90)); // band
    assert_true(HAS(job.svg, 40, 60, 100, 60, 100, 40));         // step
    assert_non_null(strstr(job.svg, "stroke-dasharray"));
    assert_int_equal(times(job.svg, "<circle "), 2);
    assert_int_equal(times(job.svg, "r=\"2\""), 2);
    assert_true(HAS(job.svg, 20, 100, 60, 100, 60, 60, 20, 60)); // bars
    assert_true(HAS(job.svg, 90, 100, 110, 100, 110, 40, 90, 40));
    assert_true(HAS(job.svg, 20, 80, 60, 80, 60, 40, 20, 40));
    assert_true(HAS(job.svg, 20, 50, 60, 50));           // its median
    assert_true(HAS(job.svg, 40, 90, 40, 80));           // its lower whisker
    assert_int_equal(times(job.svg, "fill-opacity"), 1); // the second one is not known
    assert_null(strstr(job.svg, "<title"));
    assert_null(strstr(job.svg, " id="));
    free(job.svg);
}

static void log_axes_and_the_largest_values(void **state)
{
    const double x[] = {0, 1, 2, 3}, y[] = {0, 1, 18446744073709551615.0, 1e4}, width[] = {1, 1, 1, 1};
    const plot_series all[] = {{.kind = PLOT_LINE, .ink = INK_SENT, .x = x, .y = y, .count = 4},
                               {.kind = PLOT_BARS, .ink = INK_SENT, .x = x, .y = y, .x2 = width, .count = 4}};
    plot p = {{0, 4, false, false}, {1, 1e8, true, false}, all, 2};
    plot_job job;
    char message[512];
    (void)state;
    if (!have_gnuplot()) skip();
    if (!render(&p, &job, message)) fail_msg("%s", message);
    assert_non_null(strstr(job.svg, " d=\"M50 ")); // zero has no place: the line begins at the second point
    assert_true(HAS(job.svg, 125, 100, 175, 100, 175, 50, 125, 50)); // 1e4 is half way
    assert_int_equal(times(job.svg, "<path fill="), 2);              // neither of zero nor of the axis' low end
    free(job.svg);
    p.y = (plot_axis){0, 18446744073709551615.0, false, false};
    if (!render(&p, &job, message)) fail_msg("%s", message);
    assert_true(HAS(job.svg, 75, 100, 125, 100, 125, 0, 75, 0));
    free(job.svg);
}

static void many_jobs_one_run(void **state)
{
    const double x[] = {0, 1}, y[] = {0, 1}, nan[] = {NAN, NAN};
    plot_series line = {.kind = PLOT_LINE, .ink = INK_SENT, .x = x, .y = y, .count = 2};
    plot_series unknown = {.kind = PLOT_LINE, .ink = INK_SENT, .x = x, .y = nan, .count = 2};
    plot p = {{0, 1, false, false}, {0, 1, false, false}, &line, 1}, nothing = p;
    plot_job jobs[40];
    char message[512];
    (void)state;
    if (!have_gnuplot()) skip();
    nothing.series = &unknown;
    for (size_t i = 0; i < COUNT(jobs); i++)
        jobs[i] = (plot_job){.plot = i == 7 ? &nothing : &p, .width = 10.0 + (double)i, .height = 3.25};
    if (!plot_render(jobs, COUNT(jobs), message, sizeof message)) fail_msg("%s", message);
    for (size_t i = 0; i < COUNT(jobs); i++) {
        char view[64];
        snprintf(view, sizeof view, "viewBox=\"0 0 %zu 3.25\"", 10 + i);
        assert_non_null(strstr(jobs[i].svg, view));
        assert_true(HAS(jobs[i].svg, 0, 3.25, 10 + (double)i, 0) == (i != 7));
        assert_int_equal(jobs[i].svg_size, strlen(jobs[i].svg));
        free(jobs[i].svg);
    }
    assert_int_equal(leftovers(), 0);
    assert_true(plot_render(NULL, 0, message, sizeof message));
}

static void too_many_points_are_refused(void **state)
{
    enum { N = PLOT_POINTS_MAX + 1 };
    static double x[N], y[N];
    (void)state;
    if (!have_gnuplot()) skip();
    for (size_t i = 0; i < N; i++)
        x[i] = y[i] = (double)i / N;
    plot_series many = {.kind = PLOT_POINTS, .ink = INK_SENT, .x = x, .y = y, .count = N}, most = many;
    most.count = N - 1;
    plot p = {{0, 1, false, false}, {0, 1, false, false}, &many, 1}, good = p;
    good.series = &most;
    plot_job jobs[2] = {{.plot = &p, .width = 100, .height = 100}, {.plot = &good, .width = 100, .height = 100}};
    char message[512];
    assert_false(plot_render(jobs, 2, message, sizeof message));
    assert_non_null(strstr(message, "plot 1: 5001 points"));
    assert_null(jobs[0].svg);
    assert_non_null(jobs[1].svg);
    assert_int_equal(times(jobs[1].svg, "<circle "), PLOT_POINTS_MAX);
    free(jobs[1].svg);
}

// ---- programs that are no gnuplot ----

static char program[512];

static void pretend(const char *script)
{
    snprintf(program, sizeof program, "%s/fake", getenv("TMPDIR"));
    FILE *f = fopen(program, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\n%s\n", script);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(program, 0700), 0);
    setenv("NETPROF_GNUPLOT", program, 1);
}

static void expect_failure(const char *said)
{
    const double x[] = {0, 1}, y[] = {0, 1};
    plot_series line = {.kind = PLOT_LINE, .ink = INK_SENT, .x = x, .y = y, .count = 2};
    plot p = {{0, 1, false, false}, {0, 1, false, false}, &line, 1};
    plot_job jobs[2];
    char message[512];
    jobs[0] = jobs[1] = (plot_job){.plot = &p, .width = 100, .height = 100};
    assert_false(plot_render(jobs, 2, message, sizeof message));
    if (!strstr(message, said)) fail_msg("\"%s\" is not in \"%s\"", said, message);
    assert_null(jobs[0].svg);
    assert_null(jobs[1].svg);
    assert_int_equal(leftovers(), 0);
    for (const char *c = message; *c; c++)
        assert_true((unsigned char)*c >= ' ');
}

// What a real one says first, and where it is to write (the line of the second picture, say).
#define BEGIN "echo netprof 5.4 >&2; svg() { sed -n \"s/^set output '\\(.*\\)'/\\1/p\" \"$2\" | sed -n $1p; }\n"

static void other_programs(void **state)
{
    (void)state;
    setenv("NETPROF_GNUPLOT", "/nonexistent/gnuplot", 1);
    expect_failure("/nonexistent/gnuplot not found; install gnuplot");
    setenv("NETPROF_GNUPLOT", "no-such-gnuplot-anywhere", 1);
    expect_failure("not found");
    pretend("exit 1");
    expect_failure("failed with exit code 1");
    pretend(BEGIN "printf 'line 3: bad\\033[31m\\n' >&2; exit 1");
    expect_failure("exit code 1: line 3: bad [31m");
    pretend("echo netprof 4.6 >&2");
    expect_failure("4.6 is too old; install gnuplot 5.0");
    pretend("exit 0");
    expect_failure("no complete picture");
    pretend(BEGIN "printf '<svg><g><path' >$(svg 1 $2); printf '<svg></svg>' >$(svg 2 $2)");
    expect_failure("no complete picture");
    pretend(BEGIN "printf '<svg></svg>' >$(svg 1 $2); : >$(svg 2 $2)");
    expect_failure("no complete picture");
    pretend(BEGIN "printf '<svg></svg>' >$(svg 1 $2); mkfifo $(svg 2 $2)");
    expect_failure("no complete picture");
    pretend(BEGIN "ln -s /etc/passwd $(svg 1 $2)");
    expect_failure("no complete picture");
    pretend("kill -9 $$");
    expect_failure("was killed");
    chmod(program, 0600);
    expect_failure("cannot be started");
    unsetenv("NETPROF_GNUPLOT");
}

// What holds the pipe open has ended.
static void expect_gone(int fifo)
{
    struct pollfd end = {.fd = fifo};
    assert_int_equal(poll(&end, 1, 30000), 1);
    assert_int_equal(end.revents, POLLHUP);
}

// Of a program whose child says that it is there and holds a pipe open: the whole group is stopped. False: the child had no
// turn before that.
static bool child_is_stopped(int limit_ms)
{
    char path[600], script[1400], said[100], byte;
    snprintf(path, sizeof path, "%s/pipe", getenv("TMPDIR"));
    assert_int_equal(mkfifo(path, 0600), 0);
    int fifo = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(fifo >= 0);
    snprintf(script, sizeof script, "(echo; exec sleep 300) >%s & exec sleep 300", path);
    pretend(script);
    plot_limit_ms = limit_ms;
    snprintf(said, sizeof said, "took longer than %g s and was stopped", limit_ms / 1000.0);
    expect_failure(said);
    bool was_there = read(fifo, &byte, 1) == 1;
    if (was_there) expect_gone(fifo);
    close(fifo);
    unlink(path);
    return was_there;
}

static void hanging_programs_are_stopped(void **state)
{
    (void)state;
    assert_true(child_is_stopped(300) || child_is_stopped(3000) || child_is_stopped(30000));
    plot_limit_ms = 300;
    pretend("while :; do echo talking; echo talking >&2; done");
    expect_failure("took longer than");
    // One that ends while its child holds the standard error: its end counts.
    plot_limit_ms = patient_ms;
    pretend("sleep 300 & exit 3");
    expect_failure("exit code 3");
    unsetenv("NETPROF_GNUPLOT");
}

// What a hostile program writes as a picture is never taken over.
// For a screen: points that lie within an eighth of a pt of the way past them are left out, and places are tenths.
static void pictures_for_screens_are_small(void **state)
{
    static const char svg[] = "<svg><path stroke='rgb(167,0,0)' d='M0.00,10.00 L1.00,10.05 L2.00,9.97 L3.00,10.02 "
                              "L4.00,20.00 L5.00,30.04 L4.00,30.04 L4.50,31.00'/></svg>";
    const double x[] = {0, 1}, y[] = {0, 1};
    plot_series line = {.kind = PLOT_LINE, .ink = INK_SENT, .x = x, .y = y, .count = 2};
    plot p = {{0, 1, false, false}, {0, 1, false, false}, &line, 1};
    plot_job job = {.plot = &p, .width = 100, .height = 100, .coarse = true};
    size_t size;
    (void)state;
    char *coarse = plot_svg_tidy(svg, sizeof svg - 1, &job, &size);
    assert_non_null(strstr(coarse, " d=\"M0 10h3l2 20h-1l.5 1\""));
    free(coarse);
    job.coarse = false;
    char *fine = plot_svg_tidy(svg, sizeof svg - 1, &job, &size);
    assert_non_null(strstr(fine, " d=\"M0 10l1 .05 1-.08 1 .05 1 9.98 1 10.04h-1l.5 .96\""));
    free(fine);
}

static void pictures_are_not_trusted(void **state)
{
    static const struct {
        const char *svg;
        bool taken;
    } cases[] = {
        {"<svg><script>alert(1)</script><g></g></svg>", true},
        {"<svg><path stroke='rgb(167,0,0)' onload='alert(1)' d='M0,0 L1,1'/></svg>", true},
        {"<svg><path stroke='rgb(167,0,0)' d='M0,0 \"/><script>alert(1)</script>'/></svg>", true},
        {"<svg><path stroke='rgb(167,0,0)' d='M0,0 url(x)'/></svg>", false},
        {"<svg><path stroke='rgb(167,0,9)' d='M0,0 L1,1'/></svg>", false}, // a series that there is not
        {"<svg><path stroke='red' d='M0,0 L1,1'/></svg>", false},
        {"<svg><use xlink:href='#x' transform='translate(1,2) scale(3)' color='rgb(167,0,0)'/></svg>", true},
        {"<svg><use xlink:href='#x' transform='translate(1\" x=\"2,2)' color='rgb(167,0,0)'/></svg>", false},
        {"<svg><g", false},
        {"", false},
    };
    const double x[] = {0, 1}, y[] = {0, 1};
    plot_series line = {.kind = PLOT_LINE, .ink = INK_SENT, .x = x, .y = y, .count = 2};
    plot p = {{0, 1, false, false}, {0, 1, false, false}, &line, 1};
    plot_job job = {.plot = &p, .width = 100, .height = 100};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t size;
        char *svg = plot_svg_tidy(cases[i].svg, strlen(cases[i].svg), &job, &size);
        if ((svg != NULL) != cases[i].taken) fail_msg("%s", cases[i].svg);
        if (svg) assert_true(!strstr(svg, "script") && !strstr(svg, "alert") && !strstr(svg, "onload"));
        free(svg);
    }
    char zero[] = "<svg>\0</svg>";
    size_t size;
    assert_null(plot_svg_tidy(zero, sizeof zero - 1, &job, &size));
    char deep[400] = "<svg>";
    for (int i = 0; i < 64; i++)
        strcat(deep, "<g>");
    strcat(deep, "</svg>");
    assert_null(plot_svg_tidy(deep, strlen(deep), &job, &size));
}

// A place for files whose name could end a string of a script.
static void hostile_place_for_files(void **state)
{
    char *kept = strdup(getenv("TMPDIR")), hostile[600];
    const double x[] = {0, 1}, y[] = {0, 1};
    plot_series line = {.kind = PLOT_LINE, .ink = INK_SENT, .x = x, .y = y, .count = 2};
    plot p = {{0, 1, false, false}, {0, 1, false, false}, &line, 1};
    plot_job job;
    char message[512];
    (void)state;
    if (!have_gnuplot()) skip();
    snprintf(hostile, sizeof hostile, "%s/a';system('touch $TMPDIR.mark')#`touch x`", kept);
    mkdir(hostile, 0700);
    setenv("TMPDIR", hostile, 1);
    if (!render(&p, &job, message)) fail_msg("%s", message);
    assert_int_equal(leftovers(), 0);
    setenv("TMPDIR", kept, 1);
    snprintf(message, sizeof message, "%.400s.mark", hostile);
    assert_int_not_equal(access(message, F_OK), 0);
    rmdir(hostile);
    free(job.svg);
    free(kept);
}

// What the user's settings, locale and variables say changes nothing.
static void surroundings_do_not_matter(void **state)
{
    const double x[] = {0, 0.5}, y[] = {0.25, 0.75};
    plot_series line = {.kind = PLOT_LINE, .ink = INK_SENT, .line_width = 0.75, .x = x, .y = y, .count = 2};
    plot p = {{0, 1, false, false}, {0, 1, false, false}, &line, 1};
    plot_job one, two;
    char message[512], rc[600];
    (void)state;
    if (!have_gnuplot()) skip();
    assert_true(render(&p, &one, message));
    snprintf(rc, sizeof rc, "%s/.gnuplot", getenv("TMPDIR"));
    FILE *f = fopen(rc, "w");
    fputs("set xrange [0:77]\nset border\n", f);
    fclose(f);
    char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    setenv("HOME", getenv("TMPDIR"), 1);
    setenv("GNUTERM", "png", 1);
    setenv("GNUPLOT_DEFAULT_GDFONT", "nothing", 1);
    setenv("LC_NUMERIC", "de_DE.UTF-8", 1);
    assert_true(render(&p, &two, message));
    assert_string_equal(one.svg, two.svg);
    if (home) setenv("HOME", home, 1);
    unsetenv("GNUTERM");
    unsetenv("GNUPLOT_DEFAULT_GDFONT");
    unsetenv("LC_NUMERIC");
    unlink(rc);
    free(home);
    free(one.svg);
    free(two.svg);
}

static char place[] = "/tmp/netprof-test-plot-XXXXXX";

static int begin(void **state)
{
    (void)state;
    if (!mkdtemp(place)) return -1;
    plot_limit_ms = patient_ms;
    unsetenv("NETPROF_GNUPLOT");
    return setenv("TMPDIR", place, 1);
}

static int end(void **state)
{
    (void)state;
    if (*program) unlink(program);
    return rmdir(place); // nothing may be left in it
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places),
        cmocka_unit_test(tics_of_linear_axes),
        cmocka_unit_test(tics_of_log_axes),
        cmocka_unit_test(axes_for_values),
        cmocka_unit_test(density_counts_points),
        cmocka_unit_test(lines_have_gaps),
        cmocka_unit_test(each_kind_has_its_shapes),
        cmocka_unit_test(log_axes_and_the_largest_values),
        cmocka_unit_test(many_jobs_one_run),
        cmocka_unit_test(too_many_points_are_refused),
        cmocka_unit_test(other_programs),
        cmocka_unit_test(hanging_programs_are_stopped),
        cmocka_unit_test(pictures_for_screens_are_small),
        cmocka_unit_test(pictures_are_not_trusted),
        cmocka_unit_test(hostile_place_for_files),
        cmocka_unit_test(surroundings_do_not_matter),
    };
    return cmocka_run_group_tests(tests, begin, end);
}

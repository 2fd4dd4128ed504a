// netprof-watch: shows live what this node does, or growing recordings.
#define _GNU_SOURCE
#include "cli/command.h"
#include "overview.h"
#include "processes.h"
#include "recording.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "cli/output.h"
#include "measure/node_options.h"
#include "measure/record.h"
#include "screen.h"
#include "analysis/base/memory.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int once, count, plain, per_cpu;
static char *interval_text, *window_text, *rules_path;

static const struct poptOption options[] = {
    {"interval", 't', POPT_ARG_STRING, &interval_text, 0, "look so often (1s)", "TIME"},
    {"window", 'w', POPT_ARG_STRING, &window_text, 0, "judge by rules what happened in this time (10s)", "TIME"},
    {"once", '1', POPT_ARG_NONE, &once, 0, "one look after one interval, as plain text", NULL},
    {"count", 'n', POPT_ARG_INT, &count, 0, "end after so many looks", "N"},
    {"plain", 0, POPT_ARG_NONE, &plain, 0, "plain text, a block for each look, also on a terminal", NULL},
    {"per-cpu", 0, POPT_ARG_NONE, &per_cpu, 0, "of this node each CPU for itself, too", NULL},
    {"rules", 'r', POPT_ARG_STRING, &rules_path, 0, "more rules; one of the same name replaces a built-in one", "FILE"},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)set_option, 0, "Without a FILE:", NULL},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)reading_options, 0, NULL, NULL},
    POPT_TABLEEND,
};

typedef struct watch {
    int64_t interval_ns;
    listing paths;         // empty: this node
    recording *recordings; // [count]; one for this node
    size_t count, shown;
    netprof *np;
    netprof_set set;
    sources_job nobody;
    netprof_snapshot snapshot;
    processes processes; // of this node
    bool sees_processes;
    rules rules;
    schedule clock;
    bool drawing, paused, helping, overview, done;
    view_order order;
    size_t top;
    int looks;
} watch;

// ---- taking ----

static void watch_take(watch *w)
{
    netprof_error error;
    for (size_t i = 0; i < w->count; i++) {
        recording *r = &w->recordings[i];
        if (r->file) {
            recording_look(r, &error);
            continue;
        }
        free(r->trouble);
        r->trouble = NULL;
        if (netprof_take(w->np, &w->snapshot, w->set, &error))
            r->trouble = memory_format("%s%s%s", safe(error.path), *error.path ? ": " : "", error_text(&error));
        else
            recording_take(r, &w->snapshot);
    }
    if (w->sees_processes) processes_look(&w->processes, "/proc");
}

static void watch_make_views(watch *w)
{
    for (size_t i = 0; i < w->count; i++) {
        recording_make_view(&w->recordings[i], &w->rules);
        if (w->recordings[i].view) view_sort(w->recordings[i].view, w->order);
    }
}

// ---- showing ----

static recording *watch_shown(const watch *w)
{
    return &w->recordings[w->shown];
}

static void watch_title(const watch *w, const recording *r, lines *l)
{
    lines_begin(l);
    if (!l->width || l->width >= 60) lines_add(l, STRONG, "netprof watch ");
    if (r->sought) lines_printf(l, CAUTION, "reading %zu of %zu  ", r->sought, r->readings);
    lines_add(l, NORMAL, r->view ? r->view->host : "");
    if (r->view) lines_printf(l, NORMAL, "  %s", words_time(r->view->wall_ns).text);
    if (r->view) lines_printf(l, FAINT, "  over %s", safe(words_duration(r->view->elapsed_s).text));
    if (w->paused) lines_add(l, CAUTION, "  PAUSED");
    if (r->path) lines_printf(l, NORMAL, "  %s", safe(r->path));
    if (recording_ended(r))
        lines_add(l, CAUTION, " (ended)");
    else if (r->file && r->view && !r->sought &&
             recording_age_s(r) > 3 * fmax(r->view->elapsed_s, (double)w->interval_ns / 1e9))
        lines_printf(l, CAUTION, " (nothing new for %s)", safe(words_duration(recording_age_s(r)).text));
}

static void watch_head_lines(const watch *w, const recording *r, lines *l)
{
    watch_title(w, r, l);
    lines_begin(l);
    if (r->trouble)
        lines_printf(l, DANGER, "cannot read: %s", r->trouble);
    else if (r->view)
        view_verdict(r->view, l);
    else
        lines_add(l, NORMAL, r->path ? "waiting for two readings in the file" : "waiting for the second reading");
}

// rows: of the screen, for the heading and the recordings; 0: as many as there are.
static void watch_overview_head(const watch *w, size_t rows, lines *l)
{
    size_t ended = 0;
    for (size_t i = 0; i < w->count; i++)
        ended += recording_ended(&w->recordings[i]);
    lines_begin(l);
    lines_add(l, STRONG, "netprof watch ");
    if (rows > 1 && w->count + 1 > rows)
        lines_printf(l, NORMAL, "%zu to %zu of ", w->top ? w->top : 1, w->top + rows - 1);
    lines_printf(l, NORMAL, "%s", words_many(w->count, "recording").text);
    if (ended) lines_printf(l, CAUTION, ", %zu ended", ended);
    if (w->paused) lines_add(l, CAUTION, "  PAUSED");
}

// What is below the head, for one recording.
static void watch_body_lines(const watch *w, const recording *r, lines *l)
{
    if (r->view) view_lines(r->view, l);
    if (!r->file) processes_lines(&w->processes, l);
    if (l->width) trails_lines(recording_trails(r), l);
}

static void watch_help_lines(lines *l)
{
    static const char *const texts[] = {
        "q         quit",
        "p, space  pause and go on; readings are taken all the same",
        "s         sort the devices: as found, by rate, by share of the line, by name",
        "up, down, pages, Home, End (or j, k, g, G)  scroll",
        "left, right (or comma, point)  in a recording: one reading back, and on",
        "<, >      in a recording: one minute back, and on;  l: to its end, which is followed",
        "Enter     of several recordings: the marked one;  o, Escape: all of them;  n, N: the next, the one before",
        "?         this help and back",
        "",
        "RECEIVED, SENT  bytes per second over the last interval; >= : at least so much",
        "OF LINE         their share of LINE, what the port can carry each way",
        "PKTS/s          packets per second, both ways together",
        "TROUBLE         the largest counter of each kind that moved; all of them below",
        "?               not known;  -: there is none",
        "HISTORY         the highest of each stretch of the last minutes; bytes per second against the most",
        "",
        "The second line is the verdict of netprof check over the window (--window).",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        lines_begin(l);
        lines_add(l, NORMAL, texts[i]);
    }
}

static void watch_foot_lines(const watch *w, lines *l)
{
    lines_begin(l);
    lines_printf(l, TITLE, "q quit  ? help  p %s  ", w->paused ? "go on" : "pause");
    if (w->overview)
        lines_add(l, TITLE, "Enter shows one  ");
    else
        lines_printf(l, TITLE, "s sort (%s)  ", view_order_name(w->order));
    if (!w->overview && w->count > 1) lines_add(l, TITLE, "o all  n next  ");
    if (!w->overview && watch_shown(w)->file) lines_add(l, TITLE, "left right in time  ");
    lines_add(l, TITLE, w->overview ? "arrows choose" : "arrows scroll");
}

static void watch_draw(watch *w)
{
    lines head = {.width = screen_width()}, body = head, foot = head;
    int room = screen_height() - 3;
    // The marked line stays in sight.
    if (w->overview && !w->helping) w->top = room > 0 && w->shown + 1 >= (size_t)room ? w->shown + 2 - (size_t)room : 0;
    if (w->overview && room > 0 && w->count > (size_t)room && w->top > w->count - (size_t)room)
        w->top = w->count - (size_t)room; // below the last there is nothing
    if (w->overview)
        watch_overview_head(w, room > 0 ? (size_t)room + 1 : 0, &head);
    else
        watch_head_lines(w, watch_shown(w), &head);
    if (w->helping)
        watch_help_lines(&body);
    else if (w->overview)
        overview_lines(w->recordings, w->count, w->shown, &body);
    else
        watch_body_lines(w, watch_shown(w), &body);
    if (screen_height() > 3) watch_foot_lines(w, &foot);
    w->top = screen_draw(&head, &body, &foot, w->top);
    lines_free(&head);
    lines_free(&body);
    lines_free(&foot);
}

static void watch_print_lines(const lines *l)
{
    for (size_t i = 0; i < arrlenu(l->items); i++) {
        const line *x = &l->items[i];
        for (size_t k = 0; k < arrlenu(x->spans); k++)
            fputs(x->spans[k].text, stdout);
        putchar('\n');
    }
}

static void watch_print_plain(const watch *w)
{
    lines l = {0};
    if (w->count > 1) {
        watch_overview_head(w, 0, &l);
        overview_lines(w->recordings, w->count, w->count, &l);
    } else {
        watch_head_lines(w, watch_shown(w), &l);
        watch_body_lines(w, watch_shown(w), &l);
    }
    if (w->looks) putchar('\n');
    watch_print_lines(&l);
    fflush(stdout);
    lines_free(&l);
}

// Takes a reading if there is one, and draws it.
static void watch_look(watch *w)
{
    bool news = false, something = false, ended = w->count > 0;
    watch_take(w);
    if (w->paused) return;
    for (size_t i = 0; i < w->count; i++) { // also that nothing comes any more
        const recording *r = &w->recordings[i];
        news |= r->fresh || r->trouble || recording_ended(r);
        ended &= recording_ended(r);
    }
    watch_make_views(w);
    for (size_t i = 0; i < w->count; i++)
        something |= w->recordings[i].view || w->recordings[i].trouble;
    if (w->drawing)
        watch_draw(w);
    else if (news && something)
        watch_print_plain(w);
    if (something) w->looks += news || w->drawing;
    if (ferror(stdout)) w->done = true;
    if (count && w->looks >= count) w->done = true;
    // Nothing more comes from recordings that have ended; on a terminal the user may still look at them.
    if (!w->drawing && ended) w->done = true;
}

// ---- keys and signals ----

static void watch_scroll(watch *w, int by)
{
    if (by < 0 && w->top < (size_t)-by)
        w->top = 0;
    else
        w->top += (size_t)by; // drawing knows the end
}

static void watch_choose(watch *w, size_t which)
{
    w->shown = which < w->count ? which : w->count - 1;
    w->top = 0;
}

// In the overview the arrows mark a line.
static void watch_move(watch *w, int by)
{
    if (!w->overview || w->helping)
        watch_scroll(w, by);
    else
        watch_choose(w, by < 0 && w->shown < (size_t)-by ? 0 : w->shown + (size_t)by);
}

static void watch_seek(watch *w, long readings, double seconds)
{
    if (!w->overview) recording_seek(watch_shown(w), &w->rules, readings, seconds);
}

static void watch_obey_choice(watch *w, screen_key key)
{
    switch (key) {
    case KEY_SHOW_ONE: w->overview = false; break;
    case KEY_SHOW_ALL: w->overview = w->count > 1; break;
    case KEY_SHOW_NEXT: watch_choose(w, (w->shown + 1) % w->count); break;
    case KEY_SHOW_BEFORE: watch_choose(w, (w->shown + w->count - 1) % w->count); break;
    case KEY_TIME_BACK: watch_seek(w, -1, 0); break;
    case KEY_TIME_ON: watch_seek(w, 1, 0); break;
    case KEY_TIME_FAR_BACK: watch_seek(w, 0, -60); break;
    case KEY_TIME_FAR_ON: watch_seek(w, 0, 60); break;
    case KEY_TIME_NOW: watch_seek(w, LONG_MAX, 0); break;
    default: break;
    }
}

static void watch_obey(watch *w, screen_key key)
{
    int page = screen_height() > 5 ? screen_height() - 4 : 1;
    switch (key) {
    case KEY_QUIT:
    case KEY_CLOSED: w->done = true; break;
    case KEY_PAUSE: w->paused = !w->paused; break;
    case KEY_SORT:
        w->order = (w->order + 1) % VIEW_ORDERS;
        for (size_t i = 0; i < w->count; i++) // made anew, they are as found
            w->recordings[i].fresh |= w->order == VIEW_AS_FOUND;
        break;
    case KEY_QUESTION:
        w->helping = !w->helping;
        w->top = 0;
        break;
    case KEY_LINE_UP: watch_move(w, -1); break;
    case KEY_LINE_DOWN: watch_move(w, 1); break;
    case KEY_PAGE_UP: watch_move(w, -page); break;
    case KEY_PAGE_DOWN: watch_move(w, page); break;
    case KEY_FIRST: w->top = 0; break;
    case KEY_LAST: w->top = SIZE_MAX / 2; break;
    case KEY_NONE: break;
    default: watch_obey_choice(w, key); break;
    }
}

static void watch_obey_keys(watch *w)
{
    screen_key key;
    while (!w->done && (key = screen_read_key()) != KEY_NONE)
        watch_obey(w, key);
    if (w->done) return;
    if (!w->paused) watch_make_views(w);
    if (watch_shown(w)->view) view_sort(watch_shown(w)->view, w->order);
    watch_draw(w);
}

static void watch_loop(watch *w)
{
    siginfo_t info;
    watch_look(w);
    while (!w->done) {
        int event = schedule_wait(&w->clock, &info);
        if (event >= 0) {
            watch_look(w);
        } else if (event == SCHEDULE_INPUT) {
            watch_obey_keys(w);
        } else if (info.si_signo == SIGWINCH) {
            if (!w->drawing) continue;
            screen_resized();
            watch_draw(w);
        } else {
            w->done = true;
        }
    }
}

// ---- beginning ----

// Where none of them can be read, that is reported at once, before the screen is taken.
static int watch_open_files(watch *w)
{
    size_t wrong = 0;
    netprof_error first = {.code = NETPROF_OK};
    for (size_t i = 0; i < w->count; i++) {
        netprof_error error;
        recording *r = &w->recordings[i];
        r->path = w->paths.paths[i];
        r->file = follow_open(r->path);
        if (!recording_look(r, &error)) continue;
        if (!wrong++) first = error;
    }
    w->overview = w->count > 1;
    return wrong == w->count ? fail_error(w->paths.paths[0], &first) : EXIT_DONE;
}

static int watch_open_node(watch *w)
{
    if (!reading_set(&w->set, NETPROF_SET_ALL)) return EXIT_USAGE;
    w->nobody.per_cpu = per_cpu != 0;
    int code = reading_open_node(&w->np, &w->nobody, true, true);
    w->sees_processes = reading_is_here();
    return code == EXIT_NOTHING ? reading_nothing(w->np) : code;
}

static int watch_open_input(watch *w, int64_t window_ns)
{
    w->count = w->paths.count ? w->paths.count : 1;
    w->recordings = memory_calloc(w->count, sizeof *w->recordings);
    for (size_t i = 0; i < w->count; i++)
        w->recordings[i].history.window_ns = window_ns;
    return w->paths.count ? watch_open_files(w) : watch_open_node(w);
}

static int watch_check(watch *w, const char **arguments, size_t argument_count, int64_t *window_ns)
{
    *window_ns = 10000000000;
    w->interval_ns = 1000000000;
    if (interval_text && !parse_duration(interval_text, &w->interval_ns))
        return fail_usage("--interval: %s: expected a time like 500ms, 2s or 1m", safe(interval_text));
    if (window_text && !parse_duration(window_text, window_ns))
        return fail_usage("--window: %s: expected a time like 10s or 1m", safe(window_text));
    if (count < 0) return fail_usage("--count: %d: expected a positive number", count);
    if (once) count = 1;
    for (size_t i = 0; i < argument_count; i++) {
        int code = EXIT_DONE;
        if (listing_is_directory(arguments[i]))
            code = inputs_list(&w->paths, arguments[i]);
        else
            listing_add(&w->paths, arguments[i]);
        if (code) return code;
    }
    return inputs_rules(&w->rules, rules_path);
}

static int watch_begin(watch *w, int64_t window_ns)
{
    static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
    sigset_t signals;
    int code = watch_open_input(w, window_ns);
    if (code) return code;
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        sigaddset(&signals, watched[i]);
    if (!schedule_open(&w->clock, &signals)) return fail(EXIT_FILE, "no signals: %s", strerror(errno));
    schedule_add(&w->clock, w->interval_ns, schedule_now());
    w->drawing = !plain && !once && screen_open();
    if (w->drawing && isatty(STDIN_FILENO)) w->clock.input = STDIN_FILENO;
    return EXIT_DONE;
}

static int watch_run(const char **arguments, size_t argument_count)
{
    watch w = {0};
    int64_t window_ns;
    int code = watch_check(&w, arguments, argument_count, &window_ns);
    if (!code) code = watch_begin(&w, window_ns);
    if (!code) watch_loop(&w);
    screen_close();
    schedule_close(&w.clock);
    for (size_t i = 0; w.recordings && i < w.count; i++)
        recording_free(&w.recordings[i]);
    free(w.recordings);
    listing_free(&w.paths);
    processes_free(&w.processes);
    netprof_snapshot_free(&w.snapshot);
    netprof_close(w.np);
    rules_free(&w.rules);
    int closed = output_close();
    return code ? code : closed;
}

static const command watch_command = {
    .name = "watch",
    .draws = true,
    .arguments = "[FILE|DIR]...",
    .text = "Shows what this node does now: the rate of every port against its line, what went wrong, findings of the "
            "rules\n"
            "over the last seconds, CPU, memory, pressure, disks, power and GPUs, the busiest processes, and the last "
            "minutes.\n"
            "With FILE, the same from a recording that another netprof still writes; with several, or of DIR every "
            "*.netprof,\n"
            "a line for each. On a terminal it draws; into a pipe, or where TERM is dumb, each look is a "
            "block\n"
            "of plain text. What is not known is '?'; what does not exist is '-'.\n"
            "\n"
            "Keys: q quit, p pause, s sort, arrows and pages scroll, left and right in time of a recording, ? help.",
    .examples = "netprof watch --count 2 --interval 500ms\n"
                "netprof watch --once --interval 200ms --sources netdev,cpu\n"
                "netprof watch --count 1 run.netprof\n"
                "netprof watch --count 1 node1.netprof node2.netprof\n",
    .exits = "0 done, 2 wrong usage, 3 a file could not be read, 4 nothing to read on this node.",
    .options = options,
    .source_names = reading_source_names,
    .run = watch_run,
};

int main(int argc, char **argv)
{
    return command_program(&watch_command, argc, argv);
}

// netprof-watch: shows live what this node does, or a growing recording.
#define _GNU_SOURCE
#include "cli/command.h"
#include "follow.h"
#include "history.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "cli/output.h"
#include "measure/node_options.h"
#include "measure/record.h"
#include "screen.h"
#include "view.h"
#include "analysis/base/memory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int once, count, plain;
static char *interval_text, *window_text, *rules_path;

static const struct poptOption options[] = {
    {"interval", 't', POPT_ARG_STRING, &interval_text, 0, "look so often (1s)", "TIME"},
    {"window", 'w', POPT_ARG_STRING, &window_text, 0, "judge by rules what happened in this time (10s)", "TIME"},
    {"once", '1', POPT_ARG_NONE, &once, 0, "one look after one interval, as plain text", NULL},
    {"count", 'n', POPT_ARG_INT, &count, 0, "end after so many looks", "N"},
    {"plain", 0, POPT_ARG_NONE, &plain, 0, "plain text, a block for each look, also on a terminal", NULL},
    {"rules", 'r', POPT_ARG_STRING, &rules_path, 0, "more rules; one of the same name replaces a built-in one", "FILE"},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)set_option, 0, "Without a FILE:", NULL},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)reading_options, 0, NULL, NULL},
    POPT_TABLEEND,
};

typedef struct watch {
    int64_t interval_ns;
    const char *path; // NULL: this node
    follow *file;
    netprof *np;
    netprof_set set;
    sources_job nobody;
    netprof_snapshot snapshot;
    rules rules;
    history history;
    schedule clock;
    view *view;    // NULL: there are no two readings yet
    bool fresh;    // there are readings that were not shown yet
    char *trouble; // why there is nothing new; NULL
    bool drawing, paused, helping, done;
    view_order order;
    size_t top;
    int looks;
} watch;

// ---- taking ----

static void watch_take_history(void *user, const netprof_snapshot *s)
{
    watch *w = user;
    w->fresh = true;
    history_add(&w->history, s);
}

static void watch_set_trouble(watch *w, char *text)
{
    free(w->trouble);
    w->trouble = text;
}

static char *watch_trouble_text(const netprof_error *error)
{
    return memory_format("%s%s%s", *error->path ? safe(error->path) : "", *error->path ? ": " : "", error_text(error));
}

static void watch_take(watch *w)
{
    netprof_error error;
    netprof_err err;
    if (w->file)
        err = follow_look(w->file, watch_take_history, w, &error);
    else if (!(err = netprof_take(w->np, &w->snapshot, w->set, &error)))
        watch_take_history(w, &w->snapshot);
    watch_set_trouble(w, err ? watch_trouble_text(&error) : NULL);
}

static void watch_make_view(watch *w)
{
    netprof_error error;
    view *made;
    if (!w->fresh) return;
    netprof_err err = view_make(&made, &w->history, &w->rules, &error);
    if (err) {
        if (err != NETPROF_ERR_NOSOURCE) watch_set_trouble(w, watch_trouble_text(&error));
        return;
    }
    w->fresh = false;
    view_free(w->view);
    w->view = made;
}

// ---- showing ----

static double watch_age_s(const watch *w)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)((int64_t)t.tv_sec * 1000000000 + t.tv_nsec - w->view->wall_ns) / 1e9;
}

static void watch_head_lines(const watch *w, lines *l)
{
    lines_begin(l);
    lines_add(l, STRONG, "netprof watch ");
    lines_add(l, NORMAL, w->view ? w->view->host : "");
    if (w->view) lines_printf(l, NORMAL, "  %s", words_time(w->view->wall_ns).text);
    if (w->view) lines_printf(l, FAINT, "  over %s", safe(words_duration(w->view->elapsed_s).text));
    if (w->paused) lines_add(l, CAUTION, "  PAUSED");
    if (w->path) lines_printf(l, NORMAL, "  %s", safe(w->path));
    if (w->file && follow_ended(w->file))
        lines_add(l, CAUTION, " (ended)");
    else if (w->file && w->view && watch_age_s(w) > 3 * fmax(w->view->elapsed_s, (double)w->interval_ns / 1e9))
        lines_printf(l, CAUTION, " (nothing new for %s)", safe(words_duration(watch_age_s(w)).text));
    lines_begin(l);
    if (w->trouble)
        lines_printf(l, DANGER, "cannot read: %s", w->trouble);
    else if (w->view)
        view_verdict(w->view, l);
    else
        lines_add(l, NORMAL, w->path ? "waiting for two readings in the file" : "waiting for the second reading");
}

static void watch_help_lines(lines *l)
{
    static const char *const texts[] = {
        "q         quit",
        "p, space  pause and go on; readings are taken all the same",
        "s         sort the devices: as found, by rate, by share of the line, by name",
        "arrows, pages, Home, End (or j, k, g, G)  scroll",
        "?         this help and back",
        "",
        "RECEIVED, SENT  bytes per second over the last interval; >= : at least so much",
        "OF LINE         their share of LINE, what the port can carry each way",
        "PKTS/s          packets per second, both ways together",
        "TROUBLE         the largest counter of each kind that moved; all of them below",
        "?               not known;  -: there is none",
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
    lines_printf(l, TITLE, "q quit  p %s  s sort (%s)  arrows scroll  ? help", w->paused ? "go on" : "pause",
                 view_order_name(w->order));
}

static void watch_draw(watch *w)
{
    lines head = {.width = screen_width()}, body = head, foot = head;
    watch_head_lines(w, &head);
    if (w->helping)
        watch_help_lines(&body);
    else if (w->view)
        view_lines(w->view, &body);
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
    watch_head_lines(w, &l);
    if (w->view) view_lines(w->view, &l);
    if (w->looks) putchar('\n');
    watch_print_lines(&l);
    fflush(stdout);
    lines_free(&l);
}

// Takes a reading if there is one, and draws it.
static void watch_look(watch *w)
{
    watch_take(w);
    if (w->paused) return;
    bool news = w->fresh || w->trouble || (w->file && follow_ended(w->file)); // also that nothing comes any more
    watch_make_view(w);
    if (w->view) view_sort(w->view, w->order);
    if (w->drawing)
        watch_draw(w);
    else if (news && (w->view || w->trouble))
        watch_print_plain(w);
    if (w->view || w->trouble) w->looks += news || w->drawing;
    if (ferror(stdout)) w->done = true;
    if (count && w->looks >= count) w->done = true;
    // Nothing more comes from a recording that has ended; on a terminal the user may still look at it.
    if (!w->drawing && w->file && follow_ended(w->file)) w->done = true;
}

// ---- keys and signals ----

static void watch_scroll(watch *w, int by)
{
    if (by < 0 && w->top < (size_t)-by)
        w->top = 0;
    else
        w->top += (size_t)by; // drawing knows the end
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
        w->fresh |= w->order == VIEW_AS_FOUND; // made anew, they are as found
        break;
    case KEY_QUESTION:
        w->helping = !w->helping;
        w->top = 0;
        break;
    case KEY_LINE_UP: watch_scroll(w, -1); break;
    case KEY_LINE_DOWN: watch_scroll(w, 1); break;
    case KEY_PAGE_UP: watch_scroll(w, -page); break;
    case KEY_PAGE_DOWN: watch_scroll(w, page); break;
    case KEY_FIRST: w->top = 0; break;
    case KEY_LAST: w->top = SIZE_MAX / 2; break;
    case KEY_NONE: break;
    }
}

static void watch_obey_keys(watch *w)
{
    screen_key key;
    while (!w->done && (key = screen_read_key()) != KEY_NONE)
        watch_obey(w, key);
    if (w->done) return;
    if (!w->paused) watch_make_view(w);
    if (w->view) view_sort(w->view, w->order);
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

static int watch_open_input(watch *w)
{
    if (w->path) {
        w->file = follow_open(w->path);
        netprof_error error;
        // A wrong name is reported at once, before the screen is taken.
        return follow_look(w->file, watch_take_history, w, &error) ? fail_error(w->path, &error) : EXIT_DONE;
    }
    if (!reading_set(&w->set, NETPROF_SET_ALL)) return EXIT_USAGE;
    int code = reading_open_node(&w->np, &w->nobody, true, true);
    return code == EXIT_NOTHING ? reading_nothing(w->np) : code;
}

static int watch_check(watch *w, const char **arguments, size_t argument_count)
{
    int64_t window_ns = 10000000000;
    w->interval_ns = 1000000000;
    if (interval_text && !parse_duration(interval_text, &w->interval_ns))
        return fail_usage("--interval: %s: expected a time like 500ms, 2s or 1m", safe(interval_text));
    if (window_text && !parse_duration(window_text, &window_ns))
        return fail_usage("--window: %s: expected a time like 10s or 1m", safe(window_text));
    if (count < 0) return fail_usage("--count: %d: expected a positive number", count);
    if (argument_count > 1) return fail_usage("%s: one FILE at most", safe(arguments[1]));
    if (once) count = 1;
    w->history.window_ns = window_ns;
    w->path = argument_count ? arguments[0] : NULL;
    return inputs_rules(&w->rules, rules_path);
}

static int watch_begin(watch *w)
{
    static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
    sigset_t signals;
    int code = watch_open_input(w);
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
    int code = watch_check(&w, arguments, argument_count);
    if (!code) code = watch_begin(&w);
    if (!code) watch_loop(&w);
    screen_close();
    schedule_close(&w.clock);
    view_free(w.view);
    history_free(&w.history);
    follow_close(w.file);
    netprof_snapshot_free(&w.snapshot);
    netprof_close(w.np);
    rules_free(&w.rules);
    free(w.trouble);
    int closed = output_close();
    return code ? code : closed;
}

static const command watch_command = {
    .name = "watch",
    .arguments = "[FILE]",
    .text = "Shows what this node does now: the rate of every port against its line, what went wrong, findings of the "
            "rules\n"
            "over the last seconds, CPU, memory, pressure, disks, power and GPUs. With FILE, the same from a recording "
            "that\n"
            "another netprof still writes. On a terminal it draws; into a pipe, or where TERM is dumb, each look is a "
            "block\n"
            "of plain text. What is not known is '?'; what does not exist is '-'.\n"
            "\n"
            "Keys: q quit, p pause, s sort, arrows and pages scroll, ? help.",
    .examples = "netprof watch --count 2 --interval 500ms\n"
                "netprof watch --once --interval 200ms --sources netdev,cpu\n"
                "netprof watch --count 1 run.netprof\n",
    .exits = "0 done, 2 wrong usage, 3 a file could not be read, 4 nothing to read on this node.",
    .options = options,
    .source_names = reading_source_names,
    .run = watch_run,
};

int main(int argc, char **argv)
{
    return command_program(&watch_command, argc, argv);
}

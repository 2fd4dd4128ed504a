// What transfers waited for, and which adapters they went through.
#include "nccl_page.h"

#include "analysis/base/words.h"
#include "render/chart/charts_job.h"

#include <math.h>
#include <string.h>

enum { WAITS_BARS = 6, WAITS_TABLES = 12, WAITS_PROCESSES = 32, WAITS_ADAPTERS = 32, WAITS_PARTS = 3 };

static const char *waits_share(nccl_page *p, double part, double all)
{
    return nccl_page_keep(p, number_percent(all > 0 ? part / all : NAN));
}

// ---- by collective: bars ----

static share_row waits_bar(nccl_page *p, const char *label, const char *right, const char *const names[WAITS_PARTS],
                           const theme_ink inks[WAITS_PARTS], const double us[WAITS_PARTS])
{
    share_segment *parts = arena_make(p->memory, WAITS_PARTS, sizeof *parts);
    double all = us[0] + us[1] + us[2];
    for (int i = 0; i < WAITS_PARTS; i++)
        parts[i] = (share_segment){names[i], waits_share(p, us[i], all), us[i], inks[i]};
    return (share_row){label, right, parts, WAITS_PARTS};
}

// Would both be the same word with only so many letters of each end?
static bool waits_cut_alike(const char *a, const char *b, size_t end)
{
    size_t p = strlen(a), q = strlen(b);
    return strcmp(a, b) != 0 && p > 2 * end && q > 2 * end && strncmp(a, b, end) == 0 &&
           strcmp(a + p - end, b + q - end) == 0;
}

// How many letters of each end tell a name from all others that are shown.
static size_t waits_letters(const nccl_page *p, const char *label)
{
    enum { LEAST = 4 };
    size_t end = LEAST, half = strlen(label) / 2;
    for (size_t i = 0; i < p->v->waits.count; i++)
        while (end < half && waits_cut_alike(label, p->v->waits.items[i].label, end))
            end++;
    return end;
}

// The communicator, where there are several; of a long name or id both ends, as there is little room.
static const char *waits_where(nccl_page *p, const char *label)
{
    size_t length = strlen(label), end = waits_letters(p, label);
    bool plain = length > 2 * end + 6; // cut only where every letter is a byte, and it saves something
    for (size_t i = 0; i < length; i++)
        plain = plain && (unsigned char)label[i] < 0x80;
    if (p->v->communicators < 2) return "";
    if (!plain) return arena_format(p->memory, ", %s", label);
    return arena_format(p->memory, ", %.*s\xe2\x80\xa6%s", (int)end, label, label + length - end);
}

static void waits_tell_bars(nccl_page *p)
{
    static const char *const sending[] = {"own GPU", "receiver's credit", "wire"}, *const receiving[] = {
                                                                                       "data, whoever was late",
                                                                                       "flush", "own GPU"};
    static const theme_ink inks[] = {INK_CATEGORY + 2, INK_CATEGORY + 1, INK_CATEGORY},
                           receive_inks[] = {INK_CATEGORY, INK_CATEGORY + 3, INK_CATEGORY + 2};
    const nccl_view *v = p->v;
    share_row rows[2 * WAITS_BARS];
    size_t count = 0;
    for (size_t i = 0; i < v->waits.count && i < WAITS_BARS; i++) {
        const nccl_view_wait *x = &v->waits.items[i];
        const double send[] = {x->gpu_us, x->credit_us, x->wire_us},
                     receive[] = {x->data_us, x->flush_us, x->consume_us};
        const char *size = nccl_page_size(p, x->size), *where = waits_where(p, x->label);
        const char *step = isfinite(x->middle_us)
                               ? arena_format(p->memory, "%s a step", number_duration(x->middle_us / 1e6).text)
                               : "";
        if (send[0] + send[1] + send[2] > 0)
            rows[count++] =
                waits_bar(p, arena_format(p->memory, "%s %s sends%s", x->coll, size, where), step, sending, inks, send);
        if (receive[0] + receive[1] + receive[2] > 0)
            rows[count++] = waits_bar(p, arena_format(p->memory, "%s %s receives%s", x->coll, size, where), "",
                                      receiving, receive_inks, receive);
    }
    if (!count) return;
    document_add(p->doc,
                 chart_shares((chart_head){"waits", "What collectives waited for",
                                           "shares of the time of their transfers' steps, which overlap; at the "
                                           "right the median of the ranks"},
                              rows, count));
}

// ---- tables ----

enum { WAITING_COLUMNS = 11 };

static void waits_add_rank(nccl_page *p, sheet *t, const nccl_view_waiting *x)
{
    double send = x->gpu_us + x->credit_us + x->wire_us, receive = x->data_us + x->flush_us + x->consume_us;
    sheet_text(t, arena_format(p->memory, "rank %s", x->name));
    sheet_text(t, x->host);
    sheet_number(t, x->sent ? words_at_least(x->sent_at_least, number_volume((double)x->sent_bytes, "bytes"))
                            : number_plain(NAN));
    sheet_number(t, number_duration(x->sent ? send / (double)x->sent / 1e6 : NAN));
    sheet_text(t, waits_share(p, x->gpu_us, send));
    sheet_text(t, waits_share(p, x->credit_us, send));
    sheet_text(t, waits_share(p, x->wire_us, send));
    sheet_number(t, number_duration(x->received ? receive / (double)x->received / 1e6 : NAN));
    sheet_text(t, waits_share(p, x->data_us, receive));
    sheet_text(t, waits_share(p, x->flush_us, receive));
    sheet_text(t, waits_share(p, x->consume_us, receive));
}

static const table_column waiting_columns[WAITING_COLUMNS] = {
    {"rank", TABLE_TEXT, 1},      {"host", TABLE_TEXT, 1},
    {"sent", TABLE_NUMBER, 0},    {"a step", TABLE_NUMBER, 0},
    {"own GPU", TABLE_NUMBER, 0}, {"credit", TABLE_NUMBER, 0},
    {"wire", TABLE_NUMBER, 0},    {"received: a step", TABLE_NUMBER, 0},
    {"data", TABLE_NUMBER, 0},    {"flush", TABLE_NUMBER, 0},
    {"own GPU", TABLE_NUMBER, 0}};

static void waits_add_collective(nccl_page *p, sheet *t, const nccl_view_wait *x)
{
    const char *mostly = !*x->mostly ? ""
                         : strcmp(x->mostly, "mixed") == 0
                             ? "; sending waited for nothing alone more than for the rest"
                             : arena_format(p->memory, "; sending mostly waited for: %s", x->mostly);
    const char *some =
        x->items.count < x->ranks ? arena_format(p->memory, ", the %zu with the longest steps", x->items.count) : "";
    sheet_heading(t,
                  arena_format(p->memory, "%s of %s in %s: %s, %s%s%s", x->coll, nccl_page_size(p, x->size), x->label,
                               words_many(x->calls, "call").text, words_many(x->ranks, "rank").text, some, mostly));
    for (size_t i = 0; i < x->items.count; i++)
        waits_add_rank(p, t, &x->items.items[i]);
}

static void waits_tell_collectives(nccl_page *p)
{
    const nccl_view *v = p->v;
    size_t shown = v->waits.count < WAITS_TABLES ? v->waits.count : WAITS_TABLES;
    uint64_t left = v->waits.count - shown + v->waits_left;
    sheet t = sheet_open(WAITING_COLUMNS);
    for (size_t i = 0; i < shown; i++)
        waits_add_collective(p, &t, &v->waits.items[i]);
    sheet_end(&t, p->doc,
              (chart_head){"waits-ranks", "Waiting by collective and rank",
                           "of the steps that sent, and of those that received; a step: its mean time"},
              waiting_columns);
    if (left)
        document_note(p->doc, arena_format(p->memory, "%s more; all ranks of all are in waits.csv (netprof nccl -o).",
                                           words_many(left, "collective and size is|collectives and sizes are").text));
}

static void waits_tell_processes(nccl_page *p)
{
    const nccl_view *v = p->v;
    size_t shown = v->transfers.count < WAITS_PROCESSES ? v->transfers.count : WAITS_PROCESSES;
    uint64_t left = v->transfers.count - shown + v->transfers_left;
    sheet t = sheet_open(WAITING_COLUMNS);
    for (size_t i = 0; i < shown; i++)
        waits_add_rank(p, &t, &v->transfers.items[i]);
    sheet_end(
        &t, p->doc,
        (chart_head){"transfers", "Waiting by rank", "all its transfers together; those with the longest steps first"},
        waiting_columns);
    if (left)
        document_note(p->doc, arena_format(p->memory, "%s more; all are in proxies.csv (netprof nccl -o).",
                                           words_many(left, "rank has|ranks have").text));
}

// ---- adapters ----

static void waits_say_crossing(nccl_page *p)
{
    const nccl_view *v = p->v;
    if (!(v->between_bytes > 0)) return;
    document_note(
        p->doc,
        arena_format(p->memory, "Of %s between hosts, %s went between ranks %s.",
                     number_volume(v->between_bytes, "bytes").text,
                     number_percent(v->across_bytes / v->between_bytes).text,
                     v->places_by_adapter
                         ? "that send through adapters of unlike names: across rails, where adapters of one name "
                           "share one"
                         : "of unlike places on their hosts, in the order of ranks: across rails, where each place "
                           "has a NIC of its own"));
}

// Are both of one process, direction and way?
static bool waits_share_a_row(const nccl_view_adapter *a, const nccl_view_adapter *b)
{
    return a->pid == b->pid && strcmp(a->host, b->host) == 0 && strcmp(a->way, b->way) == 0 &&
           strcmp(a->by, b->by) == 0;
}

// "mlx5_2 9.61 MB (91.7 %)"; of what is received through RDMA the bytes are not told.
static const char *waits_adapter(nccl_page *p, const nccl_view_adapter *x)
{
    const char *name = *x->adapter        ? x->adapter
                       : isnan(x->member) ? "not told"
                                          : arena_format(p->memory, "member %.0f, name not known", x->member);
    if (isnan(x->bytes)) return name;
    return arena_format(
        p->memory, "%s %s%s", name, number_volume(x->bytes, "bytes").text,
        isnan(x->share) || x->share >= 1 ? "" : arena_format(p->memory, " (%s)", number_percent(x->share).text));
}

static size_t waits_add_adapter_row(nccl_page *p, sheet *t, size_t i)
{
    const nccl_view *v = p->v;
    const nccl_view_adapter *x = &v->adapters.items[i];
    const char *names = "";
    uint64_t requests = 0;
    for (; i < v->adapters.count && waits_share_a_row(x, &v->adapters.items[i]); i++) {
        names = arena_format(p->memory, "%s%s%s", names, *names ? ", " : "", waits_adapter(p, &v->adapters.items[i]));
        requests += v->adapters.items[i].requests;
    }
    sheet_text(t, arena_format(p->memory, "rank %s", x->name));
    sheet_text(t, x->host);
    sheet_text(t, x->way);
    sheet_text(t, x->by);
    sheet_number(t, number_grouped(requests));
    sheet_text(t, names);
    sheet_text(t, *x->remark ? x->remark : NUMBER_UNKNOWN);
    return i;
}

static void waits_add_adapters(nccl_page *p)
{
    enum { COLUMNS = 7 };
    static const table_column columns[COLUMNS] = {
        {"rank", TABLE_TEXT, 0},       {"host", TABLE_TEXT, 0},     {"way", TABLE_TEXT, 0},    {"by", TABLE_TEXT, 0},
        {"requests", TABLE_NUMBER, 0}, {"adapters", TABLE_TEXT, 1}, {"finding", TABLE_TEXT, 0}};
    const nccl_view *v = p->v;
    size_t at = 0;
    sheet t = sheet_open(COLUMNS);
    for (size_t i = 0; i < WAITS_ADAPTERS && at < v->adapters.count; i++)
        at = waits_add_adapter_row(p, &t, at);
    sheet_end(&t, p->doc,
              (chart_head){"adapters", "Adapters that were used",
                           "what each GPU's rank sent and received through which, and its share of what it sent"},
              columns);
    if (!at) return;
    if (at < v->adapters.count || v->adapters_left)
        document_note(p->doc, "All ranks are in adapters.csv (netprof nccl -o).");
    waits_say_crossing(p);
}

void nccl_page_add_waits(nccl_page *p)
{
    const nccl_view *v = p->v;
    if (!v->waits.count && !v->transfers.count && !v->adapters.count) return;
    document_part(p->doc, "Transfers");
    waits_tell_bars(p);
    waits_tell_collectives(p);
    if (v->untied)
        document_note(p->doc, arena_format(p->memory,
                                           "Of %s it is not known of which call %s: collectives count their "
                                           "calls alike, or the log lacks the call. The table by rank has them.",
                                           words_many(v->untied, "record of the proxies|records of the proxies").text,
                                           v->untied == 1 ? "it is" : "they are"));
    if (!v->waits.count || v->communicators > 1 || v->untied) waits_tell_processes(p);
    waits_add_adapters(p);
    if (!v->adapters.count && v->recorded_files)
        document_note(p->doc,
                      "Through which adapters is not known: NCCL told no requests to network devices. It does where it "
                      "was built with NET_PROFILER=1, and uses a network transport of its own.");
}

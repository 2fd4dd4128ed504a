// Page 1: the verdict, who moved what, what is healthy, what was busy.
#include "render/base/buffer.h"
#include "render/base/number.h"
#include "pair.h"
#include "analysis/base/saturating_sum.h"
#include "analysis/base/signals.h"
#include "analysis/base/words.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRAFFIC_ROWS = 10, TRAFFIC_TOP = 8, VERDICT_LINES = 6 };

static const char *overview_device_name(const pair *p, size_t device)
{
    return p->schema->devices[device].name;
}

// ---- title and sub-lines ----

static bool overview_is_idle(const pair *p)
{
    size_t idle = 0, known = 0;
    if (p->is_virtual) return false; // its speed is made up
    for (size_t i = 0; i < p->traffic_count; i++) {
        double speed = evaluation_speed(&p->e, p->traffic[i]);
        double most = fmax(pair_role_rate(p, p->traffic[i], CATALOG_RX_BYTES),
                           pair_role_rate(p, p->traffic[i], CATALOG_TX_BYTES));
        known += speed > 0;
        idle += speed > 0 && 8 * most / speed < EVALUATION_IDLE_SHARE;
    }
    return known && idle == known && known == p->traffic_count;
}

static size_t overview_alike(const findings *f, const finding *x)
{
    size_t n = 0;
    for (size_t i = 0; i < f->count; i++)
        n += pair_alike(&f->items[i], x);
    return n;
}

// A claim without what is said about its peers.
static int overview_claim_length(const char *claim)
{
    const char *peers = strstr(claim, "; its peer");
    return peers ? (int)(peers - claim) : (int)strlen(claim);
}

// "lo", "lo and veth0", "lo and 3 others": the virtual devices, the busiest first.
static void overview_append_virtual(const pair *p, buffer *b)
{
    size_t most = 0;
    double rates[2] = {-1, -1};
    for (size_t i = 0; i < p->traffic_count; i++) {
        double in = pair_role_rate(p, p->traffic[i], CATALOG_RX_BYTES),
               out = pair_role_rate(p, p->traffic[i], CATALOG_TX_BYTES);
        double rate = (isnan(in) ? 0 : in) + (isnan(out) ? 0 : out);
        if (rate > rates[0]) most = i, rates[0] = rate;
    }
    buffer_text(b, overview_device_name(p, p->traffic[most]));
    if (p->traffic_count == 2) buffer_printf(b, " and %s", overview_device_name(p, p->traffic[!most]));
    if (p->traffic_count > 2) buffer_printf(b, " and %zu others", p->traffic_count - 1);
}

static void overview_append_virtual_title(const pair *p, buffer *b)
{
    buffer_text(b, "; all traffic stayed on the host, through ");
    overview_append_virtual(p, b);
}

// As the verdict, but without counters and paths.
static void overview_append_blind_title(const findings *f, buffer *b)
{
    const finding_gap *gap = f->gap_count ? &f->gaps[0] : NULL;
    buffer_text(b, "Could not be judged: ");
    if (!gap) {
        buffer_text(b, "no rule found its counters");
        return;
    }
    const finding_unknown *u = &f->unknown[gap->unknown];
    if (u->rule && u->sys_errno == EBADMSG && 2 * f->unknown_checks > f->judged) {
        buffer_printf(b, "%s gave no numbers", gap->where);
        return;
    }
    if (u->rule)
        buffer_printf(b, "%s: %s not made, %s", gap->where, words_many(gap->checks, "check").text, gap->cause);
    else
        buffer_printf(b, "%s: %s", gap->where, gap->cause);
}

static void overview_append_good_title(const pair *p, buffer *b)
{
    buffer_text(b, overview_is_idle(p) ? "Nearly idle network, no fault seen" : "No fault seen");
    if (p->is_virtual)
        overview_append_virtual_title(p, b);
    else if (p->f->places)
        buffer_printf(b, " on %s", p->f->places);
}

static void overview_set_title(const pair *p, document *doc)
{
    const findings *f = p->f;
    buffer b = {0};
    if (f->severity == SEVERITY_UNKNOWN) {
        overview_append_blind_title(f, &b);
    } else if (f->severity < SEVERITY_UNKNOWN) {
        overview_append_good_title(p, &b);
    } else {
        const finding *x = &f->items[0];
        size_t same = overview_alike(f, x);
        buffer_text(&b, finding_who(f, x).text);
        if (same > 1 && !x->alike) buffer_printf(&b, " and %s", words_many(same - 1, "other").text);
        if (x->claim) buffer_printf(&b, ": %.*s", overview_claim_length(x->claim), x->claim);
    }
    document_title(doc, b.data ? b.data : "");
    buffer_free(&b);
}

#define DOT "  \xc2\xb7  "

static void overview_source_part(pair *p, const pair_source *s, buffer *b)
{
    double speed = evaluation_speed(&p->e, s->devices[0]);
    size_t repeats = 0;
    for (size_t i = 0; i < s->count; i++)
        repeats += evaluation_counts_again(&p->e, s->devices[i]);
    if (repeats == s->count) return; // the interfaces of NICs that are named already
    for (size_t i = 1; i < s->count; i++)
        if (evaluation_speed(&p->e, s->devices[i]) != speed) speed = 0;
    buffer_printf(b, "%s%zu %s %s", b->size ? ", " : "", s->count, s->name, pair_noun(s->name, s->count != 1));
    if (speed > 0) buffer_printf(b, " at %s", number_prefixed(speed, "b/s").text);
}

// "2025-05-02 16:41:11.7 -> 16:41:55.8 UTC"; the date again only where it is another. Rounded to the nearest tenth.
static void overview_append_span(const netprof_delta *delta, buffer *b)
{
    enum { HALF_TENTH_NS = 50000000 };
    number_text begin = number_utc(sum_capped_signed(delta->wall_begin_ns, HALF_TENTH_NS), 1),
                end = number_utc(sum_capped_signed(delta->wall_end_ns, HALF_TENTH_NS), 1);
    bool same_day = strncmp(begin.text, end.text, 10) == 0 && strlen(end.text) > 11;
    buffer_printf(b, "%s%s \xe2\x86\x92 %s UTC", b->size ? DOT : "", begin.text, end.text + (same_day ? 11 : 0));
}

static const char *overview_run_fact(const pair *p, const char *key)
{
    const dataset *set = p->in->set;
    return set && set->run_count ? dataset_fact(&set->runs[set->run_count - 1], key) : NULL;
}

static void overview_add_sublines(pair *p, document *doc)
{
    const netprof_delta *delta = p->d->delta;
    const dataset *set = p->in->set;
    const char *host = set && set->run_count ? set->runs[set->run_count - 1].host : "";
    const char *command = overview_run_fact(p, "command"), *job = overview_run_fact(p, "job_id");
    const char *status = overview_run_fact(p, "exit_status"), *signal = overview_run_fact(p, "signal");
    int64_t elapsed = p->d->total.elapsed_ns ? p->d->total.elapsed_ns : delta->interval_ns;
    buffer b = {0};
    for (size_t i = 0; i < p->source_count; i++)
        if (p->sources[i].count && p->sources[i].physical) overview_source_part(p, &p->sources[i], &b);
    if (delta->wall_begin_ns > 0) overview_append_span(delta, &b);
    buffer_printf(&b, "%s%s" DOT "%s of %s counters changed", b.size ? DOT : "",
                  elapsed > 0 ? number_duration((double)elapsed / 1e9).text : "unknown time",
                  number_grouped(p->d->total.changed).text, number_grouped(p->d->total.counters).text);
    document_subline(doc, b.data ? b.data : "");
    b.size = 0;
    if (host && *host) buffer_printf(&b, "Node %s", host);
    if (job && *job) buffer_printf(&b, "%sjob %s", b.size ? DOT : "", job);
    if (command && *command) buffer_printf(&b, "%scommand: %s", b.size ? DOT : "", command);
    if (signal)
        buffer_printf(&b, "%sended by %s", b.size ? ", " : "", signals_text(atoi(signal)).text);
    else if (status && strcmp(status, "0") != 0)
        buffer_printf(&b, "%sexit status %s", b.size ? ", " : "", status);
    if (b.size) document_subline(doc, b.data);
    if (delta->wall_end_ns < delta->wall_begin_ns)
        document_subline(doc, "The second snapshot is older than the first: were they given the wrong way round?");
    buffer_free(&b);
}

// ---- the verdict's lines ----

// "cxi2: 5.67 blocked cycles ...; also cxi3 (5.63)"
static void overview_finding_line(const findings *f, size_t at, buffer *b)
{
    enum { NAMED = 3 };
    const finding *x = &f->items[at];
    size_t others = overview_alike(f, x) - 1, listed = 0;
    char value[48];
    buffer_printf(b, "%s", finding_device(f, x));
    if (others > NAMED) buffer_printf(b, " and %zu others", others);
    buffer_printf(b, ": %.*s", x->claim ? overview_claim_length(x->claim) : 0, x->claim ? x->claim : "");
    for (size_t i = at + 1; i < f->count && others <= NAMED; i++) {
        const finding *y = &f->items[i];
        if (!pair_alike(x, y)) continue;
        finding_value_text(y, value, sizeof value);
        buffer_printf(b, "%s%s%s%s%s", listed++ ? ", " : "; also ", finding_device(f, y), *value ? " (" : "", value,
                      *value ? ")" : "");
    }
}

// Where nothing can be judged, what is worth watching of the readings is one more reason for it, and no verdict.
static severity overview_line_severity(const pair *p, const finding *x)
{
    return p->f->severity == SEVERITY_UNKNOWN && x->severity > SEVERITY_UNKNOWN ? SEVERITY_UNKNOWN : x->severity;
}

static size_t overview_finding_lines(const pair *p, document *doc, severity from, severity to, size_t most)
{
    size_t lines = 0, left = 0;
    for (size_t i = 0; i < p->f->count; i++) {
        const finding *x = &p->f->items[i];
        if (x->severity < from || x->severity > to || !pair_is_first(p->f, i)) continue;
        if (strcmp(x->rule->name, "idle") == 0) continue; // said with the traffic
        if (lines >= most) {
            left++;
            continue;
        }
        buffer b = {0};
        overview_finding_line(p->f, i, &b);
        document_verdict(doc, overview_line_severity(p, x), b.data ? b.data : "");
        buffer_free(&b);
        lines++;
    }
    if (left && from > SEVERITY_INFO)
        document_verdict(
            doc, from,
            arena_format(p->memory, "and %s: see the list of findings", words_many(left, "more finding").text));
    return lines;
}

// "up all the time by their codewords": of those that could be read, and which that was not.
static void overview_links_line(pair *p, document *doc)
{
    size_t up = 0, known = 0, device = 0;
    const pair_source *s = p->source_count ? &p->sources[0] : NULL;
    const char *unread[4] = {NULL};
    if (!s || strcmp(s->name, "cxi") != 0) return;
    for (size_t i = 0; i < s->count; i++) {
        double line = evaluation_line_rate(&p->e, s->devices[i]);
        double share = line > 0 ? 5440 * pair_counter_rate(p, s->devices[i], "hni_pcs_good_cw") / line : NAN;
        reading bad = pair_value(p, "hni_pcs_uncorrected_cw", s->devices[i]);
        if (isnan(share) || bad.status != READING_OK || pair_was_reset(p, s->devices[i])) {
            if (i - known < 4) unread[i - known] = overview_device_name(p, s->devices[i]);
            continue;
        }
        known++;
        up += share > .9999 && share < 1.0001 && !(bad.number > 0);
        device = s->devices[i];
    }
    if (!known || up < known) return;
    double rate = pair_counter_rate(p, device, "hni_pcs_good_cw");
    buffer b = {0};
    if (known < s->count)
        buffer_printf(&b, "%zu of %zu links %s", known, s->count, words_noun(known, "was|were").text);
    else
        buffer_text(&b, s->count == 1 ? "The link was" : "All links were");
    buffer_printf(&b, " up all the time at %.1f Gb/s on the wire (%s codewords/s%s), none uncorrected",
                  rate * 5440 / 1e9, number_prefixed(rate, "").text, known == 1 ? "" : " each");
    if (known < s->count) {
        size_t count = s->count - known;
        char *names = findings_names_text(unread, count < 4 ? count : 4);
        buffer_printf(&b, "; %s%s %s not read", names, count > 4 ? " and more" : "",
                      words_noun(count, "was|were").text);
        free(names);
    }
    buffer_text(&b, ".");
    document_verdict(doc, SEVERITY_OK, b.data ? b.data : "");
    buffer_free(&b);
}

// The two devices that carried nearly everything, where there are more than two.
static void overview_concentration(const pair *p, uint32_t role, const char *what, buffer *b)
{
    double sum = 0, first = -1, second = -1;
    size_t a = 0, c = 0;
    for (size_t i = 0; i < p->traffic_count; i++) {
        double v = pair_role_rate(p, p->traffic[i], role);
        if (isnan(v)) continue;
        sum += v;
        if (v > first) {
            second = first;
            c = a;
            first = v;
            a = p->traffic[i];
        } else if (v > second) {
            second = v;
            c = p->traffic[i];
        }
    }
    if (p->traffic_count < 3 || !(sum > 0) || (first + second) / sum < .9) return;
    bool one = first / sum >= .9;
    buffer_printf(b, "%s%s of the bytes %s on %s%s%s", b->size ? "; " : "",
                  number_percent((one ? first : first + second) / sum).text, what, overview_device_name(p, a),
                  one ? "" : " and ", one ? "" : overview_device_name(p, c));
}

// The same bytes may be in several virtual devices, so they are not added.
static void overview_virtual_traffic_line(const pair *p, document *doc)
{
    buffer b = {0};
    if (p->idle_ports)
        buffer_printf(&b, "Nothing through %s; ", words_noun(p->idle_ports, "the physical port|physical ports").text);
    else
        buffer_text(&b, "No physical port was read; ");
    buffer_text(&b, "through virtual ones:");
    for (size_t i = 0; i < p->traffic_count && i < 3; i++) {
        double in = pair_role_rate(p, p->traffic[i], CATALOG_RX_BYTES),
               out = pair_role_rate(p, p->traffic[i], CATALOG_TX_BYTES);
        buffer_printf(&b, "%s %s %s in, %s out", i ? ";" : "", overview_device_name(p, p->traffic[i]),
                      number_line_rate(in).text, number_line_rate(out).text);
    }
    if (p->traffic_count > 3) buffer_printf(&b, "; %zu more", p->traffic_count - 3);
    buffer_text(&b, ".");
    document_verdict(doc, SEVERITY_INFO, b.data ? b.data : "");
    buffer_free(&b);
}

static void overview_traffic_line(const pair *p, document *doc)
{
    double in = 0, out = 0, share = 0;
    buffer b = {0};
    if (p->is_virtual) {
        overview_virtual_traffic_line(p, doc);
        return;
    }
    for (size_t i = 0; i < p->traffic_count; i++) {
        double rx = pair_role_rate(p, p->traffic[i], CATALOG_RX_BYTES),
               tx = pair_role_rate(p, p->traffic[i], CATALOG_TX_BYTES);
        double speed = evaluation_speed(&p->e, p->traffic[i]);
        in += isnan(rx) ? 0 : rx;
        out += isnan(tx) ? 0 : tx;
        if (speed > 0) share = fmax(share, 8 * fmax(rx, tx) / speed);
    }
    if (!p->traffic_count) return;
    buffer_printf(&b, "%s in and %s out", number_line_rate(in).text, number_line_rate(out).text);
    if (p->traffic_count > 1) buffer_printf(&b, " over %zu ports", p->traffic_count);
    if (share > 0) buffer_printf(&b, ", at most %s of a line", number_percent(share).text);
    buffer_text(&b, overview_is_idle(p) ? ": too little to judge speed." : ".");
    document_verdict(doc, SEVERITY_INFO, b.data ? b.data : "");
    b.size = 0;
    overview_concentration(p, CATALOG_RX_BYTES, "arrived", &b);
    overview_concentration(p, CATALOG_TX_BYTES, "left", &b);
    if (b.size) buffer_text(&b, ".");
    if (b.size) document_verdict(doc, SEVERITY_INFO, b.data);
    buffer_free(&b);
}

// What was looked at on every device and found clean, in the strip's words.
static void overview_clean_line(pair *p, document *doc)
{
    static const struct {
        const char *word, *formula;
    } rows[] = {{"pause", "max(hni_rx_paused_*, hni_tx_paused_*)"},
                {"retry", "pct_retry_srb_requests"},
                {"time-out", "sum(pct_spt_timeouts, pct_sct_timeouts)"},
                {"NACK", "sum(pct_no_tct_nacks, pct_no_trs_nacks, pct_no_mst_nacks, pct_trs_rsp_nack_drops)"},
                {"link replay", "sum(hni_llr_tx_replay_event, hni_llr_rx_replay_event)"}};
    enum { ROWS = sizeof rows / sizeof *rows };
    const pair_source *s = p->source_count ? &p->sources[0] : NULL;
    const char *clean[ROWS];
    size_t count = 0;
    buffer b = {0};
    if (!s || strcmp(s->name, "cxi") != 0 || !s->count) return;
    for (size_t k = 0; k < ROWS; k++) {
        bool zero = true;
        for (size_t i = 0; i < s->count && zero; i++) {
            reading r = pair_value(p, rows[k].formula, s->devices[i]);
            zero = r.status == READING_OK && r.number == 0;
        }
        if (zero) clean[count++] = rows[k].word;
    }
    for (size_t i = 0; i < count; i++)
        buffer_printf(&b, "%s%s", !i ? "No " : i + 1 == count ? " or " : ", ", clean[i]);
    if (count) buffer_printf(&b, " on %s in the interval.", s->count == 1 ? "the NIC" : "any NIC");
    if (count) document_verdict(doc, SEVERITY_OK, b.data ? b.data : "");
    buffer_free(&b);
}

static void overview_generic_clean(const pair *p, document *doc)
{
    char text[120];
    if (!p->f->judged || (p->source_count && strcmp(p->sources[0].name, "cxi") == 0)) return;
    for (size_t i = 0; i < p->f->count; i++)
        if (p->f->items[i].severity >= SEVERITY_WATCH) return;
    snprintf(text, sizeof text, "%zu checks were made and found nothing worth watching.", p->f->judged);
    document_verdict(doc, SEVERITY_OK, text);
}

// Where less was judged than not: what is known all the same.
static void overview_made_line(const pair *p, document *doc)
{
    const findings *f = p->f;
    size_t well = 0;
    for (size_t i = 0; i < f->check_count; i++)
        well += f->checks[i].judged && f->checks[i].severity == SEVERITY_OK;
    if (!well) return;
    const char *of = well < f->judged ? arena_format(p->memory, "%zu of ", well) : "";
    document_verdict(doc, SEVERITY_OK,
                     arena_format(p->memory, "%s%s %s that could be made found nothing; see the list below", of,
                                  *of ? "the" : "The", words_many(f->judged, "check").text));
}

// The counter and its path are below, in what to do, and in the list of what could not be judged.
static const char *overview_gap_words(const pair *p, const finding_gap *gap)
{
    return arena_format(p->memory, "%s: %s not made (at worst %s): %s", gap->where,
                        words_many(gap->checks, "check").text, severity_name(gap->hides), gap->cause);
}

// What could not be judged: a line for each cause that matters, or one for all that do not.
static void overview_unknown_lines(const pair *p, document *doc)
{
    enum { NAMED = 3 };
    const findings *f = p->f;
    size_t mattering = 0;
    for (size_t i = 0; i < f->gap_count; i++)
        mattering += f->gaps[i].matters;
    for (size_t i = 0; i < mattering && i < NAMED; i++) // they come first
        document_verdict(doc, SEVERITY_UNKNOWN, overview_gap_words(p, &f->gaps[i]));
    if (mattering > NAMED)
        document_verdict(doc, SEVERITY_UNKNOWN,
                         arena_format(p->memory, "and %s: see what could not be judged",
                                      words_many(mattering - NAMED, "other cause").text));
    if (mattering || !f->gap_count) return;
    document_verdict(doc, SEVERITY_INFO,
                     arena_format(p->memory, "%s could not be made: %s: %s%s",
                                  words_many(f->unknown_checks, "check").text, f->gaps[0].where, f->gaps[0].cause,
                                  f->gap_count > 1 ? ", \xe2\x80\xa6" : ""));
}

static void overview_add_verdict(pair *p, document *doc)
{
    if (!p->f->judged)
        document_verdict(doc, SEVERITY_UNKNOWN, "No rule found its counters in these files: nothing could be judged.");
    if (p->f->severity > SEVERITY_WATCH) {
        size_t lines = overview_finding_lines(p, doc, SEVERITY_WARN, SEVERITY_CRITICAL, VERDICT_LINES - 2);
        overview_finding_lines(p, doc, SEVERITY_WATCH, SEVERITY_WATCH, lines < 4 ? 4 - lines : 1);
        overview_unknown_lines(p, doc);
        overview_traffic_line(p, doc);
        return;
    }
    bool unknown = p->f->severity == SEVERITY_UNKNOWN;
    if (unknown) overview_unknown_lines(p, doc);
    if (pair_is_unjudged(p)) overview_made_line(p, doc);
    size_t lines = overview_finding_lines(p, doc, SEVERITY_WATCH, unknown ? SEVERITY_CRITICAL : SEVERITY_WATCH, 3);
    if (p->f->is_blind && !unknown) overview_unknown_lines(p, doc);
    if (p->d->total.elapsed_ns > 0) overview_clean_line(p, doc);
    overview_generic_clean(p, doc);
    overview_links_line(p, doc);
    overview_traffic_line(p, doc);
    overview_finding_lines(p, doc, SEVERITY_INFO, SEVERITY_INFO, lines ? 1 : 2);
    if (!p->f->is_blind) overview_unknown_lines(p, doc);
}

// ---- traffic ----

static double overview_share_of(const pair *p, size_t device, double rate)
{
    double speed = evaluation_speed(&p->e, device);
    return speed > 0 ? 8 * rate / speed : NAN;
}

typedef struct weighed {
    double rate;
    size_t device;
} weighed;

static int overview_by_rate(const void *a, const void *b)
{
    const weighed *x = a, *y = b;
    if (x->rate != y->rate) return x->rate < y->rate ? 1 : -1;
    return (x->device > y->device) - (x->device < y->device);
}

// All devices in their order, or the busiest when there are many. Returns how many.
static size_t overview_choose(const pair *p, size_t chosen[TRAFFIC_ROWS], double rest[2])
{
    size_t n = p->traffic_count;
    rest[0] = rest[1] = 0;
    weighed *list = n > TRAFFIC_ROWS ? calloc(n, sizeof *list) : NULL;
    for (size_t i = 0; i < n && n <= TRAFFIC_ROWS; i++)
        chosen[i] = p->traffic[i];
    if (n <= TRAFFIC_ROWS || !list) return n <= TRAFFIC_ROWS ? n : 0;
    for (size_t i = 0; i < n; i++) {
        double in = pair_role_rate(p, p->traffic[i], CATALOG_RX_BYTES),
               out = pair_role_rate(p, p->traffic[i], CATALOG_TX_BYTES);
        list[i] = (weighed){(isnan(in) ? 0 : in) + (isnan(out) ? 0 : out), p->traffic[i]};
    }
    qsort(list, n, sizeof *list, overview_by_rate);
    size_t count = TRAFFIC_TOP;
    for (size_t i = 0; i < n; i++) {
        if (i < count) {
            chosen[i] = list[i].device;
            continue;
        }
        double in = pair_role_rate(p, list[i].device, CATALOG_RX_BYTES),
               out = pair_role_rate(p, list[i].device, CATALOG_TX_BYTES);
        rest[0] += (isnan(in) ? 0 : in) / (double)(n - count);
        rest[1] += (isnan(out) ? 0 : out) / (double)(n - count);
    }
    free(list);
    return count;
}

static void overview_add_traffic(pair *p, document *doc)
{
    static const bars_style style = {.way = {"received", "sent"}, .unit = "bytes", .share_head = "% of line rate"};
    static const uint32_t roles[2] = {CATALOG_RX_BYTES, CATALOG_TX_BYTES};
    size_t chosen[TRAFFIC_ROWS];
    bars_row rows[TRAFFIC_ROWS];
    number_text tips[TRAFFIC_ROWS][2];
    char others[48], labels[TRAFFIC_ROWS][104];
    double rest[2];
    if (!p->traffic_count) {
        document_note(doc, "No device in these files counts bytes: there is no traffic to show.");
        return;
    }
    size_t count = overview_choose(p, chosen, rest);
    for (size_t i = 0; i < count; i++) {
        snprintf(labels[i], sizeof labels[i], "%.90s%s", overview_device_name(p, chosen[i]),
                 p->is_virtual ? " (virtual)" : "");
        rows[i] = (bars_row){.label = labels[i]};
        for (int way = 0; way < 2; way++) {
            rows[i].value[way] = pair_role_rate(p, chosen[i], roles[way]);
            rows[i].share[way] = overview_share_of(p, chosen[i], rows[i].value[way]);
            rows[i].pale[way] = NAN;
            tips[i][way] = number_volume_rate(rows[i].value[way], "bytes");
            rows[i].tip[way] = tips[i][way].text;
        }
    }
    if (count < p->traffic_count) {
        snprintf(others, sizeof others, "%zu others, mean", p->traffic_count - count);
        rows[count++] =
            (bars_row){.label = others, .value = {rest[0], rest[1]}, .pale = {NAN, NAN}, .share = {NAN, NAN}};
    }
    bars_style how = style;
    if (p->is_virtual)
        how.note =
            p->idle_ports
                ? "No physical port moved anything: these are virtual devices, and the same bytes may be in several."
                : "No physical port was read: these are virtual devices, and the same bytes may be in several.";
    const char *source = p->schema->devices[p->traffic[0]].source;
    bool same = true;
    for (size_t i = 0; i < p->traffic_count; i++)
        same = same && strcmp(p->schema->devices[p->traffic[i]].source, source) == 0;
    char title[64];
    snprintf(title, sizeof title, "Traffic by %s%s", p->is_virtual ? "virtual " : "",
             same ? pair_noun(source, false) : "device");
    document_add(
        doc, chart_bars((chart_head){"traffic", title, "which carried data, and was it balanced?"}, &how, rows, count));
}

// ---- together ----

void pair_overview(pair *p, document *doc)
{
    overview_set_title(p, doc);
    overview_add_sublines(p, doc);
    overview_add_verdict(p, doc);
    overview_add_traffic(p, doc);
    if (pair_is_unjudged(p)) {
        pair_unjudged(p, doc);
        return;
    }
    if (p->source_count && p->sources[0].count) {
        pair_strip(p, doc, &p->sources[0], true);
        pair_heat(p, doc, &p->sources[0], true);
    }
}

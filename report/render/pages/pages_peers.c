#include "pages_peers.h"

#include "analysis/base/stb_ds.h"
#include "analysis/base/words.h"
#include "analysis/peers/senders.h"
#include "analysis/regions/pairs/regions_pairs.h"
#include "render/base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PEERS_ROWS = 64, PEERS_LISTED = 12, PEERS_LATEST = 3, PEERS_LATEST_MOST = 8 };
static const double PEERS_WORTH_NS = 1e6; // less is not worth a sentence

// Rows of the matrix: ranks, node after node; where they are too many, nodes, and groups of nodes.
typedef struct peers_rows {
    size_t count, each;      // each: ranks or nodes in a row
    const char **labels;     // [count]
    size_t *groups, *row_of; // [count]; of each place
    const char **nodes;      // [node_count]
    size_t node_count;
    const char *what; // "ranks", "nodes"
} peers_rows;

typedef struct peers_order {
    size_t place, node;
} peers_order;

static int peers_by_node(const void *a, const void *b)
{
    const peers_order *x = a, *y = b;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static const char *peers_label(arena *memory, const pairs *p, const peers_order *from, const peers_order *last)
{
    const char *first = p->places[from->place].label, *end = p->places[last->place].label;
    return from == last ? arena_text(memory, first) : arena_format(memory, "%.40s to %.40s", first, end);
}

static peers_rows peers_rows_of(arena *memory, const pairs *p, const char *what)
{
    size_t places = arrlenu(p->places), nodes = arrlenu(p->nodes);
    peers_rows r = {.each = (places + PEERS_ROWS - 1) / PEERS_ROWS, .what = what};
    peers_order *order = arena_make(memory, places, sizeof *order);
    for (size_t i = 0; i < places; i++)
        order[i] = (peers_order){i, p->places[i].node};
    qsort(order, places, sizeof *order, peers_by_node);
    if (!r.each) r.each = 1;
    r.count = (places + r.each - 1) / r.each;
    r.labels = arena_make(memory, r.count, sizeof *r.labels);
    r.groups = arena_make(memory, r.count, sizeof *r.groups);
    r.row_of = arena_make(memory, places, sizeof *r.row_of);
    r.nodes = arena_make(memory, nodes + r.count, sizeof *r.nodes);
    for (size_t i = 0; i < places; i++)
        r.row_of[order[i].place] = i / r.each;
    for (size_t k = 0, before = 0; k < r.count; k++) {
        size_t from = k * r.each, last = (k + 1) * r.each < places ? (k + 1) * r.each - 1 : places - 1;
        r.labels[k] = peers_label(memory, p, &order[from], &order[last]);
        if (!k || order[from].node != before || r.each > 1)
            r.nodes[r.node_count++] = r.each > 1 ? r.labels[k] : arena_text(memory, p->nodes[order[from].node]);
        before = order[from].node;
        r.groups[k] = r.node_count - 1;
    }
    return r;
}

// The cells of the rows, added up; delay: the mean of a message in seconds, else bytes. Returns how many.
static size_t peers_cells(arena *memory, const pairs *p, const peers_rows *r, bool delay, matrix_cell **cells)
{
    size_t count = 0, all = r->count * r->count;
    double *sums = arena_make(memory, all, sizeof *sums), *parts = arena_make(memory, all, sizeof *parts);
    bool *there = arena_make(memory, all, sizeof *there);
    for (size_t i = 0; i < arrlenu(p->cells); i++) {
        const pairs_cell *x = &p->cells[i];
        size_t at = r->row_of[x->sender] * r->count + r->row_of[x->receiver];
        there[at] = true;
        sums[at] += delay ? x->delay_ns / 1e9 : (double)x->bytes;
        parts[at] += delay ? (double)x->delayed : 1;
    }
    *cells = arena_make(memory, all, sizeof **cells);
    for (size_t i = 0; i < all; i++)
        if (there[i])
            (*cells)[count++] = (matrix_cell){.row = i / r->count,
                                              .column = i % r->count,
                                              .value = !delay         ? sums[i]
                                                       : parts[i] > 0 ? sums[i] / parts[i]
                                                                      : NAN};
    return count;
}

static const char *peers_each(arena *memory, const peers_rows *r)
{
    if (r->each > 1) return arena_format(memory, ", %zu %s in a row", r->each, r->what);
    return *r->what == 'n' ? ", by node" : "";
}

static matrix_style peers_style(const pairs *p, const peers_rows *r, bool delay, const char *note)
{
    bool mark = delay && p->mark.sender != PAIRS_NONE;
    return (matrix_style){.labels = r->labels,
                          .groups = r->groups,
                          .nodes = r->nodes,
                          .count = r->count,
                          .group_count = r->node_count,
                          .format = delay ? AXES_DURATION : AXES_SI,
                          .unit = "B",
                          .ramp = delay ? INK_ORANGE : INK_BLUE,
                          .mark_row = mark ? r->row_of[p->mark.sender] : r->count,
                          .mark_column = r->count,
                          .note = note};
}

// ---- the latest ----

static bool peers_is_marked(const matrix_style *s, size_t i)
{
    size_t from = s->mark_row < s->count ? s->mark_row : s->mark_column;
    return i >= from && i < from + (s->mark_count ? s->mark_count : 1);
}

static bool peers_has_late(const matrix_style *s)
{
    return (s->mark_row < s->count) != (s->mark_column < s->count);
}

// Of senders, or of receivers; by place.
static senders_row *peers_rank(arena *memory, const matrix_style *s, const matrix_cell *cells, size_t count)
{
    senders_row *rows = arena_make(memory, s->count + 1, sizeof *rows);
    double *delays = arena_make(memory, s->count * s->count + 1, sizeof *delays);
    bool turned = s->mark_column < s->count;
    for (size_t i = 0; i < s->count * s->count; i++)
        delays[i] = NAN;
    for (size_t i = 0; i < count; i++)
        delays[(turned ? cells[i].column : cells[i].row) * s->count + (turned ? cells[i].row : cells[i].column)] =
            cells[i].value;
    senders_rank(delays, s->groups, s->count, rows);
    return rows;
}

void pages_peers_set_medians(arena *memory, matrix_style *style, const matrix_cell *cells, size_t count)
{
    if (!peers_has_late(style) || style->mark_column < style->count) return;
    const senders_row *rows = peers_rank(memory, style, cells, count);
    double *medians = arena_make(memory, style->count, sizeof *medians);
    for (size_t i = 0; i < style->count; i++)
        medians[rows[i].sender] = senders_delay(&rows[i]);
    style->medians = medians;
    style->side = PAGES_PEERS_SIDE;
}

void pages_peers_add_latest(document *doc, arena *memory, const char *name, const char *of_what,
                            const matrix_style *style, const matrix_cell *cells, size_t count)
{
    latest_row listed[PEERS_LATEST_MOST];
    size_t shown = 0;
    if (!peers_has_late(style)) return;
    const senders_row *rows = peers_rank(memory, style, cells, count);
    bool receivers = style->mark_column < style->count;
    const char *marked = style->labels[receivers ? style->mark_column : style->mark_row];
    if (style->mark_count > 1) marked = style->nodes[style->groups[receivers ? style->mark_column : style->mark_row]];
    latest_style s = {.who = receivers ? "receiver" : "sender", .others_most = NAN, .note = ""};
    const char *here = arena_format(memory, "%.40s, here", marked);
    *(receivers ? &s.column : &s.row) = here;
    for (size_t i = 0; i < style->count; i++) {
        const senders_row *r = &rows[i];
        bool is_marked = peers_is_marked(style, r->sender);
        if (isnan(senders_delay(r))) continue;
        s.outside |= !isnan(r->outside);
        s.inside |= !isnan(r->inside);
        if (shown < PEERS_LATEST_MOST && (i < PEERS_LATEST || is_marked)) {
            const char *label = style->labels[r->sender], *node = style->nodes[style->groups[r->sender]];
            listed[shown++] =
                (latest_row){label, strcmp(label, node) == 0 ? "" : node, r->outside, r->inside, is_marked};
        } else {
            s.others++;
            s.others_most = fmax(s.others_most, senders_delay(r));
        }
    }
    if (shown)
        document_add(doc,
                     chart_latest((chart_head){name, receivers ? "Latest receivers" : "Latest senders",
                                               arena_format(memory, "median of each over those %s, %s",
                                                            receivers ? "that send to it" : "it sends to", of_what)},
                                  &s, listed, shown));
}

// ---- the largest ----

static chart peers_largest(arena *memory, const pairs *p)
{
    static const table_column columns[] = {{"sender", TABLE_TEXT, 1},
                                           {"receiver", TABLE_TEXT, 1},
                                           {"bytes", TABLE_NUMBER, 0},
                                           {"messages", TABLE_NUMBER, 0}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    size_t *largest, count = pairs_largest(p, PEERS_LISTED, &largest);
    const char **cells = arena_make(memory, count * COLUMNS, sizeof *cells);
    for (size_t i = 0; i < count; i++) {
        const pairs_cell *x = &p->cells[largest[i]];
        const char **row = &cells[i * COLUMNS];
        row[0] =
            arena_format(memory, "%.30s (%.30s)", p->places[x->sender].label, p->nodes[pairs_node_of(p, x->sender)]);
        row[1] = arena_format(memory, "%.30s (%.30s)", p->places[x->receiver].label,
                              p->nodes[pairs_node_of(p, x->receiver)]);
        row[2] = arena_text(memory, number_prefixed((double)x->bytes, "B").text);
        row[3] = arena_text(memory, number_grouped(x->messages).text);
    }
    free(largest);
    return chart_table((chart_head){"peers-largest", "Largest pairs", "most bytes first"}, columns, COLUMNS, cells,
                       count);
}

// ---- all ----

// What went where, and what is in no cell.
static const char *peers_bytes_note(arena *memory, const pairs *p)
{
    pairs_sums s = pairs_sum(p, NULL, NULL);
    const char *text =
        arena_format(memory, "Between nodes %s, within them %s.", number_prefixed((double)s.between, "B").text,
                     number_prefixed((double)s.within, "B").text);
    if (p->together_bytes)
        text = arena_format(memory, "%s Not here: collectives, given %s; which way these went is not known.", text,
                            number_prefixed((double)p->together_bytes, "B").text);
    if (p->outside_bytes)
        text = arena_format(memory, "%s Nor %s to ranks without a file.", text,
                            number_prefixed((double)p->outside_bytes, "B").text);
    return text;
}

static const char *peers_delay_note(arena *memory, const pairs *p, bool of_nodes)
{
    const char *text = "";
    if (p->mark.sender != PAIRS_NONE)
        text = arena_format(memory, of_nodes ? "Framed: %s, the node of the rank that is late." : "Framed: %s is late.",
                            p->places[p->mark.sender].label);
    else
        text = "A row that stands out is a sender that is waited for, a column a receiver that comes early or receives "
               "slowly, a single cell one pair.";
    if (p->taken_ns >= PEERS_WORTH_NS)
        text = arena_format(memory, "%s Not included: %s of waiting until a sent message was taken.", text,
                            number_duration(p->taken_ns / 1e9).text);
    if (p->unassigned_ns >= PEERS_WORTH_NS)
        text = arena_format(memory, "%s For another %s of waiting it is not known which rank was waited for.", text,
                            number_duration(p->unassigned_ns / 1e9).text);
    return text;
}

// The one that is late, if somebody waited in a receive for what it sent.
static void peers_mark_late(pairs *p, const regions *r)
{
    if (!r->waits.known || r->waits.in_turn || r->waits.late_count != 1) return;
    char label[120];
    snprintf(label, sizeof label, "rank %.100s", r->ranks[r->waits.late[0].rank].label);
    for (size_t i = 0; i < arrlenu(p->cells); i++)
        if (p->cells[i].delayed && strcmp(p->places[p->cells[i].sender].label, label) == 0)
            p->mark.sender = p->cells[i].sender;
}

// Rows that are near-equal tell nothing.
static bool peers_differ(const pairs *p)
{
    size_t *largest, count = pairs_largest(p, PEERS_LISTED, &largest);
    double most = count ? (double)p->cells[largest[0]].bytes : 0;
    bool differ = count && (double)p->cells[largest[count - 1]].bytes < .95 * most;
    free(largest);
    return differ;
}

static chart peers_bytes_chart(arena *memory, const pairs *p, const peers_rows *rows, double side)
{
    matrix_cell *cells;
    size_t count = peers_cells(memory, p, rows, false, &cells);
    matrix_style style = peers_style(p, rows, false, peers_bytes_note(memory, p));
    style.side = side;
    const char *question = arena_format(memory, "%s messages to a named peer%s", p->layer, peers_each(memory, rows));
    return chart_matrix((chart_head){"peers-bytes", "Who sent to whom?", question}, &style, cells, count);
}

static void peers_add_charts(document *doc, arena *memory, const pairs *p, const char *what)
{
    peers_rows rows = peers_rows_of(memory, p, what);
    if (!pairs_sum(p, NULL, NULL).delayed) {
        document_beside(doc, peers_bytes_chart(memory, p, &rows, 0), peers_largest(memory, p), .5);
        return;
    }
    matrix_cell *cells;
    size_t count = peers_cells(memory, p, &rows, true, &cells);
    matrix_style style = peers_style(p, &rows, true, peers_delay_note(memory, p, strcmp(what, "nodes") == 0));
    pages_peers_set_medians(memory, &style, cells, count);
    const char *question = arena_format(memory, "mean time of a wait for a message%s", peers_each(memory, &rows));
    document_beside(doc, peers_bytes_chart(memory, p, &rows, style.side),
                    chart_matrix((chart_head){"peers-delay", "Waiting for whom?", question}, &style, cells, count),
                    style.medians ? PAGES_PEERS_BYTES : .5);
    pages_peers_add_latest(doc, memory, "peers-latest", "of the mean time of a wait for a message", &style, cells,
                           count);
    if (peers_differ(p)) document_add(doc, peers_largest(memory, p));
}

void pages_peers_of_regions(document *doc, arena *memory, const regions *r)
{
    pairs p, by_node;
    if (r->runs > 1 || !regions_pairs(&p, r)) return;
    if (pairs_sum(&p, NULL, NULL).messages) {
        peers_mark_late(&p, r);
        bool fold = arrlenu(p.places) > PEERS_ROWS && arrlenu(p.nodes) > 1;
        if (fold) pairs_by_node(&by_node, &p);
        if (fold)
            by_node.together_bytes = p.together_bytes, by_node.unassigned_ns = p.unassigned_ns,
            by_node.taken_ns = p.taken_ns;
        peers_add_charts(doc, memory, fold ? &by_node : &p, fold ? "nodes" : "ranks");
        if (fold) pairs_free(&by_node);
    }
    pairs_free(&p);
}

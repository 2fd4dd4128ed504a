// Who sent to whom in a communicator, and what a step waited for: a slow sender is a row, a slow receiver a column, a slow link a
// cell.
#include "nccl_page.h"

#include "render/pages/pages_peers.h"

#include <math.h>
#include <string.h>

enum { NCCL_PEERS_DRAWN = 2 }; // communicators

typedef struct nccl_peers_rows {
    const char **labels, **nodes;
    size_t *groups, group_count;
} nccl_peers_rows;

static nccl_peers_rows nccl_peers_rows_of(const nccl_page *p, const nccl_view_matrix *m)
{
    nccl_peers_rows r = {.labels = arena_make(p->memory, m->units.count, sizeof *r.labels),
                         .nodes = arena_make(p->memory, m->units.count, sizeof *r.nodes),
                         .groups = arena_make(p->memory, m->units.count, sizeof *r.groups)};
    for (size_t i = 0; i < m->units.count; i++) {
        const nccl_view_unit *u = &m->units.items[i];
        r.labels[i] = isnan(u->rank) ? u->host : arena_format(p->memory, "rank %.0f", u->rank);
        if (!i || strcmp(m->units.items[i - 1].host, u->host) != 0) r.nodes[r.group_count++] = u->host;
        r.groups[i] = r.group_count - 1;
    }
    return r;
}

// What the worst finding names: rows (those of a host), columns, or one cell. Of a rail nothing is framed: it is many cells.
static void nccl_peers_mark(const nccl_view_matrix *m, matrix_style *style)
{
    bool sends = strcmp(m->rule, "nccl-slow-sender") == 0, receives = strcmp(m->rule, "nccl-slow-receiver") == 0;
    size_t first = m->units.count, end = 0;
    for (size_t i = 0; i < m->cells.count && strcmp(m->rule, "nccl-slow-link") == 0; i++) {
        const nccl_view_cell *x = &m->cells.items[i];
        if (x->severity != m->severity) continue;
        style->mark_row = x->row;
        style->mark_column = x->column;
        return;
    }
    for (size_t i = 0; i < m->units.count && (sends || receives); i++) {
        if (m->units.items[i].severity != m->severity) continue;
        if (first == m->units.count) first = i;
        if (strcmp(m->units.items[i].host, m->units.items[first].host) == 0) end = i + 1;
    }
    if (first == m->units.count) return;
    *(sends ? &style->mark_row : &style->mark_column) = first;
    style->mark_count = end - first;
}

static bool nccl_peers_knows_bytes(const nccl_view_cell *x)
{
    return x->bytes || x->steps;
}

// Of whose bytes not all are known.
static const char *nccl_peers_bytes_note(const nccl_page *p, const nccl_view_matrix *m)
{
    size_t lower = 0, unknown = 0;
    for (size_t i = 0; i < m->cells.count; i++) {
        bool known = nccl_peers_knows_bytes(&m->cells.items[i]);
        lower += known && m->cells.items[i].at_least;
        unknown += !known;
    }
    const char *text = "";
    if (lower)
        text = arena_format(p->memory,
                            "Of %s the bytes are lower bounds (\u2265): of some transfers nobody recorded how much "
                            "they moved.",
                            lower == m->cells.count ? "all pairs" : words_many(lower, "pair").text);
    if (unknown) text = arena_format(p->memory, "%s%sHatched: it was not recorded how much.", text, *text ? " " : "");
    return text;
}

static matrix_style nccl_peers_style(const nccl_page *p, const nccl_view_matrix *m, const nccl_peers_rows *r,
                                     bool delay)
{
    matrix_style style = {.labels = r->labels,
                          .groups = r->groups,
                          .nodes = r->nodes,
                          .count = m->units.count,
                          .group_count = r->group_count,
                          .format = delay ? AXES_DURATION : AXES_SI,
                          .unit = "B",
                          .ramp = delay ? INK_ORANGE : INK_BLUE,
                          .mark_row = m->units.count,
                          .mark_column = m->units.count,
                          .note = delay ? "" : nccl_peers_bytes_note(p, m)};
    if (!delay) return style;
    nccl_peers_mark(m, &style);
    bool row = style.mark_row < style.count, column = style.mark_column < style.count;
    if (row != column) return style; // the table of the latest says who it is, and how to read this
    style.note = row ? arena_format(p->memory, "Framed: %s.", m->claim)
                     : "A row that stands out is a sender that is late, a column a receiver that takes messages "
                       "late, a single cell one link.";
    return style;
}

static matrix_cell *nccl_peers_cells(const nccl_page *p, const nccl_view_matrix *m, bool delay)
{
    matrix_cell *cells = arena_make(p->memory, m->cells.count, sizeof *cells);
    for (size_t i = 0; i < m->cells.count; i++) {
        const nccl_view_cell *x = &m->cells.items[i];
        double bytes = nccl_peers_knows_bytes(x) ? (double)x->bytes : NAN;
        cells[i] = (matrix_cell){x->row, x->column, delay ? x->delay_us / 1e6 : bytes, !delay && x->at_least};
    }
    return cells;
}

static void nccl_peers_add(nccl_page *p, const nccl_view_matrix *m, size_t number)
{
    static const char *const names[NCCL_PEERS_DRAWN][3] = {{"peers-bytes", "peers-delay", "peers-latest"},
                                                           {"peers-bytes-2", "peers-delay-2", "peers-latest-2"}};
    nccl_peers_rows rows = nccl_peers_rows_of(p, m);
    matrix_cell *sent = nccl_peers_cells(p, m, false), *late = nccl_peers_cells(p, m, true);
    matrix_style bytes = nccl_peers_style(p, m, &rows, false), delay = nccl_peers_style(p, m, &rows, true);
    const char *of = arena_format(p->memory, "%.40s%s", m->label, m->by_host ? ", by host" : "");
    pages_peers_set_medians(p->memory, &delay, late, m->cells.count);
    bytes.side = delay.side;
    document_beside(
        p->doc,
        chart_matrix(
            (chart_head){names[number][0], number ? "Bytes, next communicator" : "Bytes from rank to rank", of}, &bytes,
            sent, m->cells.count),
        chart_matrix((chart_head){names[number][1], number ? "Delay, next communicator" : "Delay from rank to rank",
                                  arena_format(p->memory, "extra time of a step, %s", of)},
                     &delay, late, m->cells.count),
        delay.medians ? PAGES_PEERS_BYTES : .5);
    pages_peers_add_latest(p->doc, p->memory, names[number][2], "of the extra time of a step", &delay, late,
                           m->cells.count);
}

void nccl_page_add_peers(nccl_page *p)
{
    const nccl_view *v = p->v;
    for (size_t i = 0; i < v->matrices.count && i < NCCL_PEERS_DRAWN; i++) {
        const nccl_view_matrix *m = &v->matrices.items[i];
        if (m->cells.count && m->units.count <= MATRIX_MOST) nccl_peers_add(p, m, i);
    }
}

// Who sent to whom, as matrices: of the communicators with findings first, then of those that moved most.
#include "nccl_view_parts.h"

#include "analysis/base/saturating_sum.h"
#include "analysis/nccl/findings/nccl_places.h"

#include <math.h>
#include <stdlib.h>

// The cells of one communicator.
typedef struct matrix_part {
    uint32_t communicator;
    size_t first, count; // in nccl_peers.items
    uint64_t bytes, steps;
    bool at_least;             // bytes
    const nccl_finding *worst; // about it; NULL: none
} matrix_part;

typedef struct matrix_making {
    nccl_view_making *m;
    const nccl_peers *p;
    const nccl_places *places;
    const matrix_part *part;
    nccl_view_matrix *to;
    uint32_t *units; // by member of the communicator: place in to->units
} matrix_making;

// ---- findings ----

static bool matrix_rule_is(const nccl_finding *f, const char *name)
{
    return strcmp(f->rule->name, name) == 0;
}

static uint32_t matrix_process(const nccl *n, const nccl_finding *f)
{
    return f->member == NCCL_NONE ? NCCL_NONE : n->members[f->member].process;
}

// Is a member who the finding names: its process, or any of its host where it names no process?
static bool matrix_is_named(const nccl *n, const nccl_finding *f, uint32_t member)
{
    uint32_t process = n->members[member].process;
    if (f->member != NCCL_NONE) return matrix_process(n, f) == process;
    return f->host != NCCL_NONE && n->processes[process].host == f->host;
}

// Is the cell one of those that the finding is about?
static bool matrix_is_about(const nccl *n, const nccl_places *places, const nccl_finding *f, const nccl_peer *x)
{
    if (x->sender == NCCL_NONE || x->receiver == NCCL_NONE || f->severity < SEVERITY_WATCH) return false;
    if (matrix_rule_is(f, "nccl-slow-sender") || matrix_rule_is(f, "nccl-sockets"))
        return matrix_is_named(n, f, x->sender);
    if (matrix_rule_is(f, "nccl-slow-receiver")) return matrix_is_named(n, f, x->receiver);
    if (matrix_rule_is(f, "nccl-slow-link")) return f->member == x->sender && f->receiver == x->receiver;
    if (!matrix_rule_is(f, "nccl-slow-rail")) return false;
    uint32_t from = n->members[x->sender].process, to = n->members[x->receiver].process;
    return places->of[from] == f->rail && places->of[to] == f->rail && n->processes[from].host != n->processes[to].host;
}

static severity matrix_severity(const matrix_making *k, const nccl_peer *x)
{
    severity s = SEVERITY_OK;
    for (size_t i = 0; i < k->m->f->count && s == SEVERITY_OK; i++) // the worst first
        if (matrix_is_about(k->m->n, k->places, &k->m->f->items[i], x)) s = k->m->f->items[i].severity;
    return s;
}

// ---- which communicators ----

static int matrix_by_weight(const void *a, const void *b)
{
    const matrix_part *x = a, *y = b;
    severity p = x->worst ? x->worst->severity : SEVERITY_OK, q = y->worst ? y->worst->severity : SEVERITY_OK;
    if (p != q) return p > q ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static const nccl_finding *matrix_worst(const nccl_view_making *m, const nccl_places *places, const nccl_peer *items,
                                        size_t count)
{
    for (size_t i = 0; i < m->f->count && m->f->items[i].severity >= SEVERITY_WATCH; i++)
        for (size_t k = 0; k < count; k++)
            if (matrix_is_about(m->n, places, &m->f->items[i], &items[k])) return &m->f->items[i];
    return NULL;
}

// Operations alone, without their steps, tell neither bytes nor waits.
static bool matrix_is_told(const nccl_peer *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (nccl_peer_tells_bytes(&items[i])) return true;
    return false;
}

static size_t matrix_parts(const nccl_view_making *m, const nccl_peers *p, const nccl_places *places,
                           matrix_part *parts)
{
    size_t count = 0;
    for (size_t i = 0, k; i < p->count; i = k) {
        matrix_part part = {.communicator = p->items[i].communicator, .first = i};
        for (k = i; k < p->count && p->items[k].communicator == part.communicator; k++) {
            part.bytes = sum_capped(part.bytes, p->items[k].bytes);
            part.steps = sum_capped(part.steps, p->items[k].sent);
            part.at_least |= p->items[k].at_least;
        }
        part.count = k - i;
        if (!matrix_is_told(&p->items[i], part.count)) continue;
        part.worst = matrix_worst(m, places, &p->items[i], part.count);
        parts[count++] = part;
    }
    qsort(parts, count, sizeof *parts, matrix_by_weight);
    return count;
}

// ---- units and cells ----

static void matrix_add_units(matrix_making *k)
{
    const nccl *n = k->m->n;
    nccl_view *v = k->m->v;
    const nccl_communicator *c = &n->communicators[k->part->communicator];
    k->to->by_host = c->member_count > NCCL_VIEW_UNITS;
    k->to->units.items = nccl_view_take(v, c->member_count, sizeof *k->to->units.items);
    uint32_t *of_host = memory_array(NULL, n->host_count, sizeof *of_host);
    for (size_t i = 0; i < n->host_count; i++)
        of_host[i] = NCCL_NONE;
    for (uint32_t i = 0; i < c->member_count; i++) {
        const nccl_member *m = &n->members[c->first_member + i];
        uint32_t host = n->processes[m->process].host;
        k->units[i] = k->to->by_host ? of_host[host] : NCCL_NONE;
        if (k->units[i] != NCCL_NONE) continue;
        k->units[i] = of_host[host] = (uint32_t)k->to->units.count;
        k->to->units.items[k->to->units.count++] = (nccl_view_unit){
            nccl_view_text(v, n->hosts[host].name), k->to->by_host ? NAN : (double)m->rank, SEVERITY_OK};
    }
    free(of_host);
}

static void matrix_mark(matrix_making *k, uint32_t member, severity s, bool marks)
{
    if (!marks) return;
    uint64_t *mark =
        &k->to->units.items[k->units[member - k->m->n->communicators[k->part->communicator].first_member]].severity;
    if (s > *mark) *mark = s;
}

static int matrix_by_place(const void *a, const void *b)
{
    const nccl_view_cell *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

enum { MATRIX_MEANS = 5 }; // of a cell: what a step waited for

static double *matrix_mean(nccl_view_cell *x, int which)
{
    double *const means[MATRIX_MEANS] = {&x->delay_us, &x->gpu_us, &x->credit_us, &x->wire_us, &x->flush_us};
    return means[which];
}

// Steps of which each mean is known: not those of a side without a log.
static void matrix_begin(nccl_view_cell *x, double known[MATRIX_MEANS])
{
    for (int i = 0; i < MATRIX_MEANS; i++)
        known[i] = isnan(*matrix_mean(x, i)) ? 0 : (double)x->steps;
}

static void matrix_join(nccl_view_cell *to, nccl_view_cell *from, double known[MATRIX_MEANS])
{
    for (int i = 0; i < MATRIX_MEANS; i++) {
        double *mean = matrix_mean(to, i), more = *matrix_mean(from, i), steps = (double)from->steps;
        if (isnan(more)) continue;
        *mean = isnan(*mean) ? more : (*mean * known[i] + more * steps) / (known[i] + steps);
        known[i] += steps;
    }
    to->bytes = sum_capped(to->bytes, from->bytes);
    to->steps = sum_capped(to->steps, from->steps);
    to->at_least |= from->at_least;
    if (from->severity > to->severity) to->severity = from->severity;
}

// Those at one place, which hosts share, become one; how many are left.
static size_t matrix_join_cells(nccl_view_cell *cells, size_t count)
{
    double known[MATRIX_MEANS] = {0};
    size_t kept = 0;
    qsort(cells, count, sizeof *cells, matrix_by_place);
    for (size_t i = 0; i < count; i++)
        if (kept && matrix_by_place(&cells[kept - 1], &cells[i]) == 0) {
            matrix_join(&cells[kept - 1], &cells[i], known);
        } else {
            cells[kept] = cells[i];
            matrix_begin(&cells[kept++], known);
        }
    return kept;
}

static void matrix_add_cells(matrix_making *k)
{
    uint32_t first = k->m->n->communicators[k->part->communicator].first_member;
    nccl_view_cell *cells = nccl_view_take(k->m->v, k->part->count, sizeof *cells);
    size_t count = 0;
    for (size_t i = k->part->first; i < k->part->first + k->part->count; i++) {
        const nccl_peer *x = &k->p->items[i];
        if (x->sender == NCCL_NONE || x->receiver == NCCL_NONE) {
            k->to->cells_left++;
            continue;
        }
        severity s = matrix_severity(k, x);
        matrix_mark(k, x->sender, s, k->part->worst && matrix_rule_is(k->part->worst, "nccl-slow-sender"));
        matrix_mark(k, x->receiver, s, k->part->worst && matrix_rule_is(k->part->worst, "nccl-slow-receiver"));
        cells[count++] = (nccl_view_cell){k->units[x->sender - first],
                                          k->units[x->receiver - first],
                                          x->bytes,
                                          x->sent ? x->sent : x->received,
                                          nccl_peer_delay(x),
                                          nccl_peer_wait(x, NCCL_WAIT_GPU),
                                          nccl_peer_wait(x, NCCL_WAIT_CREDIT),
                                          nccl_peer_wait(x, NCCL_WAIT_WIRE),
                                          nccl_peer_wait(x, NCCL_WAIT_FLUSH),
                                          s,
                                          x->at_least};
    }
    k->to->cells.items = cells;
    k->to->cells.count = matrix_join_cells(cells, count);
}

static void matrix_add(nccl_view_making *m, const nccl_peers *p, const nccl_places *places, const matrix_part *part)
{
    nccl_view *v = m->v;
    const nccl_communicator *c = &m->n->communicators[part->communicator];
    nccl_view_matrix *to = &v->matrices.items[v->matrices.count++];
    matrix_making k = {m, p, places, part, to, memory_array(NULL, c->member_count, sizeof *k.units)};
    to->label = nccl_view_text(v, c->label);
    to->claim = nccl_view_text(v, part->worst ? part->worst->claim : "");
    to->rule = nccl_view_text(v, part->worst ? part->worst->rule->name : "");
    to->severity = part->worst ? part->worst->severity : SEVERITY_OK;
    to->ranks = (uint64_t)c->ranks;
    to->bytes = part->bytes;
    to->steps = part->steps;
    to->at_least = part->at_least;
    matrix_add_units(&k);
    matrix_add_cells(&k);
    free(k.units);
}

void nccl_view_add_matrices(nccl_view_making *m)
{
    nccl_view *v = m->v;
    nccl_peers p;
    if (!m->n->proxy_count) return;
    nccl_peers_make(&p, m->n);
    matrix_part *parts = memory_array(NULL, p.count, sizeof *parts);
    nccl_places places;
    nccl_places_make(&places, m->n, &p);
    size_t count = matrix_parts(m, &p, &places, parts);
    v->matrices.items = nccl_view_take(v, NCCL_VIEW_MATRICES, sizeof *v->matrices.items);
    for (size_t i = 0; i < count && i < NCCL_VIEW_MATRICES; i++)
        matrix_add(m, &p, &places, &parts[i]);
    v->matrices_left = count - v->matrices.count;
    free(parts);
    nccl_places_free(&places);
    nccl_peers_free(&p);
}

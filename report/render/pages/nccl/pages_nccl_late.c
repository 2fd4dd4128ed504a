// Who is late: a dark cell is a GPU, a dark column a host, a dark row a rail.
#include "pages_nccl_private.h"

#include "render/plot/axes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum cell_state { CELL_NONE = 0, CELL_ABSENT, CELL_UNKNOWN, CELL_KNOWN } cell_state; // none: no such process

typedef struct cell {
    cell_state state;
    double behind_us;
    bool guilty; // a finding accuses it
    const char *tip;
} cell;

typedef struct map {
    arena *memory;
    const char **hosts;
    bool *incomplete;
    size_t columns, rows;
    bool cut;    // there are more rows than have a place
    cell *cells; // [rows][columns]
    double max_us;
    size_t worst; // index of the latest cell above the floor; columns * rows: none
    const char *note;
    const nccl_view_process *processes;
    size_t process_count;
} map;

static const double head_height = 26, label_width = 62;

// Few rows are higher, many lower; never so low that a label does not fit.
static double nccl_late_row_height(const map *m)
{
    return m->rows > 16 ? 7.6 : m->rows > 4 ? 9.4 : 11;
}

static double nccl_late_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const map *m = x->data;
    (void)from, (void)count;
    return head_height + nccl_late_row_height(m) * (double)m->rows +
           canvas_paragraph_height(c, width, m->note, TYPE_FOOT, 0) + 5;
}

static void nccl_late_draw_cell(canvas *c, const map *m, size_t i, canvas_box box)
{
    const cell *k = &m->cells[i];
    if (k->state == CELL_NONE) return;
    canvas_tip(c, k->tip);
    if (k->state == CELL_UNKNOWN) {
        canvas_hatch(c, box);
    } else if (k->state == CELL_ABSENT || !(k->behind_us > .02 * m->max_us)) {
        canvas_rect(c, box, k->state == CELL_ABSENT ? INK_PAPER : INK_EMPTY, 0);
        if (k->state == CELL_ABSENT)
            canvas_line(c, box.x + box.width / 2 - 2, box.y + box.height / 2, box.x + box.width / 2 + 2,
                        box.y + box.height / 2, INK_PEER, .6);
    } else {
        theme_ink ink = theme_ramp(INK_ORANGE, k->behind_us / m->max_us);
        canvas_rect(c, box, ink, 0);
        if (i != m->worst && !k->guilty) return;
        canvas_frame(c, box, INK_TEXT, 1.2);
        number_text n = number_duration(k->behind_us / 1e6);
        if (canvas_text_width(c, n.text, TYPE_CELL_STRONG) + 3 > box.width) n = number_plain(k->behind_us / 1e3); // ms
        if (canvas_text_width(c, n.text, TYPE_CELL_STRONG) + 3 <= box.width)
            canvas_text(c, box.x + box.width / 2, box.y + box.height / 2 + 2.6, n.text, TYPE_CELL_STRONG,
                        (theme_ink)(INK_ON + ink), ALIGN_CENTER, 0);
    }
}

// What host names begin with alike is said once: "sim-h100-" and 0, 1, 2.
static size_t nccl_late_common_start(const map *m)
{
    size_t length = m->columns > 1 ? strlen(m->hosts[0]) : 0;
    for (size_t i = 1; i < m->columns; i++) {
        size_t same = 0;
        while (same < length && m->hosts[i][same] == m->hosts[0][same])
            same++;
        length = same;
    }
    while (length &&
           ((m->hosts[0][length - 1] >= '0' && m->hosts[0][length - 1] <= '9') || (m->hosts[0][length - 1] & 0x80)))
        length--;
    return length > 3 ? length : 0;
}

static void nccl_late_draw_names(canvas *c, const map *m, double left, double y, double step)
{
    size_t start = nccl_late_common_start(m),
           worst = m->worst < m->columns * m->rows ? m->worst % m->columns : m->columns;
    double widest = 0, taken = -INFINITY;
    for (size_t i = 0; i < m->columns; i++)
        widest = fmax(widest, canvas_text_width(c, m->hosts[i] + start, TYPE_AXIS));
    widest = fmin(widest, fmax(step - 2, 44));
    for (int pass = 0; pass < 2; pass++) // the worst has its name in any case
        for (size_t i = 0; i < m->columns; i++) {
            double middle = left + step * ((double)i + .5),
                   width = fmin(canvas_text_width(c, m->hosts[i] + start, TYPE_AXIS), widest);
            double near = left + step * ((double)worst + .5);
            if ((pass == 0) != (i == worst)) continue;
            if (pass && (middle - width / 2 < taken + 2 || (worst < m->columns && fabs(middle - near) < width + 2)))
                continue;
            double from = fmax(middle - width / 2, left - 4);
            canvas_text(c, from, y, m->hosts[i] + start, TYPE_AXIS, i == worst ? INK_BAD : INK_SECONDARY, ALIGN_LEFT,
                        widest);
            if (m->incomplete[i]) canvas_line(c, from, y + 1.8, from + width, y + 1.8, INK_WATCH, .8);
            if (pass) taken = from + width;
        }
}

static void nccl_late_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const map *m = x->data;
    double left = box.x + label_width, step = (box.width - label_width) / (double)(m->columns ? m->columns : 1),
           y = box.y + head_height;
    double high = nccl_late_row_height(m), gap = step > 6 ? 1 : 0;
    size_t start = m->columns ? nccl_late_common_start(m) : 0;
    char prefix[80];
    (void)from, (void)count;
    step = fmin(step, 90);
    if (start) {
        snprintf(prefix, sizeof prefix, "%.*s\xe2\x80\xa6", (int)(start < 60 ? start : 60), m->hosts[0]);
        canvas_text(c, left - 5, y - 4, prefix, TYPE_AXIS, INK_SECONDARY, ALIGN_RIGHT, label_width - 5);
    }
    axes_draw_ramp(c, box.x + box.width, box.y, INK_ORANGE, "0", number_duration(m->max_us / 1e6).text);
    nccl_late_draw_names(c, m, left, y - 4, step);
    for (size_t r = 0; r < m->rows; r++) {
        char label[40];
        snprintf(label, sizeof label, r ? "%zu" : "local rank %zu", r);
        canvas_text(c, left - 5, y + high * ((double)r + .5) + 2.2, label, TYPE_AXIS, INK_SECONDARY, ALIGN_RIGHT,
                    label_width - 6);
        for (size_t i = 0; i < m->columns; i++)
            nccl_late_draw_cell(c, m, r * m->columns + i,
                                (canvas_box){left + step * (double)i, y + high * (double)r, step - gap, high - 1});
    }
    canvas_paragraph(c, box.x, y + high * (double)m->rows + 8, box.width, m->note, TYPE_FOOT, INK_SECONDARY, 0);
}

// ---- making it ----

static double nccl_late_round_up(double value)
{
    static const double steps[] = {1, 2, 5, 10};
    double decade = value > 0 ? pow(10, floor(log10(value))) : 1;
    for (size_t i = 0; i < 4; i++)
        if (steps[i] * decade >= value) return steps[i] * decade;
    return 10 * decade;
}

// Does a finding of lateness name this process?
static bool nccl_late_is_accused(const nccl_view *v, const nccl_view_process *p)
{
    for (size_t i = 0; i < v->findings.count; i++) {
        const nccl_view_finding *f = &v->findings.items[i];
        bool late = strcmp(f->rule, "nccl-late-rank") == 0 || strcmp(f->rule, "nccl-often-late") == 0;
        if (!late || f->severity < SEVERITY_WATCH || strcmp(f->device, p->host) != 0) continue;
        for (size_t k = 0; k < f->evidence.count; k++)
            if (strcmp(f->evidence.items[k].name, "pid") == 0 && f->evidence.items[k].value == (double)p->pid)
                return true;
    }
    return false;
}

static void nccl_late_fill_cell(map *m, const nccl_view *v, const nccl_view_process *p, size_t column, double floor_us)
{
    size_t i = p->local * m->columns + column;
    cell *k = &m->cells[i];
    k->state = p->rank == UINT64_MAX ? CELL_ABSENT : p->judged && isfinite(p->behind_us) ? CELL_KNOWN : CELL_UNKNOWN;
    k->behind_us = p->behind_us;
    k->tip = arena_format(
        m->memory, "%s, pid %llu, local %llu: %s", p->host, (unsigned long long)p->pid, (unsigned long long)p->local,
        k->state == CELL_ABSENT ? "not in it"
        : k->state == CELL_UNKNOWN
            ? "no complete call"
            : arena_format(m->memory, "rank %llu, %s behind the median, last alone in %llu of %llu calls",
                           (unsigned long long)p->rank, number_duration(p->behind_us / 1e6).text,
                           (unsigned long long)p->last_alone, (unsigned long long)p->judged));
    k->guilty = k->state == CELL_KNOWN && nccl_late_is_accused(v, p);
    if (p->missing) m->incomplete[column] = true;
    if (k->guilty && (m->worst == m->columns * m->rows || !m->cells[m->worst].guilty)) {
        m->worst = i; // whom a finding accuses comes before who is only far behind
        return;
    }
    if (m->worst < m->columns * m->rows && m->cells[m->worst].guilty && !k->guilty) return;
    if (k->state == CELL_KNOWN && k->behind_us > floor_us &&
        (m->worst == m->columns * m->rows || k->behind_us > m->cells[m->worst].behind_us))
        m->worst = i;
}

static void nccl_late_find_axes(map *m, const nccl_view *v)
{
    enum { ROWS = 64 };
    m->max_us = isfinite(v->late_floor_us) ? v->late_floor_us : 0;
    m->rows = v->late_rows < ROWS ? (size_t)v->late_rows : ROWS;
    m->cut = v->late_rows > ROWS;
    m->hosts = arena_make(m->memory, v->late.count + 1, sizeof *m->hosts);
    m->incomplete = arena_make(m->memory, v->late.count + 1, sizeof *m->incomplete);
    for (size_t i = 0; i < v->late.count; i++) {
        const nccl_view_process *p = &v->late.items[i];
        if (!m->columns || strcmp(m->hosts[m->columns - 1], p->host) != 0)
            m->hosts[m->columns++] = arena_text(m->memory, p->host);
        if (p->judged) m->max_us = fmax(m->max_us, p->behind_us);
    }
    m->max_us = nccl_late_round_up(m->max_us > 0 ? m->max_us : 1);
    m->worst = m->columns * m->rows;
}

// "Last in: rank 37 8629 (94.0 %), ..., 253 others 493 of 9180 complete calls."
static const char *nccl_late_note_of(map *m, const nccl_view *v)
{
    enum { NAMED = 3 };
    size_t order[NAMED], named = 0;
    uint64_t all = 0, named_sum = 0, sum = 0, others = 0;
    const char *text = "";
    for (size_t i = 0; i < v->late.count; i++) {
        const nccl_view_process *p = &v->late.items[i];
        if (p->rank == UINT64_MAX) continue;
        size_t at = named;
        while (at && v->late.items[order[at - 1]].last_alone < p->last_alone)
            at--;
        others++;
        sum += p->last_alone;
        if (p->judged > all) all = p->judged;
        if (at >= NAMED || !p->last_alone) continue;
        if (named < NAMED) named++;
        for (size_t k = named - 1; k > at; k--)
            order[k] = order[k - 1];
        order[at] = i;
    }
    for (size_t i = 0; i < named; i++) {
        const nccl_view_process *p = &v->late.items[order[i]];
        named_sum += p->last_alone;
        text = arena_format(m->memory, "%s%srank %llu (%s) in %s of %s calls", text,
                            i ? ", " : "Last alone: ", (unsigned long long)p->rank, p->host,
                            number_grouped(p->last_alone).text, number_grouped(p->judged).text);
    }
    if (!named) text = "No rank was last alone in a complete call";
    if (others > named && named)
        text = arena_format(m->memory, "%s; the %llu others in %s", text, (unsigned long long)(others - named),
                            number_grouped(sum - named_sum).text);
    bool incomplete = false;
    for (size_t i = 0; i < m->columns; i++)
        incomplete = incomplete || m->incomplete[i];
    return arena_format(
        m->memory, "%s. Grey: not behind, or by less than 2 %% of the scale. Hatched: no complete call.%s%s%s", text,
        m->cut ? " Local ranks from 64 on are in the list of ranks only." : "",
        incomplete ? " Underlined hosts: records are missing." : "",
        v->late_hosts_left ? arena_format(m->memory, " %llu of %llu hosts, all less late than these, are left out.",
                                          (unsigned long long)v->late_hosts_left, (unsigned long long)v->late_hosts)
                           : "");
}

static void nccl_late_fill_twin(chart *x, const nccl_view *v)
{
    static const char *const heads[] = {"host",       "local",         "pid", "rank", "behind the median (\xc2\xb5s)",
                                        "last alone", "complete calls"};
    x->twin.columns = sizeof heads / sizeof *heads;
    x->twin.right = 0x7e;
    for (size_t i = 0; i < x->twin.columns; i++)
        chart_cell(&x->twin, heads[i]);
    for (size_t i = 0; i < v->late.count; i++) {
        const nccl_view_process *p = &v->late.items[i];
        if (p->rank == UINT64_MAX) continue;
        chart_cell(&x->twin, p->host);
        chart_cellf(&x->twin, "%llu", (unsigned long long)p->local);
        chart_cellf(&x->twin, "%llu", (unsigned long long)p->pid);
        chart_cell(&x->twin, p->name);
        chart_cell(&x->twin, p->judged ? number_fixed(p->behind_us, 1).text : "not known");
        chart_cell(&x->twin, number_grouped(p->last_alone).text);
        chart_cell(&x->twin, number_grouped(p->judged).text);
    }
}

chart nccl_chart_late(chart_head head, const nccl_view *v)
{
    chart x;
    map *m = chart_begin(&x, head, sizeof *m);
    size_t column = 0;
    nccl_late_find_axes(m, v);
    m->cells = arena_make(m->memory, m->columns * m->rows + 1, sizeof *m->cells);
    for (size_t i = 0; i < v->late.count; i++) {
        const nccl_view_process *p = &v->late.items[i];
        if (i && strcmp(p->host, v->late.items[i - 1].host) != 0) column++;
        if (p->local < m->rows) nccl_late_fill_cell(m, v, p, column, isfinite(v->late_floor_us) ? v->late_floor_us : 0);
    }
    m->note = nccl_late_note_of(m, v);
    x.height = nccl_late_height;
    x.draw = nccl_late_draw;
    nccl_late_fill_twin(&x, v);
    return x;
}

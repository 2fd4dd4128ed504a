#define _POSIX_C_SOURCE 200809L // strdup
#include "compare_private.h"

#include "analysis/data/runs.h"
#include "analysis/base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- names ----

const char *comparison_side_name(comparison_side side)
{
    return side == COMPARISON_HEALTHY ? "healthy" : "faulty";
}

static const struct {
    const char *name;
    double weight;
} classes[COMPARISON_CLASSES] = {{"errors", 8}, {"stalls", 4}, {"packets", 2}, {"bytes", 1}};

const char *comparison_class_name(comparison_class kind)
{
    return kind < COMPARISON_CLASSES ? classes[kind].name : "";
}

double comparison_weight(comparison_class kind)
{
    return kind < COMPARISON_CLASSES ? classes[kind].weight : 0;
}

const char *comparison_state_name(comparison_state state)
{
    static const char *const names[] = {"unknown", "zero", "same", "changed", "new", "gone"};
    return state <= COMPARISON_GONE ? names[state] : "";
}

const char *comparison_basis_name(comparison_basis basis)
{
    static const char *const names[] = {"milder", "second", "byte"};
    return basis <= COMPARISON_PER_BYTE ? names[basis] : "";
}

bool comparison_compared(const comparison *c)
{
    for (int state = COMPARISON_ZERO; state <= COMPARISON_GONE; state++)
        if (c->counts.states[state]) return true;
    return false;
}

// ---- help ----

void *comparer_grow(comparer *m, void *array, size_t count, size_t size)
{
    size_t room = 16;
    while (room < count)
        room *= 2;
    if (array && count < room) return array;
    void *larger = realloc(array, (array ? 2 * room : room) * size);
    if (!larger) m->no_memory = true;
    return larger;
}

void comparer_append(comparer *m, char **text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!text_append(text, format, arguments)) m->no_memory = true;
    va_end(arguments);
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double comparison_median(double *values, size_t count)
{
    if (!count) return NAN;
    qsort(values, count, sizeof *values, compare_numbers);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

comparison_range comparison_range_of(double *values, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i])) values[kept++] = values[i];
    double median = comparison_median(values, kept);
    return (comparison_range){median, kept ? values[0] : NAN, kept ? values[kept - 1] : NAN};
}

static netprof_err no_memory(netprof_error *error)
{
    if (error) *error = (netprof_error){.code = NETPROF_ERR_NOMEM, .text = "no memory"};
    return NETPROF_ERR_NOMEM;
}

// ---- runs ----

static void free_run(comparison_run *run)
{
    if (!run) return;
    findings_free(&run->f);
    difference_free(&run->d);
    free(run->label);
    free(run->host);
    free(run->command);
    free(run);
}

// The healthy runs come first.
static netprof_err keep_run(comparison *c, comparison_run *run, netprof_error *error)
{
    comparison_run **runs = realloc(c->runs, (c->run_count + 1) * sizeof *runs);
    if (!runs) {
        free_run(run);
        return no_memory(error);
    }
    size_t place = run->side == COMPARISON_HEALTHY ? c->side_count[COMPARISON_HEALTHY] : c->run_count;
    memmove(runs + place + 1, runs + place, (c->run_count - place) * sizeof *runs);
    runs[place] = run;
    c->runs = runs;
    c->run_count++;
    c->side_count[run->side]++;
    return NETPROF_OK;
}

// Takes over what a run of the files has.
static netprof_err take_run(comparison *c, comparison_side side, node_run *from, netprof_error *error)
{
    comparison_run *run = calloc(1, sizeof *run);
    if (!run) return no_memory(error);
    const char *command = dataset_fact(from->first, "command");
    run->side = side;
    run->host = strdup(from->first->host);
    run->command = command ? strdup(command) : NULL;
    run->damaged = from->damaged;
    run->wall_ns = from->wall_ns;
    run->elapsed_ns = from->elapsed_ns;
    run->label = from->label;
    from->label = NULL;
    difference_move(&run->d, &from->d);
    if (run->host && (run->command || !command)) return keep_run(c, run, error);
    free_run(run);
    return no_memory(error);
}

netprof_err comparison_add(comparison *c, comparison_side side, const dataset *set, const comparison_options *options,
                           netprof_error *error)
{
    run_list list = {0};
    netprof_err err = runs_of_dataset(&list, set, options && options->force, error);
    for (size_t i = 0; i < list.count && !err; i++)
        err = take_run(c, side, list.items[i], error);
    runs_free(&list);
    return err;
}

// ---- devices ----

static bool add_device(comparer *m, const netprof_device *dev)
{
    comparison *c = m->c;
    comparison_device *list = comparer_grow(m, c->devices, c->device_count, sizeof *list);
    if (!list) return false;
    c->devices = list;
    comparison_device made = {.source = dev->source, .name = dev->name};
    made.places = malloc((c->run_count + 1) * sizeof *made.places);
    if (!made.places) m->no_memory = true;
    for (size_t r = 0; made.places && r < c->run_count; r++)
        made.places[r] = DIFFERENCE_NONE;
    list[c->device_count++] = made;
    return made.places != NULL;
}

static size_t source_number(const comparison *c, const char *source)
{
    size_t i = 0;
    while (i < c->device_count && strcmp(c->devices[i].source, source) != 0)
        i++;
    return i;
}

static int compare_devices(const void *a, const void *b)
{
    const comparison_device *x = a, *y = b;
    return x->order < y->order ? -1 : x->order > y->order;
}

// Devices of one source together, in order of appearance.
static void order_devices(comparison *c)
{
    for (size_t i = 0; i < c->device_count; i++)
        c->devices[i].order = source_number(c, c->devices[i].source) * (c->device_count + 1) + i;
    if (c->device_count) qsort(c->devices, c->device_count, sizeof *c->devices, compare_devices);
}

// The other way round: from a run's devices to these.
static void map_back(comparer *m)
{
    const comparison *c = m->c;
    m->back = calloc(c->run_count + 1, sizeof *m->back);
    if (!m->back) m->no_memory = true;
    for (size_t r = 0; r < c->run_count && !m->no_memory; r++) {
        m->back[r] = calloc(c->runs[r]->d.delta->schema->device_count + 1, sizeof **m->back);
        if (!m->back[r]) m->no_memory = true;
        for (size_t i = 0; i < c->device_count && !m->no_memory; i++)
            if (c->devices[i].places[r] != DIFFERENCE_NONE) m->back[r][c->devices[i].places[r]] = i;
    }
}

static void find_devices(comparer *m)
{
    comparison *c = m->c;
    lookup names = {0};
    for (size_t r = 0; r < c->run_count && !m->no_memory; r++) {
        const netprof_schema *schema = c->runs[r]->d.delta->schema;
        for (size_t i = 0; i < schema->device_count && !m->no_memory; i++) {
            const netprof_device *dev = &schema->devices[i];
            size_t *place = lookup_put(&names, source_number(c, dev->source), dev->name);
            size_t number = c->device_count;
            if (place && *place == LOOKUP_NONE) *place = add_device(m, dev) ? number : LOOKUP_NONE;
            // The number of a source is the index of its first device, which is the count when that one is put.
            if (!place || *place == LOOKUP_NONE) {
                m->no_memory = true;
                break;
            }
            comparison_device *d = &c->devices[*place];
            if (d->places[r] == DIFFERENCE_NONE) d->runs[c->runs[r]->side]++;
            d->places[r] = i;
            d->physical |= (dev->flags & NETPROF_DEVICE_PHYSICAL) != 0;
        }
    }
    lookup_free(&names);
    if (!m->no_memory) order_devices(c);
    if (!m->no_memory) map_back(m);
}

// ---- bytes ----

// Bytes of a device by its own counters, one way; NAN without.
static double role_bytes(const difference *d, size_t device, uint32_t role, bool rate)
{
    const netprof_device *dev = &d->delta->schema->devices[device];
    double most = NAN;
    for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++) {
        const difference_row *row = &d->rows[i];
        if (!row->entry || !(row->entry->marks & role)) continue;
        if (row->flag != NETPROF_FLAG_OK && row->flag != NETPROF_FLAG_WRAPPED) continue;
        most = fmax(most, rate ? row->rate_per_s : (double)row->magnitude);
    }
    return most;
}

// Both ways together; NAN when neither is known.
static double both(double in, double out)
{
    return isnan(in) ? out : isnan(out) ? in : in + out;
}

static double own_bytes(const difference *d, size_t device)
{
    return both(role_bytes(d, device, CATALOG_RX_BYTES, false), role_bytes(d, device, CATALOG_TX_BYTES, false));
}

static double counter_value(const evaluation *e, size_t device, const char *name)
{
    size_t i = lookup_find(&e->index, device, name);
    if (i == LOOKUP_NONE) return NAN;
    const difference_row *row = &e->d->rows[i];
    return row->flag == NETPROF_FLAG_OK || row->flag == NETPROF_FLAG_WRAPPED ? (double)row->magnitude : NAN;
}

static double ip_bytes(const evaluation *e)
{
    const netprof_schema *schema = e->d->delta->schema;
    for (size_t i = 0; i < schema->device_count; i++)
        if (strcmp(schema->devices[i].source, "ip") == 0 && strcmp(schema->devices[i].name, "IpExt") == 0)
            return both(counter_value(e, i, "InOctets"), counter_value(e, i, "OutOctets"));
    return NAN;
}

// All ports, each byte once; where there is no port, what the IP layer moved.
static double node_bytes(const evaluation *e)
{
    const netprof_schema *schema = e->d->delta->schema;
    double sum = NAN;
    for (size_t i = 0; i < schema->device_count; i++)
        if (schema->devices[i].flags & NETPROF_DEVICE_PHYSICAL && !evaluation_counts_again(e, i))
            sum = both(sum, own_bytes(e->d, i));
    return isnan(sum) ? ip_bytes(e) : sum;
}

static double bytes_by(const comparer *m, comparison_bytes basis, size_t device, size_t run)
{
    const evaluation *e = &m->runs[run];
    size_t place = comparer_place(m, device, run);
    if (place == DIFFERENCE_NONE) return NAN;
    switch (basis) {
    case COMPARISON_BYTES_OWN: return own_bytes(e->d, place);
    case COMPARISON_BYTES_INTERFACE: return e->twins[place] == LOOKUP_NONE ? NAN : own_bytes(e->d, e->twins[place]);
    case COMPARISON_BYTES_IP: return strcmp(m->c->devices[device].source, "ip") == 0 ? ip_bytes(e) : NAN;
    case COMPARISON_BYTES_NODE: return m->c->runs[run]->bytes;
    default: return NAN;
    }
}

// The first basis that every run with the device has.
static void choose_basis(comparer *m, size_t device)
{
    comparison *c = m->c;
    for (int basis = COMPARISON_BYTES_OWN; basis <= COMPARISON_BYTES_NODE; basis++) {
        bool known = true;
        for (size_t r = 0; r < c->run_count; r++) {
            double bytes = bytes_by(m, (comparison_bytes)basis, device, r);
            m->bytes[r * c->device_count + device] = bytes > 0 ? bytes : NAN;
            if (comparer_place(m, device, r) != DIFFERENCE_NONE && isnan(bytes)) known = false;
        }
        if (!known) continue;
        c->devices[device].basis = (comparison_bytes)basis;
        return;
    }
    for (size_t r = 0; r < c->run_count; r++)
        m->bytes[r * c->device_count + device] = NAN;
}

static void measure_device(comparer *m, size_t device, double *values)
{
    static const uint32_t roles[] = {CATALOG_RX_BYTES, CATALOG_TX_BYTES};
    comparison *c = m->c;
    comparison_device *d = &c->devices[device];
    for (size_t r = 0; r < c->run_count && d->speed_bits_per_s <= 0; r++)
        if (d->places[r] != DIFFERENCE_NONE) d->speed_bits_per_s = evaluation_speed(&m->runs[r], d->places[r]);
    for (int way = 0; way < 2; way++) {
        for (int side = 0; side < COMPARISON_SIDES; side++) {
            size_t n = 0;
            for (size_t r = 0; r < c->run_count; r++)
                if (c->runs[r]->side == (comparison_side)side && d->places[r] != DIFFERENCE_NONE)
                    values[n++] = role_bytes(&c->runs[r]->d, d->places[r], roles[way], true);
            *(way ? &d->sent[side] : &d->received[side]) = comparison_range_of(values, n);
        }
    }
}

static double side_median(const comparison *c, comparison_side side, bool bytes, double *values)
{
    size_t n = 0;
    for (size_t r = 0; r < c->run_count; r++) {
        const comparison_run *run = c->runs[r];
        double value = bytes ? run->bytes : run->elapsed_ns > 0 ? (double)run->elapsed_ns / 1e9 : NAN;
        if (run->side == side) values[n++] = value;
    }
    return comparison_range_of(values, n).median;
}

static double ratio_of(const double sides[COMPARISON_SIDES])
{
    bool known = sides[COMPARISON_HEALTHY] > 0 && sides[COMPARISON_FAULTY] > 0;
    return known ? sides[COMPARISON_FAULTY] / sides[COMPARISON_HEALTHY] : NAN;
}

static void measure(comparer *m)
{
    comparison *c = m->c;
    double *values = calloc(c->run_count + 1, sizeof *values);
    m->bytes = calloc(c->run_count * c->device_count + 1, sizeof *m->bytes);
    if (!values || !m->bytes) {
        m->no_memory = true;
        free(values);
        return;
    }
    for (size_t r = 0; r < c->run_count; r++)
        c->runs[r]->bytes = node_bytes(&m->runs[r]);
    for (size_t i = 0; i < c->device_count; i++) {
        choose_basis(m, i);
        measure_device(m, i, values);
    }
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        c->bytes[side] = side_median(c, (comparison_side)side, true, values);
        c->seconds[side] = side_median(c, (comparison_side)side, false, values);
    }
    c->bytes_ratio = ratio_of(c->bytes);
    c->seconds_ratio = ratio_of(c->seconds);
    free(values);
}

// ---- checks ----

// What a side's mark shows: fine, doubtful or bad.
static int mark_of(severity s)
{
    return s >= SEVERITY_HIGH ? 2 : s >= SEVERITY_WATCH;
}

static const finding *finding_of(const findings *f, const rule *x, size_t device)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->items[i].rule == x && (device == DIFFERENCE_NONE || f->items[i].device == device)) return &f->items[i];
    return NULL;
}

static bool is_small_bad(const rule *x)
{
    for (int s = SEVERITY_CRITICAL; s > SEVERITY_OK; s--) {
        expression_op op = x->thresholds[s].op;
        if (op != EXPRESSION_NUMBER) return op == EXPRESSION_LESS || op == EXPRESSION_LESS_EQUAL;
    }
    return false;
}

// One run's judgement; the worst of a side stays.
static void add_verdict(comparison_verdict *v, const comparison *c, size_t run, const finding_check *check)
{
    comparison_side side = c->runs[run]->side;
    if (!check->judged) {
        if (v->judged[side] == COMPARISON_NOT_THERE) v->judged[side] = COMPARISON_NOT_KNOWN;
        return;
    }
    bool further = is_small_bad(check->rule) ? check->value < v->value[side] : check->value > v->value[side];
    bool worse = check->severity > v->severity[side] || (check->severity == v->severity[side] && further);
    if (v->judged[side] == COMPARISON_JUDGED && !worse) return;
    v->judged[side] = COMPARISON_JUDGED;
    v->severity[side] = check->severity;
    v->value[side] = check->value;
    v->run[side] = run;
    v->finding[side] = check->severity ? finding_of(&c->runs[run]->f, check->rule, check->device) : NULL;
}

static const comparison_verdict no_verdict = {.value = {NAN, NAN}, .run = {DIFFERENCE_NONE, DIFFERENCE_NONE}};

// A side that has nothing to judge shows no trouble; one that could not be judged shows nothing.
static void conclude_verdict(comparison_verdict *v)
{
    int marks[COMPARISON_SIDES];
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        if (v->judged[side] == COMPARISON_NOT_KNOWN) return;
        marks[side] = v->judged[side] == COMPARISON_JUDGED ? mark_of(v->severity[side]) : 0;
    }
    v->flipped = marks[COMPARISON_HEALTHY] != marks[COMPARISON_FAULTY];
}

static bool tells_more(const comparison_verdict *a, const comparison_verdict *b)
{
    if (a->flipped != b->flipped) return a->flipped;
    if (a->severity[COMPARISON_FAULTY] != b->severity[COMPARISON_FAULTY])
        return a->severity[COMPARISON_FAULTY] > b->severity[COMPARISON_FAULTY];
    if (a->severity[COMPARISON_HEALTHY] != b->severity[COMPARISON_HEALTHY])
        return a->severity[COMPARISON_HEALTHY] > b->severity[COMPARISON_HEALTHY];
    return false;
}

static bool conclude_check(comparison_check *check)
{
    bool any = false;
    for (size_t i = 0; i < check->cell_count; i++) {
        comparison_verdict *v = &check->cells[i];
        conclude_verdict(v);
        if (tells_more(v, &check->cells[check->worst])) check->worst = i;
        for (int side = 0; side < COMPARISON_SIDES; side++) {
            any |= v->judged[side] == COMPARISON_JUDGED;
            if (v->judged[side] == COMPARISON_JUDGED && v->severity[side] > check->severity[side])
                check->severity[side] = v->severity[side];
        }
    }
    check->flipped = check->cells[check->worst].flipped;
    return any;
}

// For each run where a rule's records begin in its list: they are in the rules' order.
static void gather_check(comparer *m, comparison_check *check, size_t *at)
{
    comparison *c = m->c;
    for (size_t r = 0; r < c->run_count; r++) {
        const findings *f = &c->runs[r]->f;
        for (; at[r] < f->check_count && f->checks[at[r]].rule == check->rule; at[r]++) {
            const finding_check *x = &f->checks[at[r]];
            size_t cell = x->device == DIFFERENCE_NONE ? 0 : m->back[r][x->device] - check->first_device;
            add_verdict(&check->cells[cell], c, r, x);
        }
    }
}

static bool check_devices(const comparer *m, comparison_check *check)
{
    const comparison *c = m->c;
    const rule *x = check->rule;
    check->of_node = x->per_node;
    check->cell_count = x->per_node ? 1 : 0;
    for (size_t i = 0; i < c->device_count && !x->per_node; i++) {
        if (strcmp(x->source, "*") != 0 && strcmp(x->source, c->devices[i].source) != 0) continue;
        if (!check->cell_count++) check->first_device = i;
    }
    return check->cell_count > 0;
}

static void add_check(comparer *m, comparison_check check)
{
    comparison *c = m->c;
    comparison_check *list = comparer_grow(m, c->checks, c->check_count, sizeof *list);
    if (list) {
        c->checks = list;
        list[c->check_count++] = check;
    } else {
        free(check.cells);
    }
}

static int compare_checks(const void *a, const void *b)
{
    const comparison_check *x = a, *y = b;
    const comparison_verdict *v = &x->cells[x->worst], *w = &y->cells[y->worst];
    if (tells_more(v, w) || tells_more(w, v)) return tells_more(v, w) ? -1 : 1;
    // As findings are ordered: what nothing explains, then what is nearer to the cause.
    bool p = v->finding[COMPARISON_FAULTY] && v->finding[COMPARISON_FAULTY]->explained_by;
    bool q = w->finding[COMPARISON_FAULTY] && w->finding[COMPARISON_FAULTY]->explained_by;
    if (p != q) return p ? 1 : -1;
    if (x->rule->class_rank != y->rule->class_rank) return x->rule->class_rank < y->rule->class_rank ? -1 : 1;
    return strcmp(x->rule->name, y->rule->name);
}

static void make_checks(comparer *m)
{
    comparison *c = m->c;
    size_t *at = calloc(c->run_count + 1, sizeof *at);
    if (!at) m->no_memory = true;
    for (size_t i = 0; i < m->set->count && !m->no_memory; i++) {
        comparison_check check = {.rule = m->set->items[i]};
        if (!check_devices(m, &check)) continue;
        check.cells = malloc(check.cell_count * sizeof *check.cells);
        if (!check.cells) {
            m->no_memory = true;
            break;
        }
        for (size_t k = 0; k < check.cell_count; k++)
            check.cells[k] = no_verdict;
        gather_check(m, &check, at);
        if (conclude_check(&check))
            add_check(m, check);
        else
            free(check.cells);
    }
    free(at);
    if (!m->no_memory && c->check_count) qsort(c->checks, c->check_count, sizeof *c->checks, compare_checks);
}

// ---- all ----

static void judge_runs(comparer *m, netprof_error *error, netprof_err *err)
{
    comparison *c = m->c;
    m->runs = calloc(c->run_count + 1, sizeof *m->runs);
    if (!m->runs) m->no_memory = true;
    for (size_t r = 0; r < c->run_count && !m->no_memory && !*err; r++) {
        if (!evaluation_begin(&m->runs[r], &c->runs[r]->d))
            m->no_memory = true;
        else
            *err = findings_make(&c->runs[r]->f, &c->runs[r]->d, m->set, error);
    }
}

netprof_err comparison_make(comparison *c, const rules *set, const comparison_options *options, netprof_error *error)
{
    static void (*const steps[])(comparer *) = {find_devices,   measure,         make_checks,
                                                comparer_lines, comparer_shapes, comparer_gauges,
                                                comparer_facts, comparer_notes,  comparer_conclude};
    netprof_err err = NETPROF_OK;
    comparer m = {.c = c, .set = set};
    c->basis = options ? options->basis : COMPARISON_MILDER;
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        if (c->side_count[side]) continue;
        if (error) *error = (netprof_error){.code = NETPROF_ERR_ARG};
        if (error) snprintf(error->text, sizeof error->text, "no %s run", comparison_side_name((comparison_side)side));
        return NETPROF_ERR_ARG;
    }
    judge_runs(&m, error, &err);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !err && !m.no_memory; i++)
        steps[i](&m);
    for (size_t r = 0; m.runs && r < c->run_count; r++)
        if (m.runs[r].d) evaluation_end(&m.runs[r]);
    for (size_t r = 0; m.back && r < c->run_count; r++)
        free(m.back[r]);
    free(m.back);
    free(m.runs);
    free(m.bytes);
    if (m.no_memory) err = no_memory(error);
    if (err) comparison_free(c);
    return err;
}

static void free_lines(comparison *c)
{
    for (size_t i = 0; i < c->line_count; i++) {
        free(c->lines[i].cells);
        free(c->lines[i].equal);
        free(c->lines[i].pattern_text);
    }
    for (size_t i = 0; i < c->shape_count; i++) {
        free(c->shapes[i].name);
        for (int side = 0; side < COMPARISON_SIDES; side++)
            free(c->shapes[i].share[side]);
    }
    free(c->lines);
    free(c->shapes);
}

void comparison_free(comparison *c)
{
    for (size_t i = 0; i < c->run_count; i++)
        free_run(c->runs[i]);
    for (size_t i = 0; i < c->device_count; i++)
        free(c->devices[i].places);
    for (size_t i = 0; i < c->check_count; i++)
        free(c->checks[i].cells);
    for (size_t i = 0; i < c->sentence_count; i++)
        free(c->sentences[i].text);
    for (size_t i = 0; i < c->note_count; i++)
        free(c->notes[i]);
    free_lines(c);
    free(c->runs);
    free(c->devices);
    free(c->checks);
    free(c->sentences);
    free(c->notes);
    free(c->gauges);
    free(c->facts);
    free(c->title);
    *c = (comparison){0};
}

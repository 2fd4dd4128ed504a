#include "pairs.h"

#include "analysis/base/map_key.h"
#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"
#include "analysis/base/stb_ds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct pairs_index {
    map_key key;
    size_t value;
} pairs_index;

size_t pairs_add_node(pairs *p, const char *name)
{
    map_key key = map_key_of_name(0, name);
    ptrdiff_t at = hmgeti(p->seen, key);
    if (at >= 0) return p->seen[at].value;
    hmput(p->seen, key, arrlenu(p->nodes));
    arrput(p->nodes, memory_strdup(name));
    return arrlenu(p->nodes) - 1;
}

size_t pairs_add_place(pairs *p, const char *label, size_t node)
{
    arrput(p->places, ((pairs_place){memory_strdup(label), node}));
    return arrlenu(p->places) - 1;
}

void pairs_add(pairs *p, const pairs_cell *cell)
{
    if (arrlenu(p->cells) < PAIRS_MOST) {
        arrput(p->cells, *cell);
        return;
    }
    p->dropped++;
    p->outside_bytes = sum_capped(p->outside_bytes, cell->bytes);
}

static int pairs_by_place(const void *a, const void *b)
{
    const pairs_cell *x = a, *y = b;
    if (x->sender != y->sender) return x->sender < y->sender ? -1 : 1;
    return (x->receiver > y->receiver) - (x->receiver < y->receiver);
}

static void pairs_join(pairs_cell *to, const pairs_cell *from)
{
    to->bytes = sum_capped(to->bytes, from->bytes);
    to->messages = sum_capped(to->messages, from->messages);
    to->delayed = sum_capped(to->delayed, from->delayed);
    to->delay_ns += from->delay_ns;
}

void pairs_finish(pairs *p)
{
    size_t kept = 0, count = arrlenu(p->cells);
    if (!count) return;
    qsort(p->cells, count, sizeof *p->cells, pairs_by_place);
    for (size_t i = 0; i < count; i++) {
        if (kept && pairs_by_place(&p->cells[kept - 1], &p->cells[i]) == 0)
            pairs_join(&p->cells[kept - 1], &p->cells[i]);
        else
            p->cells[kept++] = p->cells[i];
    }
    arrsetlen(p->cells, kept);
}

void pairs_free(pairs *p)
{
    for (size_t i = 0; i < arrlenu(p->nodes); i++)
        free(p->nodes[i]);
    for (size_t i = 0; i < arrlenu(p->places); i++)
        free(p->places[i].label);
    arrfree(p->nodes);
    arrfree(p->places);
    arrfree(p->cells);
    hmfree(p->seen);
    *p = (pairs){0};
}

double pairs_delay_of(const pairs_cell *cell)
{
    return cell->delayed ? cell->delay_ns / (double)cell->delayed : NAN;
}

const pairs_cell *pairs_find(const pairs *p, size_t sender, size_t receiver)
{
    const pairs_cell wanted = {.sender = (uint32_t)sender, .receiver = (uint32_t)receiver};
    size_t count = arrlenu(p->cells);
    return count ? bsearch(&wanted, p->cells, count, sizeof *p->cells, pairs_by_place) : NULL;
}

pairs_sums pairs_sum(const pairs *p, uint64_t *sent_between, uint64_t *received_between)
{
    pairs_sums s = {.pairs = arrlenu(p->cells)};
    for (size_t i = 0; i < s.pairs; i++) {
        const pairs_cell *x = &p->cells[i];
        size_t from = pairs_node_of(p, x->sender), to = pairs_node_of(p, x->receiver);
        s.messages = sum_capped(s.messages, x->messages);
        s.delayed = sum_capped(s.delayed, x->delayed);
        s.delay_ns += x->delay_ns;
        if (from == to) {
            s.within = sum_capped(s.within, x->bytes);
            continue;
        }
        s.between = sum_capped(s.between, x->bytes);
        if (sent_between) sent_between[from] = sum_capped(sent_between[from], x->bytes);
        if (received_between) received_between[to] = sum_capped(received_between[to], x->bytes);
    }
    return s;
}

static size_t pairs_mark_by_node(const pairs *p, size_t place)
{
    return place < arrlenu(p->places) ? p->places[place].node : PAIRS_NONE;
}

void pairs_by_node(pairs *to, const pairs *from)
{
    *to = (pairs){.layer = from->layer, .delay = from->delay, .outside_bytes = from->outside_bytes};
    for (size_t i = 0; i < arrlenu(from->nodes); i++)
        pairs_add_place(to, from->nodes[i], pairs_add_node(to, from->nodes[i]));
    for (size_t i = 0; i < arrlenu(from->cells); i++) {
        pairs_cell cell = from->cells[i];
        cell.sender = (uint32_t)pairs_node_of(from, cell.sender);
        cell.receiver = (uint32_t)pairs_node_of(from, cell.receiver);
        arrput(to->cells, cell);
    }
    to->mark = (pairs_mark){pairs_mark_by_node(from, from->mark.sender), pairs_mark_by_node(from, from->mark.receiver)};
    pairs_finish(to);
}

static int pairs_by_bytes(const void *a, const void *b)
{
    const pairs_cell *x = *(const pairs_cell *const *)a, *y = *(const pairs_cell *const *)b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return pairs_by_place(x, y);
}

size_t pairs_largest(const pairs *p, size_t most, size_t **list)
{
    size_t count = arrlenu(p->cells);
    const pairs_cell **sorted = memory_array(NULL, count + 1, sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &p->cells[i];
    qsort(sorted, count, sizeof *sorted, pairs_by_bytes);
    if (count > most) count = most;
    *list = memory_array(NULL, count + 1, sizeof **list);
    for (size_t i = 0; i < count; i++)
        (*list)[i] = (size_t)(sorted[i] - p->cells);
    free(sorted);
    return count;
}

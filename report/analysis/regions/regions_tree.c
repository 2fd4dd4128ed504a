// The tree: processes are added one after the other, then everything is put in order.
#include "regions_blocks.h"
#include "regions_store.h"

#include "analysis/base/text.h"

#include <stdio.h>
#include <string.h>

// ---- who it is ----

static const char *regions_fact_of(const regions_origin *origin, const char *key)
{
    const char *value = netprof_fact_of(origin->facts, arrlenu(origin->facts), key);
    return value ? value : "";
}

// A number without a sign, else -1.
static long regions_number(const char *text)
{
    char *end;
    if (*text < '0' || *text > '9' || strlen(text) > 18) return -1;
    long number = strtol(text, &end, 10);
    return *end ? -1 : number;
}

static uint64_t regions_count_of(const regions_origin *origin, const char *key)
{
    long number = regions_number(regions_fact_of(origin, key));
    return number > 0 ? (uint64_t)number : 0;
}

static size_t regions_find_host(regions *r, const char *name)
{
    regions_store *s = r->store;
    map_key key = map_key_of_name(0, name);
    ptrdiff_t at = hmgeti(s->hosts, key);
    if (at >= 0) return s->hosts[at].value;
    hmput(s->hosts, key, r->host_count);
    arrput(r->hosts, ((regions_host){.name = regions_keep_text(&s->arena, name)}));
    return r->host_count++;
}

// The rank of this process if another file had it, else REGIONS_NONE.
static size_t regions_find_process(regions *r, const regions_origin *origin, const netprof_regions *from)
{
    char *name = memory_format("%s\n%s\n%s\n%s", regions_fact_of(origin, "host"), regions_fact_of(origin, "pid"),
                               regions_fact_of(origin, "rank"), regions_fact_of(origin, "job"));
    map_key key = map_key_of_name((size_t)from->wall_ns, name);
    ptrdiff_t at = hmgeti(r->store->processes, key);
    free(name);
    if (at >= 0) return r->store->processes[at].value;
    hmput(r->store->processes, key, r->rank_count);
    return REGIONS_NONE;
}

// Files should agree in it.
static void regions_compare_text(const char **first, bool *differ, const char *text)
{
    if (!*first)
        *first = text;
    else if (strcmp(*first, text) != 0)
        *differ = true;
}

static void regions_add_rank(regions *r, const regions_part *part, const regions_origin *origin, size_t host)
{
    regions_store *s = r->store;
    regions_arena *arena = &s->arena;
    const netprof_regions *from = part->from;
    long told = regions_number(regions_fact_of(origin, "rank_count"));
    regions_rank rank = {.number = regions_number(regions_fact_of(origin, "rank")),
                         .pid = regions_number(regions_fact_of(origin, "pid")),
                         .host = host,
                         .path = regions_keep_text(arena, origin->path),
                         .command = regions_keep_text(arena, regions_fact_of(origin, "command")),
                         .version = regions_keep_text(arena, regions_fact_of(origin, "netprof")),
                         .clock = regions_keep_text(arena, from->clock ? from->clock : ""),
                         .warning = regions_keep_text(arena, from->warning ? from->warning : ""),
                         .mode = from->mode,
                         .wall_ns = from->wall_ns,
                         .elapsed_ns = from->elapsed_ns,
                         .sweep_ns = part->has_counters ? from->sweep_ns : 0,
                         .interval_ns = part->has_counters ? from->interval_ns : 0,
                         .threads = from->threads,
                         .mismatched = from->mismatched,
                         .dropped = from->dropped,
                         .overhead_ps = from->overhead_ps,
                         .readings = from->readings,
                         .reading_ns = from->reading_ns,
                         .complete = !origin->damaged,
                         .cpus = regions_keep_text(arena, regions_fact_of(origin, "mpi_cpus")),
                         .cpu_ns = regions_number(regions_fact_of(origin, "cpu_ns")),
                         .cpu_wait_ns = regions_number(regions_fact_of(origin, "cpu_wait_ns")),
                         .open_ns = regions_number(regions_fact_of(origin, "mpi_open_ns")),
                         .polled_ns = regions_number(regions_fact_of(origin, "mpi_polled_ns")),
                         .between_polls_ns = regions_number(regions_fact_of(origin, "mpi_between_polls_ns")),
                         .end = regions_keep_text(arena, regions_fact_of(origin, "ended")),
                         .run_name = regions_keep_text(arena, regions_fact_of(origin, "run")),
                         .start = regions_number(regions_fact_of(origin, "process_start")),
                         .parent_pid = regions_number(regions_fact_of(origin, "parent_pid")),
                         .parent_start = regions_number(regions_fact_of(origin, "parent_start")),
                         .forked = *regions_fact_of(origin, "forked") != 0,
                         .from_series = origin->series,
                         .lost_in_handler = regions_count_of(origin, "dropped_in_handler"),
                         .lost_too_deep = regions_count_of(origin, "dropped_too_deep")};
    if (rank.open_ns < 0 || *rank.end) rank.open_ns = 0; // newer files count open calls in their figures
    rank.tells_peers = origin->tells_peers;
    rank.peer_count = arrlenu(origin->peers);
    rank.peers = rank.peer_count ? regions_keep(arena, origin->peers, rank.peer_count * sizeof *rank.peers) : NULL;
    regions_blocks_read(&rank.blocks, origin->facts, arrlenu(origin->facts));
    regions_compare_text(&s->job, &s->jobs_differ, regions_keep_text(arena, regions_fact_of(origin, "job")));
    regions_compare_text(&s->command, &s->commands_differ, rank.command);
    arrput(r->ranks, rank);
    s->versions_differ |= strcmp(rank.version, r->ranks[0].version) != 0;
    if (told > r->rank_count_told) r->rank_count_told = told;
    r->rank_count++;
}

// ---- nodes and cells ----

static size_t regions_find_node(regions *r, size_t parent, const char *name, bool span)
{
    regions_store *s = r->store;
    map_key key = regions_child_key(parent, name, span);
    ptrdiff_t at = hmgeti(s->nodes, key);
    if (at >= 0) return s->nodes[at].value;
    hmput(s->nodes, key, arrlenu(s->growing));
    arrput(s->growing, ((regions_growing){.parent = parent, .name = regions_keep_text(&s->arena, name), .span = span}));
    return arrlenu(s->growing) - 1;
}

static void regions_add_cell(regions *r, regions_growing *node, const regions_part *part, size_t number)
{
    const regions_part_node *from = &part->nodes[number];
    regions_cell cell = from->cell;
    cell.rank = r->rank_count - 1;
    cell.order = (uint32_t)number;
    cell.histogram = regions_keep(&r->store->arena, part->packed + from->histogram, from->values - from->histogram);
    arrput(node->cells, cell);
}

// ---- readings ----

// REGIONS_NONE: the counters do not fit their devices.
static size_t regions_find_view(regions *r, const regions_part *part)
{
    regions_store *s = r->store;
    for (size_t i = 0; i < arrlenu(s->views); i++)
        if (s->views[i].hash == part->view_hash && regions_view_same(&s->views[i], part->from)) return i;
    regions_view view = {.hash = part->view_hash};
    if (!regions_view_make(&view, part->from)) return REGIONS_NONE;
    arrput(s->views, view);
    return arrlenu(s->views) - 1;
}

static size_t regions_find_host_view(regions *r, size_t host, size_t view)
{
    regions_store *s = r->store;
    map_key key = map_key_of_pair((int64_t)host, (int64_t)view);
    ptrdiff_t at = hmgeti(s->host_view_of, key);
    if (at >= 0) return s->host_view_of[at].value;
    hmput(s->host_view_of, key, arrlenu(s->host_views));
    arrput(s->host_views, ((regions_host_view){host, view, NULL}));
    return arrlenu(s->host_views) - 1;
}

// The longer one is better; of equally long ones, the one of the lower rank.
static bool regions_is_better(const regions *r, const regions_reading *a, const regions_reading *b)
{
    const regions_rank *x = &r->ranks[a->rank], *y = &r->ranks[b->rank];
    if (!a->calls != !b->calls) return a->calls > 0;
    if (a->time_ns != b->time_ns) return a->time_ns > b->time_ns;
    if (x->number != y->number) return x->number < y->number;
    return x->pid < y->pid;
}

// Puts packed values where the previous ones were, if they fit there.
static void regions_set_values(regions *r, regions_reading *to, const unsigned char *values, size_t size)
{
    if (size <= to->room) {
        memcpy(to->values, values, size);
        return;
    }
    to->values = regions_keep(&r->store->arena, values, size);
    to->room = (uint32_t)size;
}

static void regions_join_reading(regions *r, size_t number, const regions_part *part, const regions_part_node *from,
                                 size_t host_view)
{
    regions_growing *node = &r->store->growing[number];
    regions_reading made = {.host = r->store->host_views[host_view].host,
                            .rank = r->rank_count - 1,
                            .thread = from->thread,
                            .readers = from->readers,
                            .calls = from->counted,
                            .unread = from->unread,
                            .time_ns = from->read_ns,
                            .open = from->open,
                            .view = (uint32_t)host_view};
    map_key key = map_key_of_pair((int64_t)number, (int64_t)host_view);
    ptrdiff_t at = hmgeti(r->store->readings, key);
    size_t place = at < 0 ? arrlenu(node->readings) : r->store->readings[at].value;
    if (at < 0) {
        hmput(r->store->readings, key, place);
        arrput(node->readings, made);
    } else {
        regions_reading *old = &node->readings[place];
        made.readers += old->readers;
        made.values = old->values;
        made.room = old->room;
        if (!regions_is_better(r, &made, old)) {
            old->readers = made.readers;
            return;
        }
        *old = made;
    }
    regions_set_values(r, &node->readings[place], part->packed + from->values, from->packed_end - from->values);
}

// ---- values ----

// number: of each node of the part, in the tree.
static void regions_join_values(regions *r, const regions_part *part, const size_t *number)
{
    for (size_t i = 0; i < part->from->value_count; i++) {
        const netprof_value_stat *v = &part->from->values[i];
        regions_value more = {.name = v->name,
                              .count = v->count,
                              .sum = v->sum,
                              .least = v->least,
                              .most = v->most,
                              .longest_ns = v->longest_ns,
                              .at_longest = v->at_longest,
                              .rank = r->rank_count - 1};
        memcpy(more.counts, v->counts, sizeof more.counts);
        memcpy(more.times_ns, v->times_ns, sizeof more.times_ns);
        regions_values_add(&r->store->arena, &r->store->growing[number[part->node_of[v->stat]]].values, &more);
    }
}

// ---- one process ----

static void regions_join_nodes(regions *r, const regions_part *part, size_t host_view)
{
    size_t *number = NULL; // of each node of the part, in the tree
    for (size_t i = 0; i < arrlenu(part->nodes); i++) {
        const regions_part_node *node = &part->nodes[i];
        size_t parent = node->parent == REGIONS_NONE ? REGIONS_NONE : number[node->parent];
        arrput(number, regions_find_node(r, parent, part->from->stats[node->first].region, node->span));
        regions_add_cell(r, &r->store->growing[number[i]], part, i);
        if (node->has_reading && host_view != REGIONS_NONE) regions_join_reading(r, number[i], part, node, host_view);
    }
    regions_join_values(r, part, number);
    arrfree(number);
}

void regions_join(regions *r, const regions_part *part, const regions_origin *origin)
{
    if (!regions_is_chosen(r, part->from->wall_ns, regions_number(regions_fact_of(origin, "pid")))) return;
    size_t host_view = REGIONS_NONE, other = regions_find_process(r, origin, part->from);
    if (other != REGIONS_NONE) {
        regions_warn(r, origin->path, 0, "the same process as in %s: left out", r->ranks[other].path);
        r->store->repeated++;
        return;
    }
    size_t host = regions_find_host(r, regions_fact_of(origin, "host"));
    regions_add_rank(r, part, origin, host);
    if (part->has_counters) {
        size_t view = regions_find_view(r, part);
        if (view != REGIONS_NONE) {
            host_view = regions_find_host_view(r, host, view);
        } else { // times are there all the same
            regions_warn(r, origin->path, 0, "counters that do not fit their devices: not used");
            r->damaged = true;
        }
    }
    regions_join_nodes(r, part, host_view);
}

// ---- order ----

typedef struct regions_rank_key {
    const regions *r;
    size_t rank;
} regions_rank_key;

static int regions_compare_longs(long a, long b)
{
    return a < b ? -1 : a > b;
}

static int regions_compare_ranks(const void *a, const void *b)
{
    const regions_rank_key *p = a, *q = b;
    const regions_rank *x = &p->r->ranks[p->rank], *y = &q->r->ranks[q->rank];
    int order = regions_compare_longs(x->number < 0, y->number < 0);
    if (!order) order = regions_compare_longs(x->number, y->number);
    if (!order) order = strcmp(p->r->hosts[x->host].name, q->r->hosts[y->host].name);
    if (!order) order = regions_compare_longs(x->pid, y->pid);
    if (!order) order = x->wall_ns < y->wall_ns ? -1 : x->wall_ns > y->wall_ns;
    return order ? order : regions_compare_longs((long)p->rank, (long)q->rank);
}

// Sorts ranks by number, and hosts by their lowest ranks. Fills in the new place of each.
static void regions_sort_ranks(regions *r, size_t *place, size_t *host_place)
{
    regions_rank_key *keys = NULL;
    regions_rank *ranks = NULL;
    regions_host *hosts = NULL; // without those whose only file was left out: they have no ranks
    for (size_t i = 0; i < r->rank_count; i++)
        arrput(keys, ((regions_rank_key){r, i}));
    for (size_t i = 0; i < r->host_count; i++)
        host_place[i] = REGIONS_NONE;
    qsort(keys, r->rank_count, sizeof *keys, regions_compare_ranks);
    for (size_t i = 0; i < r->rank_count; i++) {
        regions_rank rank = r->ranks[keys[i].rank];
        place[keys[i].rank] = i;
        if (host_place[rank.host] == REGIONS_NONE) {
            host_place[rank.host] = arrlenu(hosts);
            arrput(hosts, r->hosts[rank.host]);
        }
        rank.host = host_place[rank.host];
        arrput(hosts[rank.host].ranks, i);
        hosts[rank.host].rank_count++;
        arrput(ranks, rank);
    }
    arrfree(keys);
    arrfree(r->ranks);
    arrfree(r->hosts);
    r->ranks = ranks;
    r->hosts = hosts;
    r->host_count = arrlenu(hosts);
}

// Several processes may have the same number: children of fork, or programs without a launcher.
static void regions_label_rank(regions *r, size_t i)
{
    const regions_rank *rank = &r->ranks[i];
    bool alone = (!i || r->ranks[i - 1].number != rank->number) &&
                 (i + 1 == r->rank_count || r->ranks[i + 1].number != rank->number);
    char text[512];
    if (rank->number >= 0 && alone)
        snprintf(text, sizeof text, "%ld", rank->number);
    else if (rank->number >= 0 && r->host_count > 1)
        snprintf(text, sizeof text, "%ld (%s, pid %ld)", rank->number, r->hosts[rank->host].name, rank->pid);
    else if (rank->number >= 0)
        snprintf(text, sizeof text, "%ld (pid %ld)", rank->number, rank->pid);
    else
        snprintf(text, sizeof text, "pid %ld", rank->pid);
    r->ranks[i].label = regions_keep_text(&r->store->arena, text);
}

static int regions_compare_cells(const void *a, const void *b)
{
    const regions_cell *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static bool regions_is_empty(const regions_cell *cell)
{
    return !cell->sums.calls && !cell->sums.open && !cell->sums.bytes && !cell->sums.inclusive_ns;
}

// Gives cells and readings of a node their final numbers, and removes those in which nothing happened (after a reset).
// Returns the node's place among its siblings.
static uint32_t regions_sort_node(regions_growing *node, const size_t *place, const size_t *host_place)
{
    size_t kept = 0, cells = arrlenu(node->cells);
    for (size_t i = 0; i < cells; i++)
        node->cells[i].rank = place[node->cells[i].rank];
    for (size_t i = 0; i < arrlenu(node->readings); i++) {
        node->readings[i].rank = place[node->readings[i].rank];
        node->readings[i].host = host_place[node->readings[i].host];
    }
    for (size_t i = 0; i < arrlenu(node->values); i++)
        node->values[i].rank = place[node->values[i].rank];
    if (cells) qsort(node->cells, cells, sizeof *node->cells, regions_compare_cells);
    regions_sort_readings(node->readings, arrlenu(node->readings));
    uint32_t order = cells ? node->cells[0].order : UINT32_MAX;
    for (size_t i = 0; i < cells; i++)
        if (!regions_is_empty(&node->cells[i])) node->cells[kept++] = node->cells[i];
    arrsetlen(node->cells, kept);
    return order;
}

// ---- the tree in the order of the code ----

typedef struct regions_node_key {
    size_t parent, node; // of the growing list
    uint32_t order;
    const char *name;
} regions_node_key;

static int regions_compare_nodes(const void *a, const void *b)
{
    const regions_node_key *x = a, *y = b;
    if (x->parent != y->parent) return x->parent + 1 < y->parent + 1 ? -1 : 1; // the top first
    if (x->order != y->order) return x->order < y->order ? -1 : 1;
    return strcmp(x->name, y->name);
}

typedef struct regions_tree_builder {
    regions *r;
    regions_node_key *keys; // stb_ds; sorted, so the children of a node are together
    size_t *first;          // for each node + 1, where its children begin
    bool *wanted;           // did something happen in it or below?
} regions_tree_builder;

static void regions_add_node(regions_tree_builder *b, size_t from, size_t parent)
{
    regions *r = b->r;
    regions_growing *g = &r->store->growing[from];
    regions_node node = {.name = g->name,
                         .span = g->span,
                         .values = g->values,
                         .value_count = arrlenu(g->values),
                         .parent = parent,
                         .depth = parent == REGIONS_NONE ? 0 : r->nodes[parent].depth + 1,
                         .cells = g->cells,
                         .cell_count = arrlenu(g->cells),
                         .readings = g->readings,
                         .reading_count = arrlenu(g->readings),
                         .odd = REGIONS_NONE};
    arrput(r->nodes, node);
    r->node_count++;
    r->span_nodes += g->span;
    if (parent != REGIONS_NONE) r->nodes[parent].child_count++;
    g->cells = NULL; // now the node's
    g->readings = NULL;
    g->values = NULL;
}

// A parent, then each child with all below it. Not recursive, since paths may be long.
static void regions_walk_tree(regions_tree_builder *b, size_t *stack, size_t *numbers)
{
    size_t depth = 0;
    stack[0] = b->first[0];
    numbers[0] = REGIONS_NONE;
    for (;;) {
        size_t at = stack[depth];
        const regions_node_key *key = at < arrlenu(b->keys) ? &b->keys[at] : NULL;
        size_t parent = depth ? b->keys[stack[depth - 1] - 1].node : REGIONS_NONE;
        if (!key || key->parent != parent) {
            if (!depth) return;
            b->r->nodes[numbers[depth]].end = b->r->node_count;
            depth--;
            continue;
        }
        stack[depth]++;
        if (!b->wanted[key->node]) continue;
        regions_add_node(b, key->node, numbers[depth]);
        numbers[depth + 1] = b->r->node_count - 1;
        stack[++depth] = b->first[key->node + 1];
    }
}

static void regions_sort_nodes(regions_tree_builder *b, const size_t *place, const size_t *host_place)
{
    regions_growing *growing = b->r->store->growing;
    size_t count = arrlenu(growing);
    for (size_t i = 0; i < count; i++) {
        uint32_t order = regions_sort_node(&growing[i], place, host_place);
        arrput(b->keys, ((regions_node_key){growing[i].parent, i, order, growing[i].name}));
    }
    for (size_t i = count; i-- > 0;) { // children come after their parents
        b->wanted[i] |= arrlenu(growing[i].cells) > 0;
        if (b->wanted[i] && growing[i].parent != REGIONS_NONE) b->wanted[growing[i].parent] = true;
    }
    qsort(b->keys, count, sizeof *b->keys, regions_compare_nodes);
    for (size_t i = 0; i <= count; i++)
        b->first[i] = count;
    for (size_t i = count; i-- > 0;)
        b->first[b->keys[i].parent + 1] = i;
}

static void regions_build_tree(regions *r, const size_t *place, const size_t *host_place)
{
    size_t count = arrlenu(r->store->growing);
    regions_tree_builder b = {.r = r};
    if (!count) return;
    b.first = memory_array(NULL, count + 1, sizeof *b.first);
    b.wanted = memory_calloc(count, sizeof *b.wanted);
    size_t *stack = memory_array(NULL, count + 2, sizeof *stack);
    size_t *numbers = memory_array(NULL, count + 2, sizeof *numbers);
    regions_sort_nodes(&b, place, host_place);
    regions_walk_tree(&b, stack, numbers);
    arrfree(b.keys);
    free(b.first);
    free(b.wanted);
    free(stack);
    free(numbers);
}

// ---- all of it ----

enum { MISSING_KEPT = 1000 };

static void regions_add_missing(regions *r, long from, long until)
{
    for (long number = from; number < until && r->missing_count < MISSING_KEPT; number++)
        r->missing[r->missing_count++] = number;
    if (r->missing_count < MISSING_KEPT || until <= from) return;
    // Those beyond are only counted.
    long kept_until = r->missing[MISSING_KEPT - 1] + 1;
    if (kept_until < from) kept_until = from;
    r->missing_count += (size_t)(until - kept_until);
}

// Ranks that the launcher counted and that left no file. The ranks are sorted.
static void regions_find_missing(regions *r)
{
    long expected = 0;
    if (r->rank_count_told <= 0) return;
    r->missing = memory_array(NULL, MISSING_KEPT, sizeof *r->missing);
    for (size_t i = 0; i < r->rank_count; i++) {
        long number = r->ranks[i].number;
        if (number < expected || number >= r->rank_count_told) continue;
        regions_add_missing(r, expected, number);
        expected = number + 1;
    }
    regions_add_missing(r, expected, r->rank_count_told);
}

static void regions_find_span(regions *r)
{
    int64_t end = 0;
    for (size_t i = 0; i < r->rank_count; i++) {
        const regions_rank *rank = &r->ranks[i];
        int64_t until;
        if (rank->wall_ns <= 0 || rank->elapsed_ns < 0 ||
            __builtin_add_overflow(rank->wall_ns, rank->elapsed_ns, &until))
            continue;
        if (!r->wall_ns || rank->wall_ns < r->wall_ns) r->wall_ns = rank->wall_ns;
        if (until > end) end = until;
    }
    r->elapsed_ns = r->wall_ns ? end - r->wall_ns : 0;
}

void regions_sort(regions *r)
{
    regions_store *s = r->store;
    size_t *place = memory_array(NULL, r->rank_count, sizeof *place);
    size_t *host_place = memory_array(NULL, r->host_count, sizeof *host_place);
    regions_sort_ranks(r, place, host_place);
    for (size_t i = 0; i < arrlenu(s->host_views); i++)
        s->host_views[i].host = host_place[s->host_views[i].host];
    regions_find_missing(r);
    for (size_t i = 0; i < r->rank_count; i++)
        regions_label_rank(r, i);
    regions_build_tree(r, place, host_place);
    free(place);
    free(host_place);
    r->job = s->job && !s->jobs_differ ? s->job : "";
    r->command = s->command && !s->commands_differ ? s->command : "";
    regions_find_span(r);
}

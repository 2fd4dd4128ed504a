// The tree: processes come in one after the other, then everything is put in order.
#include "regions_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static netprof_err no_memory(netprof_error *error)
{
    return regions_fail(error, NETPROF_ERR_NOMEM, NULL, "no memory");
}

static const char *keep_text(regions *r, const char *text)
{
    return regions_keep(&r->store->arena, text, strlen(text) + 1);
}

// ---- who it is ----

static const char *fact_of(const regions_origin *origin, const char *key)
{
    const char *value = netprof_fact_of(origin->facts, origin->fact_count, key);
    return value ? value : "";
}

// A number without a sign, or -1.
static long number_of(const char *text)
{
    char *end;
    if (*text < '0' || *text > '9' || strlen(text) > 15) return -1;
    long number = strtol(text, &end, 10);
    return *end ? -1 : number;
}

static netprof_err find_host(regions *r, const char *name, size_t *host)
{
    regions_store *s = r->store;
    *host = lookup_find(&s->hosts, 0, name);
    if (*host != LOOKUP_NONE) return NETPROF_OK;
    regions_host *list = regions_grow(r->hosts, r->host_count, &s->host_room, sizeof *list);
    if (!list) return NETPROF_ERR_NOMEM;
    r->hosts = list;
    const char *kept = keep_text(r, name);
    size_t *place = kept ? lookup_put(&s->hosts, 0, kept) : NULL;
    if (!place) return NETPROF_ERR_NOMEM;
    list[r->host_count] = (regions_host){.name = kept};
    *host = *place = r->host_count++;
    return NETPROF_OK;
}

// Is this process there already, from another file? Then *other is its rank.
static netprof_err find_process(regions *r, const regions_origin *origin, const netprof_regions *from, size_t *other)
{
    char *key = text_make("%s\n%s\n%s\n%s", fact_of(origin, "host"), fact_of(origin, "pid"), fact_of(origin, "rank"),
                          fact_of(origin, "job"));
    const char *kept = key ? keep_text(r, key) : NULL;
    free(key);
    size_t *place = kept ? lookup_put(&r->store->processes, (size_t)from->wall_ns, kept) : NULL;
    if (!place) return NETPROF_ERR_NOMEM;
    *other = *place;
    if (*place == LOOKUP_NONE) *place = r->rank_count;
    return NETPROF_OK;
}

// What all files should agree upon.
static void compare_text(const char **first, bool *differ, const char *text)
{
    if (!*first)
        *first = text;
    else if (strcmp(*first, text) != 0)
        *differ = true;
}

static netprof_err add_rank(regions *r, const regions_part *part, const regions_origin *origin, size_t host)
{
    regions_store *s = r->store;
    const netprof_regions *from = part->from;
    regions_rank *list = regions_grow(r->ranks, r->rank_count, &s->rank_room, sizeof *list);
    if (!list) return NETPROF_ERR_NOMEM;
    r->ranks = list;
    regions_rank *rank = &list[r->rank_count];
    long told = number_of(fact_of(origin, "rank_count"));
    *rank = (regions_rank){.number = number_of(fact_of(origin, "rank")),
                           .pid = number_of(fact_of(origin, "pid")),
                           .host = host,
                           .path = keep_text(r, origin->path),
                           .command = keep_text(r, fact_of(origin, "command")),
                           .version = keep_text(r, fact_of(origin, "netprof")),
                           .clock = keep_text(r, from->clock ? from->clock : ""),
                           .warning = keep_text(r, from->warning ? from->warning : ""),
                           .mode = from->mode,
                           .wall_ns = from->wall_ns,
                           .elapsed_ns = from->elapsed_ns,
                           .sweep_ns = part->has_counters ? from->sweep_ns : 0,
                           .interval_ns = part->has_counters ? from->interval_ns : 0,
                           .threads = from->threads,
                           .mismatched = from->mismatched,
                           .dropped = from->dropped,
                           .overhead_ps = from->overhead_ps,
                           .complete = !origin->damaged};
    const char *job = keep_text(r, fact_of(origin, "job"));
    if (!rank->path || !rank->command || !rank->version || !rank->clock || !rank->warning || !job)
        return NETPROF_ERR_NOMEM;
    compare_text(&s->job, &s->jobs_differ, job);
    compare_text(&s->command, &s->commands_differ, rank->command);
    s->versions_differ |= strcmp(rank->version, list[0].version) != 0;
    if (told > r->rank_count_told) r->rank_count_told = told;
    r->rank_count++;
    return NETPROF_OK;
}

// ---- nodes and cells ----

static netprof_err find_node(regions *r, size_t parent, const char *name, size_t *node)
{
    regions_store *s = r->store;
    *node = lookup_find(&s->nodes, parent + 1, name);
    if (*node != LOOKUP_NONE) return NETPROF_OK;
    regions_growing *list = regions_grow(s->growing, s->growing_count, &s->growing_room, sizeof *list);
    if (!list) return NETPROF_ERR_NOMEM;
    s->growing = list;
    const char *kept = keep_text(r, name);
    size_t *place = kept ? lookup_put(&s->nodes, parent + 1, kept) : NULL;
    if (!place) return NETPROF_ERR_NOMEM;
    list[s->growing_count] = (regions_growing){.parent = parent, .name = kept};
    *node = *place = s->growing_count++;
    return NETPROF_OK;
}

static netprof_err add_cell(regions *r, regions_growing *node, const regions_part *part, size_t number)
{
    const regions_part_node *from = &part->nodes[number];
    regions_cell *list = regions_grow(node->cells, node->cell_count, &node->cell_room, sizeof *list);
    if (!list) return NETPROF_ERR_NOMEM;
    node->cells = list;
    regions_cell *cell = &list[node->cell_count];
    *cell = from->cell;
    cell->rank = r->rank_count - 1;
    cell->order = (uint32_t)number;
    cell->histogram =
        regions_keep(&r->store->arena, part->packed.data + from->histogram, from->values - from->histogram);
    node->cell_count += cell->histogram != NULL;
    return cell->histogram ? NETPROF_OK : NETPROF_ERR_NOMEM;
}

// ---- readings ----

static netprof_err find_view(regions *r, const regions_part *part, size_t *view)
{
    regions_store *s = r->store;
    for (*view = 0; *view < s->view_count; (*view)++)
        if (s->views[*view].hash == part->view_hash && regions_view_same(&s->views[*view], part->from))
            return NETPROF_OK;
    regions_view *list = regions_grow(s->views, s->view_count, &s->view_room, sizeof *list);
    if (!list) return NETPROF_ERR_NOMEM;
    s->views = list;
    list[s->view_count] = (regions_view){.hash = part->view_hash};
    netprof_err failed = regions_view_make(&list[s->view_count], part->from);
    if (!failed) s->view_count++;
    return failed;
}

static netprof_err find_host_view(regions *r, size_t host, size_t view, size_t *host_view)
{
    regions_store *s = r->store;
    size_t *place = pairs_put(&s->host_view_of, (int64_t)host, (int64_t)view);
    if (!place) return NETPROF_ERR_NOMEM;
    if (*place == PAIRS_NONE) {
        regions_host_view *list = regions_grow(s->host_views, s->host_view_count, &s->host_view_room, sizeof *list);
        if (!list) return NETPROF_ERR_NOMEM;
        s->host_views = list;
        list[s->host_view_count] = (regions_host_view){host, view, NULL};
        *place = s->host_view_count++;
    }
    *host_view = *place;
    return NETPROF_OK;
}

// The longer one; of two that are as long the one of the lower rank.
static bool is_better(const regions *r, const regions_reading *a, const regions_reading *b)
{
    const regions_rank *x = &r->ranks[a->rank], *y = &r->ranks[b->rank];
    if (!a->calls != !b->calls) return a->calls > 0;
    if (a->time_ns != b->time_ns) return a->time_ns > b->time_ns;
    if (x->number != y->number) return x->number < y->number;
    return x->pid < y->pid;
}

// Packed values are put where the ones before were, if they have room there.
static bool set_values(regions *r, regions_reading *to, const unsigned char *values, size_t size)
{
    if (size <= to->room) {
        memcpy(to->values, values, size);
        return true;
    }
    unsigned char *kept = regions_keep(&r->store->arena, values, size);
    if (!kept) return false;
    to->values = kept;
    to->room = (uint32_t)size;
    return true;
}

static netprof_err add_reading(regions *r, size_t number, const regions_part *part, const regions_part_node *from,
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
    size_t *place = pairs_put(&r->store->readings, (int64_t)number, (int64_t)host_view);
    if (!place) return NETPROF_ERR_NOMEM;
    if (*place == PAIRS_NONE) {
        regions_reading *list = regions_grow(node->readings, node->reading_count, &node->reading_room, sizeof *list);
        if (!list) return NETPROF_ERR_NOMEM;
        node->readings = list;
        *place = node->reading_count;
        list[node->reading_count++] = made;
    } else {
        regions_reading *old = &node->readings[*place];
        made.readers += old->readers;
        made.values = old->values;
        made.room = old->room;
        if (!is_better(r, &made, old)) {
            old->readers = made.readers;
            return NETPROF_OK;
        }
        *old = made;
    }
    size_t size = from->packed_end - from->values;
    return set_values(r, &node->readings[*place], part->packed.data + from->values, size) ? NETPROF_OK
                                                                                          : NETPROF_ERR_NOMEM;
}

// ---- one process ----

static netprof_err join_nodes(regions *r, const regions_part *part, size_t host_view)
{
    size_t *number = malloc((part->node_count + 1) * sizeof *number);
    netprof_err failed = number ? NETPROF_OK : NETPROF_ERR_NOMEM;
    for (size_t i = 0; i < part->node_count && !failed; i++) {
        const regions_part_node *node = &part->nodes[i];
        size_t parent = node->parent == REGIONS_NONE ? REGIONS_NONE : number[node->parent];
        failed = find_node(r, parent, part->from->stats[node->first].region, &number[i]);
        if (!failed) failed = add_cell(r, &r->store->growing[number[i]], part, i);
        if (!failed && node->has_reading && host_view != REGIONS_NONE)
            failed = add_reading(r, number[i], part, node, host_view);
    }
    free(number);
    return failed;
}

netprof_err regions_join(regions *r, const regions_part *part, const regions_origin *origin, netprof_error *error)
{
    size_t host, other, view, host_view = REGIONS_NONE;
    netprof_err failed = find_process(r, origin, part->from, &other);
    if (!failed && other != LOOKUP_NONE) {
        regions_warn(r, origin->path, 0, "the same process as in %s: left out", r->ranks[other].path);
        r->store->repeated++;
        return NETPROF_OK;
    }
    if (!failed) failed = find_host(r, fact_of(origin, "host"), &host);
    if (!failed) failed = add_rank(r, part, origin, host);
    if (!failed && part->has_counters) {
        failed = find_view(r, part, &view);
        if (!failed) failed = find_host_view(r, host, view, &host_view);
        if (failed == NETPROF_ERR_DAMAGED) { // times are there all the same
            regions_warn(r, origin->path, 0, "counters that do not fit their devices: not used");
            r->damaged = true;
            failed = NETPROF_OK;
        }
    }
    if (!failed) failed = join_nodes(r, part, host_view);
    return failed ? no_memory(error) : NETPROF_OK;
}

// ---- order ----

typedef struct rank_key {
    const regions *r;
    size_t rank;
} rank_key;

static int compare_longs(long a, long b)
{
    return a < b ? -1 : a > b;
}

static int compare_ranks(const void *a, const void *b)
{
    const rank_key *p = a, *q = b;
    const regions_rank *x = &p->r->ranks[p->rank], *y = &q->r->ranks[q->rank];
    int order = compare_longs(x->number < 0, y->number < 0);
    if (!order) order = compare_longs(x->number, y->number);
    if (!order) order = strcmp(p->r->hosts[x->host].name, q->r->hosts[y->host].name);
    if (!order) order = compare_longs(x->pid, y->pid);
    if (!order) order = x->wall_ns < y->wall_ns ? -1 : x->wall_ns > y->wall_ns;
    return order ? order : compare_longs((long)p->rank, (long)q->rank);
}

// Ranks by number; hosts in the order of their lowest ranks. place: where each rank went; hosts likewise.
static bool sort_ranks(regions *r, size_t *place, size_t *host_place)
{
    rank_key *keys = malloc((r->rank_count + 1) * sizeof *keys);
    regions_rank *ranks = malloc((r->rank_count + 1) * sizeof *ranks);
    regions_host *hosts = malloc((r->host_count + 1) * sizeof *hosts);
    bool done = keys && ranks && hosts;
    size_t host_count = 0;
    for (size_t i = 0; done && i < r->rank_count; i++)
        keys[i] = (rank_key){r, i};
    for (size_t i = 0; done && i < r->host_count; i++)
        host_place[i] = REGIONS_NONE;
    if (done) qsort(keys, r->rank_count, sizeof *keys, compare_ranks);
    for (size_t i = 0; done && i < r->rank_count; i++) {
        place[keys[i].rank] = i;
        ranks[i] = r->ranks[keys[i].rank];
        size_t *host = &host_place[ranks[i].host];
        if (*host == REGIONS_NONE) {
            hosts[host_count] = r->hosts[ranks[i].host];
            *host = host_count++;
        }
        ranks[i].host = *host;
    }
    free(keys);
    if (!done) {
        free(ranks);
        free(hosts);
        return false;
    }
    free(r->ranks);
    free(r->hosts);
    r->ranks = ranks;
    r->hosts = hosts;
    r->host_count = host_count; // a host whose only file was left out has no ranks
    return true;
}

static bool list_ranks_of_hosts(regions *r)
{
    for (size_t i = 0; i < r->rank_count; i++)
        r->hosts[r->ranks[i].host].rank_count++;
    for (size_t i = 0; i < r->host_count; i++) {
        r->hosts[i].ranks = malloc((r->hosts[i].rank_count + 1) * sizeof *r->hosts[i].ranks);
        r->hosts[i].rank_count = 0;
        if (!r->hosts[i].ranks) return false;
    }
    for (size_t i = 0; i < r->rank_count; i++) {
        regions_host *host = &r->hosts[r->ranks[i].host];
        host->ranks[host->rank_count++] = i;
    }
    return true;
}

// Several processes may have the same number: children of fork, or programs without a launcher.
static bool label_rank(regions *r, size_t i)
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
    r->ranks[i].label = keep_text(r, text);
    return r->ranks[i].label != NULL;
}

static int compare_cells(const void *a, const void *b)
{
    const regions_cell *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int compare_readings(const void *a, const void *b)
{
    const regions_reading *x = a, *y = b;
    if (x->host != y->host) return x->host < y->host ? -1 : 1;
    return x->view < y->view ? -1 : x->view > y->view;
}

static bool is_empty(const regions_cell *cell)
{
    return !cell->sums.calls && !cell->sums.open && !cell->sums.bytes;
}

// Cells and readings of a node with their final numbers; those in which nothing happened (after a reset) are left out.
// Returns the node's place among its siblings.
static uint32_t sort_node(regions_growing *node, const size_t *place, const size_t *host_place)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->cell_count; i++)
        node->cells[i].rank = place[node->cells[i].rank];
    for (size_t i = 0; i < node->reading_count; i++) {
        node->readings[i].rank = place[node->readings[i].rank];
        node->readings[i].host = host_place[node->readings[i].host];
    }
    if (node->cell_count) qsort(node->cells, node->cell_count, sizeof *node->cells, compare_cells);
    if (node->reading_count) qsort(node->readings, node->reading_count, sizeof *node->readings, compare_readings);
    uint32_t order = node->cell_count ? node->cells[0].order : UINT32_MAX;
    for (size_t i = 0; i < node->cell_count; i++)
        if (!is_empty(&node->cells[i])) node->cells[kept++] = node->cells[i];
    node->cell_count = kept;
    return order;
}

// ---- the tree in the order of the code ----

typedef struct node_key {
    size_t parent, node; // of the growing list
    uint32_t order;
    const char *name;
} node_key;

static int compare_nodes(const void *a, const void *b)
{
    const node_key *x = a, *y = b;
    if (x->parent != y->parent) return x->parent + 1 < y->parent + 1 ? -1 : 1; // the top first
    if (x->order != y->order) return x->order < y->order ? -1 : 1;
    return strcmp(x->name, y->name);
}

typedef struct tree_builder {
    regions *r;
    node_key *keys; // sorted: the children of a node stand together
    size_t *first;  // [growing_count + 1]: of node + 1, where its children begin
    bool *wanted;   // something happened in it or below
    size_t key_count;
} tree_builder;

static void add_node(tree_builder *b, size_t from, size_t parent)
{
    regions *r = b->r;
    regions_growing *g = &r->store->growing[from];
    r->nodes[r->node_count++] = (regions_node){.name = g->name,
                                               .parent = parent,
                                               .depth = parent == REGIONS_NONE ? 0 : r->nodes[parent].depth + 1,
                                               .cells = g->cells,
                                               .cell_count = g->cell_count,
                                               .readings = g->readings,
                                               .reading_count = g->reading_count,
                                               .odd = REGIONS_NONE};
    if (parent != REGIONS_NONE) r->nodes[parent].child_count++;
    g->cells = NULL; // the node's now
    g->readings = NULL;
}

// A parent, then each child with all below it. Without recursion: paths may be long.
static void walk(tree_builder *b, size_t *stack, size_t *numbers)
{
    size_t depth = 0;
    stack[0] = b->first[0];
    numbers[0] = REGIONS_NONE;
    for (;;) {
        size_t at = stack[depth];
        const node_key *key = at < b->key_count ? &b->keys[at] : NULL;
        size_t parent = depth ? b->keys[stack[depth - 1] - 1].node : REGIONS_NONE;
        if (!key || key->parent != parent) {
            if (!depth) return;
            b->r->nodes[numbers[depth]].end = b->r->node_count;
            depth--;
            continue;
        }
        stack[depth]++;
        if (!b->wanted[key->node]) continue;
        add_node(b, key->node, numbers[depth]);
        numbers[depth + 1] = b->r->node_count - 1;
        stack[++depth] = b->first[key->node + 1];
    }
}

static void make_keys(tree_builder *b, const size_t *place, const size_t *host_place)
{
    regions_store *s = b->r->store;
    size_t count = s->growing_count;
    for (size_t i = 0; i < count; i++) {
        uint32_t order = sort_node(&s->growing[i], place, host_place);
        b->keys[i] = (node_key){s->growing[i].parent, i, order, s->growing[i].name};
    }
    for (size_t i = count; i-- > 0;) { // children were added behind their parents
        b->wanted[i] |= s->growing[i].cell_count > 0;
        if (b->wanted[i] && s->growing[i].parent != REGIONS_NONE) b->wanted[s->growing[i].parent] = true;
    }
    qsort(b->keys, count, sizeof *b->keys, compare_nodes);
    b->key_count = count;
    for (size_t i = 0; i <= count; i++)
        b->first[i] = count;
    for (size_t i = count; i-- > 0;)
        b->first[b->keys[i].parent + 1] = i;
}

static netprof_err build_tree(regions *r, const size_t *place, const size_t *host_place)
{
    size_t count = r->store->growing_count;
    tree_builder b = {.r = r};
    b.keys = malloc((count + 1) * sizeof *b.keys);
    b.first = malloc((count + 1) * sizeof *b.first);
    b.wanted = calloc(count + 1, sizeof *b.wanted);
    size_t *stack = malloc((count + 2) * sizeof *stack), *numbers = malloc((count + 2) * sizeof *numbers);
    r->nodes = calloc(count + 1, sizeof *r->nodes);
    bool done = b.keys && b.first && b.wanted && stack && numbers && r->nodes;
    if (done && count) {
        make_keys(&b, place, host_place);
        walk(&b, stack, numbers);
    }
    free(b.keys);
    free(b.first);
    free(b.wanted);
    free(stack);
    free(numbers);
    return done ? NETPROF_OK : NETPROF_ERR_NOMEM;
}

// ---- all of it ----

enum { MISSING_KEPT = 1000 };

static void add_missing(regions *r, long from, long until)
{
    for (long number = from; number < until && r->missing_count < MISSING_KEPT; number++)
        r->missing[r->missing_count++] = number;
    if (r->missing_count < MISSING_KEPT || until <= from) return;
    // those beyond are only counted
    long kept_until = r->missing[MISSING_KEPT - 1] + 1;
    if (kept_until < from) kept_until = from;
    r->missing_count += (size_t)(until - kept_until);
}

// Ranks that the launcher told of and that left no file. The ranks are sorted.
static bool find_missing(regions *r)
{
    long expected = 0;
    if (r->rank_count_told <= 0) return true;
    r->missing = malloc(MISSING_KEPT * sizeof *r->missing);
    if (!r->missing) return false;
    for (size_t i = 0; i < r->rank_count; i++) {
        long number = r->ranks[i].number;
        if (number < expected || number >= r->rank_count_told) continue;
        add_missing(r, expected, number);
        expected = number + 1;
    }
    add_missing(r, expected, r->rank_count_told);
    return true;
}

static void find_span(regions *r)
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

netprof_err regions_sort(regions *r, netprof_error *error)
{
    regions_store *s = r->store;
    size_t *place = malloc((r->rank_count + 1) * sizeof *place);
    size_t *host_place = malloc((r->host_count + 1) * sizeof *host_place);
    bool done = place && host_place && sort_ranks(r, place, host_place);
    for (size_t i = 0; done && i < s->host_view_count; i++)
        s->host_views[i].host = host_place[s->host_views[i].host];
    done = done && list_ranks_of_hosts(r) && find_missing(r);
    for (size_t i = 0; done && i < r->rank_count; i++)
        done = label_rank(r, i);
    if (done) done = build_tree(r, place, host_place) == NETPROF_OK;
    free(place);
    free(host_place);
    r->job = s->job && !s->jobs_differ ? s->job : "";
    r->command = s->command && !s->commands_differ ? s->command : "";
    find_span(r);
    return done ? NETPROF_OK : no_memory(error);
}

// ---- the end ----

static void free_growing(regions_store *s)
{
    for (size_t i = 0; i < s->growing_count; i++) {
        free(s->growing[i].cells);
        free(s->growing[i].readings);
    }
    free(s->growing);
}

static void free_store(regions_store *s)
{
    if (!s) return;
    free_growing(s);
    for (size_t i = 0; i < s->view_count; i++)
        netprof_schema_release(s->views[i].schema);
    for (size_t i = 0; i < s->host_view_count; i++)
        free(s->host_views[i].columns);
    free(s->views);
    free(s->host_views);
    lookup_free(&s->hosts);
    lookup_free(&s->processes);
    lookup_free(&s->nodes);
    pairs_free(&s->host_view_of);
    pairs_free(&s->readings);
    regions_arena_free(&s->arena);
    free(s);
}

void regions_free(regions *r)
{
    if (!r) return;
    for (size_t i = 0; i < r->node_count; i++) {
        free(r->nodes[i].cells);
        free(r->nodes[i].readings);
    }
    for (size_t i = 0; i < r->host_count; i++) {
        free(r->hosts[i].ranks);
        netprof_schema_release(r->hosts[i].schema);
    }
    for (size_t i = 0; i < r->finding_count; i++)
        free(r->findings[i].claim);
    for (size_t i = 0; i < r->note_count; i++)
        free(r->notes[i].text);
    for (size_t i = 0; i < r->warning_count; i++)
        free(r->warnings[i].text);
    free(r->nodes);
    free(r->ranks);
    free(r->hosts);
    free(r->findings);
    free(r->notes);
    free(r->warnings);
    free(r->missing);
    free(r->title);
    free_store(r->store);
    *r = (regions){0};
}

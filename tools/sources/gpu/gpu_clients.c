// What the job's processes have of the GPUs of AMD and Intel, by what the kernel tells of each open device in
// /proc/PID/fdinfo (kernel: Documentation/gpu/drm-usage-stats.rst), and for AMD's compute queues in
// /sys/class/kfd/kfd/proc.
//
// Descriptors that share an open device carry one client number and are one. A client that has gone keeps its part of
// the sums. To look through all descriptors of many processes costs: it is done as often as a thousandth of a CPU
// allows, and the values say of which moment they are.
#define _GNU_SOURCE
#include "gpu_clients.h"

#include "gpu_job.h"
#include "sources/shapes.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PART = 1000, ENGINES = 16, NAME = 24 };

typedef struct engine {
    char name[NAME];
    uint64_t worked, all; // ns, or cycles of all cycles
    unsigned capacity;    // engines of this name
    bool cycles;
} engine;

// One open device, as told.
typedef struct client {
    char pci[40];
    uint64_t id;
    pid_t pid;
    engine engines[ENGINES];
    size_t engine_count;
    uint64_t resident, memory; // bytes of the GPU's memory, by the newer and the older name
    bool has_resident, has_memory;
    bool seen;
    int64_t at_us;
} client;

typedef struct sum { // of an engine of a GPU, over the clients of the job
    char pci[40], name[NAME];
    uint64_t ns, last_ns;
    unsigned capacity;
} sum;

typedef struct use { // of a GPU by the job
    char pci[40];
    uint64_t memory, processes, all_processes;
    double busy;                                                         // share of the busiest engine
    pid_t last;                                                          // process that was counted last
    uint64_t queue_memory, queue_processes, other_processes, of_process; // of AMD's compute queues; of one at hand
    bool has_memory, has_all, has_queues, has_client, has_engine;
} use;

typedef struct process {
    pid_t pid, parent;
    bool ours;
} process;

struct gpu_clients {
    client *items;
    size_t count, room;
    sum *sums;
    size_t sum_count;
    use *uses; // one for each GPU of the list that has a driver
    size_t use_count;
    process *processes;
    size_t process_count, process_room;
    int error; // errno: descriptors of a process of the job may not be looked at
    int64_t next_us, last_us, stamp_ns;
    bool read_once, has_span; // has_span: two looks
};

gpu_clients *gpu_clients_open(void)
{
    return calloc(1, sizeof(gpu_clients));
}

void gpu_clients_close(gpu_clients *c)
{
    if (!c) return;
    free(c->items);
    free(c->sums);
    free(c->uses);
    free(c->processes);
    free(c);
}

// ---- the job's processes ----

typedef struct scan {
    gpu_clients *c;
    const gpu_list *list;
    const emit *e;
    const char *path; // of the directory at hand
    pid_t pid;
} scan;

static void gpu_clients_found_process(void *user, const char *name)
{
    scan *s = user;
    gpu_clients *c = s->c;
    if (*name < '0' || *name > '9') return;
    if (c->process_count == c->process_room) {
        size_t room = c->process_room ? 2 * c->process_room : 256;
        process *longer = realloc(c->processes, room * sizeof *longer);
        if (!longer) return;
        c->processes = longer;
        c->process_room = room;
    }
    process p = {.pid = (pid_t)strtol(name, NULL, 10)};
    p.parent = emit_process_parent(s->e, p.pid);
    if (p.parent == 2 || p.pid == getpid()) return; // the kernel's own threads
    for (size_t i = 0; i < s->list->job->pid_count; i++)
        p.ours |= s->list->job->pids[i] == p.pid;
    if (!p.ours && s->list->job->cgroup) p.ours = gpu_in_group(s->e, s->list->job->cgroup, p.pid);
    c->processes[c->process_count++] = p;
}

static int gpu_clients_by_pid(const void *a, const void *b)
{
    pid_t x = ((const process *)a)->pid, y = ((const process *)b)->pid;
    return (x > y) - (x < y);
}

static process *gpu_clients_find_process(const gpu_clients *c, pid_t pid)
{
    const process key = {.pid = pid};
    if (!c->process_count) return NULL;
    return bsearch(&key, c->processes, c->process_count, sizeof key, gpu_clients_by_pid);
}

// Children of ours are ours, generation by generation.
static void gpu_clients_mark_children(gpu_clients *c)
{
    if (c->process_count) qsort(c->processes, c->process_count, sizeof *c->processes, gpu_clients_by_pid);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < c->process_count; i++) {
            process *p = &c->processes[i];
            const process *parent = p->ours ? NULL : gpu_clients_find_process(c, p->parent);
            if (parent && parent->ours) more = p->ours = true;
        }
    }
}

// ---- one open device ----

static uint64_t gpu_clients_bytes_of(const char *text)
{
    static const struct {
        const char *unit;
        uint64_t bytes;
    } units[] = {{"KiB", 1024}, {"kB", 1024}, {"MiB", 1024 * 1024}, {"GiB", 1024 * 1024 * 1024}};
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    end += strspn(end, " \t");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strncmp(end, units[i].unit, strlen(units[i].unit)) == 0) return value * units[i].bytes;
    return value;
}

static engine *gpu_clients_engine_of(client *c, const char *name)
{
    for (size_t i = 0; i < c->engine_count; i++)
        if (strcmp(c->engines[i].name, name) == 0) return &c->engines[i];
    if (c->engine_count == ENGINES || strlen(name) >= NAME) return NULL;
    engine *e = &c->engines[c->engine_count++];
    *e = (engine){.capacity = 1};
    snprintf(e->name, sizeof e->name, "%s", name);
    return e;
}

static bool gpu_clients_is_own_memory(const char *region)
{
    return strncmp(region, "vram", 4) == 0 || strncmp(region, "local", 5) == 0; // amdgpu, xe; i915
}

// "engine-capacity-vcs" with its value; key without its "drm-".
static void gpu_clients_add_key(client *c, char *key, const char *value)
{
    static const struct {
        const char *begin;
        int what;
    } kinds[] = {{"engine-capacity-", 0}, {"engine-", 1},   {"cycles-", 2},
                 {"total-cycles-", 3},    {"resident-", 4}, {"memory-", 5}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i].begin);
        if (strncmp(key, kinds[i].begin, n) != 0) continue;
        char *name = key + n;
        uint64_t number = strtoull(value, NULL, 10);
        if (kinds[i].what >= 4) {
            if (!gpu_clients_is_own_memory(name)) return;
            if (*value < '0' || *value > '9') return;
            bool resident = kinds[i].what == 4;
            *(resident ? &c->resident : &c->memory) += gpu_clients_bytes_of(value);
            *(resident ? &c->has_resident : &c->has_memory) = true;
            return;
        }
        engine *e = gpu_clients_engine_of(c, name);
        if (!e) return;
        if (kinds[i].what == 0 && number > 0 && number < 1000) e->capacity = (unsigned)number;
        if (kinds[i].what == 1 && !e->cycles) e->worked = number;
        if (kinds[i].what == 2) {
            e->worked = number;
            e->cycles = true;
        }
        if (kinds[i].what == 3) e->all = number;
        return;
    }
}

static bool gpu_clients_parse_client(client *c, char *text)
{
    bool has_id = false;
    for (char *line; (line = emit_line(&text));) {
        char *value = strchr(line, ':');
        if (!value || strncmp(line, "drm-", 4) != 0) continue;
        *value++ = 0;
        value += strspn(value, " \t");
        if (strcmp(line, "drm-pdev") == 0)
            snprintf(c->pci, sizeof c->pci, "%.*s", (int)strcspn(value, " \t\r"), value);
        else if (strcmp(line, "drm-client-id") == 0)
            has_id = emit_number(value, &c->id);
        else
            gpu_clients_add_key(c, line + 4, value);
    }
    return has_id && *c->pci;
}

// ---- sums ----

static use *gpu_clients_use_of(gpu_clients *c, const char *pci)
{
    for (size_t i = 0; i < c->use_count; i++)
        if (strcasecmp(c->uses[i].pci, pci) == 0) return &c->uses[i];
    return NULL;
}

static sum *gpu_clients_sum_of(gpu_clients *c, const char *pci, const char *name)
{
    for (size_t i = 0; i < c->sum_count; i++)
        if (strcasecmp(c->sums[i].pci, pci) == 0 && strcmp(c->sums[i].name, name) == 0) return &c->sums[i];
    sum *longer = realloc(c->sums, (c->sum_count + 1) * sizeof *longer);
    if (!longer) return NULL;
    c->sums = longer;
    sum *s = &c->sums[c->sum_count++];
    *s = (sum){.capacity = 1};
    snprintf(s->pci, sizeof s->pci, "%s", pci);
    snprintf(s->name, sizeof s->name, "%s", name);
    return s;
}

static const engine *gpu_clients_same_engine(const client *c, const char *name)
{
    for (size_t i = 0; c && i < c->engine_count; i++)
        if (strcmp(c->engines[i].name, name) == 0) return &c->engines[i];
    return NULL;
}

// A driver may report less than before for a while: the larger figure is kept until it is exceeded
// (drm-usage-stats.rst).
static void gpu_clients_keep_larger(client *now, const client *then)
{
    for (size_t i = 0; i < now->engine_count; i++) {
        const engine *before = gpu_clients_same_engine(then, now->engines[i].name);
        if (before && now->engines[i].worked < before->worked) now->engines[i].worked = before->worked;
    }
}

// Cycles become time by their share of all cycles over the time between two looks; a first look has none.
static uint64_t gpu_clients_worked_ns(const engine *now, const engine *then, uint64_t passed_us)
{
    uint64_t worked = now->worked - (then ? then->worked : 0);
    if (!now->cycles) return worked;
    if (!then || now->all <= then->all) return 0;
    return (uint64_t)((double)worked / (double)(now->all - then->all) * (double)passed_us * 1000);
}

static void gpu_clients_add_client(gpu_clients *c, const client *now, client *then)
{
    use *u = gpu_clients_use_of(c, now->pci);
    bool works = false;
    for (size_t i = 0; i < now->engine_count; i++) {
        const engine *e = &now->engines[i];
        sum *s = gpu_clients_sum_of(c, now->pci, e->name);
        if (!s) continue;
        s->capacity = e->capacity;
        s->ns += gpu_clients_worked_ns(e, gpu_clients_same_engine(then, e->name),
                                       then ? (uint64_t)(now->at_us - then->at_us) : 0);
        works |= e->worked > 0;
    }
    uint64_t memory = now->has_resident ? now->resident : now->memory;
    u->has_client = true;
    u->has_engine |= now->engine_count > 0;
    u->has_memory |= now->has_resident || now->has_memory;
    u->memory += memory;
    // Runtimes open every GPU: one that is neither filled nor worked with is not held.
    if ((memory || works) && u->last != now->pid) {
        u->processes++;
        u->last = now->pid;
    }
}

static void gpu_clients_take_client(gpu_clients *c, client *now)
{
    client *then = NULL;
    if (!gpu_clients_use_of(c, now->pci)) return;
    for (size_t i = 0; i < c->count && !then; i++)
        if (c->items[i].id == now->id && strcasecmp(c->items[i].pci, now->pci) == 0) then = &c->items[i];
    if (then && then->seen) return; // another descriptor of the same device
    gpu_clients_keep_larger(now, then);
    gpu_clients_add_client(c, now, then);
    now->seen = true;
    if (then) {
        *then = *now;
        return;
    }
    if (c->count == c->room) {
        size_t room = c->room ? 2 * c->room : 64;
        client *longer = realloc(c->items, room * sizeof *longer);
        if (!longer) return;
        c->items = longer;
        c->room = room;
    }
    c->items[c->count++] = *now;
}

static bool gpu_clients_is_device(const scan *s, const char *name)
{
    char path[512], target[64];
    snprintf(path, sizeof path, "%.400s/%.60s", s->path, name);
    ssize_t n = readlink(path, target, sizeof target - 1);
    return n > 9 && strncmp(target, "/dev/dri/", 9) == 0;
}

static void gpu_clients_found_descriptor(void *user, const char *name)
{
    scan *s = user;
    emit_file f = {.fd = -1};
    char path[128];
    client now = {.pid = s->pid, .at_us = gpu_clock_us()};
    int error;
    if (!gpu_clients_is_device(s, name)) return;
    snprintf(path, sizeof path, "/proc/%ld/fdinfo/%.60s", (long)s->pid, name);
    char *text = emit_file_read(&f, s->e, path, &error);
    if (text && gpu_clients_parse_client(&now, text)) gpu_clients_take_client(s->c, &now);
    if (!text && error == EACCES) s->c->error = error;
    emit_file_close(&f);
}

static void gpu_clients_look_at(scan *s, pid_t pid)
{
    char path[64], full[480];
    snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
    snprintf(full, sizeof full, "%.400s%s", emit_root(s->e), path);
    s->pid = pid;
    s->path = full;
    int error = emit_directory(s->e, path, gpu_clients_found_descriptor, s);
    if (error == EACCES || error == EPERM) s->c->error = error;
}

// Those that have gone: what they had is in the sums.
static void gpu_clients_forget_gone(gpu_clients *c)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (!c->items[i].seen) continue;
        c->items[kept] = c->items[i];
        c->items[kept++].seen = false;
    }
    c->count = kept;
}

static void gpu_clients_find_busiest(gpu_clients *c, int64_t now_us)
{
    double passed_ns = (double)(now_us - c->last_us) * 1000;
    for (size_t i = 0; i < c->sum_count; i++) {
        sum *s = &c->sums[i];
        use *u = gpu_clients_use_of(c, s->pci);
        double share = passed_ns > 0 ? (double)(s->ns - s->last_ns) / passed_ns / s->capacity : 0;
        if (u && share > u->busy) u->busy = share < 1 ? share : 1;
        s->last_ns = s->ns;
    }
}

// ---- AMD's compute queues: /sys/class/kfd/kfd/proc/PID/vram_GPUID ----

// A unit that the driver manages as one GPU: a whole GPU, or a part of one.
typedef struct queue_node {
    uint64_t gpu_id;
    use *u;
} queue_node;

typedef struct queue_scan {
    gpu_clients *c;
    const emit *e;
    queue_node *nodes;
    size_t node_count;
} queue_scan;

static bool gpu_clients_is_ours(const gpu_clients *c, pid_t pid)
{
    const process *p = gpu_clients_find_process(c, pid);
    return p && p->ours;
}

static void gpu_clients_found_queue_process(void *user, const char *name)
{
    const queue_scan *q = user;
    gpu_clients *c = q->c;
    char text[32];
    uint64_t bytes;
    if (*name < '0' || *name > '9') return;
    pid_t pid = (pid_t)strtol(name, NULL, 10);
    for (size_t i = 0; i < q->node_count; i++)
        if (emit_read_line(q->e, text, sizeof text, "/sys/class/kfd/kfd/proc/%ld/vram_%llu", (long)pid,
                           (unsigned long long)q->nodes[i].gpu_id) &&
            emit_number(text, &bytes))
            q->nodes[i].u->of_process += bytes;
    // One that has queues on several parts of a GPU is one process of it.
    bool ours = gpu_clients_is_ours(c, pid);
    for (size_t i = 0; i < c->use_count; i++) {
        use *u = &c->uses[i];
        if (u->of_process) *(ours ? &u->queue_processes : &u->other_processes) += 1;
        if (ours) u->queue_memory += u->of_process;
        u->of_process = 0;
    }
}

// Lines "location_id 49408" (bus, device and function; above them the number of the part) and "domain 0".
static use *gpu_clients_use_of_node(gpu_clients *c, const emit *e, const char *node)
{
    emit_file f = {.fd = -1};
    char path[128], *line, address[40];
    uint64_t place = UINT64_MAX, domain = 0;
    int error;
    snprintf(path, sizeof path, "/sys/class/kfd/kfd/topology/nodes/%.20s/properties", node);
    for (char *at = emit_file_read(&f, e, path, &error); at && (line = emit_line(&at));) {
        char *key = emit_word(&line);
        if (key && strcmp(key, "location_id") == 0) emit_number(emit_word(&line), &place);
        if (key && strcmp(key, "domain") == 0) emit_number(emit_word(&line), &domain);
    }
    emit_file_close(&f);
    if (place == UINT64_MAX) return NULL;
    snprintf(address, sizeof address, "%04x:%02x:%02x.%u", (unsigned)domain, (unsigned)(place >> 8 & 0xff),
             (unsigned)(place >> 3 & 0x1f), (unsigned)(place & 7));
    return gpu_clients_use_of(c, address);
}

static void gpu_clients_found_node(void *user, const char *node)
{
    queue_scan *q = user;
    char text[32];
    uint64_t gpu_id;
    if (*node < '0' || *node > '9' ||
        !emit_read_line(q->e, text, sizeof text, "/sys/class/kfd/kfd/topology/nodes/%.20s/gpu_id", node) ||
        !emit_number(text, &gpu_id) || !gpu_id) // 0: a processor
        return;
    use *u = gpu_clients_use_of_node(q->c, q->e, node);
    queue_node *longer = u ? realloc(q->nodes, (q->node_count + 1) * sizeof *longer) : NULL;
    if (!longer) return;
    q->nodes = longer;
    q->nodes[q->node_count++] = (queue_node){gpu_id, u};
}

// Buffers of compute queues may be reported by the open device as well: the larger figure is taken, not the sum.
static void gpu_clients_add_queues_of(use *u)
{
    u->has_all = u->has_memory = true;
    u->has_queues = u->queue_processes > 0;
    if (u->queue_memory > u->memory) u->memory = u->queue_memory;
    if (u->queue_processes > u->processes) u->processes = u->queue_processes;
    u->all_processes = u->processes + u->other_processes;
}

static void gpu_clients_add_queues(gpu_clients *c, const emit *e)
{
    queue_scan q = {.c = c, .e = e};
    emit_directory(e, "/sys/class/kfd/kfd/topology/nodes", gpu_clients_found_node, &q);
    bool told = q.node_count && emit_directory(e, "/sys/class/kfd/kfd/proc", gpu_clients_found_queue_process, &q) == 0;
    for (size_t i = 0; i < q.node_count && told; i++)
        gpu_clients_add_queues_of(q.nodes[i].u);
    free(q.nodes);
}

// ---- a look at all ----

static bool gpu_clients_make_uses(gpu_clients *c, const gpu_list *list)
{
    use *uses = calloc(list->count ? list->count : 1, sizeof *uses);
    if (!uses) return false;
    free(c->uses);
    c->uses = uses;
    c->use_count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const gpu *g = list->items[i];
        if (!*g->driver || !*g->pci) continue;
        snprintf(c->uses[c->use_count++].pci, sizeof uses->pci, "%s", g->pci);
    }
    return true;
}

void gpu_clients_read(gpu_clients *c, const gpu_list *list, const emit *e)
{
    scan s = {.c = c, .list = list, .e = e};
    int64_t begin = gpu_clock_us();
    struct timespec t;
    if (c->read_once && begin < c->next_us) return;
    if (!gpu_clients_make_uses(c, list)) return;
    c->error = 0;
    c->process_count = 0;
    emit_directory(e, "/proc", gpu_clients_found_process, &s);
    gpu_clients_mark_children(c);
    for (size_t i = 0; i < c->process_count; i++)
        if (c->processes[i].ours) gpu_clients_look_at(&s, c->processes[i].pid);
    gpu_clients_forget_gone(c);
    c->has_span = c->read_once && begin > c->last_us;
    gpu_clients_find_busiest(c, begin);
    gpu_clients_add_queues(c, e);
    int64_t end = gpu_clock_us();
    clock_gettime(CLOCK_REALTIME, &t);
    c->stamp_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    c->next_us = begin + (end - begin) * PART;
    c->last_us = begin;
    c->read_once = true;
}

void gpu_clients_set(const gpu_clients *c, gpu *g)
{
    const use *u = *g->driver ? gpu_clients_use_of((gpu_clients *)(uintptr_t)c, g->pci) : NULL;
    if (!u) return;
    if (u->has_all) gpu_set(g, GPU_PROCESSES, 0, u->all_processes);
    gpu_set(g, GPU_JOB_PROCESSES, c->error, u->processes);
    gpu_set(g, GPU_JOB_MEMORY, c->error ? c->error : u->has_memory || !u->has_client ? 0 : EOPNOTSUPP, u->memory);
    // Work of AMD's compute queues passes by the engines that are accounted for.
    bool told = !u->has_queues && (u->has_engine || !u->has_client);
    gpu_set(g, GPU_JOB_BUSY,
            c->error      ? c->error
            : !told       ? EOPNOTSUPP
            : c->has_span ? 0
                          : ENODATA,
            (uint64_t)(100 * u->busy + 0.5));
}

void gpu_clients_tell(const gpu_clients *c, const gpu *g, emit *e)
{
    static const emit_shape shape = SHAPE("ns", COUNTER, NETPROF_STAMPED);
    for (size_t i = 0; i < c->sum_count; i++) {
        const sum *s = &c->sums[i];
        char name[48];
        if (!*g->driver || strcasecmp(s->pci, g->pci) != 0) continue;
        snprintf(name, sizeof name, "job_engine_%s", s->name);
        if (c->error)
            emit_failed(e, name, &shape, c->error);
        else
            emit_stamped(e, name, &shape, s->ns, c->stamp_ns);
    }
}

#include "sim.h"
#include "model.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

enum { restart_entries = 10, max_scenarios = 8, max_rows = 64, scenario_size = 160, line_size = 64, host_size = 256 };

static const int64_t default_start_ns = INT64_C(1746204071662953620); /* the first stamp of the Aurora data */
static const int64_t history_seconds = 300960;                        /* its NICs' age */

typedef struct nic {
    tree_nic tree;
    int present;
    char scenario[scenario_size]; /* that its fixed files show */
    int64_t restarts[restart_entries];
    int restart_count;
    uint64_t *values; /* per item, as are these: */
    int64_t *stamps;
    unsigned char *faults;
    int *fds;               /* kept open while the real clock runs, -1: not */
    unsigned char *lengths; /* of the lines in them */
} nic;

struct sim {
    char *root;
    int root_fd;
    sim_options options;
    char host[host_size];
    int64_t now_ns; /* start of the last sweep */
    uint64_t steps;
    model_item *items; /* sorted by name */
    size_t *sweep;     /* items in the order in which they are read */
    size_t item_count;
    nic *nics;
    uint64_t *gains; /* scratch */
    double *intervals;
    int64_t *new_stamps;
};

static const struct {
    const char *name, *kind;
    int width;
    const char *asic, *width_c2;
} catalog[] = {
#include "catalog.inc"
};

enum { catalog_count = sizeof catalog / sizeof *catalog };

static const struct {
    const char *name;
    int gauge;
} other_items[] = {
    {"rh:spt_timeouts", 0},
    {"rh:spt_timeouts_u", 0},
    {"rh:spt_timeouts_o", 0},
    {"rh:connections_cancelled", 0},
    {"rh:pkts_cancelled_u", 0},
    {"rh:pkts_cancelled_o", 0},
    {"rh:cancel_no_matching_conn", 0},
    {"rh:cancel_resource_busy", 0},
    {"rh:cancel_trs_pend_rsp", 0},
    {"rh:cancel_tct_closed", 0},
    {"rh:nacks", 0},
    {"rh:nack_no_target_trs", 0},
    {"rh:nack_no_target_mst", 0},
    {"rh:nack_no_target_conn", 0},
    {"rh:nack_no_matching_conn", 0},
    {"rh:nack_resource_busy", 0},
    {"rh:nack_trs_pend_rsp", 0},
    {"rh:nack_sequence_error", 0},
    {"rh:sct_timeouts", 0},
    {"rh:tct_timeouts", 0},
    {"rh:accel_close_complete", 0},
    {"rh:ignored_sct_timeouts", 0},
    {"rh:rh_sct_status_change", 0},
    {"rh:srb_in_use", 1},
    {"rh:spt_in_use", 1},
    {"rh:smt_in_use", 1},
    {"rh:sct_in_use", 1},
    {"rh:trs_in_use", 1},
    {"rh:mst_in_use", 1},
    {"rh:tct_in_use", 1},
    {"rh:nid_value", 1},
    {"rh:nid_tree_count", 1},
    {"rh:max_nid_tree_count", 1},
    {"rh:switch_tree_count", 1},
    {"rh:max_switch_tree_count", 1},
    {"rh:parked_nids", 1},
    {"rh:max_parked_nids", 1},
    {"rh:parked_switches", 1},
    {"rh:max_parked_switches", 1},
    {"net:rx_packets", 0},
    {"net:tx_packets", 0},
    {"net:rx_bytes", 0},
    {"net:tx_bytes", 0},
    {"net:rx_errors", 0},
    {"net:tx_errors", 0},
    {"net:rx_dropped", 0},
    {"net:tx_dropped", 0},
    {"net:multicast", 0},
    {"net:collisions", 0},
    {"net:rx_length_errors", 0},
    {"net:rx_over_errors", 0},
    {"net:rx_crc_errors", 0},
    {"net:rx_frame_errors", 0},
    {"net:rx_fifo_errors", 0},
    {"net:rx_missed_errors", 0},
    {"net:tx_aborted_errors", 0},
    {"net:tx_carrier_errors", 0},
    {"net:tx_fifo_errors", 0},
    {"net:tx_heartbeat_errors", 0},
    {"net:tx_window_errors", 0},
    {"net:rx_compressed", 0},
    {"net:tx_compressed", 0},
    {"net:rx_nohandler", 0},
    {"net:carrier_changes", 0},
    {"net:carrier_up_count", 0},
    {"net:carrier_down_count", 0},
};

enum { other_count = sizeof other_items / sizeof *other_items };

static int is_telemetry(const char *item)
{
    return strchr(item, ':') == NULL;
}

static int compare_items(const void *a, const void *b)
{
    return strcmp(((const model_item *)a)->name, ((const model_item *)b)->name);
}

static void fill_items(sim *s)
{
    int second = s->options.asic == 2;
    for (int i = 0; i < catalog_count; i++) {
        if (!second && strcmp(catalog[i].asic, "C2") == 0) continue;
        int width = second && *catalog[i].width_c2 ? atoi(catalog[i].width_c2) : catalog[i].width;
        s->items[s->item_count++] = (model_item){.name = catalog[i].name,
                                                 .gauge = strcmp(catalog[i].kind, "gauge") == 0,
                                                 .order = i,
                                                 .max = (UINT64_C(1) << width) - 1};
    }
    for (int i = 0; i < other_count; i++)
        s->items[s->item_count++] = (model_item){
            .name = other_items[i].name,
            .gauge = other_items[i].gauge,
            .order = catalog_count + i,
            .max = other_items[i].name[0] == 'r' ? INT32_MAX : UINT64_MAX,
        };
    qsort(s->items, s->item_count, sizeof *s->items, compare_items);
}

static int by_order_of(const sim *s, size_t a, size_t b)
{
    return s->items[a].order < s->items[b].order;
}

static void fill_sweep(sim *s)
{
    for (size_t i = 0; i < s->item_count; i++) { /* insertion: the two orders are nearly the same */
        size_t place = i;
        for (; place > 0 && by_order_of(s, i, s->sweep[place - 1]); place--)
            s->sweep[place] = s->sweep[place - 1];
        s->sweep[place] = i;
    }
}

static void close_file(nic *n, size_t item)
{
    if (n->fds && n->fds[item] >= 0) close(n->fds[item]);
    if (n->fds) n->fds[item] = -1;
}

static void close_files(const sim *s, nic *n)
{
    for (size_t i = 0; i < s->item_count; i++)
        close_file(n, i);
}

static void sim_free(sim *s)
{
    if (!s) return;
    for (int i = 0; s->nics && i < s->options.nics; i++) {
        free(s->nics[i].values);
        free(s->nics[i].stamps);
        free(s->nics[i].faults);
        close_files(s, &s->nics[i]);
        free(s->nics[i].fds);
        free(s->nics[i].lengths);
    }
    if (s->root_fd >= 0) close(s->root_fd);
    free(s->nics);
    free(s->items);
    free(s->sweep);
    free(s->gains);
    free(s->intervals);
    free(s->new_stamps);
    free(s->root);
    free(s);
}

static int allocate_nics(sim *s)
{
    s->nics = calloc((size_t)s->options.nics, sizeof *s->nics);
    for (int i = 0; s->nics && i < s->options.nics; i++) {
        nic *n = &s->nics[i];
        n->tree = tree_identify(i, s->options.nics, s->options.asic, s->options.seed, s->options.global_pause);
        n->present = 1;
        n->values = calloc(s->item_count, sizeof *n->values);
        n->stamps = calloc(s->item_count, sizeof *n->stamps);
        n->faults = calloc(s->item_count, sizeof *n->faults);
        if (!n->values || !n->stamps || !n->faults) return -ENOMEM;
    }
    return s->nics ? 0 : -ENOMEM;
}

static int sim_new(const char *root, const sim_options *options, sim **out)
{
    sim *s = calloc(1, sizeof *s);
    if (!s) return -ENOMEM;
    enum { most = catalog_count + other_count };
    s->root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int err = s->root_fd < 0 ? -errno : 0;
    s->options = *options;
    s->root = strdup(root);
    s->items = calloc(most, sizeof *s->items);
    s->sweep = calloc(most, sizeof *s->sweep);
    s->gains = calloc(most, sizeof *s->gains);
    s->intervals = calloc(most, sizeof *s->intervals);
    s->new_stamps = calloc(most, sizeof *s->new_stamps);
    if (err == 0 && (!s->root || !s->items || !s->sweep || !s->gains || !s->intervals || !s->new_stamps)) err = -ENOMEM;
    if (err == 0) {
        fill_items(s);
        fill_sweep(s);
        err = allocate_nics(s);
    }
    if (err) {
        sim_free(s);
        return err;
    }
    snprintf(s->host, sizeof s->host, "%s", options->host ? options->host : "sim0");
    s->options.host = s->host;
    *out = s;
    return 0;
}

/* Time from one read to the next, as `cat` in sequence on Aurora: median 6.4 to 7.3 us, 1 % over 15 to 30 us.
 */
static int64_t read_gap_ns(uint64_t *random)
{
    double u = model_uniform(random), gap = 5900 + 700 * u / (1.08 - u);
    if (model_uniform(random) < 0.01) gap += 15000 + 10000 * model_uniform(random);
    return (int64_t)gap;
}

/* Each file's new stamp; returns the end of this NIC's sweep. */
static int64_t stamp_sweep(sim *s, const nic *n, int64_t start_ns, double pace)
{
    uint64_t random = s->options.seed * 31 + s->steps * 1000003 + (unsigned)n->tree.cxi;
    for (size_t i = 0; i < s->item_count; i++) {
        size_t item = s->sweep[i];
        s->new_stamps[item] = start_ns;
        if (s->new_stamps[item] < n->stamps[item]) s->new_stamps[item] = n->stamps[item];
        s->intervals[item] = (double)(s->new_stamps[item] - n->stamps[item]) * 1e-9;
        start_ns += (int64_t)((double)read_gap_ns(&random) * pace);
    }
    return start_ns;
}

static int print_item(char line[line_size], const nic *n, size_t item, const char *name)
{
    uint64_t value = n->values[item];
    int64_t stamp = n->stamps[item];
    if (!is_telemetry(name) || n->faults[item]) return snprintf(line, line_size, "%" PRIu64 "\n", value);
    return snprintf(line, line_size, "%" PRIu64 "@%" PRId64 ".%09" PRId64 "\n", value, stamp / SECOND, stamp % SECOND);
}

/* Like tree_write(), without opening, closing and needless cuts. */
static int write_open_file(nic *n, size_t item, const char *line, int length)
{
    if (pwrite(n->fds[item], line, (size_t)length, 0) != length) return -EIO;
    if (length < n->lengths[item] && ftruncate(n->fds[item], length) != 0) return -errno;
    n->lengths[item] = (unsigned char)length;
    return 0;
}

static int write_item(const sim *s, nic *n, size_t item, int directory_fd, const char *path)
{
    char line[line_size];
    int length = print_item(line, n, item, s->items[item].name);
    if (n->fds && n->fds[item] < 0) {
        n->fds[item] = openat(directory_fd, path, O_WRONLY | O_CLOEXEC);
        n->lengths[item] = UINT8_MAX; /* not known: cut once */
    }
    if (n->fds && n->fds[item] >= 0) return write_open_file(n, item, line, length);
    return tree_write(directory_fd, path, line, (size_t)length);
}

static int open_below(int root_fd, const char *path)
{
    return openat(root_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int write_items(sim *s, nic *n)
{
    char path[256];
    int err = 0;
    snprintf(path, sizeof path, "%s/telemetry", n->tree.device);
    int telemetry_fd = open_below(s->root_fd, path);
    if (telemetry_fd < 0) return -errno;
    for (size_t i = 0; i < s->item_count && err == 0; i++) {
        const model_item *item = &s->items[s->sweep[i]];
        int fault = n->faults[s->sweep[i]];
        if (fault && !tree_fault_keeps_counting(fault)) continue;
        if (item->name[0] == 'r' && item->name[2] == ':' && s->options.no_retry_handler) continue;
        int telemetry = is_telemetry(item->name);
        if (!telemetry) tree_item_path(&n->tree, item->name, path, sizeof path);
        err = write_item(s, n, s->sweep[i], telemetry ? telemetry_fd : s->root_fd, telemetry ? item->name : path);
    }
    close(telemetry_fd);
    return err;
}

/* The hardware counts overflows of its event counters per block. */
static void count_overflow(const sim *s, nic *n, const char *counter)
{
    static const char *const blocks[] = {"cq", "hni", "lpe", "mb", "pi_ipd"};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        size_t length = strlen(blocks[i]);
        if (strncmp(counter, blocks[i], length) != 0 || counter[length] != '_') continue;
        char name[64];
        int used = snprintf(name, sizeof name, "%s_cfg_event_cnts_ovf_cnt", blocks[i]);
        ptrdiff_t item = model_find(s->items, s->item_count, name, (size_t)used);
        if (item >= 0) n->values[item] = (n->values[item] + 1) & s->items[item].max;
    }
}

static void apply_gains(sim *s, nic *n)
{
    for (size_t i = 0; i < s->item_count; i++) {
        uint64_t before = n->values[i];
        n->values[i] = s->items[i].gauge ? s->gains[i] : (before + s->gains[i]) & s->items[i].max;
        n->stamps[i] = s->new_stamps[i];
        if (!s->items[i].gauge && n->values[i] < before && is_telemetry(s->items[i].name))
            count_overflow(s, n, s->items[i].name);
    }
}

static int push_restarts(sim *s, nic *n, int count)
{
    for (int i = 0; i < count; i++)
        n->restarts[n->restart_count++ % restart_entries] = s->now_ns / SECOND;
    return count > 0 ? tree_write_restarts(s->root_fd, &n->tree, n->restarts) : 0;
}

/* The NULL ended list of scenarios of a comma list; -EINVAL for an unknown name. */
static int parse_scenarios(const char *names, const model_scenario *list[max_scenarios + 1])
{
    int count = 0;
    while (*names) {
        size_t length = strcspn(names, ",");
        if (count == max_scenarios || !(list[count] = model_scenario_find(names, length))) return -EINVAL;
        count++;
        names += length + (names[length] == ',');
    }
    list[count] = NULL;
    return 0;
}

static int is_hit(const sim_step_options *o, const model_scenario *first, int cxi)
{
    for (int i = 0; o->nics && i < o->nic_count; i++)
        if (o->nics[i] == cxi) return 1;
    return o->nics ? 0 : !first || !first->hits_one || cxi == 0;
}

/* The rows that the caller gave for this NIC, as one more scenario. */
static int append_rows(const sim_step_options *o, int cxi, model_row *rows, model_scenario *own,
                       const model_scenario *list[max_scenarios + 2])
{
    int count = 0, scenarios = 0;
    if (o->row_count > max_rows) return -E2BIG;
    for (int i = 0; i < o->row_count; i++)
        if (o->rows[i].nic < 0 || o->rows[i].nic == cxi)
            rows[count++] = (model_row){.target = o->rows[i].target, .formula = o->rows[i].formula};
    rows[count] = (model_row){0};
    while (list[scenarios])
        scenarios++;
    *own = (model_scenario){.name = "own", .rows = rows};
    if (count) list[scenarios++] = own;
    list[scenarios] = NULL;
    return 0;
}

static int step_nic(sim *s, nic *n, const sim_step_options *o, double dt, const char *names)
{
    const model_scenario *scenarios[max_scenarios + 2];
    model_row rows[max_rows + 1];
    model_scenario own;
    int err = parse_scenarios(names, scenarios);
    if (err == 0) err = append_rows(o, n->tree.cxi, rows, &own, scenarios);
    if (err) return err;
    uint64_t random = (s->options.seed + 1) * 0x9e3779b9u + s->steps * 7919 + (uint64_t)(unsigned)n->tree.cxi * 104729;
    int second = s->options.asic == 2;
    model_step step = {.items = s->items,
                       .item_count = s->item_count,
                       .values = n->values,
                       .intervals = s->intervals,
                       .dt = dt,
                       .now = (double)s->now_ns * 1e-9,
                       .clock_hz = second ? 1.1e9 : 1e9,
                       .line_bits_per_s = second ? 425e9 : 212.5e9,
                       .first = !o->continued,
                       .global_pause = s->options.global_pause,
                       .random = model_random(&random),
                       .scenarios = scenarios};
    model_result result = {.gains = s->gains};
    model_run(&step, &result);
    if (result.error) return -ENOTRECOVERABLE; /* a mistake in tables.c */
    if (result.reset) memset(n->values, 0, s->item_count * sizeof *n->values);
    apply_gains(s, n);
    err = push_restarts(s, n, result.restarts);
    if (err == 0 && strcmp(n->scenario, names) != 0) {
        snprintf(n->scenario, sizeof n->scenario, "%s", names);
        err = tree_write_attributes(s->root_fd, &n->tree, scenarios);
    }
    return err;
}

/* What passed between this sweep over a NIC and its last one. */
static double interval_of_sweep(const sim *s)
{
    return s->intervals[s->sweep[0]];
}

static int64_t real_time_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

int sim_step(sim *s, const sim_step_options *o)
{
    const model_scenario *scenarios[max_scenarios + 1];
    const char *names = o->scenario ? o->scenario : "healthy";
    if (strlen(names) >= scenario_size || parse_scenarios(names, scenarios) != 0) return -EINVAL;
    if (!o->real_clock && !(o->seconds >= 0 && o->seconds < 1e9)) return -EINVAL;
    int64_t before = s->now_ns;
    s->now_ns = o->real_clock ? real_time_ns() : before + (int64_t)(o->seconds * 1e9 + 0.5);
    double dt = (double)(s->now_ns - before) * 1e-9;
    const char *others = scenarios[0] && scenarios[0]->others ? scenarios[0]->others : "healthy";
    int64_t at = s->now_ns;
    int err = 0;
    s->steps++;
    for (int i = 0; i < s->options.nics && err == 0; i++) {
        nic *n = &s->nics[i];
        if (!n->present) continue;
        /* on the real clock the files are written at once, so a sweep is as short as that */
        if (o->real_clock) at = real_time_ns();
        at = stamp_sweep(s, n, at, o->real_clock ? 0.2 : 1.0);
        if (o->real_clock) dt = interval_of_sweep(s); /* others' writing may have taken long */
        err = step_nic(s, n, o, dt > 0 ? dt : 0, is_hit(o, scenarios[0], i) ? names : others);
        if (err == 0) err = write_items(s, n);
    }
    return err;
}

/* Opening and closing costs more than writing. Where the limit is too low, some files stay closed. */
static int keep_files_open(sim *s)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    for (int i = 0; i < s->options.nics; i++) {
        nic *n = &s->nics[i];
        if (n->fds) continue;
        n->lengths = calloc(s->item_count, sizeof *n->lengths);
        n->fds = n->lengths ? malloc(s->item_count * sizeof *n->fds) : NULL;
        if (!n->fds) return -ENOMEM;
        memset(n->fds, 0xff, s->item_count * sizeof *n->fds);
    }
    return 0;
}

int sim_sync_clock(sim *s)
{
    int err = keep_files_open(s);
    s->now_ns = real_time_ns();
    s->steps++;
    for (int i = 0; i < s->options.nics && err == 0; i++) {
        nic *n = &s->nics[i];
        if (!n->present) continue;
        memset(n->stamps, 0, s->item_count * sizeof *n->stamps);
        stamp_sweep(s, n, real_time_ns(), 0.2);
        memcpy(n->stamps, s->new_stamps, s->item_count * sizeof *n->stamps);
        err = write_items(s, n);
    }
    s->now_ns = real_time_ns(); /* a simulated step from here is no shorter for the time that the writing took */
    return err;
}

/* The state file is text: a line of options, the host, and then per NIC a line and one line per item. */
static const char state_path[] = ".sim/state";

static void print_nic(FILE *f, const sim *s, const nic *n)
{
    fprintf(f, "nic %d %d", n->present, n->restart_count);
    for (int i = 0; i < restart_entries; i++)
        fprintf(f, " %" PRId64, n->restarts[i]);
    fprintf(f, " %s\n", *n->scenario ? n->scenario : "-");
    for (size_t i = 0; i < s->item_count; i++)
        fprintf(f, "%" PRIu64 " %" PRId64 " %u\n", n->values[i], n->stamps[i], (unsigned)n->faults[i]);
}

static int state_save(const sim *s)
{
    int err = tree_make_directories(s->root_fd, ".sim");
    if (err) return err;
    int fd = openat(s->root_fd, ".sim/state.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f) return -errno;
    const sim_options *o = &s->options;
    fprintf(f, "netprof-sim 1 %d %d %" PRIu64 " %d %d %d %" PRId64 " %" PRIu64 "\n%s\n", o->nics, o->asic, o->seed,
            o->global_pause, o->no_retry_handler, o->no_foreign_files, s->now_ns, s->steps, s->host);
    for (int i = 0; i < o->nics; i++)
        print_nic(f, s, &s->nics[i]);
    int failed = ferror(f) != 0;
    if (fclose(f) != 0 || failed) return -EIO;
    return renameat(s->root_fd, ".sim/state.new", s->root_fd, state_path) == 0 ? 0 : -errno;
}

static int scan_nic(FILE *f, sim *s, nic *n)
{
    unsigned fault;
    if (fscanf(f, " nic %d %d", &n->present, &n->restart_count) != 2) return -EBADMSG;
    for (int i = 0; i < restart_entries; i++)
        if (fscanf(f, "%" SCNd64, &n->restarts[i]) != 1) return -EBADMSG;
    if (fscanf(f, " %159s", n->scenario) != 1) return -EBADMSG;
    for (size_t i = 0; i < s->item_count; i++) {
        if (fscanf(f, "%" SCNu64 " %" SCNd64 " %u", &n->values[i], &n->stamps[i], &fault) != 3) return -EBADMSG;
        n->faults[i] = (unsigned char)fault;
    }
    return 0;
}

static int state_load(FILE *f, const char *root, sim **out)
{
    sim_options o = {0};
    int64_t now;
    uint64_t steps;
    char host[host_size];
    if (fscanf(f, "netprof-sim 1 %d %d %" SCNu64 " %d %d %d %" SCNd64 " %" SCNu64 " %255[^\n]", &o.nics, &o.asic,
               &o.seed, &o.global_pause, &o.no_retry_handler, &o.no_foreign_files, &now, &steps, host) != 9 ||
        o.nics < 1)
        return -EBADMSG;
    o.host = host;
    sim *s;
    int err = sim_new(root, &o, &s);
    if (err) return err;
    s->now_ns = now;
    s->steps = steps;
    for (int i = 0; i < o.nics && err == 0; i++)
        err = scan_nic(f, s, &s->nics[i]);
    if (err)
        sim_free(s);
    else
        *out = s;
    return err;
}

sim *sim_open(const char *root)
{
    char path[4096];
    sim *s = NULL;
    snprintf(path, sizeof path, "%s/%s", root, state_path);
    FILE *f = fopen(path, "re");
    if (!f) return NULL;
    int err = state_load(f, root, &s);
    fclose(f);
    if (err) errno = -err;
    return s;
}

int sim_close(sim *s)
{
    if (!s) return 0;
    int err = state_save(s);
    sim_free(s);
    return err;
}

static int build_nic(sim *s, nic *n)
{
    int err = tree_build(s->root_fd, &n->tree, !s->options.no_retry_handler, !s->options.no_foreign_files);
    return err ? err : tree_write_restarts(s->root_fd, &n->tree, n->restarts);
}

int sim_create(const char *root, const sim_options *options)
{
    sim_options o = *options;
    char path[4096];
    if (o.nics == 0) o.nics = 8;
    if (o.asic == 0) o.asic = 1;
    if (o.start_ns == 0) o.start_ns = default_start_ns;
    if (o.nics < 0 || o.nics > 1024 || o.asic < 1 || o.asic > 2 || o.start_ns < history_seconds * SECOND)
        return -EINVAL;
    if (o.host && (!*o.host || strlen(o.host) >= host_size || strchr(o.host, '\n'))) return -EINVAL;
    if (mkdir(root, 0755) != 0 && errno != EEXIST) return -errno;
    if (snprintf(path, sizeof path, "%s/%s", root, state_path) >= (int)sizeof path) return -ENAMETOOLONG;
    if (access(path, F_OK) == 0) return -EEXIST;
    sim *s;
    int err = sim_new(root, &o, &s);
    if (err) return err;
    s->now_ns = o.start_ns - history_seconds * SECOND;
    err = tree_build_node(s->root_fd, s->host, o.seed);
    for (int i = 0; i < o.nics && err == 0; i++) {
        for (size_t k = 0; k < s->item_count; k++)
            s->nics[i].stamps[k] = s->now_ns;
        err = build_nic(s, &s->nics[i]);
    }
    if (err == 0) err = sim_step(s, &(sim_step_options){.seconds = (double)history_seconds, .scenario = "history"});
    if (err) {
        sim_free(s);
        return err;
    }
    return sim_close(s);
}

static int in_range(const sim *s, int i, int wanted)
{
    return wanted < 0 ? 1 : i == wanted && i < s->options.nics;
}

static int spoil_item(sim *s, nic *n, size_t item, int kind)
{
    char path[256];
    tree_item_path(&n->tree, s->items[item].name, path, sizeof path);
    close_file(n, item);
    int err = tree_spoil(s->root_fd, path, kind);
    n->faults[item] = (unsigned char)kind;
    return err || kind ? err : write_item(s, n, item, s->root_fd, path);
}

static int spoil_attribute(sim *s, nic *n, int kind, const char *below)
{
    char path[256];
    if (snprintf(path, sizeof path, "%s/%s", n->tree.device, below) >= (int)sizeof path) return -ENAMETOOLONG;
    int err = tree_spoil(s->root_fd, path, kind);
    return err || kind ? err : tree_write_attributes(s->root_fd, &n->tree, NULL);
}

int sim_fault(sim *s, int nic_index, const char *kind_name, const char *pattern)
{
    int kind = tree_fault_find(kind_name), found = 0, err = 0;
    if (kind < 0 || nic_index >= s->options.nics) return -EINVAL;
    for (int i = 0; i < s->options.nics && err == 0; i++) {
        nic *n = &s->nics[i];
        if (!in_range(s, i, nic_index) || !n->present) continue;
        if (strchr(pattern, '/')) {
            err = spoil_attribute(s, n, kind, pattern);
            found = 1;
        }
        for (size_t k = 0; k < s->item_count && err == 0; k++) {
            if (fnmatch(pattern, s->items[k].name, 0) != 0) continue;
            err = spoil_item(s, n, k, kind);
            found = 1;
        }
    }
    return err || found ? err : -ENOENT;
}

int sim_remove(sim *s, int i)
{
    if (i < 0 || i >= s->options.nics || !s->nics[i].present) return -ENODEV;
    s->nics[i].present = 0;
    close_files(s, &s->nics[i]);
    return tree_remove(s->root_fd, s->root, &s->nics[i].tree);
}

int sim_restore(sim *s, int i)
{
    if (i < 0 || i >= s->options.nics || s->nics[i].present) return -ENODEV;
    nic *n = &s->nics[i];
    n->present = 1;
    n->restart_count = 0;
    *n->scenario = 0;
    memset(n->restarts, 0, sizeof n->restarts);
    memset(n->values, 0, s->item_count * sizeof *n->values);
    memset(n->faults, 0, s->item_count * sizeof *n->faults);
    for (size_t k = 0; k < s->item_count; k++)
        n->stamps[k] = s->now_ns;
    int err = build_nic(s, n);
    return err ? err : write_items(s, n);
}

int sim_set(sim *s, int i, const char *counter, uint64_t value)
{
    ptrdiff_t item = model_find(s->items, s->item_count, counter, strlen(counter));
    if (i < 0 || i >= s->options.nics || item < 0) return -ENOENT;
    if (value > s->items[item].max) return -ERANGE;
    s->nics[i].values[item] = value;
    return s->nics[i].present ? write_items(s, &s->nics[i]) : 0;
}

int sim_get(const sim *s, int i, const char *counter, uint64_t *value)
{
    ptrdiff_t item = model_find(s->items, s->item_count, counter, strlen(counter));
    if (i < 0 || i >= s->options.nics || item < 0) return -ENOENT;
    *value = s->nics[i].values[item];
    return 0;
}

int sim_nic_count(const sim *s)
{
    return s->options.nics;
}

const char *sim_scenario_name(int i)
{
    return model_scenarios[i].name;
}

const char *sim_scenario_sentence(int i)
{
    return model_scenarios[i].sentence;
}

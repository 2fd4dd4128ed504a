/* The simulated node, read back from its files as a reader of a real one would. */
#include "sim.h"

#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { most = 2048 };

typedef struct reading {
    char name[256];
    uint64_t value;
    int64_t stamp;
} reading;

typedef struct snapshot {
    int count;
    reading readings[most];
} snapshot;

static char scratch[64];
static snapshot before, after;

static char *node_path(char *path, const char *node)
{
    snprintf(path, 128, "%s/%s", scratch, node);
    return path;
}

static void read_text(const char *root, const char *below, char *text, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, below);
    int fd = open(path, O_RDONLY);
    ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0) close(fd);
    if (length < 0) fail_msg("%s: %s", path, strerror(errno));
    text[length] = 0;
}

static void take(const char *root, int nic, snapshot *out)
{
    char path[300], text[128];
    snprintf(path, sizeof path, "%s/sys/class/cxi/cxi%d/device/telemetry", root, nic);
    DIR *d = opendir(path);
    assert_non_null(d);
    out->count = 0;
    for (struct dirent *e; (e = readdir(d));) {
        reading *r = &out->readings[out->count];
        long long seconds, nanoseconds;
        if (*e->d_name == '.' || strcmp(e->d_name, "ALL-in-binary") == 0 || strcmp(e->d_name, "reset_counters") == 0)
            continue;
        int fd = openat(dirfd(d), e->d_name, O_RDONLY);
        ssize_t length = read(fd, text, sizeof text - 1);
        close(fd);
        assert_true(length > 0);
        text[length] = 0;
        assert_int_equal(sscanf(text, "%" SCNu64 "@%lld.%9lld\n", &r->value, &seconds, &nanoseconds), 3);
        assert_int_equal(strlen(strchr(text, '.')), 11); /* nine digits and the newline */
        r->stamp = seconds * 1000000000 + nanoseconds;
        snprintf(r->name, sizeof r->name, "%s", e->d_name);
        out->count++;
    }
    closedir(d);
}

static const reading *find(const snapshot *s, const char *name)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->readings[i].name, name) == 0) return &s->readings[i];
    fail_msg("no counter %s", name);
    return NULL;
}

/* What the counters matching the patterns of "a + b - c" gained. */
static int64_t gained(const char *terms)
{
    int64_t total = 0;
    char copy[512], *rest = copy;
    int sign = 1;
    snprintf(copy, sizeof copy, "%s", terms);
    for (char *word; (word = strsep(&rest, " "));) {
        if (strcmp(word, "-") == 0 || strcmp(word, "+") == 0) {
            sign = *word == '-' ? -1 : 1;
            continue;
        }
        int found = 0;
        for (int i = 0; i < after.count; i++) {
            if (fnmatch(word, after.readings[i].name, 0) != 0) continue;
            total += sign * (int64_t)(after.readings[i].value - find(&before, after.readings[i].name)->value);
            found = 1;
        }
        if (!found) fail_msg("nothing matches %s", word);
    }
    return total;
}

static double seconds_of(const char *name)
{
    return (double)(find(&after, name)->stamp - find(&before, name)->stamp) * 1e-9;
}

static sim *new_node(const char *root, sim_options options)
{
    assert_int_equal(sim_create(root, &options), 0);
    sim *s = sim_open(root);
    assert_non_null(s);
    return s;
}

/* All hold exactly in the data of a real Aurora node. */
static const char *const identities[][2] = {
    {"hni_tx_ok_[0-9]*", "hni_pkts_sent_by_tc_*"},
    {"hni_rx_ok_[0-9]*", "hni_pkts_recv_by_tc_*"},
    {"hni_tx_ok_[0-9]*", "hni_tx_ok_ieee + hni_tx_ok_opt"},
    {"hni_rx_ok_[0-9]*", "hni_rx_ok_ieee + hni_rx_ok_opt"},
    {"hni_sts_tx_ok_octets", "hni_sts_tx_octets_ieee + hni_sts_tx_octets_opt"},
    {"hni_sts_rx_ok_octets", "hni_sts_rx_octets_ieee + hni_sts_rx_octets_opt"},
    {"hni_llr_tx_ok_lossless", "hni_tx_ok_ieee + hni_tx_ok_opt"},
    {"hni_llr_rx_ok_lossless", "hni_rx_ok_ieee + hni_rx_ok_opt - hni_rx_ok_flow_control"},
    {"hni_pause_recv_1", "hni_rx_ok_flow_control"},
    {"hni_pcs_fecl_errors_*", "hni_pcs_corrected_cw"},
    {"pct_req_rsp_latency_*", "pct_req_ordered + pct_req_unordered"},
    {"pct_host_access_latency_*", "pct_req_ordered + pct_req_unordered + pct_eth_packets"},
    {"hni_pkts_sent_by_tc_0",
     "pct_req_ordered + pct_req_unordered + pct_close_sent + pct_clear_sent + pct_retry_srb_requests"},
    {"hni_pkts_recv_by_tc_0", "ixe_rx_ptl_connmgmt_pkt + ixe_rx_ptl_continuation_pkt + ixe_rx_ptl_msgs"},
    {"hni_pkts_recv_by_tc_1", "pct_responses_received"},
    {"ixe_rx_ptl_msgs", "ixe_rx_ptl_restricted_pkt + ixe_rx_ptl_unrestricted_pkt"},
    {"lpe_net_match_requests_0", "lpe_net_match_priority_0 + lpe_net_match_overflow_0 + lpe_net_match_request_0"},
    {"lpe_net_match_requests_0", "lpe_put_cmds + lpe_get_cmds + lpe_rendezvous_put_cmds"},
    {"pct_req_ordered + pct_req_unordered", "oxe_ptl_tx_put_pkts_tsc_4 + ixe_disp_pct_getcomp"},
    {"atu_client_req_oxe", "parbs_tarb_oxe_non_posted_pkts"},
    {"atu_nta_trans_latency_*", "parbs_tarb_atu_non_posted_pkts"},
    {"parbs_tarb_pi_posted_pkts", "parbs_tarb_cq_posted_pkts + parbs_tarb_ee_posted_pkts + "
                                  "parbs_tarb_ixe_posted_pkts + parbs_tarb_atu_posted_pkts"},
    {"pi_pti_tarb_pkts", "pi_pti_tarb_mrd_pkts + pi_pti_tarb_mwr_pkts + pi_pti_tarb_irq_pkts"},
    {"ixe_tc_req_no_ecn_pkts_0 + ixe_tc_req_ecn_pkts_0", "pct_ptls_response"},
};

static void check_identities(void)
{
    for (size_t i = 0; i < sizeof identities / sizeof *identities; i++) {
        int64_t left = gained(identities[i][0]), right = gained(identities[i][1]);
        if (left != right)
            fail_msg("%s = %" PRId64 ", but %s = %" PRId64, identities[i][0], left, identities[i][1], right);
    }
}

static void check_octets(const char *direction, double line_bits_per_s)
{
    static const struct {
        const char *name;
        int low, high;
    } bins[] = {{"27", 27, 27},
                {"35", 35, 35},
                {"36_to_63", 36, 63},
                {"64", 64, 64},
                {"65_to_127", 65, 127},
                {"128_to_255", 128, 255},
                {"256_to_511", 256, 511},
                {"512_to_1023", 512, 1023},
                {"1024_to_2047", 1024, 2047},
                {"2048_to_4095", 2048, 4095},
                {"4096_to_8191", 4096, 8191},
                {"8192_to_max", 8192, 16384}};
    int64_t low = 0, high = 0;
    char name[256];
    for (size_t i = 0; i < sizeof bins / sizeof *bins; i++) {
        snprintf(name, sizeof name, "hni_%s_ok_%s", direction, bins[i].name);
        low += gained(name) * bins[i].low;
        high += gained(name) * bins[i].high;
    }
    snprintf(name, sizeof name, "hni_sts_%s_ok_octets", direction);
    int64_t octets = gained(name);
    assert_true(low <= octets && octets <= high);
    assert_true((double)octets * 8 <= line_bits_per_s * seconds_of(name));
}

/* No counter of cycles gains more than its own interval has. */
static void check_clocks(double clock_hz)
{
    static const char *const cycles[] = {"*_num_idles",    "oxe_channel_idle",       "hni_[rt]x_paused_*",
                                         "hni_rx_stall_*", "hni_tx_stall_llr",       "parbs_tarb_pi_*_blocked_cnt",
                                         "oxe_stall_*",    "cq_*_waiting_on_read_*", "ixe_dmawr_stall_*"};
    for (size_t k = 0; k < sizeof cycles / sizeof *cycles; k++)
        for (int i = 0; i < after.count; i++) {
            const char *name = after.readings[i].name;
            if (fnmatch(cycles[k], name, 0) != 0) continue;
            double most_possible = clock_hz * seconds_of(name);
            if ((double)gained(name) > most_possible + 1)
                fail_msg("%s gains %" PRId64 " in %g cycles", name, gained(name), most_possible);
        }
}

static void check_codewords(double line_bits_per_s, int link_was_down)
{
    double rate = (double)gained("hni_pcs_good_cw + hni_pcs_corrected_cw + hni_pcs_uncorrected_cw") /
                  seconds_of("hni_pcs_good_cw");
    double full = line_bits_per_s / 5440; /* RS(544,514), 10 bits per symbol: 39.063 M/s at 200G */
    assert_true(rate <= full * 1.0001 && (link_was_down || rate >= full * 0.999));
}

static void check_step(int asic, int global_pause, const char *scenario)
{
    double line = asic == 2 ? 425e9 : 212.5e9;
    char paused[32];
    assert_int_equal(after.count, asic == 2 ? 1922 : 1890);
    check_identities();
    check_octets("tx", line);
    check_octets("rx", line);
    check_clocks(asic == 2 ? 1.1e9 : 1e9);
    check_codewords(line, strcmp(scenario, "link-flap") == 0);
    for (int c = 0; c < 8; c++) {
        snprintf(paused, sizeof paused, "hni_tx_paused_%d", c);
        int counts = global_pause || c == 1 || c == 3 || c == 5;
        assert_int_equal(gained(paused), counts ? gained("hni_tx_paused_1") : 0);
    }
}

static void step_through_scenarios(const char *root, sim_options options)
{
    static snapshot last[2];
    sim *s = new_node(root, options);
    for (int nic = 0; nic < 2; nic++)
        take(root, nic, &last[nic]);
    for (int i = 0; sim_scenario_name(i); i++) {
        const char *name = sim_scenario_name(i);
        if (strcmp(name, "reset") == 0 || strcmp(name, "wrap") == 0 || strcmp(name, "history") == 0) continue;
        assert_int_equal(sim_step(s, &(sim_step_options){.seconds = 0.7, .scenario = name}), 0);
        for (int nic = 0; nic < 2; nic++) {
            before = last[nic];
            take(root, nic, &after);
            check_step(options.asic, options.global_pause, name);
            last[nic] = after;
        }
    }
    assert_int_equal(sim_close(s), 0);
}

static void every_scenario_is_consistent(void **state)
{
    (void)state;
    char root[128];
    step_through_scenarios(node_path(root, "c1"), (sim_options){.nics = 2, .asic = 1});
    step_through_scenarios(node_path(root, "c1global"), (sim_options){.nics = 2, .asic = 1, .global_pause = 1});
    step_through_scenarios(node_path(root, "c2"), (sim_options){.nics = 2, .asic = 2});
}

static void a_new_tree_obeys_the_same_identities(void **state)
{
    (void)state;
    char root[128];
    sim_close(new_node(node_path(root, "fresh"), (sim_options){.nics = 1}));
    take(root, 0, &after);
    before = after;
    for (int i = 0; i < before.count; i++)
        before.readings[i].value = 0;
    check_identities();
    assert_true(gained("hni_sts_tx_ok_octets") > 1000000000000);
}

/* {scenario, what rises, per what (or per second), at least} on a NIC that is hit, and at most a tenth when
 * healthy */
static const struct {
    const char *scenario, *what, *per;
    double least;
} signs[] = {
    {"congestion", "hni_tx_paused_1", NULL, 0.2e9},
    {"congestion", "ixe_tc_req_ecn_pkts_0", "ixe_tc_req_ecn_pkts_0 + ixe_tc_req_no_ecn_pkts_0", 0.1},
    {"write-pressure", "parbs_tarb_pi_posted_blocked_cnt", "parbs_tarb_pi_posted_pkts", 10},
    {"write-pressure", "hni_rx_paused_1", NULL, 0.1e9},
    {"slow-reads", "parbs_tarb_pi_non_posted_blocked_cnt", "parbs_tarb_pi_non_posted_pkts", 10},
    {"incast", "hni_rx_paused_1", NULL, 0.2e9},
    {"incast", "ixe_tc_req_ecn_pkts_0", "ixe_tc_req_ecn_pkts_0 + ixe_tc_req_no_ecn_pkts_0", 0.1},
    {"link-corrected", "hni_pcs_corrected_cw", NULL, 1e6},
    {"link-uncorrected", "hni_pcs_uncorrected_cw", NULL, 2},
    {"link-replay", "hni_llr_tx_replay_event", NULL, 10},
    {"timeouts", "pct_spt_timeouts", NULL, 15},
    {"timeouts", "pct_retry_srb_requests", NULL, 15},
    {"target-exhaustion", "pct_no_trs_nacks", NULL, 250},
    {"target-exhaustion", "pct_trs_rsp_nack_drops", NULL, 2},
    {"match-overflow", "lpe_net_match_overflow_0", "lpe_net_match_requests_0", 0.5},
    {"match-depth", "lpe_sts_net_match_attempts_0", "lpe_net_match_requests_0", 128},
    {"translation-misses", "atu_cache_miss_0", "atu_cache_miss_0 + atu_cache_hit_base_page_size_0", 0.2},
    {"small-messages", "pct_req_unordered", NULL, 1.5e6},
    {"event-queue-overflow", "ee_events_dropped_ordinary_cntr_0", NULL, 400},
    {"shaping", "oxe_stall_ts_no_out_crd_tsc_4", NULL, 0.3e9},
    {"pcie-degraded", "parbs_tarb_pi_non_posted_blocked_cnt", "parbs_tarb_pi_non_posted_pkts", 3},
};

static double sign_value(const char *what, const char *per)
{
    return (double)gained(what) / (per ? (double)gained(per) : seconds_of("hni_pcs_good_cw"));
}

static void scenarios_show_what_they_say(void **state)
{
    (void)state;
    char root[128];
    sim *s = new_node(node_path(root, "signs"), (sim_options){.nics = 1, .seed = 7});
    take(root, 0, &after);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        before = after;
        assert_int_equal(sim_step(s, &(sim_step_options){.seconds = 2, .scenario = "healthy"}), 0);
        take(root, 0, &after);
        double healthy = sign_value(signs[i].what, signs[i].per);
        before = after;
        assert_int_equal(sim_step(s, &(sim_step_options){.seconds = 2, .scenario = signs[i].scenario}), 0);
        take(root, 0, &after);
        double ill = sign_value(signs[i].what, signs[i].per);
        if (ill < signs[i].least || healthy > signs[i].least / 10)
            fail_msg("%s: %s is %g, healthy %g", signs[i].scenario, signs[i].what, ill, healthy);
    }
    sim_close(s);
}

static void the_retry_handler_counts_the_same_timeouts(void **state)
{
    (void)state;
    char root[128], text[64];
    sim *s = new_node(node_path(root, "rh"), (sim_options){.nics = 1});
    take(root, 0, &before);
    sim_step(s, &(sim_step_options){.seconds = 4, .scenario = "cancelled"});
    take(root, 0, &after);
    read_text(root, "run/cxi/cxi0/spt_timeouts", text, sizeof text);
    assert_int_equal(strtoll(text, NULL, 10), gained("pct_spt_timeouts"));
    assert_true(gained("pct_spt_timeouts") > 100);
    read_text(root, "run/cxi/cxi0/pkts_cancelled_o", text, sizeof text);
    assert_true(strtoll(text, NULL, 10) > 60);
    sim_close(s);
}

static void unbalanced_loads_one_nic(void **state)
{
    (void)state;
    char root[128];
    sim *s = new_node(node_path(root, "unbalanced"), (sim_options){.nics = 4});
    int64_t octets[4];
    static snapshot starts[4];
    for (int i = 0; i < 4; i++)
        take(root, i, &starts[i]);
    sim_step(s, &(sim_step_options){.seconds = 1, .scenario = "unbalanced", .nics = (const int[]){2}, .nic_count = 1});
    for (int i = 0; i < 4; i++) {
        before = starts[i];
        take(root, i, &after);
        octets[i] = gained("hni_sts_tx_ok_octets");
    }
    assert_true(octets[2] > 20 * (octets[0] + octets[1] + octets[3]));
    sim_close(s);
}

static void the_same_seed_gives_the_same_bytes(void **state)
{
    (void)state;
    char roots[3][128], command[512];
    for (int i = 0; i < 3; i++) {
        char node[32];
        snprintf(node, sizeof node, "seed%d", i);
        sim *s = new_node(node_path(roots[i], node), (sim_options){.nics = 2, .seed = i == 2 ? 6 : 5, .host = "n"});
        sim_step(s, &(sim_step_options){.seconds = 0.25, .scenario = "congestion"});
        sim_close(s);
    }
    snprintf(command, sizeof command, "diff -r --no-dereference %s %s >/dev/null", roots[0], roots[1]);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "diff -r --no-dereference %s %s >/dev/null", roots[0], roots[2]);
    assert_int_not_equal(system(command), 0);
}

static void stamps_advance_as_a_sweep_reads(void **state)
{
    (void)state;
    char root[128];
    sim *s = new_node(node_path(root, "stamps"), (sim_options){.nics = 1});
    take(root, 0, &before);
    int64_t first = find(&before, "atu_at_stall_ccp")->stamp, last = find(&before, "tou_tou_oxe_num_stalls")->stamp;
    assert_int_equal(first, 1746204071662953620);
    assert_true(last - first > 1890 * 6000 && last - first < 1890 * 9000);
    sim_step(s, &(sim_step_options){.seconds = 1});
    take(root, 0, &after);
    for (int i = 0; i < after.count; i++) {
        double interval = seconds_of(after.readings[i].name);
        assert_true(interval > 0.998 && interval < 1.002);
    }
    sim_close(s);
}

static void an_open_file_shows_the_new_value(void **state)
{
    (void)state;
    char root[128], path[256], old[64] = "", new[64] = "";
    struct stat status[2];
    sim *s = new_node(node_path(root, "open"), (sim_options){.nics = 1});
    snprintf(path, sizeof path, "%s/sys/class/cxi/cxi0/device/telemetry/hni_pcs_good_cw", root);
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0 && pread(fd, old, 63, 0) > 0 && fstat(fd, &status[0]) == 0);
    sim_step(s, &(sim_step_options){.seconds = 1});
    assert_true(pread(fd, new, 63, 0) > 0 && stat(path, &status[1]) == 0);
    close(fd);
    assert_true(strtoull(new, NULL, 10) > strtoull(old, NULL, 10));
    assert_int_equal(status[0].st_ino, status[1].st_ino);
    sim_close(s);
}

static void levels_move_both_ways_within_their_width(void **state)
{
    (void)state;
    char root[128];
    int up = 0, down = 0;
    sim *s = new_node(node_path(root, "levels"), (sim_options){.nics = 1});
    for (int i = 0; i < 20; i++) {
        take(root, 0, &before);
        sim_step(s, &(sim_step_options){.seconds = 0.1});
        take(root, 0, &after);
        int64_t change = gained("lpe_sts_pe_le_alloc_num_allocated_1");
        up += change > 0;
        down += change < 0;
        assert_true(find(&after, "pct_prf_spt_status_spt_in_use")->value < 1 << 11);
    }
    assert_true(up > 0 && down > 0);
    for (int i = 0; i < after.count; i++)
        assert_true(after.readings[i].value < UINT64_C(1) << 56);
    assert_int_equal(sim_set(s, 0, "pct_prf_trs_status_trs_in_use", 1 << 12), -ERANGE); /* 14 bits on Cassini-2 only */
    sim_close(s);
}

static void rows_of_ones_own_hit_the_nics_they_name(void **state)
{
    (void)state;
    char root[128];
    const sim_row rows[] = {{"k.tx_paused", "0.05", 1}, {"hni_pfc_fifo_oflw_cntr_0", "7", 1}, {"rh:nacks", "9", -1}};
    sim *s = new_node(node_path(root, "rows"), (sim_options){.nics = 2});
    for (int nic = 0; nic < 2; nic++) {
        take(root, nic, &before);
        uint64_t nacks, more;
        assert_int_equal(sim_get(s, nic, "rh:nacks", &nacks), 0);
        assert_int_equal(sim_step(s, &(sim_step_options){.seconds = 1, .rows = rows, .row_count = 3}), 0);
        take(root, nic, &after);
        assert_int_equal(gained("hni_pfc_fifo_oflw_cntr_0"), nic ? 7 : 0);
        assert_int_equal(gained("hni_tx_paused_1") > 40000000, nic);
        assert_int_equal(sim_get(s, nic, "rh:nacks", &more), 0);
        assert_int_equal(more - nacks, 9);
    }
    const sim_row wrong = {"no_such_counter", "1", -1};
    assert_int_equal(sim_step(s, &(sim_step_options){.seconds = 1, .rows = &wrong, .row_count = 1}), -ENOTRECOVERABLE);
    sim_close(s);
}

static void wrap_passes_the_width_in_the_second_step(void **state)
{
    (void)state;
    char root[128];
    const uint64_t mask = (UINT64_C(1) << 56) - 1;
    sim *s = new_node(node_path(root, "wrap"), (sim_options){.nics = 1});
    sim_step(s, &(sim_step_options){.seconds = 1, .scenario = "wrap"});
    take(root, 0, &before);
    assert_true(find(&before, "hni_sts_tx_ok_octets")->value > mask / 2);
    sim_step(s, &(sim_step_options){.seconds = 1, .scenario = "wrap"});
    take(root, 0, &after);
    uint64_t old = find(&before, "hni_sts_tx_ok_octets")->value, new = find(&after, "hni_sts_tx_ok_octets")->value;
    assert_true(new < old &&new <= mask);
    double rate = (double)((new - old) & mask) / seconds_of("hni_sts_tx_ok_octets");
    assert_true(rate > 5e9 && rate < 25e9);
    assert_true(gained("hni_cfg_event_cnts_ovf_cnt") > 0);
    sim_close(s);
}

static void reset_and_reappearance_start_from_zero(void **state)
{
    (void)state;
    char root[128], path[256];
    uint64_t value;
    sim *s = new_node(node_path(root, "reset"), (sim_options){.nics = 2});
    sim_step(s, &(sim_step_options){.seconds = 1, .scenario = "reset"});
    take(root, 0, &after);
    assert_true(find(&after, "hni_pcs_good_cw")->value < 40000000);
    assert_int_equal(sim_remove(s, 1), 0);
    snprintf(path, sizeof path, "%s/sys/class/cxi/cxi1", root);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(sim_step(s, &(sim_step_options){.seconds = 1}), 0);
    assert_int_equal(sim_restore(s, 1), 0);
    take(root, 1, &after);
    assert_int_equal(find(&after, "hni_pcs_good_cw")->value, 0);
    assert_int_equal(sim_step(s, &(sim_step_options){.seconds = 1}), 0);
    assert_int_equal(sim_get(s, 1, "hni_pcs_good_cw", &value), 0);
    assert_true(value > 39000000 && value < 40000000);
    sim_close(s);
}

static void link_flaps_leave_their_time(void **state)
{
    (void)state;
    char root[128], text[64];
    sim *s = new_node(node_path(root, "flap"), (sim_options){.nics = 1});
    read_text(root, "sys/class/cxi/cxi0/device/link_restarts/time_0", text, sizeof text);
    assert_string_equal(text, "0\n");
    sim_step(s, &(sim_step_options){.seconds = 1, .scenario = "link-flap"});
    read_text(root, "sys/class/cxi/cxi0/device/link_restarts/time_0", text, sizeof text);
    assert_string_equal(text, "1746204072\n");
    read_text(root, "sys/class/net/hsn1/carrier_changes", text, sizeof text);
    assert_string_equal(text, "2\n");
    sim_close(s);
}

static void names_must_be_followed(void **state)
{
    (void)state;
    char root[128], path[256], target[256], text[64];
    sim_close(new_node(node_path(root, "names"), (sim_options){.nics = 12, .asic = 2, .host = "nid001"}));
    snprintf(path, sizeof path, "%s/sys/class/net/hsn0/device/cxi/cxi1/device/vendor", root);
    assert_int_equal(access(path, R_OK), 0);
    snprintf(path, sizeof path, "%s/sys/class/cxi/cxi10", root);
    ssize_t length = readlink(path, target, sizeof target);
    assert_true(length > 0 && target[0] == '.');
    read_text(root, "proc/sys/kernel/hostname", text, sizeof text);
    assert_string_equal(text, "nid001\n");
    read_text(root, "sys/class/cxi/cxi11/device/port/0/link/speed", text, sizeof text);
    assert_string_equal(text, "ck400G\n");
    read_text(root, "sys/class/cxi/cxi11/device/numa_node", text, sizeof text);
    assert_string_equal(text, "1\n");
}

static void faults_stay_until_repaired(void **state)
{
    (void)state;
    char root[128], path[256], text[8192];
    sim *s = new_node(node_path(root, "faults"), (sim_options){.nics = 1});
    snprintf(path, sizeof path, "%s/sys/class/cxi/cxi0/device/telemetry/hni_tx_paused_0", root);
    for (int i = 0; sim_fault_name(i); i++) {
        assert_int_equal(sim_fault(s, 0, sim_fault_name(i), "hni_tx_paused_0"), 0);
        assert_int_equal(sim_step(s, &(sim_step_options){.seconds = 0.1}), 0);
        int fd = open(path, O_RDONLY);
        ssize_t length = fd < 0 ? -errno : read(fd, text, sizeof text) < 0 ? -errno : (ssize_t)lseek(fd, 0, SEEK_CUR);
        if (fd >= 0) close(fd);
        const char *name = sim_fault_name(i);
        if (strcmp(name, "missing") == 0 || strcmp(name, "dangling") == 0) assert_int_equal(length, -ENOENT);
        if (strcmp(name, "directory") == 0) assert_int_equal(length, -EISDIR);
        if (strcmp(name, "empty") == 0) assert_int_equal(length, 0);
        if (strcmp(name, "oversize") == 0) assert_int_equal(length, 6000);
        if (strcmp(name, "no-stamp") == 0) assert_true(length > 1 && !memchr(text, '@', (size_t)length));
    }
    assert_int_equal(sim_fault(s, 0, "none", "hni_tx_paused_0"), 0);
    take(root, 0, &after);
    assert_int_equal(after.count, 1890);
    assert_int_equal(sim_fault(s, 0, "missing", "no_such_counter"), -ENOENT);
    assert_int_equal(sim_fault(s, 0, "missing", "properties/speed"), 0);
    assert_int_equal(sim_close(s), 0);
    assert_non_null(s = sim_open(root));
    sim_close(s);
}

static void mistakes_are_errors(void **state)
{
    (void)state;
    char root[128];
    sim *s = new_node(node_path(root, "mistakes"), (sim_options){.nics = 1});
    assert_int_equal(sim_step(s, &(sim_step_options){.seconds = 1, .scenario = "no such"}), -EINVAL);
    assert_int_equal(sim_step(s, &(sim_step_options){.seconds = -1}), -EINVAL);
    assert_int_equal(sim_set(s, 0, "hni_cfg_event_cnts_ovf_cnt", 65536), -ERANGE);
    assert_int_equal(sim_create(root, &(sim_options){0}), -EEXIST);
    assert_null(sim_open("/nonexistent"));
    sim_close(s);
}

static void a_run_follows_the_real_clock(void **state)
{
    (void)state;
    char root[128];
    struct timespec now;
    sim *s = new_node(node_path(root, "run"), (sim_options){.nics = 2});
    assert_int_equal(sim_sync_clock(s), 0);
    take(root, 1, &before);
    usleep(200000);
    assert_int_equal(sim_step(s, &(sim_step_options){.real_clock = 1, .scenario = "congestion"}), 0);
    take(root, 1, &after);
    clock_gettime(CLOCK_REALTIME, &now);
    for (int i = 0; i < after.count; i++) {
        assert_true(after.readings[i].stamp / 1000000000 <= now.tv_sec);
        assert_true(after.readings[i].stamp / 1000000000 >= now.tv_sec - 60);
        assert_true(seconds_of(after.readings[i].name) > 0.15);
    }
    check_identities();
    check_clocks(1e9);
    sim_close(s);
}

/* The trees of one test: megabytes, in memory. */
static int empty_scratch(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s/*", scratch);
    return system(command);
}

static int make_scratch(void **state)
{
    (void)state;
    /* half a million small files are written: memory if there is any */
    snprintf(scratch, sizeof scratch, "/dev/shm/netprof-sim-XXXXXX");
    if (mkdtemp(scratch)) return 0;
    snprintf(scratch, sizeof scratch, "/tmp/netprof-sim-XXXXXX");
    return mkdtemp(scratch) ? 0 : -1;
}

static int remove_scratch(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", scratch);
    return system(command);
}

#define TREE_TEST(test) cmocka_unit_test_teardown(test, empty_scratch)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TREE_TEST(every_scenario_is_consistent),
        TREE_TEST(a_new_tree_obeys_the_same_identities),
        TREE_TEST(scenarios_show_what_they_say),
        TREE_TEST(the_retry_handler_counts_the_same_timeouts),
        TREE_TEST(unbalanced_loads_one_nic),
        TREE_TEST(the_same_seed_gives_the_same_bytes),
        TREE_TEST(stamps_advance_as_a_sweep_reads),
        TREE_TEST(an_open_file_shows_the_new_value),
        TREE_TEST(levels_move_both_ways_within_their_width),
        TREE_TEST(rows_of_ones_own_hit_the_nics_they_name),
        TREE_TEST(wrap_passes_the_width_in_the_second_step),
        TREE_TEST(reset_and_reappearance_start_from_zero),
        TREE_TEST(link_flaps_leave_their_time),
        TREE_TEST(names_must_be_followed),
        TREE_TEST(faults_stay_until_repaired),
        TREE_TEST(a_run_follows_the_real_clock),
        TREE_TEST(mistakes_are_errors),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}

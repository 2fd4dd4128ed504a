// What the catalog says, against the tables it is made from and facts that were found elsewhere.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define NETPROF_IMPLEMENTATION // for its own short table of the Cassini counters
#include "analysis/catalog/catalog.h"
#include "reference.h"
#include "analysis/base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const catalog_entry *found(const char *source, const char *name)
{
    const catalog_entry *e = catalog_find(source, name);
    if (!e) fail_msg("no entry for %s %s", source, name);
    return e;
}

static bool in_group(const catalog_entry *e, const char *group)
{
    size_t i = catalog_group_find(group);
    assert_true(i != CATALOG_NO_GROUP);
    return e->groups >> i & 1;
}

static void unpacks(void **state)
{
    (void)state;
    catalog_init();
    catalog_init();
    assert_non_null(catalog_at(0));
}

static void knows_a_counter_and_all_its_groups(void **state)
{
    (void)state;
    const catalog_entry *e = found("cxi", "atu_cache_miss_0");
    assert_string_equal(e->unit, "lookups");
    assert_int_equal(e->kind, NETPROF_KIND_COUNTER);
    assert_int_equal(e->width, 56);
    assert_true(in_group(e, "CxiPerfStats") && in_group(e, "CxiTranslationUnit") && !in_group(e, "CxiErrStats"));
    assert_true(e->marks & CATALOG_FAST && !(e->marks & CATALOG_CLOCK_ONLY));

    e = found("cxi", "parbs_tarb_pi_posted_blocked_cnt");
    assert_true(in_group(e, "CxiPerfStats") && in_group(e, "CxiWritesToHost") && in_group(e, "CxiCongestion"));
    assert_string_equal(e->unit, "cycles");
    assert_null(catalog_find("cxi", "parbs_tarb_pi_posted_blocked_cnt_x"));
    assert_null(catalog_find("netdev", "parbs_tarb_pi_posted_blocked_cnt"));
    assert_null(catalog_find("no such source", "tx_bytes"));
    assert_string_equal(found("netdev", "tx_bytes")->unit, "bytes");
}

// HPE's tables: how many counters each group has.
static void group_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t size;
    } groups[] = {{"CxiPerfStats", 49},         {"CxiErrStats", 10},
                  {"CxiOpCommands", 40},        {"CxiOpPackets", 40},
                  {"CxiDmaEngine", 102},        {"CxiWritesToHost", 4},
                  {"CxiLatencyHist", 48},       {"CxiMessageMatchingPooled", 38},
                  {"CxiTranslationUnit", 23},   {"CxiCongestion", 21},
                  {"CxiPctReqRespTracking", 8}, {"CxiLinkReliability", 5}};
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        size_t size = 0;
        const catalog_entry *e;
        for (size_t i = 0; (e = catalog_at(i)); i++)
            size += in_group(e, groups[g].name);
        if (size != groups[g].size) fail_msg("%s has %zu", groups[g].name, size);
        assert_true(*catalog_group_at(catalog_group_find(groups[g].name))->description);
    }
    assert_true(catalog_group_find("cxiperfstats") == catalog_group_find("CxiPerfStats"));
    assert_true(catalog_group_find("nothing") == CATALOG_NO_GROUP);
}

static size_t count_marked(const char *source, uint32_t mark)
{
    size_t n = 0;
    const catalog_entry *e;
    for (size_t i = 0; (e = catalog_at(i)); i++)
        n += e->marks & mark && strcmp(e->source, source) == 0;
    return n;
}

static void marks(void **state)
{
    (void)state;
    assert_int_equal(count_marked("cxi", CATALOG_IMPORTANT), 16);
    assert_int_equal(count_marked("cxi", CATALOG_FAST), 34);
    assert_int_equal(count_marked("cxi", CATALOG_CASSINI_2), 32);
    assert_int_equal(count_marked("cxi", CATALOG_TX_BYTES), 1);
    assert_int_equal(count_marked("cxi", CATALOG_RX_BYTES), 1);
    assert_true(found("cxi", "hni_pcs_good_cw")->marks & CATALOG_CLOCK_ONLY);
    assert_true(found("cxi", "mst_stalled_waiting_ee_crdts")->marks & CATALOG_UNUSABLE);
    assert_true(found("cxi", "oxe_prf_set1_ts_select")->marks & CATALOG_UNUSABLE);
    assert_true(found("cxi", "lpe_mem_ucor_err_cntr")->marks & CATALOG_OVERCOUNTS);
    assert_true(strstr(found("cxi", "cq_dma_cmd_counts_1")->note, "3194") != NULL);
    assert_string_equal(catalog_mark_name(CATALOG_CLOCK_ONLY), "clock_only");
    assert_string_equal(found("cxi", "hni_sts_tx_ok_octets")->note, "");
}

static void kinds_and_widths(void **state)
{
    (void)state;
    size_t gauges = 0, cassini = 0, other_width = 0;
    const catalog_entry *e;
    for (size_t i = 0; (e = catalog_at(i)); i++) {
        if (strcmp(e->source, "cxi") != 0 || strpbrk(e->name, ":/")) continue; // not the driver's own
        cassini++;
        gauges += e->kind == NETPROF_KIND_GAUGE;
        other_width += e->kind != NETPROF_KIND_GAUGE && e->width != 56;
        assert_true(e->width > 0 && e->width <= 64);
        assert_true(e->kind != NETPROF_KIND_GAUGE || e->width <= 41);
    }
    // The driver's table has 411 gauges, and 13 counters that are not 56 bits wide.
    assert_int_equal(cassini, 1922);
    assert_int_equal(gauges, 411);
    assert_int_equal(other_width, 13);
    assert_int_equal(found("cxi", "pct_req_rsp_latency_31")->kind, NETPROF_KIND_HISTOGRAM);
    assert_int_equal(found("cxi", "mb_cfg_event_cnts_ovf_cnt")->width, 16);
}

// netprof.h knows kinds and widths by a table of prefixes; the catalog has a row for each name.
static void the_header_agrees(void **state)
{
    (void)state;
    const catalog_entry *e;
    for (size_t i = 0; (e = catalog_at(i)); i++) {
        if (strcmp(e->source, "cxi") != 0 || strpbrk(e->name, ":/")) continue; // not the driver's own
        netprof_counter c;
        netprof__cxi_describe(&c, e->name);
        bool fast = c.flags & NETPROF_FAST;
        if (c.kind != e->kind) fail_msg("%s: the header says %s", e->name, netprof_kind_name((netprof_kind)c.kind));
        if (c.width != e->width) fail_msg("%s: the header says %d bits, the catalog %d", e->name, c.width, e->width);
        if (fast != !!(e->marks & CATALOG_FAST)) fail_msg("%s: fast in one of the two", e->name);
        if (c.unit && *c.unit && strcmp(c.unit, e->unit) != 0) fail_msg("%s: the header says %s", e->name, c.unit);
    }
}

static void patterns_stand_in_for_names(void **state)
{
    (void)state;
    const catalog_entry *e = found("cxi", "rh:nack_no_target_trs");
    assert_string_equal(e->unit, "nacks");
    assert_true(e->marks & CATALOG_PATTERN);
    assert_int_equal(found("cxi", "rh:spt_in_use")->kind, NETPROF_KIND_GAUGE);
    assert_false(found("cxi", "rh:nack_resource_busy")->marks & CATALOG_PATTERN);
    assert_true(text_like("a*c?e", "abbcce") && text_like("*", "") && text_like("**x", "x"));
    assert_false(text_like("a*c?e", "abbce") || text_like("?", "") || text_like("a", "ab"));
    assert_true(text_like("*ab*ab*c", "abababxc"));
}

static void units_have_an_order(void **state)
{
    (void)state;
    assert_int_equal(catalog_unit_rank("bytes"), 0);
    assert_true(catalog_unit_rank("bytes") < catalog_unit_rank("packets"));
    assert_true(catalog_unit_rank("cycles") < catalog_unit_rank("never heard of"));
    const catalog_entry *e;
    for (size_t i = 0; (e = catalog_at(i)); i++)
        if (*e->unit && catalog_unit_rank(e->unit) == catalog_unit_rank("never heard of"))
            fail_msg("unit %s of %s has no rank", e->unit, e->name);
}

// Every row of the table of marks names a counter that there is, and a mark that there is.
static void every_mark_hits(void **state)
{
    (void)state;
    FILE *file = fopen(NETPROF_TEST_TOP "/report/analysis/catalog/catalog_marks.csv", "r");
    char line[512], source[32], pattern[64], mark[32];
    size_t rows = 0;
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    for (; fgets(line, sizeof line, file); rows++) {
        assert_int_equal(sscanf(line, "%31[^,],%63[^,],%31[^,]", source, pattern, mark), 3);
        uint32_t bit = 0;
        bool hit = false;
        const catalog_entry *e;
        for (uint32_t b = 1; b; b <<= 1)
            if (strcmp(catalog_mark_name(b), mark) == 0) bit = b;
        for (size_t i = 0; bit && (e = catalog_at(i)); i++)
            hit = hit || (e->marks & bit && strcmp(e->source, source) == 0 && text_like(pattern, e->name));
        if (!hit) fail_msg("no counter for %s", line);
    }
    fclose(file);
    assert_true(rows > 80);
}

// By group, by unit, and what is repaired or means nothing is none; also names that no table has.
static void trouble_is_in_the_tables(void **state)
{
    (void)state;
    static const struct {
        const char *source, *counter, *unit;
        bool trouble;
    } cases[] = {
        {"cxi", "pct_spt_timeouts", "events", true}, // of CxiErrStats
        {"cxi", "hni_sts_rx_ok_octets", "bytes", false},
        {"cxi", "hni_discard_cntr_3", "packets", true},  // dropped, by its mark
        {"cxi", "hni_rx_bad_opt", "packets", true},      // damaged
        {"cxi", "rh:nack_no_target_trs", "nacks", true}, // by a pattern, and its unit
        {"cxi", "lpe_mem_ucor_err_cntr", "errors", true},
        {"cxi", "lpe_mem_cor_err_cntr", "errors", false}, // repaired
        {"cxi", "hni_pcs_fecl_errors_0", "errors", false},
        {"cxi", "hni_rx_stall_ixe_fifo", "errors", false}, // erratum: means nothing
        {"cxi", "a_new_cor_err_cntr", "errors", false},    // no row, but a pattern of marks
        {"cxi", "a_new_ucor_err_cntr", "errors", true},
        {"netdev", "rx_nohandler", "packets", false}, // of NetDrops
        {"netdev", "rx_dropped", "packets", true},
        {"rdma", "symbol_error", "errors", true},
        {"rdma", "port_xmit_wait", "ticks", false},
        {"tcp", "total_retrans", "segments", true},
        {"ip", "InReceives", "packets", false},
        {"gpu", "ecc_uncorrected", "errors", true},
        {"gpu", "ecc_corrected", "errors", false}, // repaired
        {"gpu", "throttled_power", "us", false},
        {"mine", "broken", "errors", true}, // a source that the catalog does not know
        {"mine", "broken", "", false},
        {"mine", "broken", "oddities", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (catalog_is_trouble(cases[i].source, cases[i].counter, cases[i].unit) != cases[i].trouble)
            fail_msg("%s %s", cases[i].source, cases[i].counter);
    size_t groups = 0;
    const catalog_group *g;
    for (size_t i = 0; (g = catalog_group_at(i)); i++)
        groups += g->trouble;
    assert_int_equal(groups, 13);
    assert_true(catalog_marks("cxi", "a_new_cor_err_cntr") & CATALOG_HARMLESS);
    assert_int_equal(catalog_marks("mine", "broken"), 0);
    assert_true(strstr(found("cxi", "lpe_mem_cor_err_cntr")->note, "3325") != NULL); // the erratum says more
}

// The bins of a histogram of sizes, without a gap: together every good frame once.
static void packets_are_the_sum_of_all_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *prefix;
        uint32_t mark;
    } ways[] = {{"hni_tx_ok_", CATALOG_TX_PACKETS_PART}, {"hni_rx_ok_", CATALOG_RX_PACKETS_PART}};
    for (size_t w = 0; w < 2; w++) {
        const catalog_entry *e;
        unsigned next[12] = {27, 35, 36, 64, 65, 128, 256, 512, 1024, 2048, 4096, 8192}, seen = 0;
        for (size_t i = 0; (e = catalog_at(i)); i++) {
            if (!(e->marks & ways[w].mark)) continue;
            assert_string_equal(e->source, "cxi");
            assert_int_equal(strncmp(e->name, ways[w].prefix, strlen(ways[w].prefix)), 0);
            assert_int_equal(strtoul(e->name + strlen(ways[w].prefix), NULL, 10), next[seen++]);
            assert_int_equal(e->kind, NETPROF_KIND_HISTOGRAM);
            assert_string_equal(e->unit, "packets");
        }
        assert_int_equal(seen, 12);
        assert_int_equal(catalog_count("cxi", ways[w].mark), 12);
        assert_int_equal(catalog_count("netdev", ways[w].mark), 0);
    }
}

// A counter that says the same as another names one that there is, and which says the same as no other.
static void the_same_events(void **state)
{
    (void)state;
    assert_string_equal(found("cxi", "pct_spt_timeouts")->same_as, "rh:spt_timeouts");
    assert_string_equal(found("cxi", "pct_sct_timeouts")->same_as, "rh:sct_timeouts");
    assert_string_equal(found("cxi", "pct_spt_timeouts")->note, "");
    const catalog_entry *e;
    for (size_t i = 0; (e = catalog_at(i)); i++) {
        assert_int_equal(!!(e->marks & CATALOG_SAME_AS), *e->same_as != 0);
        if (*e->same_as) assert_string_equal(found(e->source, e->same_as)->same_as, "");
    }
}

// Names with a comma in a quoted description come out whole; the order is that of `ls` in the locale en_US.
static void net_prof_order(void **state)
{
    (void)state;
    size_t count;
    const char *const *names = catalog_cassini_1_names(&count);
    assert_int_equal(count, 1890);
    assert_string_equal(names[0], "atu_ats_dynamic_state_change_cntr");
    assert_true(catalog_name_compare("hni_rx_ok_64", "hni_rx_ok_65_to_127") < 0);
    assert_true(catalog_name_compare("a_Ac", "aBc") < 0); // letters and digits come first, whatever is between them
    assert_true(catalog_name_compare("a-b", "aa") > 0);
    assert_true(catalog_name_compare("a_b", "ab") != 0 && catalog_name_compare("a_b", "a_b") == 0);
    static const struct {
        const char *name;
        size_t id; // net_prof's numbers of its important metrics
    } numbered[] = {{"atu_cache_evictions", 17},
                    {"hni_rx_paused_0", 564},
                    {"pct_trs_rsp_nack_drops", 1724},
                    {"tou_tou_oxe_num_idles", 1889}};
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++)
        assert_string_equal(names[numbered[i].id - 1], numbered[i].name);
}

static void net_prof_order_of_the_reference(void **state)
{
    (void)state;
    const char *path = reference_file("aurora/names.txt");
    if (!path) return;
    size_t count, i = 0;
    const char *const *names = catalog_cassini_1_names(&count);
    char line[256];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (; fgets(line, sizeof line, file); i++) {
        line[strcspn(line, "\r\n")] = 0;
        assert_true(i < count);
        assert_string_equal(names[i], line);
    }
    fclose(file);
    assert_int_equal(i, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unpacks),
        cmocka_unit_test(knows_a_counter_and_all_its_groups),
        cmocka_unit_test(group_sizes),
        cmocka_unit_test(marks),
        cmocka_unit_test(kinds_and_widths),
        cmocka_unit_test(the_header_agrees),
        cmocka_unit_test(patterns_stand_in_for_names),
        cmocka_unit_test(units_have_an_order),
        cmocka_unit_test(every_mark_hits),
        cmocka_unit_test(trouble_is_in_the_tables),
        cmocka_unit_test(packets_are_the_sum_of_all_sizes),
        cmocka_unit_test(the_same_events),
        cmocka_unit_test(net_prof_order),
        cmocka_unit_test(net_prof_order_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

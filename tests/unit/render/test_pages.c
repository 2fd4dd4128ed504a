// The pages of a pair: every scenario of the simulated node laid out without a fault on both papers, with the fault in
// the title; one NIC and many; names from outside.
#define _GNU_SOURCE // nftw
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "render/document/document.h"
#include "render/document/document_model.h"
#include "render/pages/pages.h"
#include "builtin_rules.h"
#include "sim.h"
#include "situation.h"
#include "tree.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECONDS = 10 };

static netprof_snapshot snapshot_of(const char *root)
{
    netprof_config config = NETPROF_ZERO;
    netprof_snapshot s = NETPROF_ZERO;
    netprof *np = NULL;
    config.root = root;
    config.hold = NETPROF_HOLD_NONE;
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    netprof_close(np);
    return s;
}

static void say_fault(void *user, size_t page, canvas_fault fault, const char *text, const char *other)
{
    print_error("%s: page %zu: fault %d: %s%s%s\n", (const char *)user, page, (int)fault, text, other ? " | " : "",
                other ? other : "");
}

static size_t twin_cells(const document *doc)
{
    size_t cells = 0;
    for (size_t i = 0; i < doc->item_count; i++) {
        const chart *x = &doc->items[i].chart;
        if (doc->items[i].kind != ITEM_CHART) continue;
        assert_true(x->twin.columns == 0 || x->twin.count % x->twin.columns == 0);
        cells += x->twin.count;
    }
    return cells;
}

typedef enum papers { ON_A4 = 1, ON_LETTER = 2, ON_BOTH = 3 } papers;

// Lays out what happened and checks the title against the findings. Returns how many parts it has.
static size_t check_pages(const char *what, const difference *d, bool all_nics, papers on)
{
    static const char *const paths[] = {"before.netprof", "after.netprof"};
    findings f = {0};
    findings_make(&f, d, &built_in);
    pages_pair_input in = {.d = d, .f = &f, .rules = &built_in, .paths = paths, .path_count = 2, .all_nics = all_nics};
    document *doc = pages_pair(&in);
    if (f.judged && f.severity > SEVERITY_WATCH) {
        const words_text who = finding_who(&f, &f.items[0]); // a device, or "all 4 NICs"
        assert_true(strlen(who.text) > 0);
        if (strncasecmp(doc->title, who.text, strlen(who.text)) != 0)
            fail_msg("%s: %s, not %s", what, doc->title, who.text);
        assert_int_equal(document_severity(doc), f.severity);
    }
    assert_true(doc->verdict_count >= 1 && doc->verdict_count <= 9);
    assert_true(twin_cells(doc) > 0);
    if (on & ON_A4) assert_int_equal(document_check(doc, PAPER_A4, say_fault, (void *)(uintptr_t)what), 0);
    if (on & ON_LETTER) assert_int_equal(document_check(doc, PAPER_LETTER, say_fault, (void *)(uintptr_t)what), 0);
    size_t parts = 1;
    for (size_t i = 0; i < doc->item_count; i++)
        parts += doc->items[i].kind == ITEM_PART;
    document_close(doc);
    in.brief = true;
    doc = pages_pair(&in);
    assert_int_equal(document_pages(doc, PAPER_A4), 1);
    document_close(doc);
    findings_free(&f);
    return parts;
}

static size_t check_scenario(sim *s, const char *scenario, bool all_nics, papers on)
{
    difference d = {0};
    netprof_snapshot before = snapshot_of(tree_root);
    assert_int_equal(sim_step(s, &(sim_step_options){.seconds = SECONDS, .scenario = scenario}), 0);
    netprof_snapshot after = snapshot_of(tree_root);
    assert_int_equal(difference_of_snapshots(&d, &before, &after, true, NULL), NETPROF_OK);
    size_t parts = check_pages(scenario, &d, all_nics, on);
    difference_free(&d);
    netprof_snapshot_free(&before);
    netprof_snapshot_free(&after);
    return parts;
}

static sim *make_node(int nics)
{
    tree_remove("");
    assert_int_equal(sim_create(tree_root, &(sim_options){.nics = nics, .seed = 1}), 0);
    sim *s = sim_open(tree_root);
    assert_non_null(s);
    return s;
}

static void every_scenario(void **state)
{
    sim *s = make_node(2);
    (void)state;
    for (int i = 0; sim_scenario_name(i); i++) {
        size_t parts = check_scenario(s, sim_scenario_name(i), false, i % 2 ? ON_A4 : ON_LETTER);
        print_message("    %-22s %zu parts\n", sim_scenario_name(i), parts);
        assert_true(parts >= 4 && parts <= 8);
    }
    sim_close(s);
}

static void one_and_many(void **state)
{
    (void)state;
    sim *s = make_node(1);
    check_scenario(s, "incast", false, ON_BOTH);
    sim_close(s);
    s = make_node(14); // more than the columns of a strip
    size_t few = check_scenario(s, "link-corrected", false, ON_LETTER),
           all = check_scenario(s, "link-corrected", true, ON_A4);
    assert_true(all >= few + 10);
    sim_close(s);
}

static void parts_that_cannot_be_read(void **state)
{
    sim *s = make_node(3);
    (void)state;
    assert_int_equal(sim_fault(s, 1, "garbage", "hni_*"), 0);
    check_scenario(s, "healthy", true, ON_A4);
    assert_int_equal(sim_fault(s, 1, "missing", "*"), 0);
    check_scenario(s, "healthy", true, ON_A4);
    sim_close(s);
}

static void check_situation(const char *source, const char *text)
{
    situation s;
    situation_make(&s, source, text);
    check_pages(text, &s.d, true, ON_A4);
    situation_free(&s);
}

// Other sources, values at the ends of the range, nothing at all, and names that are markup.
static void other_situations(void **state)
{
    (void)state;
    check_situation("netdev",
                    "rx_bytes=1000000000 tx_bytes=5 rx_packets=1000000 tx_packets=2 rx_dropped=100000 peer:rx_bytes=0");
    check_situation("rdma", "port_rcv_data=100 port_xmit_data=100 port_xmit_wait=5 symbol_error=3");
    check_situation("ip", "Tcp/OutSegs=100000 Tcp/RetransSegs=5000 Udp/InDatagrams=3");
    check_situation(
        "cxi",
        "hni_sts_rx_ok_octets=18446744073709551615 hni_sts_tx_ok_octets=1 hni_pcs_uncorrected_cw=18446744073709551615");
    check_situation("cxi", "hni_sts_rx_ok_octets=0 hni_sts_tx_ok_octets=0");
    check_situation("cxi",
                    "hni_sts_rx_ok_octets=5r hni_sts_tx_ok_octets=5u hni_tx_paused_0=1k hni_pcs_corrected_cw=9s");
    check_situation("weird", "<script>alert(1)</script>=5 \xe2\x80\xae\xd7\x90\xd7\x91=7 a&b\"c'd=9");
    check_situation(
        "cxi",
        "hni_sts_rx_ok_octets=100 "
        "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
        "nnnnnnnnnnnnnn=100");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_scenario, tree_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(one_and_many, tree_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(parts_that_cannot_be_read, tree_setup, tree_teardown),
        cmocka_unit_test(other_situations),
    };
    return cmocka_run_group_tests(tests, load, unload);
}

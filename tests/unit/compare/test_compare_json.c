// The document of a comparison, whole: comparison.json beside this file holds it of two made-up ones. Its figures are
// arithmetic on the numbers below; 10 seconds pass in each run unless said.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "netprof.h"

#include <stdio.h>

#include "builtin_rules.h"
#include "compare_bench.h"
#include "golden.h"

// One run a side: what is on one side only, what has no value, facts, devices that came and went.
static json_object *of_two_runs(void)
{
    bench b;
    compare_two(&b, "cxi",
                "@mtu=9000 hni_sts_rx_ok_octets=1000000 pct_no_tct_nacks=10 pct_sct_timeouts=4u pct_no_mst_nacks=7 "
                "hni_rx_ok_64=5h",
                "@mtu=1500 hni_sts_rx_ok_octets=1000000 pct_no_tct_nacks=900 pct_sct_timeouts=30 pct_no_mst_nacks=7r "
                "hni_rx_ok_64=9h pct_conn_sct_open=2 peer3:pct_sct_timeouts=1");
    json_object *o = comparison_json(&b.c, 0, true);
    clear(&b);
    return o;
}

// Two against three runs, of unlike length.
static json_object *of_five_runs(void)
{
    bench b = {0};
    char text[160];
    for (int i = 0; i < 5; i++) {
        comparison_side side = i < 2 ? COMPARISON_HEALTHY : COMPARISON_FAULTY;
        snprintf(text, sizeof text,
                 "hni_sts_rx_ok_octets=%d hni_pcs_uncorrected_cw=%d pct_no_tct_nacks=%d peer:hni_sts_rx_ok_octets=%d",
                 100000000 + i, i < 2 ? 0 : 2 * i - 3, 40 + 10 * i, 50000000 - i);
        add_run(&b, side, "cxi", text);
        last_for(&b, side, i < 2 ? 20 + i : 34 + 2 * i);
    }
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    json_object *o = comparison_json(&b.c, 1, false);
    clear(&b);
    return o;
}

static void documents_whole(void **state)
{
    (void)state;
    json_object *made = json_new_object();
    json_put(made, "of_two_runs", of_two_runs());
    json_put(made, "of_five_runs", of_five_runs());
    golden_expect(made, "compare/comparison.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(documents_whole)};
    return cmocka_run_group_tests(tests, load, unload);
}

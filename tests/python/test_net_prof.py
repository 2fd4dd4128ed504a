"""net_prof's functions: their arguments, directories and results, and that netprof reads what they write."""

import contextlib
import io
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from unittest import mock

import netprof as net_prof

from test_counters import Tree

AURORA = os.path.join(os.environ.get("NETPROF_TEST_TOP", ""), "..", "shared", "data", "aurora")
BIN = os.environ.get("NETPROF_TEST_BIN", "")


def printed(function, *arguments):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        function(*arguments)
    return out.getvalue()


class NetProf(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.tree = Tree(self.directory)
        self.cxi = os.path.join(self.directory, "sys/class/cxi")

    def path(self, name):
        return os.path.join(self.directory, name)

    def two_files(self):
        self.tree.set("cxi0", hni_sts_tx_ok_octets=1000, hni_sts_rx_ok_octets=2**56 - 10, cq_sts_fq_load_0=5)
        self.tree.set("cxi10", hni_sts_tx_ok_octets=1, pct_spt_timeouts=4)
        net_prof.collect(self.cxi, self.path("before.json"))
        self.tree.set("cxi0", 4, hni_sts_tx_ok_octets=5000, hni_sts_rx_ok_octets=20, cq_sts_fq_load_0=3)
        self.tree.set("cxi10", 4, hni_sts_tx_ok_octets=1, pct_spt_timeouts=6)
        net_prof.collect(self.cxi, self.path("after.json"))
        return net_prof.summarize(self.path("before.json"), self.path("after.json"))

    def test_collect_keeps_every_digit(self):
        self.tree.set("cxi0", hni_sts_tx_ok_octets=2**56 - 1)
        net_prof.collect(self.cxi, self.path("x.json"))
        with open(self.path("x.json"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn('"timestamp": 1700000000.000000123,', text)
        (entry,) = json.loads(text)["counters"]
        self.assertEqual((entry["interface"], entry["counter_name"]), (1, "hni_sts_tx_ok_octets"))
        self.assertEqual(entry["value"], 2**56 - 1)
        self.assertEqual(entry["timestamp_ISO_8601"], "2023-11-14T22:13:20.000000+00:00")
        self.assertEqual(set(entry), set("id interface counter_name value timestamp timestamp_ISO_8601 groups "
                                         "descriptions units".split()))

    def test_groups_descriptions_and_units_run_in_parallel(self):
        self.tree.set("cxi0", pct_spt_timeouts=1, atu_at_stall_ccp=2)
        net_prof.collect(self.cxi, self.path("x.json"))
        with open(self.path("x.json"), encoding="utf-8") as file:
            alone, grouped = json.load(file)["counters"]
        self.assertEqual([alone[key] for key in ("groups", "units")], [["UNGROUPED"], ["No Units"]])
        self.assertEqual(grouped["groups"], ["CxiErrStats", "CxiPctReqRespTracking"])
        self.assertEqual(grouped["units"], ["events"] * 2)
        self.assertIn("did not arrive in time", grouped["descriptions"][1])

    def test_directories(self):
        self.tree.set("cxi3", hni_sts_tx_ok_octets=1)
        telemetry = os.path.join(self.cxi, "cxi3/device/telemetry")
        for path in self.cxi, self.cxi + "/", telemetry, telemetry + "/":
            net_prof.collect(path, self.path("x.json"))
            with open(self.path("x.json"), encoding="utf-8") as file:
                self.assertEqual([e["interface"] for e in json.load(file)["counters"]], [4])
        empty = os.path.join(self.directory, "empty")
        os.makedirs(empty)
        os.makedirs(os.path.join(self.directory, "other/cxi0"))
        for path in empty, self.path("missing"), self.path("x.json"), self.path("other"):
            with self.assertRaises(ValueError):
                net_prof.collect(path, self.path("y.json"))
        self.assertFalse(os.path.exists(self.path("y.json")))

    def test_what_cannot_be_read_is_said_and_the_rest_is_kept(self):
        self.tree.set("cxi0", hni_sts_tx_ok_octets="nonsense", hni_sts_rx_ok_octets=3, reset_counters=1)
        meta = net_prof.collect(self.cxi, self.path("x.json"))
        self.assertEqual(meta["unread"], ["cxi0/hni_sts_tx_ok_octets: expected value@seconds.nanoseconds"])

    def test_summarize(self):
        summary = self.two_files()
        self.assertEqual(summary["total_non_zero"], 4)
        self.assertEqual(summary["non_zero_per_iface"], {1: 3, 11: 1})
        self.assertEqual((summary["gauges_changed"], summary["one_sided"]), (1, []))
        top = [(row["metric_name"], row["diff"], row["flag"]) for row in summary["top20_per_iface"][1]]
        self.assertEqual(top, [("hni_sts_tx_ok_octets", 4000, "ok"), ("hni_sts_rx_ok_octets", 30, "wrapped")])
        sent = next(r for r in summary["important_metrics"].values() if r["metric_name"] == "hni_sts_tx_ok_octets")
        self.assertEqual(sent["diffs"], {1: 4000, 11: 0})
        for key in "before_meta after_meta collected".split():
            self.assertTrue(summary[key], key)

    def test_counter_of_one_file_only_is_no_difference(self):
        self.two_files()
        self.tree.set("cxi0", pct_sct_timeouts=10**6)
        net_prof.collect(self.cxi, self.path("after.json"))
        summary = net_prof.summarize(self.path("before.json"), self.path("after.json"))
        self.assertEqual((summary["one_sided"], summary["total_non_zero"]), (["cxi0/pct_sct_timeouts"], 4))
        self.assertIn("1 counter is in only one of the two files", printed(net_prof.dump, summary))

    def test_dump(self):
        said = printed(net_prof.dump, self.two_files())
        self.assertIn("Total non-zero diffs: 4\n1 of them is a gauge", said)
        self.assertRegex(said, r"Interface 11: 1")
        self.assertRegex(said, r"1 +593 +hni_sts_tx_ok_octets +4000\n")
        self.assertRegex(said, r"hni_sts_rx_ok_octets +30  wrapped once\n")

    def test_dump_html_by_itself(self):
        summary = self.two_files()
        summary["important_metrics"][10**6] = {"metric_name": "<script>", "diffs": {1: 5}}
        with mock.patch("shutil.which", return_value=None):
            said = printed(net_prof.dump_html, summary, self.path("page.html"))
        with open(self.path("page.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn("without a verdict: netprof-report, which says what the counters mean, is not installed", page)
        self.assertIn("tables only", said)
        self.assertIn("<td>hni_sts_tx_ok_octets</td><td class=n>4000</td>", page)
        self.assertNotIn("<script>", page)

    @unittest.skipUnless(os.path.exists(os.path.join(BIN, "netprof-report")), "no netprof-report")
    def test_dump_html_is_the_report_where_that_is_installed(self):
        summary = self.two_files()
        with mock.patch.dict(os.environ, PATH=BIN + ":" + os.environ["PATH"]):
            self.assertEqual(printed(net_prof.dump_html, summary, self.path("page.html")), "")
        with open(self.path("page.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertTrue("Node counter report" in page and "hni_sts_tx_ok_octets" in page)
        self.assertNotIn("tables only", page[:2000])

    @unittest.skipUnless(os.path.exists(os.path.join(BIN, "netprof")), "no netprof")
    def test_netprof_reads_what_collect_writes(self):
        self.two_files()
        shown = subprocess.run(
            [os.path.join(BIN, "netprof"), "diff", "--json", self.path("before.json"), self.path("after.json")],
            stdout=subprocess.PIPE, check=True, text=True,
        ).stdout
        self.assertIn('"hni_sts_tx_ok_octets"', shown)
        self.assertIn("4000", shown)

    @unittest.skipUnless(os.path.exists(os.path.join(BIN, "netprof")), "no netprof")
    def test_same_entries_as_netprof_convert(self):
        self.two_files()
        tool = os.path.join(BIN, "netprof")
        environment = {**os.environ, "NETPROF_ROOT": self.directory, "NETPROF_SOURCES": "cxi"}
        subprocess.run([tool, "collect", "-o", self.path("x.netprof")], env=environment, check=True)
        subprocess.run([tool, "convert", "--to", "net_prof", self.path("x.netprof"), self.path("x.json")], check=True)
        lists = []
        for name in "x.json", "after.json":
            with open(self.path(name), encoding="utf-8") as file:
                lists.append(json.load(file)["counters"])
        self.assertEqual(lists[0], lists[1])

    def test_files_of_two_hosts_are_not_compared(self):
        self.two_files()
        for name, host in ("before", "n1"), ("after", "n2"):
            with open(self.path(name + ".json"), encoding="utf-8") as file:
                root = json.load(file)
            root["meta"]["host"] = host
            with open(self.path(name + ".json"), "w", encoding="utf-8") as file:
                json.dump(root, file)
        with self.assertRaisesRegex(ValueError, "two hosts: n1, n2"):
            net_prof.summarize(self.path("before.json"), self.path("after.json"))

    def test_damaged_files(self):
        self.two_files()
        for text in "", "[", '{"counters": 5}', '[{"interface": 1}]':
            with open(self.path("bad.json"), "w", encoding="utf-8") as file:
                file.write(text)
            with self.assertRaisesRegex(ValueError, "bad.json"):
                net_prof.summarize(self.path("bad.json"), self.path("after.json"))
        with open(self.path("bad.txt"), "w", encoding="utf-8") as file:
            file.write("1@2.3\n")
        with self.assertRaisesRegex(ValueError, "expected a multiple of"):
            net_prof.summarize(self.path("bad.txt"), self.path("bad.txt"))

    @unittest.skipUnless(os.path.exists(os.path.join(AURORA, "before.txt")), "no reference data")
    def test_figures_of_a_real_node_are_those_of_net_prof(self):
        with open(os.path.join(AURORA, "net_prof_reference.json"), encoding="utf-8") as file:
            expected = json.load(file)
        summary = net_prof.summarize(os.path.join(AURORA, "before.txt"), os.path.join(AURORA, "after.txt"))
        self.assertEqual(summary["total_non_zero"], expected["total_non_zero"])
        self.assertEqual({str(n): c for n, c in summary["non_zero_per_iface"].items()}, expected["non_zero_per_iface"])
        for nic, rows in expected["top20_per_iface"].items():
            got = [{k: row[k] for k in ("metric_id", "metric_name", "diff")} for row in summary["top20_per_iface"][int(nic)]]
            self.assertEqual(got, rows)
        names = shutil.copy(os.path.join(AURORA, "names.txt"), self.directory)
        named = net_prof.summarize(os.path.join(AURORA, "before.txt"), os.path.join(AURORA, "after.txt"), names)
        self.assertEqual(named["top20_per_iface"], summary["top20_per_iface"])


if __name__ == "__main__":
    unittest.main()

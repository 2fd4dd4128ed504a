"""Snapshots, deltas, totals and files, of a made tree whose numbers are known, and of this machine."""

import glob
import os
import socket
import tempfile
import threading
import unittest

import netprof


class Tree:
    """A node with Cassini NICs."""

    def __init__(self, root):
        self.root = root

    def set(self, nic, seconds=0, **counters):
        telemetry = os.path.join(self.root, "sys/class/cxi", nic, "device/telemetry")
        os.makedirs(telemetry, exist_ok=True)
        for name, value in counters.items():
            with open(os.path.join(telemetry, name), "w", encoding="ascii") as file:
                file.write(f"{value}@{1700000000 + seconds}.000000123\n")


class Counters(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.tree = Tree(self.directory)

    def two_nics(self):
        self.tree.set("cxi0", hni_sts_tx_ok_octets=1000, hni_sts_rx_ok_octets=2**56 - 10, cq_sts_fq_load_0=5)
        self.tree.set("cxi1", hni_sts_tx_ok_octets=0, hni_sts_rx_ok_octets=7)
        return netprof.Context(root=self.directory, sources="cxi")

    def test_delta_with_flags(self):
        with self.two_nics() as context:
            before = context.snapshot()
            self.tree.set("cxi0", 4, hni_sts_tx_ok_octets=5000, hni_sts_rx_ok_octets=20, cq_sts_fq_load_0=3)
            self.tree.set("cxi1", 4, hni_sts_rx_ok_octets=3)
            delta = context.snapshot() - before
        sent = delta.change("cxi0", "hni_sts_tx_ok_octets")
        self.assertEqual((sent.before, sent.after, sent.value, sent.flag, sent.unit), (1000, 5000, 4000, "ok", "bytes"))
        self.assertEqual((sent.seconds, sent.per_s), (4.0, 1000.0))
        wrapped = delta.change("cxi0", "hni_sts_rx_ok_octets")
        self.assertEqual((wrapped.value, wrapped.flag), (30, "wrapped"))
        gauge = delta.change("cxi0", "cq_sts_fq_load_0")
        self.assertEqual((gauge.before, gauge.after, gauge.value, gauge.per_s, gauge.flag), (5, 3, None, None, "gauge"))
        reset = delta.change("cxi1", "hni_sts_rx_ok_octets")
        self.assertEqual((reset.value, reset.flag), (3, "reset"))
        self.assertEqual(len(delta.rows()), 5)
        self.assertEqual(len(delta.rows(changed=True)), 4)
        self.assertRaises(KeyError, delta.change, "cxi0", "none")
        self.assertIn("cxi0", str(delta))

    def test_total(self):
        with self.two_nics() as context:
            with context.measure(fast=False) as meter:
                self.assertRaises(ValueError, lambda: meter.total)
                self.tree.set("cxi0", 2, hni_sts_tx_ok_octets=3000, hni_sts_rx_ok_octets=2**56 - 4)
                self.tree.set("cxi1", 2, hni_sts_tx_ok_octets=500, hni_sts_rx_ok_octets=107)
            self.assertEqual((meter.total.tx_bytes, meter.total.rx_bytes), (2500, 106))
            self.assertEqual((meter.total.tx_bytes_per_s, meter.total.rx_bytes_per_s), (1250.0, 53.0))
            self.assertEqual((meter.total.devices, meter.total.lower_bound), (2, False))
            self.assertEqual(meter.delta.totals("cxi1").tx_bytes, 500)

    def test_device_that_goes_and_one_that_comes(self):
        with self.two_nics() as context:
            before = context.snapshot()
            os.rename(f"{self.directory}/sys/class/cxi/cxi1", f"{self.directory}/gone")
            self.tree.set("cxi2", hni_sts_tx_ok_octets=9)
            delta = context.snapshot() - before
        flags = {(row.device, row.flag) for row in delta.rows() if row.device != "cxi0"}
        self.assertEqual(flags, {("cxi1", "gone"), ("cxi2", "new")})
        self.assertEqual({row.value for row in delta.rows() if row.device != "cxi0"}, {None})

    def test_snapshot_says_what_it_could_not_read(self):
        self.tree.set("cxi0", hni_sts_tx_ok_octets="nonsense", hni_sts_rx_ok_octets=4)
        snapshot = netprof.Context(root=self.directory, sources="cxi").snapshot()
        rows = {row.counter: row for row in snapshot.rows()}
        self.assertEqual((rows["hni_sts_tx_ok_octets"].value, rows["hni_sts_tx_ok_octets"].status), (None, "unreadable"))
        self.assertEqual((rows["hni_sts_rx_ok_octets"].value, snapshot.not_ok), (4, 1))
        self.assertEqual(rows["hni_sts_rx_ok_octets"].stamp_ns, 1700000000 * 10**9 + 123)
        self.assertEqual([(d.source, d.name, d.physical) for d in snapshot.devices], [("cxi", "cxi0", True)])

    def test_node_without_anything_to_read(self):
        snapshot = netprof.Context(root=self.directory, sources="cxi").snapshot()
        self.assertEqual((len(snapshot), [s.status for s in snapshot.sources]), (0, ["absent"]))
        with netprof.Context(root=self.directory, sources="cxi").measure() as meter:
            pass
        self.assertEqual(meter.total.devices, 0)
        self.assertRaises(netprof.Error, netprof.Context, sources="nonsense")

    def test_file_gives_back_what_was_saved(self):
        path = os.path.join(self.directory, "run.netprof")
        with self.two_nics() as context:
            before = context.snapshot()
            self.tree.set("cxi0", 4, hni_sts_tx_ok_octets=5000)
            after = context.snapshot()
        netprof.save(path, [before, after])
        recording = netprof.load(path)
        self.assertTrue(recording.complete)
        self.assertEqual([s.rows() for s in recording.snapshots], [before.rows(), after.rows()])
        first, second = recording.snapshots
        self.assertEqual((second - first).rows(), (after - before).rows())
        with open(path, "rb+") as file:
            file.truncate(os.path.getsize(path) - 30)
        self.assertFalse(netprof.load(path).complete)

    def test_errors_name_the_file(self):
        missing = os.path.join(self.directory, "missing.netprof")
        with self.assertRaises(netprof.Error) as caught:
            netprof.load(missing)
        self.assertEqual((caught.exception.path, caught.exception.errno), (missing, 2))
        self.assertIn("missing.netprof: No such file", str(caught.exception))
        self.assertRaises(netprof.Error, netprof.load, __file__)
        with self.two_nics() as context:
            self.assertRaises(netprof.Error, netprof.save, "/proc/none/x", [context.snapshot()])
            self.assertRaises(AttributeError, netprof.save, "x", [5])
        self.assertRaises(ValueError, context.snapshot)
        self.assertRaises(TypeError, lambda: context - 5)

    def test_snapshots_in_the_wrong_order(self):
        with self.two_nics() as context:
            before = context.snapshot()
            after = context.snapshot()
        self.assertRaises(netprof.Error, lambda: before - after)
        self.assertEqual(netprof.Delta(after, before, force=True).change("cxi1", "hni_sts_rx_ok_octets").value, 0)

    def test_one_context_in_many_threads(self):
        with self.two_nics() as context:
            found = []
            threads = [
                threading.Thread(target=lambda: found.extend(len(context.snapshot().rows()) for _ in range(50)))
                for _ in range(4)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(found, [5] * 200)

    def test_closing_gives_every_descriptor_back(self):
        def open_files():
            return len(glob.glob("/proc/self/fd/*"))

        before = open_files()
        for _ in range(20):
            context = netprof.Context()
            context.snapshot()
            context.close()
            context.close()
        for _ in range(20):
            netprof.Context().snapshot()  # forgotten
        self.assertEqual(open_files(), before)

    def test_traffic_of_this_machine(self):
        server = socket.create_server(("127.0.0.1", 0))
        client = socket.create_connection(server.getsockname())
        peer = server.accept()[0]
        with netprof.measure(devices="lo") as meter:
            client.sendall(bytes(100000))
            left = 100000
            while left:
                left -= len(peer.recv(left))
        for s in server, client, peer:
            s.close()
        self.assertGreater(meter.total.tx_bytes, 100000)
        self.assertEqual(meter.total.devices, 1)

    def test_frames(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("no pandas")
        with self.two_nics() as context:
            before = context.snapshot()
            self.tree.set("cxi0", 4, hni_sts_tx_ok_octets=5000)
            after = context.snapshot()
        self.assertEqual(after.frame().query("device == 'cxi1'").value.sum(), 7)
        frame = (after - before).frame(changed=True)
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(frame[["counter", "value"]].values.tolist(), [["hni_sts_tx_ok_octets", 4000]])


if __name__ == "__main__":
    unittest.main()

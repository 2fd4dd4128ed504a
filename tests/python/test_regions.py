"""Regions, spans and their statistics."""

import asyncio
import contextlib
import os
import pickle
import statistics
import threading
import time
import unittest

import netprof

from support import Programs


def stats_of(name):
    return [stat for stat in netprof.statistics() if stat.region == name]


def calls_of(name):
    return sum(stat.calls for stat in stats_of(name))


class Regions(unittest.TestCase):
    def setUp(self):
        netprof.reset()

    def test_nested_with_bytes(self):
        outer, inner = netprof.region("outer"), netprof.region("inner", nbytes=5)
        for _ in range(10):
            with outer, inner:
                netprof.add_bytes(2)
        (stat,) = stats_of("inner")
        self.assertEqual((stat.path, stat.calls, stat.nbytes), (("outer", "inner"), 10, 70))
        self.assertEqual(sum(stat.histogram.values()), 10)
        self.assertLessEqual(stat.min_ns, stat.mean_ns)
        self.assertLessEqual(stat.mean_ns, stat.max_ns)
        self.assertEqual(stats_of("outer")[0].inclusive_ns - stats_of("outer")[0].exclusive_ns, stat.inclusive_ns)

    def test_time_is_that_of_the_clock(self):
        begin = time.perf_counter_ns()
        with netprof.region("slept"):
            inside = time.perf_counter_ns()
            time.sleep(0.02)
            inside = time.perf_counter_ns() - inside
        outside = time.perf_counter_ns() - begin
        (stat,) = stats_of("slept")
        self.assertGreaterEqual(stat.total_ns, inside * 0.999)
        self.assertLessEqual(stat.total_ns, outside * 1.001)

    def test_decorator_returns_and_raises_as_the_function(self):
        @netprof.region("divide", nbytes=8)
        def divide(a, b=1):
            "divides"
            return a / b

        self.assertEqual(divide(6, b=3), 2)
        self.assertEqual((divide.__name__, divide.__doc__), ("divide", "divides"))
        self.assertRaises(ZeroDivisionError, divide, 1, 0)
        self.assertEqual([(s.calls, s.open, s.nbytes) for s in stats_of("divide")], [(2, 0, 16)])

    def test_methods_and_recursion(self):
        class Tree:
            @netprof.region("visit")
            def visit(self, depth):
                return 1 + (self.visit(depth - 1) if depth else 0)

        self.assertEqual(Tree().visit(3), 4)
        self.assertEqual(calls_of("visit"), 4)

    def test_coroutine_function_is_a_span_for_as_long_as_it_runs(self):
        inside = []

        @netprof.region("coroutine")
        async def wait():
            begin = time.perf_counter_ns()
            await asyncio.sleep(0.02)
            inside.append(time.perf_counter_ns() - begin)
            return 7

        async def main():
            return await asyncio.gather(*[wait() for _ in range(3)])

        self.assertEqual(asyncio.run(main()), [7, 7, 7])
        (stat,) = stats_of("coroutine")
        self.assertEqual((stat.calls, stat.spans, stat.path), (3, 3, ("coroutine",)))
        self.assertGreaterEqual(stat.total_ns, sum(inside) * 0.999)

    def test_tasks_that_overlap_do_not_nest_in_each_other(self):
        region = netprof.region("task")

        async def work(n):
            async with region:
                await asyncio.sleep(0.001 * n)
                async with netprof.region("step"):
                    await asyncio.sleep(0.001)

        async def main():
            await asyncio.gather(*[work(n) for n in range(5)])

        asyncio.run(main())
        self.assertEqual({stat.path for stat in netprof.statistics() if stat.calls}, {("task",), ("task", "step")})
        self.assertEqual((calls_of("task"), calls_of("step")), (5, 5))
        self.assertEqual(netprof.statistics().about["mismatched"], 0)

    def test_coroutine_that_raises_or_is_cancelled_ends_its_span(self):
        @netprof.region("failing")
        async def fail():
            await asyncio.sleep(0)
            raise KeyError

        @netprof.region("cancelled")
        async def wait():
            await asyncio.sleep(600)

        async def main():
            task = asyncio.ensure_future(wait())
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, fail(), return_exceptions=True)

        asyncio.run(main())
        self.assertEqual((calls_of("failing"), calls_of("cancelled")), (1, 1))

    def test_generators_are_refused(self):
        def values():
            yield 1

        async def later():
            yield 1

        for function in values, later:
            with self.assertRaisesRegex(TypeError, "between its values"):
                netprof.region("values")(function)
        self.assertRaises(TypeError, netprof.region("values"), 5)

    def test_spans_have_bytes_and_waits(self):
        @netprof.region("with bytes", nbytes=5)
        async def coroutine():
            async with netprof.region("block", nbytes=2):
                await asyncio.sleep(0)

        asyncio.run(coroutine())
        (outer,), (inner,) = stats_of("with bytes"), stats_of("block")
        self.assertEqual((outer.nbytes, inner.nbytes, inner.path), (5, 2, ("with bytes", "block")))
        span = netprof.span("beside")
        span.add_bytes(7)
        span.wait()
        waited = time.perf_counter_ns()
        time.sleep(0.01)
        waited = time.perf_counter_ns() - waited
        span.end()
        span.add_bytes(7)
        (beside,) = stats_of("beside")
        self.assertEqual((beside.nbytes, beside.spans), (7, 1))
        self.assertGreaterEqual(beside.waited_ns, waited * 0.999)
        self.assertRaises(TypeError, netprof.span, "x", "y")

    def test_value(self):
        for size in 4096, -8:
            with netprof.region("sized"):
                netprof.value("size", size)
        self.assertRaises(TypeError, netprof.value, "size", "big")
        (value,) = [value for value in netprof.statistics().values if value.path == ("sized",)]
        self.assertEqual((value.name, value.count, value.sum, value.least, value.most), ("size", 2, 4088, -8, 4096))
        self.assertIn(value.at_longest, (4096, -8))

    def test_threads_have_rows_of_their_own(self):
        def work():
            for _ in range(100):
                with netprof.region("thread"):
                    pass

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([stat.calls for stat in stats_of("thread")], [100] * 4)

    def test_span_ends_once_in_any_thread(self):
        a, b = netprof.span("a"), netprof.span("b")
        a.end()
        a.end()
        thread = threading.Thread(target=b.end)
        thread.start()
        thread.join()
        with netprof.span("c"):
            pass
        netprof.span("never")
        self.assertEqual([calls_of(name) for name in ("a", "b", "c", "never")], [1, 1, 1, 0])

    def test_arguments(self):
        self.assertEqual(netprof.region("x", nbytes=7).nbytes, 7)
        self.assertEqual(netprof.region(name="x", nbytes=7).name, "x")
        self.assertEqual(netprof.region("x", 7).nbytes, 7)
        for wrong in (), (5,), ("a", "b"), ("a", 1, 2), (b"a",):
            self.assertRaises(TypeError, netprof.region, *wrong)
        self.assertRaises(TypeError, netprof.region, "x", bytes=1)
        self.assertRaises(ValueError, netprof.region, "a\0b")
        self.assertRaises(OverflowError, netprof.region, "x", nbytes=-1)
        self.assertRaises(OverflowError, netprof.add_bytes, 2**64)
        self.assertRaises(TypeError, netprof.add_bytes, 1.5)
        self.assertRaises(ValueError, netprof.set_mode, "quick")
        copy = pickle.loads(pickle.dumps(netprof.region("x", nbytes=3)))
        self.assertEqual((copy.name, copy.nbytes), ("x", 3))

    def test_name_that_is_not_utf8(self):
        with netprof.region(os.fsdecode(b"file \xff")):
            pass
        self.assertEqual(calls_of("file \\xff"), 1)

    def test_every_and_off(self):
        netprof.every("often", 10)
        for _ in range(100):
            with netprof.region("often"):
                pass
        self.assertEqual([(s.calls, s.measured) for s in stats_of("often")], [(100, 10)])
        netprof.every("often", 1)
        netprof.set_mode("off")
        with netprof.region("off"):
            pass
        netprof.set_mode("time")
        self.assertEqual(calls_of("off"), 0)

    def test_frame(self):
        with netprof.region("framed"):
            pass
        try:
            import pandas
        except ImportError:
            self.assertRaisesRegex(ImportError, "needs pandas", netprof.statistics().frame)
            self.skipTest("no pandas")
        frame = netprof.statistics().frame()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(frame[frame.path == "framed"].calls.sum(), 1)

    def test_cost(self):
        """Prints what a with block costs beside one that does nothing; it asserts no time."""

        def cost(with_block):
            times = []
            for _ in range(7):
                begin = time.perf_counter_ns()
                with_block(20000)
                times.append((time.perf_counter_ns() - begin) / 20000)
            return statistics.median(times)

        def kept(context):
            def run(n):
                for _ in range(n):
                    with context:
                        pass

            return cost(run)

        def made(make):
            def run(n):
                for _ in range(n):
                    with make():
                        pass

            return cost(run)

        rows = [
            ("with nullcontext, kept", kept(contextlib.nullcontext())),
            ("with region, kept", kept(netprof.region("cost"))),
            ("with nullcontext()", made(contextlib.nullcontext)),
            ('with region("name")', made(lambda: netprof.region("cost"))),
        ]
        for name, ns in rows:
            print(f"# {name:<24} {ns:6.0f} ns")
        self.assertEqual(calls_of("cost"), 2 * 7 * 20000)


class Files(Programs):
    def test_file_at_the_end_is_what_the_program_counted(self):
        self.run_program(
            """
            import netprof
            netprof.set_rank(2, 4)
            with netprof.region("a"):
                for _ in range(3):
                    with netprof.region("b", nbytes=4):
                        pass
            """
        )
        (recording,) = self.recordings()
        ((a, b),) = recording.regions
        self.assertEqual((a.path, a.calls, b.path, b.calls, b.nbytes), (("a",), 1, ("a", "b"), 3, 12))
        self.assertEqual((recording.facts["rank"], recording.facts["ended"], recording.complete), ("2", "exit", True))

    def test_counters_of_regions(self):
        self.run_program(
            """
            import socket, netprof
            server = socket.create_server(("127.0.0.1", 0))
            client = socket.create_connection(server.getsockname())
            peer = server.accept()[0]
            with netprof.region("send"):
                client.sendall(bytes(100000))
                left = 100000
                while left:
                    left -= len(peer.recv(left))
            """,
            NETPROF="fast",
            NETPROF_INCLUDE="lo/*",
        )
        ((stat,),) = self.recordings()[0].regions
        self.assertGreater(stat.counters["lo/tx_bytes"], 100000)
        self.assertEqual((stat.counted, stat.concurrency), (1, 1))


if __name__ == "__main__":
    unittest.main()

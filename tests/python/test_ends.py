"""Worker processes: whatever ends them but kill -9, no call of a region is lost."""

import os
import unittest

from support import Programs

WORK = """
import multiprocessing, os, signal, sys, time
import netprof

def work(n):
    for _ in range(n):
        with netprof.region("work"):
            pass
    return os.getpid()
"""


def program(text):
    return WORK + "\nif __name__ == '__main__':\n" + "".join("    " + line + "\n" for line in text.strip().split("\n"))


# A worker that has counted and waits gets SIGTERM.
TERMINATED = """
context = multiprocessing.get_context("fork")
ready = context.Event()

def wait():
    work(7)
    ready.set()
    time.sleep(600)

process = context.Process(target=wait)
process.start()
ready.wait()
process.terminate()
process.join()
print(process.exitcode)
"""


class Ends(Programs):
    def test_process_by_each_way_to_start_one(self):
        for way in "fork", "spawn", "forkserver":
            with self.subTest(way):
                self.setUp()
                self.run_program(
                    program(
                        f"""
context = multiprocessing.get_context("{way}")
processes = [context.Process(target=work, args=(n,)) for n in (3, 4, 5)]
[process.start() for process in processes]
[process.join() for process in processes]
assert [process.exitcode for process in processes] == [0, 0, 0]
"""
                    )
                )
                self.assertEqual(self.calls("work"), [3, 4, 5])
                self.assertEqual(self.said, "")

    def test_pool_that_is_terminated(self):
        for way in "fork", "spawn", "forkserver":
            with self.subTest(way):
                self.setUp()
                self.run_program(
                    program(
                        f"""
with multiprocessing.get_context("{way}").Pool(2) as pool:  # its end is SIGTERM
    pool.map(work, [10] * 8, chunksize=1)
"""
                    )
                )
                self.assertEqual(sum(self.calls("work")), 80)

    def test_pool_that_is_closed(self):
        self.run_program(
            program(
                """
pool = multiprocessing.get_context("fork").Pool(2, maxtasksperchild=2)
pool.map(work, [10] * 8, chunksize=1)
pool.close()
pool.join()
"""
            )
        )
        self.assertEqual(self.calls("work"), [20, 20, 20, 20])

    def test_executor(self):
        for way in "fork", "spawn", "forkserver":
            with self.subTest(way):
                self.setUp()
                self.run_program(
                    program(
                        f"""
from concurrent.futures import ProcessPoolExecutor
with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("{way}")) as executor:
    list(executor.map(work, [10] * 8))
"""
                    )
                )
                self.assertEqual(sum(self.calls("work")), 80)

    def test_workers_that_load_data(self):
        """As a DataLoader has them: processes that take indices from a queue until they get None, and are terminated if
        they do not end in time."""
        self.run_program(
            program(
                """
context = multiprocessing.get_context("fork")

def load(indices, batches):
    while (index := indices.get()) is not None:
        with netprof.region("load"):
            batches.put([index] * 4)
    if os.environ.get("HANG"):
        time.sleep(600)

queues, batches = [context.Queue() for _ in range(3)], context.Queue()
workers = [context.Process(target=load, args=(queue, batches), daemon=True) for queue in queues]
[worker.start() for worker in workers]
with netprof.region("epoch"):
    [queues[i % 3].put(i) for i in range(12)]
    [batches.get() for i in range(12)]
[queue.put(None) for queue in queues]
for i, worker in enumerate(workers):
    worker.join(None if i else 0)
    worker.terminate()
"""
            )
        )
        self.assertEqual(self.calls("load"), [4, 4, 4])
        self.assertEqual(self.calls("epoch"), [1])

    def test_daemon_whose_parent_ends(self):
        self.run_program(
            program(
                """
context = multiprocessing.get_context("fork")
ready = context.Event()

def wait():
    work(7)
    ready.set()
    time.sleep(600)

context.Process(target=wait, daemon=True).start()
ready.wait()
"""
            )
        )
        self.assertEqual(self.calls("work"), [7])

    def test_fork_and_exit_at_once(self):
        self.run_program(
            program(
                """
work(2)
for n in (3, 4):
    if os.fork() == 0:
        work(n)
        os._exit(0)
[os.wait() for _ in range(2)]
"""
            )
        )
        self.assertEqual(self.calls("work"), [2, 3, 4])
        self.assertEqual([r.facts["ended"] for r in self.recordings()].count("_exit"), 2)

    def test_child_without_regions_writes_nothing(self):
        self.run_program(
            program(
                """
work(2)
if os.fork() == 0:
    os._exit(0)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(len, ["a", "bc"]) == [1, 2]
"""
            )
        )
        self.assertEqual(len(self.recordings()), 1)

    def test_regions_that_are_open_at_a_fork(self):
        self.run_program(
            program(
                """
with netprof.region("outer"):
    process = multiprocessing.get_context("fork").Process(target=work, args=(3,))
    process.start()
    process.join()
"""
            )
        )
        paths = {stat.path for r in self.recordings() for part in r.regions for stat in part if stat.region == "work"}
        self.assertEqual(paths, {("outer", "work")})

    def test_signal_still_ends_a_worker_and_its_status_says_so(self):
        out = self.run_program(program(TERMINATED))
        self.assertEqual(out.strip(), "-15")
        self.assertEqual(self.calls("work"), [7])

    def test_grandchild_without_a_guard_dies_of_the_signal(self):
        out = self.run_program(
            program(
                """
context = multiprocessing.get_context("fork")

def parent():
    child = os.fork()
    if child == 0:
        time.sleep(600)
    os.kill(child, signal.SIGTERM)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)

process = context.Process(target=parent)
process.start()
process.join()
"""
            )
        )
        self.assertEqual(out.strip(), "-15")

    def test_program_that_handles_the_signal_itself(self):
        out = self.run_program(
            program(
                """
def stop(number, frame):
    print("mine", flush=True)
    sys.exit(3)

signal.signal(signal.SIGTERM, stop)
"""
                + TERMINATED
            )
        )
        self.assertEqual(out.split(), ["mine", "3"])
        self.assertEqual(self.calls("work"), [7])

    def test_disk_that_cannot_be_written_is_said_and_ends_nothing(self):
        self.run_program(
            program(
                """
process = multiprocessing.get_context("fork").Process(target=work, args=(1,))
process.start()
process.join()
assert process.exitcode == 0
"""
            ),
            NETPROF_OUTPUT="/proc/none/regions.netprof",
        )
        self.assertIn("/proc/none/regions.netprof", self.said)

    def test_pipe_that_nobody_reads_holds_no_worker(self):
        """Opening it for writing waits: the bound on the write, not the reader, ends the worker."""
        os.mkfifo(os.path.join(self.directory, "pipe"))
        self.run_program(
            program(
                """
if os.fork() == 0:
    work(1)
    os._exit(5)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 5
"""
            ),
            NETPROF_OUTPUT=os.path.join(self.directory, "pipe"),
        )

    def test_context_of_the_parent_is_not_read_by_the_child(self):
        self.run_program(
            program(
                """
context = netprof.Context(sources="netdev")
before = context.snapshot()

def child():
    delta = context.snapshot() - before
    assert delta.change("lo", "rx_bytes").flag == "ok"
    netprof.snapshot(fast=True)

netprof.snapshot(fast=True)
processes = [multiprocessing.get_context("fork").Process(target=child) for _ in range(4)]
[process.start() for process in processes]
for _ in range(20):
    context.snapshot()
[process.join() for process in processes]
assert [process.exitcode for process in processes] == [0] * 4
"""
            )
        )


if __name__ == "__main__":
    unittest.main()

"""Worker processes end by os._exit() or SIGTERM, where no file would be written: those of multiprocessing (fork, spawn,
forkserver; Pool, ProcessPoolExecutor, loaders of data) and what os.fork() makes. Here they are made to write first."""

import os
import sys

from . import _netprof

LIMIT = 3.0  # seconds, for a disk that hangs
_exit = os._exit


def write():
    if _netprof.has_regions():
        try:
            _netprof.flush()
        except _netprof.Error as error:
            print(f"netprof: the regions of process {os.getpid()} could not be written: {error}", file=sys.stderr)


def _exit_written(status):
    _netprof.write_last(LIMIT)
    _exit(status)


class _Anchor:  # register_after_fork() keeps only a weak reference
    pass


_anchor = _Anchor()


def _in_worker(_=None):
    """In a child of multiprocessing, after it forgot the finalizers of its parent."""
    from multiprocessing import util

    os._exit = _exit_written
    util.Finalize(None, write, exitpriority=-1000)  # after the program's own
    _netprof.guard(LIMIT)


def _watch_workers():
    """Only where multiprocessing is in use already: other programs need not import it."""
    util = sys.modules.get("multiprocessing.util")
    if util and _anchor not in util._afterfork_registry.values():
        util.register_after_fork(_anchor, _in_worker)


def _in_child():
    os._exit = _exit_written


os.register_at_fork(before=_watch_workers, after_in_child=_in_child)
_watch_workers()
_process = sys.modules.get("multiprocessing.process")
# Imported in a worker: by the function that it runs, or, where it is spawned, with the program before it begins.
if _process and (_process.parent_process() or getattr(_process.current_process(), "_inheriting", False)):
    _in_worker()

"""Regions as decorators and in coroutines, and their statistics."""

import contextvars
import functools
import inspect
from collections import namedtuple

from . import _netprof
from ._frame import frame

_spans = contextvars.ContextVar("netprof_spans", default=())


async def _async_enter(region):
    """A span inside that of the task, which an event loop may interleave with others."""
    outer = _spans.get()
    span = _netprof.span(region.name, outer[-1] if outer else None)
    if region.nbytes:
        span.add_bytes(region.nbytes)
    _spans.set(outer + (span,))
    return region


async def _async_exit(region):
    *outer, span = _spans.get()
    _spans.set(tuple(outer))
    span.end()
    return False


def _is_coroutine(function):
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))


def _decorate(region, function):
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(
            f"{region!r} cannot decorate the generator {function.__qualname__}: the time between its values is its "
            "caller's. Mark the work between two yields with a with block."
        )
    if not callable(function):
        raise TypeError(f"{region!r} decorates a function, not {type(function).__name__}")
    if _is_coroutine(function):

        @functools.wraps(function)
        async def measured(*args, **kwargs):
            async with region:
                return await function(*args, **kwargs)

    else:

        @functools.wraps(function)
        def measured(*args, **kwargs):
            with region:
                return function(*args, **kwargs)

    return measured


_netprof.set_hooks(_decorate, _async_enter, _async_exit)

_NUMBERS = (
    "calls measured open spans nbytes total_ns inclusive_ns exclusive_ns min_ns max_ns stddev_ns aborted too_short "
    "counted concurrency waits waited_ns histogram counters"
)


class Stat(namedtuple("Stat", "thread path region " + _NUMBERS)):
    """One region under one parent in one thread; times in ns, as netprof_stat in netprof.h says. path: the names from
    the outermost region to this one. histogram: {smallest duration of a bucket: calls}. counters: {"device/counter":
    sum over the counted calls}. waits, waited_ns: of the spans that said when the program began to wait for them."""

    __slots__ = ()

    @property
    def mean_ns(self):
        """Of one measured call; None if none was."""
        return self.total_ns / self.measured if self.measured else None


class Value(namedtuple("Value", "thread path name count sum least most at_longest")):
    """What netprof.value() gave a region; at_longest: the value in the longest call that had one."""

    __slots__ = ()


class Statistics(list):
    """A list of Stat. about: the mode, how long, the measured cost of a region, what went wrong ("warning"). values: a
    list of Value."""

    def __init__(self, about, rows, values):
        self.about = about
        paths = {}
        for thread, node, parent, region, *rest in rows:
            path = paths.get((thread, parent), ()) + (region,)
            paths[thread, node] = path
            self.append(Stat(thread, path, region, *rest))
        self.values = [Value(thread, paths[thread, node], *rest) for thread, node, *rest in values]

    def frame(self):
        """A pandas frame, a row for each; the path as text, joined by "/"."""
        return frame([stat._replace(path="/".join(stat.path)) for stat in self], Stat._fields)


def statistics():
    """What the regions of this process have counted so far."""
    return Statistics(*_netprof.statistics())

"""Regions of netprof for Python, by ctypes and libnetprof-regions.so.

    import netprof

    with netprof.region("allreduce", nbytes=tensor.nbytes):
        dist.all_reduce(tensor)

    @netprof.region("load batch")
    def load(): ...

A region costs about a microsecond here, most of it Python's. Work that begins in one thread and ends in another, or
that an event loop interleaves (asyncio), is a span: span = netprof.span("request"); ...; span.end().
At the end of the process a file is written; the environment (NETPROF, NETPROF_OUTPUT, ...) is that of netprof.h.
"""

import contextlib
import ctypes
import os

_NAME = "libnetprof-regions.so"


class Error(Exception):
    pass


class _Span(ctypes.Structure):
    _fields_ = [
        ("region", ctypes.c_uint32),
        ("sample", ctypes.c_uint32),
        ("begin_ticks", ctypes.c_uint64),
        ("wait_ticks", ctypes.c_uint64),
        ("suspend_ticks", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("place", ctypes.c_void_p),
    ]


class _Error(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_int),
        ("sys_errno", ctypes.c_int),
        ("offset", ctypes.c_uint64),
        ("source", ctypes.c_char * 16),
        ("path", ctypes.c_char * 256),
        ("text", ctypes.c_char * 160),
    ]


# name: result, parameters
_FUNCTIONS = {
    "netprof_region": (ctypes.c_uint32, [ctypes.c_char_p]),
    "netprof_begin": (None, [ctypes.c_uint32]),
    "netprof_end": (None, [ctypes.c_uint32]),
    "netprof_bytes": (None, [ctypes.c_uint64]),
    "netprof_span_begin": (_Span, [ctypes.c_uint32]),
    "netprof_span_end": (None, [_Span]),
    "netprof_span_bytes": (None, [ctypes.POINTER(_Span), ctypes.c_uint64]),
    "netprof_span_wait": (None, [ctypes.POINTER(_Span)]),
    "netprof_value": (None, [ctypes.c_uint32, ctypes.c_int64]),
    "netprof_region_every": (None, [ctypes.c_uint32, ctypes.c_uint]),
    "netprof_set_rank": (None, [ctypes.c_int, ctypes.c_int]),
    "netprof_flush": (ctypes.c_int, [ctypes.POINTER(_Error)]),
    "netprof_version": (ctypes.c_char_p, []),
}


def _load():
    here = os.path.dirname(os.path.abspath(__file__))
    beside = os.path.join(here, _NAME)
    # PyDLL: a call this short is not worth giving the interpreter's lock away.
    library = ctypes.PyDLL(beside if os.path.exists(beside) else _NAME)
    for name, (result, parameters) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = parameters
    return library


_library = _load()
_ids = {}


def _region_id(name):
    number = _ids.get(name)
    if number is None:
        number = _ids[name] = _library.netprof_region(name.encode("utf-8", "surrogateescape"))
    return number


class region(contextlib.ContextDecorator):
    """A region: for a with block, or as decorator of a function. It can be entered again, also within itself."""

    def __init__(self, name, nbytes=0):
        self._id = _region_id(name)
        self._bytes = nbytes

    def __enter__(self):
        _library.netprof_begin(self._id)
        if self._bytes:
            _library.netprof_bytes(self._bytes)
        return self

    def __exit__(self, *exception):
        _library.netprof_end(self._id)
        return False


class span:
    """Work beside, from now to end(), in whatever thread and order."""

    def __init__(self, name):
        self._span = _library.netprof_span_begin(_region_id(name))

    def add_bytes(self, nbytes):
        """That it moves."""
        if self._span is not None:
            _library.netprof_span_bytes(ctypes.byref(self._span), nbytes)

    def wait(self):
        """From here on the program waits for it."""
        if self._span is not None:
            _library.netprof_span_wait(ctypes.byref(self._span))

    def end(self):
        if self._span is not None:
            _library.netprof_span_end(self._span)
            self._span = None


def add_bytes(nbytes):
    """Adds to the innermost open region of this thread."""
    _library.netprof_bytes(nbytes)


def value(name, number):
    """Gives the innermost open region of this thread a value: a size, a peer, an iteration."""
    _library.netprof_value(_region_id(name), number)


def every(name, n):
    """Measures every n-th call of a region; the others are counted only."""
    _library.netprof_region_every(_region_id(name), n)


def set_rank(rank, ranks=-1):
    """Where no launcher tells it by the environment."""
    _library.netprof_set_rank(rank, ranks)


def flush():
    """Writes the file now."""
    error = _Error()
    if _library.netprof_flush(ctypes.byref(error)):
        reason = os.strerror(error.sys_errno) if error.sys_errno else error.text.decode("utf-8", "replace")
        raise Error(f"{error.path.decode('utf-8', 'replace')}: {reason}")


def version():
    return _library.netprof_version().decode()

"""netprof for Python: regions of code, counters of the network, and what net_prof had.

    import netprof

    with netprof.region("allreduce", nbytes=tensor.nbytes):    # at the end of the process a file is written
        dist.all_reduce(tensor)

    @netprof.region("load batch")                              # of an async def: a span for each call
    def load(): ...

    with netprof.measure() as m:                               # what passed the ports of this node meanwhile
        exchange()
    print(m.total)                                             # print(m): a table

    delta = netprof.snapshot() - before                        # delta.rows(), delta.change("eth0", "rx_bytes")
    netprof.statistics()                                       # of the regions so far; .frame() with pandas

`netprof regions`, `netprof report` and the others read the files. Work that begins in one thread and ends in another is
a span: span = netprof.span("request"); ...; span.end(). In coroutines use `async with netprof.region(...)`: a plain
with block that awaits nests by chance. The environment (NETPROF, NETPROF_OUTPUT, ...) is that of netprof.h.

collect(), summarize(), dump() and dump_html() are net_prof's: import netprof as net_prof.
"""

from ._netprof import Error, add_bytes, every, flush, region, reset, set_mode, set_rank, span, value, version
from ._regions import Stat, Statistics, Value, statistics
from ._counters import (
    Change,
    Context,
    Damage,
    Delta,
    Device,
    Reading,
    Recording,
    Snapshot,
    Source,
    Total,
    load,
    measure,
    save,
    snapshot,
)
from ._net_prof import collect, dump, dump_html, summarize
from . import _ends

__version__ = version()
__all__ = [name for name in globals() if not name.startswith("_")]

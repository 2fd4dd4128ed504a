# One rank of tests/nccl-plugin/on_gpu: calls NCCL through PyTorch, and says as JSON what it did and how long that took.
# usage: on_gpu_rank.py RANK ADDRESS:PORT CALLS PLAN [LEVEL]
#   even   all-reduces of 4 MiB (ON_GPU_BYTES), in blocks of 10; with a LEVEL, every second block has the plugin off, the others at LEVEL
#   mixed  all-reduces, all-gathers, sends and receives, of two communicators, and replays of a graph
import ctypes, json, os, sys, time
import torch
import torch.distributed as dist

FLOATS, BLOCK = int(os.environ.get("ON_GPU_BYTES", 4 << 20)) // 4, 10


def level(name):
    library = ctypes.CDLL(os.environ["NCCL_PROFILER_PLUGIN"])  # the one that NCCL has loaded
    assert library.netprof_nccl_level(name.encode()) == 0


def block(data, calls):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(calls):
        dist.all_reduce(data)
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / calls * 1e6


def even(calls, on):
    data = torch.ones(FLOATS, device="cuda")
    block(data, 2 * BLOCK)
    us = {"off": [], "on": []}
    for i in range(calls // BLOCK):
        with_plugin = i % 4 in (1, 2)  # off on on off: what drifts meets both
        if on:
            level(on if with_plugin else "off")
        us["on" if with_plugin else "off"].append(block(data, BLOCK))
    if on:
        level(on)
    return {"us": us, "all_reduces": 2 * BLOCK + calls // BLOCK * BLOCK, "bytes_each": FLOATS * 4}


def graph(data, replays):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        dist.all_reduce(data)
    torch.cuda.synchronize()
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        dist.all_reduce(data)
    for _ in range(replays):
        recorded.replay()
    torch.cuda.synchronize()
    return 1 + replays


def mixed(rank, calls):
    data, both = torch.ones(FLOATS, device="cuda"), torch.empty(2 * FLOATS, device="cuda")
    done = {"all_reduces": 0, "all_gathers": 0, "sends": 0, "replays": 0}
    other = dist.new_group([0, 1])
    for _ in range(calls):
        dist.all_reduce(data, group=other)
        dist.all_gather_into_tensor(both, data)
        if rank == 0:
            dist.send(data, 1)
        else:
            dist.recv(data, 0)
    torch.cuda.synchronize()
    done["all_reduces"] = done["all_gathers"] = done["sends"] = calls
    done["replays"] = graph(data, calls)
    return done


def main():
    rank, address, calls, plan = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", init_method="tcp://" + address, rank=rank, world_size=2)
    done = even(calls, sys.argv[5] if len(sys.argv) > 5 else "") if plan == "even" else mixed(rank, calls)
    done["nccl"] = ".".join(str(i) for i in torch.cuda.nccl.version())
    dist.destroy_process_group()
    print(json.dumps(done))


main()

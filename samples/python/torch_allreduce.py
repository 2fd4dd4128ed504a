"""Data-parallel training in miniature, with PyTorch over gloo: two processes average a gradient five times. Each marks
the step and the collective within, and says what passed the network meanwhile.

usage: torch_allreduce.py [RANKS [NUMBERS]]
"""

import os
import socket
import sys

import netprof

try:
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as multiprocessing
except ImportError:
    sys.exit("torch_allreduce.py: PyTorch is not installed")


@netprof.region("gradient")
def gradient(rank, count):
    return torch.full((count,), float(rank + 1))


def run_rank(rank, ranks, count, port):
    netprof.set_rank(rank, ranks)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    with netprof.measure(devices="lo") as meter:
        for _ in range(5):
            with netprof.region("step"):
                tensor = gradient(rank, count)
                with netprof.region("all_reduce", nbytes=tensor.numel() * tensor.element_size()):
                    dist.all_reduce(tensor)
                tensor /= ranks
    if not torch.all(tensor == (ranks + 1) / 2):
        raise ArithmeticError(f"rank {rank} has a wrong mean")
    if rank == 0:
        print(meter)
        print(f"{meter.total.tx_bytes} bytes through lo, of all processes of this node")
    dist.destroy_process_group()


def main():
    ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000000
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    multiprocessing.spawn(run_rank, (ranks, count, port), nprocs=ranks)


if __name__ == "__main__":
    main()

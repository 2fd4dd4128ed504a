"""A ring all-reduce between processes, over TCP sockets, as data-parallel training does it: every rank has a gradient,
and in the end all have the sum. Each rank marks the collective, and its two halves within, and writes a file.

usage: allreduce.py [RANKS [NUMBERS]]
"""

import array
import os
import socket
import sys
import threading

import netprof


def receive_all(sock, nbytes):
    data = bytearray()
    while len(data) < nbytes:
        block = sock.recv(nbytes - len(data))
        if not block:
            raise ConnectionError("a neighbour is gone")
        data += block
    return data


class Ring:
    def __init__(self, rank, ranks, left, right):
        self.rank, self.ranks, self.left, self.right = rank, ranks, left, right
        self.sent = 0

    def _swap(self, chunk):
        """Sends to the right while receiving from the left."""
        data = chunk.tobytes()
        sender = threading.Thread(target=self.right.sendall, args=(data,))
        sender.start()
        received = array.array("d", bytes(receive_all(self.left, len(data))))
        sender.join()
        netprof.add_bytes(len(data))
        self.sent += len(data)
        return received

    def all_reduce(self, numbers):
        """The length must be a multiple of the number of ranks."""
        n = len(numbers) // self.ranks
        with netprof.region("all-reduce"):
            with netprof.region("reduce-scatter"):
                for step in range(self.ranks - 1):
                    out = (self.rank - step) % self.ranks * n
                    into = (self.rank - step - 1) % self.ranks * n
                    for i, value in enumerate(self._swap(numbers[out : out + n])):
                        numbers[into + i] += value
            with netprof.region("all-gather"):
                for step in range(self.ranks - 1):
                    out = (self.rank - step + 1) % self.ranks * n
                    into = (self.rank - step) % self.ranks * n
                    numbers[into : into + n] = self._swap(numbers[out : out + n])


@netprof.region("gradient")
def gradient(rank, count):
    return array.array("d", (rank + i for i in range(count)))


def run_rank(rank, ranks, count, listeners):
    netprof.set_rank(rank, ranks)
    right = socket.create_connection(listeners[(rank + 1) % ranks].getsockname())
    left, _ = listeners[rank].accept()
    ring = Ring(rank, ranks, left, right)
    for _ in range(3):
        numbers = gradient(rank, count)
        ring.all_reduce(numbers)
        expected = [ranks * (ranks - 1) // 2 + ranks * i for i in range(count)]
        if list(numbers) != expected:
            raise ArithmeticError(f"rank {rank} has a wrong sum")
    # one write: print() would send text and line end apart where Python does not buffer, and the ranks' lines would mix
    sys.stdout.write(f"rank {rank}: {ring.sent} bytes sent\n")
    sys.stdout.flush()
    netprof.flush()


def main():
    ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 6000
    if ranks < 2 or count % ranks:
        sys.exit("allreduce.py: expected two ranks or more, and a number of numbers that they can share evenly")
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(ranks)]
    children = []
    for rank in range(ranks):
        child = os.fork()
        if child == 0:
            try:
                run_rank(rank, ranks, count, listeners)
                os._exit(0)
            except BaseException as error:
                print(f"allreduce.py: rank {rank}: {error}", file=sys.stderr, flush=True)
                os._exit(1)
        children.append(child)
    failed = [child for child in children if os.waitpid(child, 0)[1]]
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

// A Google Benchmark program whose table shows, beside the times, what the network did in each iteration: bytes and
// packets of a device, and how long the sender stalled. It sends messages over 127.0.0.1 to a peer that reads at once
// and to one that takes its time.
#define NETPROF_IMPLEMENTATION
#include "netprof.h"

#include <benchmark/benchmark.h>

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace
{

// What becomes a column: counters of a device, added up. On a cluster: "cxi0" and its hni_* counters, "mlx5_0/1" with
// port_xmit_wait, ...; the columns of a device or counter that this node does not have are left out.
struct column {
    const char *title, *source, *device;
    std::vector<const char *> counters;
};
const std::vector<column> columns = {
    {"lo_bytes", "netdev", "lo", {"tx_bytes"}},
    {"lo_packets", "netdev", "lo", {"tx_packets"}},
    {"tcp_bytes", "tcp", "tcp/stream", {"bytes_acked"}},
    {"stalled_us", "tcp", "tcp/stream", {"rwnd_limited", "sndbuf_limited"}},
};

// Snapshots around the timed loop; their difference becomes the columns.
class meter
{
    netprof *np = nullptr;
    netprof_snapshot before = NETPROF_ZERO, after = NETPROF_ZERO;

  public:
    explicit meter(int fd)
    {
        netprof_config config = NETPROF_ZERO;
        config.sources = "netdev";
        config.include = "lo,tcp/*";
        netprof_open(&np, &config, nullptr);
        netprof_add_socket(np, fd, "stream", nullptr);
    }
    ~meter()
    {
        netprof_snapshot_free(&before);
        netprof_snapshot_free(&after);
        netprof_close(np);
    }
    meter(const meter &) = delete;
    meter &operator=(const meter &) = delete;

    void start() { netprof_take(np, &before, NETPROF_SET_ALL, nullptr); }

    void stop(benchmark::State &state)
    {
        netprof_delta delta = NETPROF_ZERO;
        netprof_take(np, &after, NETPROF_SET_ALL, nullptr);
        if (netprof_diff(&before, &after, nullptr, &delta, nullptr) == NETPROF_OK)
            for (const column &c : columns)
                add_column(state, delta, c);
        netprof_delta_free(&delta);
    }

  private:
    static void add_column(benchmark::State &state, const netprof_delta &delta, const column &c)
    {
        double sum = 0;
        for (const char *counter : c.counters) {
            const size_t i = netprof_find(delta.schema, c.source, c.device, counter);
            if (i == NETPROF_NONE || delta.flags[i] > NETPROF_FLAG_WRAPPED) return; // not known: no column, never 0
            sum += static_cast<double>(delta.values[i]);
        }
        state.counters[c.title] = benchmark::Counter(sum, benchmark::Counter::kAvgIterations);
    }
};

void die(const char *what)
{
    std::perror(what);
    std::exit(1);
}

// Both ends of a connection with a small window, so that a slow reader is felt soon.
void connect_pair(int ends[2])
{
    sockaddr_in address = {};
    socklen_t length = sizeof address;
    int window = 64 * 1024;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto *any = reinterpret_cast<sockaddr *>(&address);
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &window, sizeof window);
    if (listener < 0 || bind(listener, any, length) || listen(listener, 1) || getsockname(listener, any, &length) ||
        connect(ends[0], any, length) || (ends[1] = accept(listener, nullptr, nullptr)) < 0)
        die("connection");
    close(listener);
}

void read_all(int fd, bool slowly)
{
    std::vector<char> block(32 * 1024);
    while (recv(fd, block.data(), block.size(), 0) > 0)
        if (slowly) std::this_thread::sleep_for(std::chrono::microseconds(200));
}

// Waits until the peer has what the socket still holds, which is in no counter yet.
void drain(int fd)
{
    for (int left = 1; ioctl(fd, SIOCOUTQ, &left) == 0 && left > 0;)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
}

void send_message(benchmark::State &state)
{
    const std::vector<char> message(static_cast<size_t>(state.range(0)));
    const bool slowly = state.range(1) != 0;
    int ends[2];
    connect_pair(ends);
    std::thread peer(read_all, ends[1], slowly);
    {
        meter network(ends[0]);
        network.start();
        for (auto _ : state) {
            for (size_t at = 0; at < message.size();) {
                const ssize_t n = send(ends[0], message.data() + at, message.size() - at, MSG_NOSIGNAL);
                if (n < 0) die("send");
                at += static_cast<size_t>(n);
            }
        }
        drain(ends[0]);
        network.stop(state);
    }
    shutdown(ends[0], SHUT_WR);
    peer.join();
    close(ends[0]);
    close(ends[1]);
    state.SetBytesProcessed(static_cast<int64_t>(message.size()) * static_cast<int64_t>(state.iterations()));
}

} // namespace

BENCHMARK(send_message)->ArgNames({"bytes", "slow_peer"})->ArgsProduct({{4096, 65536}, {0, 1}})->UseRealTime();
BENCHMARK_MAIN();

// A TCP stream over 127.0.0.1, in C++: NETPROF_SCOPE ends its region when the block is left, by return, break or an
// exception. The receiver counts; the sender asks for the count at the end.
#define NETPROF_IMPLEMENTATION
#include "netprof.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace
{

[[noreturn]] void fail(const char *what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

class connection
{
  public:
    int ends[2] = {-1, -1};

    connection()
    {
        sockaddr_in address = {};
        socklen_t length = sizeof address;
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto *any = reinterpret_cast<sockaddr *>(&address);
        const int listener = socket(AF_INET, SOCK_STREAM, 0);
        ends[0] = socket(AF_INET, SOCK_STREAM, 0);
        if (listener < 0 || bind(listener, any, length) || listen(listener, 1) || getsockname(listener, any, &length) ||
            connect(ends[0], any, length) || (ends[1] = accept(listener, nullptr, nullptr)) < 0)
            fail("connection");
        close(listener);
    }
    ~connection()
    {
        for (const int end : ends)
            close(end);
    }
    connection(const connection &) = delete;
    connection &operator=(const connection &) = delete;
};

void send_block(int fd, const std::vector<char> &block)
{
    NETPROF_SCOPE("send");
    for (size_t at = 0; at < block.size();) {
        const ssize_t n = send(fd, block.data() + at, block.size() - at, MSG_NOSIGNAL);
        if (n < 0) fail("send");
        at += static_cast<size_t>(n);
        NETPROF_BYTES(static_cast<uint64_t>(n)); // what went before an exception is counted, too
    }
}

uint64_t receive_everything(int fd)
{
    std::vector<char> block(65536);
    uint64_t bytes = 0;
    for (;;) {
        NETPROF_SCOPE("receive");
        const ssize_t n = recv(fd, block.data(), block.size(), 0);
        if (n < 0) fail("recv");
        if (n == 0) return bytes;
        bytes += static_cast<uint64_t>(n);
        NETPROF_BYTES(static_cast<uint64_t>(n));
    }
}

} // namespace

int main()
try {
    constexpr int blocks = 200;
    const std::vector<char> block(100000);
    connection tcp;
    uint64_t received = 0;
    std::thread receiver([&] { received = receive_everything(tcp.ends[1]); });
    for (int i = 0; i < blocks; i++)
        send_block(tcp.ends[0], block);
    shutdown(tcp.ends[0], SHUT_WR);
    receiver.join();
    std::printf("%llu bytes sent, %llu bytes received\n", static_cast<unsigned long long>(blocks * block.size()),
                static_cast<unsigned long long>(received));
} catch (const std::exception &e) {
    std::fprintf(stderr, "tcp_stream: %s\n", e.what());
    return 1;
}

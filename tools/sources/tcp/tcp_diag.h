// Asking the kernel for TCP sockets (sock_diag(7)): everybody may, of the own network namespace.
#ifndef TOOLS_SOURCES_TCP_DIAG_H
#define TOOLS_SOURCES_TCP_DIAG_H

#include "tcp_model.h"

typedef struct tcp_diag {
    int ask, events;   // netlink sockets; -1
    uint32_t sequence; // of the last question
} tcp_diag;

typedef void tcp_diag_visit(void *user, const tcp_socket *socket);

bool tcp_diag_open(tcp_diag *d); // false: see errno
void tcp_diag_close(tcp_diag *d);
// All that are no listeners and do not just wait for late segments. False: not all were told.
bool tcp_diag_list(tcp_diag *d, tcp_diag_visit *visit, void *user);
// Those that ended since the last call, with their last figures (`ended` is set). False: some were lost.
bool tcp_diag_ended(tcp_diag *d, tcp_diag_visit *visit, void *user);

#endif

// TCP connections of this network namespace, as the kernel told of them last, see tcp_sockets.h.
#ifndef TOOLS_SOURCES_TCP_MODEL_H
#define TOOLS_SOURCES_TCP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct tcp_socket {
    uint64_t cookie; // the kernel's own number of it, never used again
    unsigned char family, local[16], remote[16];
    uint16_t local_port, remote_port;
    uint32_t uid, inode;              // inode 0: its program has closed it
    uint64_t retransmitted, segments; // sent again; sent, those among them
    uint64_t sent, received;          // bytes: that the peer has; that arrived in order
    uint32_t rtt_us, cwnd, unread;    // unread: bytes that its program had not read
    uint64_t retransmitted_before, segments_before, sent_before, received_before; // at the first look
    pid_t pid; // of a process that had it; 0: not known
    char command[64];
    bool listed, ended; // in the last list of the kernel; it is gone
} tcp_socket;

#endif

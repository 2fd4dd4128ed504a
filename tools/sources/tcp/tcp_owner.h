// Which process has a socket: by /proc/PID/fd, of those processes that one may look at.
#ifndef TOOLS_SOURCES_TCP_OWNER_H
#define TOOLS_SOURCES_TCP_OWNER_H

#include "tcp_model.h"

// Fills in pid and command of those sockets of the list that have an inode and no process yet and that `wanted` says.
void tcp_owner_find(tcp_socket *list, size_t count, bool (*wanted)(const tcp_socket *));

#endif

// Runs a program as under Linux 3.10, the oldest kernel that netprof promises to run on: a seccomp filter answers ENOSYS
// to every system call that came later (statx, memfd_create, getrandom, renameat2, clone3, pidfd_open, ...), and netlink
// knows no strict checking (4.20).
// usage: old_kernel PROGRAM [ARGUMENT]...
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SOL_NETLINK
#define SOL_NETLINK 270
#endif
#define STRICT_CHECK 12 // NETLINK_GET_STRICT_CHK

// The newest call of 3.8 and of 3.10 alike is finit_module on x86-64 (313), and on what takes the numbers of
// asm-generic/unistd.h (273).
#define NEWEST SYS_finit_module
#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#else
#error "which machine's table of system calls?"
#endif

// Of an argument the lower half, in which all of an int is.
#define LOWER(n)     (offsetof(struct seccomp_data, args[n]) + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0))
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))

int main(int argc, char **argv)
{
    struct sock_filter filter[] = {
        LOAD(offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0),
        RETURN(SECCOMP_RET_ALLOW), // a program for another machine
        LOAD(offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, NEWEST, 0, 1),
        RETURN(SECCOMP_RET_ERRNO | ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setsockopt, 0, 4),
        LOAD(LOWER(1)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOL_NETLINK, 0, 2),
        LOAD(LOWER(2)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, STRICT_CHECK, 1, 0),
        RETURN(SECCOMP_RET_ALLOW),
        RETURN(SECCOMP_RET_ERRNO | ENOPROTOOPT),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (argc < 2) {
        fprintf(stderr, "usage: old_kernel PROGRAM [ARGUMENT]...\n");
        return 2;
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        fprintf(stderr, "old_kernel: no filter: %s\n", strerror(errno));
        return 125;
    }
    execvp(argv[1], argv + 1);
    fprintf(stderr, "old_kernel: %s: %s\n", argv[1], strerror(errno));
    return 127;
}

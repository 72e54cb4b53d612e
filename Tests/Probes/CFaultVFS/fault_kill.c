#define _GNU_SOURCE
#include "fault_vfs.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a thread asks of memory, other threads and clocks changes nothing that outlives the process. */
static bool leaves_no_trace(unsigned long long number) {
    switch (number) {
    case SYS_mmap: case SYS_munmap: case SYS_mprotect: case SYS_madvise: case SYS_brk: case SYS_mlock: case SYS_munlock:
    case SYS_futex: case SYS_getrandom: case SYS_clock_gettime: case SYS_getpid: case SYS_gettid: case SYS_geteuid:
    case SYS_rt_sigprocmask: case SYS_rt_sigaction: case SYS_sched_yield: case SYS_fstat: case SYS_newfstatat:
    case SYS_read: case SYS_lseek: case SYS_getdents64: case SYS_fcntl:
        return true;
    default:
        return false;
    }
}

/* What is asked of a file, and can fail for want of room or because the disk does. */
static bool concerns_file(long long number) {
    switch (number) {
    case SYS_openat: case SYS_write: case SYS_pwrite64: case SYS_fsync: case SYS_fdatasync: case SYS_ftruncate:
    case SYS_fallocate: case SYS_fchmod: case SYS_linkat: case SYS_renameat2: case SYS_unlinkat: case SYS_flock:
#ifdef SYS_open
    case SYS_open: case SYS_link: case SYS_rename: case SYS_unlink:
#endif
        return true;
    default:
        return false;
    }
}

/* Of a thread that is about to make a call: it makes none. */
static bool leave_out(pid_t thread) {
#if defined(__x86_64__)
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, thread, 0, &registers) != 0) return false;
    registers.orig_rax = (unsigned long long)-1;
    return ptrace(PTRACE_SETREGS, thread, 0, &registers) == 0;
#elif defined(__aarch64__)
    int none = -1;
    struct iovec call = {&none, sizeof none};
    return ptrace(PTRACE_SETREGSET, thread, (void *)NT_ARM_SYSTEM_CALL, &call) == 0;
#else
    return false;
#endif
}

/* Of a thread that comes back from a call. */
static bool give_back(pid_t thread, int error) {
#if defined(__x86_64__)
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, thread, 0, &registers) != 0) return false;
    registers.rax = (unsigned long long)-(long long)error;
    return ptrace(PTRACE_SETREGS, thread, 0, &registers) == 0;
#elif defined(__aarch64__)
    struct user_regs_struct registers;
    struct iovec all = {&registers, sizeof registers};
    if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRSTATUS, &all) != 0) return false;
    registers.regs[0] = (unsigned long long)-(long long)error;
    return ptrace(PTRACE_SETREGSET, thread, (void *)NT_PRSTATUS, &all) == 0;
#else
    return false;
#endif
}

/* The number of the call that the thread is about to make; -1 if it has made it. It has done nothing yet. */
static long long beginning(pid_t thread) {
    struct { unsigned char op; unsigned char pad[3]; unsigned int arch; unsigned long long ip, sp, nr, args[6]; } info;
    const unsigned char entry = 1;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, (void *)sizeof info, &info) <= 0 || info.op != entry) return -1;
    return (long long)info.nr;
}

/* With error 0 it is killed, otherwise the call fails. */
static int strike_at_call(char *const arguments[], uint64_t number, int error, fault_death *end) {
    *end = (fault_death){0};
    pid_t child = fork();
    if (child < 0) return errno;
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) _exit(125);
        execv(arguments[0], arguments);
        _exit(126);
    }
    bool is_counting = false;
    bool is_first = true;
    pid_t failing = 0;
    for (;;) {
        int status = 0;
        pid_t thread = waitpid(-1, &status, __WALL);
        if (thread < 0) {
            if (errno == EINTR) continue;
            return errno;
        }
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread != child) continue;
            end->is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
            end->status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
            return 0;
        }
        int signal = WSTOPSIG(status);
        if (is_first) {
            is_first = false;
            long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
            if (ptrace(PTRACE_SETOPTIONS, thread, 0, (void *)options) != 0) return errno;
            signal = 0;
        } else if (signal == (SIGTRAP | 0x80)) {
            signal = 0;
            long long call = beginning(thread);
            if (failing == thread && call < 0) {
                failing = 0;
                if (!give_back(thread, error)) return EIO;
            } else if (call == SYS_getppid) {
                is_counting = !is_counting;
            } else if (error != 0) {
                if (is_counting && concerns_file(call)) {
                    end->calls += 1;
                    if (end->calls == number) {
                        if (!leave_out(thread)) return EIO;
                        failing = thread;
                    }
                }
            } else if (is_counting && call >= 0 && !leaves_no_trace((unsigned long long)call)) {
                end->calls += 1;
                if (end->calls == number) kill(child, SIGKILL);
            }
        } else if (signal == SIGTRAP || signal == SIGSTOP) {
            signal = 0;
        }
        ptrace(PTRACE_SYSCALL, thread, 0, (void *)(long)signal);
    }
}

int fault_kill_at_call(char *const arguments[], uint64_t number, fault_death *end) {
    return strike_at_call(arguments, number, 0, end);
}

int fault_fail_at_call(char *const arguments[], uint64_t number, int error, fault_death *end) {
    return strike_at_call(arguments, number, error, end);
}

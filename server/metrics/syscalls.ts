/** Names of the system calls in which a relay's threads wait or work. Others are shown by their number. */

const X64: Record<number, string> = {
  ...{ 0: 'read', 1: 'write', 3: 'close', 5: 'fstat', 7: 'poll', 9: 'mmap', 10: 'mprotect', 11: 'munmap', 16: 'ioctl' },
  ...{ 17: 'pread64', 18: 'pwrite64', 19: 'readv', 20: 'writev', 23: 'select', 24: 'sched_yield', 28: 'madvise' },
  ...{ 35: 'nanosleep', 42: 'connect', 43: 'accept', 44: 'sendto', 45: 'recvfrom', 46: 'sendmsg', 47: 'recvmsg' },
  ...{ 61: 'wait4', 74: 'fsync', 75: 'fdatasync', 82: 'rename', 87: 'unlink', 202: 'futex', 230: 'clock_nanosleep' },
  ...{ 232: 'epoll_wait', 233: 'epoll_ctl', 257: 'openat', 262: 'newfstatat', 270: 'pselect6', 271: 'ppoll' },
  ...{ 281: 'epoll_pwait', 288: 'accept4', 426: 'io_uring_enter', 441: 'epoll_pwait2' },
};

const ARM64: Record<number, string> = {
  ...{ 21: 'epoll_ctl', 22: 'epoll_pwait', 29: 'ioctl', 35: 'unlinkat', 38: 'renameat', 56: 'openat', 57: 'close' },
  ...{ 63: 'read', 64: 'write', 65: 'readv', 66: 'writev', 67: 'pread64', 68: 'pwrite64', 72: 'pselect6', 73: 'ppoll' },
  ...{ 79: 'newfstatat', 80: 'fstat', 82: 'fsync', 83: 'fdatasync', 98: 'futex', 101: 'nanosleep' },
  ...{ 115: 'clock_nanosleep', 124: 'sched_yield', 202: 'accept', 203: 'connect', 206: 'sendto', 207: 'recvfrom' },
  ...{ 211: 'sendmsg', 212: 'recvmsg', 215: 'munmap', 222: 'mmap', 226: 'mprotect', 233: 'madvise', 242: 'accept4' },
  ...{ 260: 'wait4', 426: 'io_uring_enter', 441: 'epoll_pwait2' },
};

const NAMES: Record<string, Record<number, string>> = { x64: X64, arm64: ARM64 };

/** The name of a system call of this architecture, like `epoll_wait` or `system call 999`. */
export function syscallName(number: number, architecture: string = process.arch): string {
  return NAMES[architecture]?.[number] ?? `system call ${number}`;
}

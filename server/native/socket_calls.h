// The system calls of every request, without the cancellation points of libc: in a process with
// threads each of those costs two atomic operations, and no thread is ever cancelled here.
#ifndef SERVER_NATIVE_SOCKET_CALLS_H_
#define SERVER_NATIVE_SOCKET_CALLS_H_

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

namespace sprites {

inline ssize_t Receive(int descriptor, void* to, size_t size, int flags) {
  return syscall(SYS_recvfrom, descriptor, to, size, flags, nullptr, nullptr);
}

inline ssize_t Send(int descriptor, const void* from, size_t size) {
  return syscall(SYS_sendto, descriptor, from, size, MSG_NOSIGNAL | MSG_DONTWAIT, nullptr, 0);
}

}  // namespace sprites

#endif  // SERVER_NATIVE_SOCKET_CALLS_H_

// The system calls of every request, without the cancellation points of libc: in a process with
// threads each of those costs two atomic operations, and no thread is ever cancelled here.
#ifndef SERVER_NATIVE_IO_SOCKET_CALLS_H_
#define SERVER_NATIVE_IO_SOCKET_CALLS_H_

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace sprites {

inline ssize_t Receive(int descriptor, void* to, size_t size, int flags) {
  return syscall(SYS_recvfrom, descriptor, to, size, flags, nullptr, nullptr);
}

inline ssize_t Send(int descriptor, const void* from, size_t size) {
  return syscall(SYS_sendto, descriptor, from, size, MSG_NOSIGNAL | MSG_DONTWAIT, nullptr, 0);
}

// Sends two pieces as one, with one system call.
inline ssize_t SendBoth(int descriptor, const uint8_t* first, size_t first_size,
                        const uint8_t* second, size_t second_size) {
  iovec pieces[2] = {{const_cast<uint8_t*>(first), first_size},
                     {const_cast<uint8_t*>(second), second_size}};
  msghdr message = {};
  message.msg_iov = pieces;
  message.msg_iovlen = 2;
  return syscall(SYS_sendmsg, descriptor, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_SOCKET_CALLS_H_

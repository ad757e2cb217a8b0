// At most one instance of the program per data folder: a second one passes its files or its link to
// the first and ends, or waits for a first one that is just ending (core/desktop/second_start.h).
//
// The first instance holds a lock on a file; what the second one was started with comes as JSON in
// one datagram to a Unix socket beside it. Invariant: a message is validated, because any program
// of the same user can send one. Programs of others can't: the socket is its owner's only.
#ifndef CLIENT_WIN_X11_SYSTEM_SINGLE_INSTANCE_H_
#define CLIENT_WIN_X11_SYSTEM_SINGLE_INSTANCE_H_

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/desktop/files/sent_paths.h"
#include "core/desktop/second_start.h"
#include "posix/owned_fd.h"

namespace sprites {

constexpr int kSendMsMax = 500;  // ms: a running instance takes a message at once

// What the program was started with.
struct Arguments {
  std::vector<std::string> paths;  // of files to import, absolute
  std::optional<std::string> link;
  bool opens_menu = false;  // of the program, for those who have no pointer
  bool hides = false;       // all sprites, or shows them again
};

std::string ArgumentsJson(const Arguments& arguments);
// Nothing when a second instance did not send it.
std::optional<Arguments> ReadArguments(std::string_view json);

class SingleInstance {
 public:
  explicit SingleInstance(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Takes the place of the first instance, or sends the arguments to the one that has it. Waits
  // kSecondStartMsMax at most.
  StartOutcome Start(const Arguments& arguments);
  // As the first instance: readable when Receive has something to do. Negative without a socket.
  int fd() const { return listener_.get(); }
  // What another instance has sent, if it has. Never blocks.
  std::optional<Arguments> Receive();
  // Accepts nothing any more: a second instance then waits until this one has ended.
  void StopReceiving();

 private:
  bool Lock();
  bool Listen();

  std::filesystem::path folder_;
  OwnedFd lock_;
  OwnedFd listener_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SYSTEM_SINGLE_INSTANCE_H_

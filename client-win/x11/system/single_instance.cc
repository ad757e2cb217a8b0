#include "x11/system/single_instance.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "core/relay/relay_link.h"
#include "core/text/json.h"
#include "posix/files.h"

namespace sprites {

namespace {

constexpr char kAccepted[] = "ok";
constexpr int kJsonDepth = 3;
constexpr mode_t kOwnerOnly = 0600;

// The address of the socket; nothing when the folder's name is too long for one.
std::optional<sockaddr_un> AddressIn(const std::filesystem::path& folder) {
  const std::string path = (folder / "socket").string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return std::nullopt;
  }
  memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

const sockaddr* Generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// Sends the message and returns whether the first instance has taken it.
bool SendTo(const std::filesystem::path& folder, std::string_view message) {
  const auto address = AddressIn(folder);
  const OwnedFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  constexpr int kBytes = kSentBytesMax;
  constexpr timeval kPatience{0, kSendMsMax * 1'000};
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUF, &kBytes, sizeof kBytes);
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  // The kernel gives the socket a name of its own, for the answer.
  const sockaddr_un own{AF_UNIX, {}};
  char answer[sizeof kAccepted]{};
  return address && bind(socket.get(), Generic(own), sizeof own.sun_family) == 0 &&
         connect(socket.get(), Generic(*address), sizeof *address) == 0 &&
         send(socket.get(), message.data(), message.size(), MSG_NOSIGNAL) > 0 &&
         recv(socket.get(), answer, sizeof answer, 0) > 0;
}

}  // namespace

std::string ArgumentsJson(const Arguments& arguments) {
  Json message = {{"paths", arguments.paths}};
  if (arguments.link) {
    message["link"] = *arguments.link;
  }
  if (arguments.opens_menu) {
    message["menu"] = true;
  }
  if (arguments.hides) {
    message["hide"] = true;
  }
  return WriteJson(message);
}

std::optional<Arguments> ReadArguments(std::string_view json) {
  const Json message = ParseJson(json, kJsonDepth);
  const Json& paths = MemberOf(message, "paths");
  if (message.is_discarded() || !paths.is_array()) {
    return std::nullopt;
  }
  Arguments arguments;
  for (const Json& path : paths) {
    const bool is_path = path.is_string() && path.get_ref<const std::string&>().starts_with('/') &&
                         path.get_ref<const std::string&>().size() <= kPathBytesMax;
    if (!is_path || arguments.paths.size() == kSentPathsMax) {
      return std::nullopt;
    }
    arguments.paths.push_back(path.get<std::string>());
  }
  if (MemberOf(message, "link").is_string()) {
    arguments.link = TextAt(message, "link", kLinkBytesMax);
  }
  arguments.opens_menu = BoolAt(message, "menu", false);
  arguments.hides = BoolAt(message, "hide", false);
  return arguments;
}

StartOutcome SingleInstance::Start(const Arguments& arguments) {
  const std::string message = ArgumentsJson(arguments);
  const StartOutcome outcome =
      StartBeside({.has_ended =
                       [this](int64_t ms) {
                         std::this_thread::sleep_for(std::chrono::milliseconds(ms));
                         return Lock();
                       },
                   .send = [&] { return SendTo(folder_, message); }});
  if (outcome == StartOutcome::kIsFirst) {
    Listen();  // without it, a second instance only says that this one does not answer
  }
  return outcome;
}

bool SingleInstance::Lock() {
  if (lock_.get() < 0) {
    lock_.reset(open((folder_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnerOnly));
  }
  return lock_.get() >= 0 && flock(lock_.get(), LOCK_EX | LOCK_NB) == 0;
}

bool SingleInstance::Listen() {
  const auto address = AddressIn(folder_);
  if (!address) {
    return false;
  }
  unlink(address->sun_path);  // of an instance that was killed: the lock says that there is none
  listener_.reset(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return bind(listener_.get(), Generic(*address), sizeof *address) == 0 &&
         chmod(address->sun_path, kOwnerOnly) == 0;
}

std::optional<Arguments> SingleInstance::Receive() {
  const ssize_t size = recv(listener_.get(), nullptr, 0, MSG_PEEK | MSG_TRUNC);
  if (size < 0) {
    return std::nullopt;
  }
  std::string message(std::min(static_cast<size_t>(size), kSentBytesMax), 0);
  sockaddr_un sender{};
  socklen_t length = sizeof sender;
  recvfrom(listener_.get(), message.data(), message.size(), 0, reinterpret_cast<sockaddr*>(&sender),
           &length);
  auto arguments =
      static_cast<size_t>(size) > kSentBytesMax ? std::nullopt : ReadArguments(message);
  // One that does not wait any more sends again, or says that it got no answer.
  const bool is_taken = arguments && sendto(listener_.get(), kAccepted, sizeof kAccepted,
                                            MSG_NOSIGNAL, Generic(sender), length) > 0;
  return is_taken ? arguments : std::nullopt;
}

void SingleInstance::StopReceiving() {
  if (listener_.get() >= 0) {
    const auto address = AddressIn(folder_);
    unlink(address->sun_path);
    listener_.reset();
  }
}

}  // namespace sprites

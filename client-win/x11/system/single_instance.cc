#include "x11/system/single_instance.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "core/relay/relay_link.h"
#include "core/text/json.h"
#include "posix/files.h"

namespace sprites {

namespace {

constexpr char kAccepted[] = "ok\n";
constexpr int kJsonDepth = 3;
constexpr int kBacklog = 4;
constexpr mode_t kOwnerOnly = 0600;

int64_t NowMs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

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

bool IsOfThisUser(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == getuid();
}

bool WaitFor(int socket, short events, int64_t until_ms) {
  pollfd source{socket, events, 0};
  const int64_t left = std::max<int64_t>(0, until_ms - NowMs());
  return poll(&source, 1, static_cast<int>(left)) == 1;
}

// Sends the message and returns whether the first instance has taken it.
bool SendTo(const std::filesystem::path& folder, std::string_view message) {
  const auto address = AddressIn(folder);
  const OwnedFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!address ||
      connect(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0) {
    return false;
  }
  const int64_t until_ms = NowMs() + kSendMsMax;
  while (!message.empty()) {
    const ssize_t sent = send(socket.get(), message.data(), message.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      message.remove_prefix(static_cast<size_t>(sent));
    } else if (errno != EAGAIN || !WaitFor(socket.get(), POLLOUT, until_ms)) {
      return false;
    }
  }
  char answer[sizeof kAccepted - 1];
  return WaitFor(socket.get(), POLLIN, until_ms) &&
         recv(socket.get(), answer, sizeof answer, 0) == sizeof answer;
}

class FirstInstance : public OtherInstance {
 public:
  FirstInstance(std::function<bool()> lock, std::function<bool()> send)
      : lock_(std::move(lock)), send_(std::move(send)) {}

  bool HasEnded(int64_t ms) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    return lock_();
  }
  bool Send() override { return send_(); }
  int64_t NowMs() override { return sprites::NowMs(); }

 private:
  std::function<bool()> lock_;
  std::function<bool()> send_;
};

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
  return WriteJson(message) + "\n";
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
  FirstInstance other([this] { return Lock(); }, [&] { return SendTo(folder_, message); });
  const StartOutcome outcome = StartBeside(&other);
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
  listener_.reset(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return bind(listener_.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) ==
             0 &&
         listen(listener_.get(), kBacklog) == 0;
}

std::vector<int> SingleInstance::fds() const {
  std::vector<int> fds;
  if (listener_.get() >= 0 && senders_.size() < kSendersMax) {
    fds.push_back(listener_.get());
  }
  for (const Sender& sender : senders_) {
    fds.push_back(sender.socket.get());
  }
  return fds;
}

std::vector<Arguments> SingleInstance::Receive(int64_t now_ms) {
  while (listener_.get() >= 0 && senders_.size() < kSendersMax) {
    OwnedFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.get() < 0) {
      break;
    }
    if (IsOfThisUser(socket.get())) {
      senders_.push_back({std::move(socket), "", now_ms});
    }
  }
  std::vector<Arguments> received;
  std::erase_if(senders_, [&](Sender& sender) {
    char bytes[4096];
    ssize_t size = 0;
    while ((size = recv(sender.socket.get(), bytes, sizeof bytes, 0)) > 0 &&
           sender.bytes.size() <= kSentBytesMax) {
      sender.bytes.append(bytes, static_cast<size_t>(size));
    }
    const size_t end = sender.bytes.find('\n');
    if (std::min(end, sender.bytes.size()) > kSentBytesMax) {
      return true;
    }
    if (end == std::string::npos) {
      const bool is_closed = size == 0 || (size < 0 && errno != EAGAIN);
      return is_closed || now_ms - sender.since_ms > kSendMsMax;
    }
    if (auto arguments = ReadArguments(std::string_view(sender.bytes).substr(0, end))) {
      send(sender.socket.get(), kAccepted, sizeof kAccepted - 1, MSG_NOSIGNAL);
      received.push_back(std::move(*arguments));
    }
    return true;
  });
  return received;
}

void SingleInstance::StopReceiving() {
  senders_.clear();
  if (listener_.get() >= 0) {
    const auto address = AddressIn(folder_);
    unlink(address->sun_path);
    listener_.reset();
  }
}

}  // namespace sprites

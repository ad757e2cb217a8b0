#include "x11/system/single_instance.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "posix/files.h"

namespace sprites {
namespace {

// A first instance in a folder of its own.
struct First {
  First()
      : folder(std::filesystem::temp_directory_path() /
               ("sprites-instance-test-" + std::to_string(getpid()))),
        instance(folder) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    REQUIRE(instance.Start({}) == StartOutcome::kIsFirst);
  }
  ~First() { std::filesystem::remove_all(folder); }

  // Connects as a second instance does.
  OwnedFd Connect() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = (folder / "socket").string();
    memcpy(address.sun_path, path.c_str(), path.size() + 1);
    OwnedFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    REQUIRE(connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
            0);
    return socket;
  }

  // Sends all bytes, while the first instance reads. Returns what it has received.
  std::vector<Arguments> Send(std::string_view bytes) {
    const OwnedFd socket = Connect();
    std::vector<Arguments> received;
    for (int turn = 0; turn < 10'000 && received.empty(); turn++) {
      const ssize_t sent = send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      bytes.remove_prefix(sent > 0 ? static_cast<size_t>(sent) : 0);
      received = instance.Receive(0);
      if (IsClosed(socket)) {
        break;
      }
    }
    return received;
  }

  // Whether the first instance has closed the connection, or has answered.
  static bool IsClosed(const OwnedFd& socket) {
    pollfd source{socket.get(), POLLIN, 0};
    return poll(&source, 1, 0) == 1;
  }

  std::filesystem::path folder;
  SingleInstance instance;
};

// A message of so many bytes before its line break.
std::string MessageOf(size_t bytes) {
  std::string message = R"({"link":"x","paths":[]})";
  message.insert(1, bytes - message.size(), ' ');
  return message + "\n";
}

TEST_CASE("single instance › arguments are read as they were written") {
  Arguments arguments{{"/tmp/a.png", "/tmp/\xC3\xBC"}, "sprites:https://relay.example/"};
  const auto read = ReadArguments(ArgumentsJson(arguments));
  REQUIRE(read);
  CHECK(read->paths == arguments.paths);
  CHECK(read->link == arguments.link);
  for (const char* wrong : {"", "{", "[]", "{}", R"({"paths":{}})", R"({"paths":[7]})",
                            R"({"paths":["relative"]})", R"({"paths":[[[[]]]]})"}) {
    CHECK_MESSAGE(!ReadArguments(wrong), wrong);
  }
}

TEST_CASE("single instance › a second start can ask for the menu, and to hide all sprites") {
  Arguments arguments;
  CHECK(!ReadArguments(ArgumentsJson(arguments))->opens_menu);
  arguments.opens_menu = true;
  CHECK(ReadArguments(ArgumentsJson(arguments))->opens_menu);
  CHECK(!ReadArguments(R"({"paths":[],"menu":1})")->opens_menu);
  CHECK(!ReadArguments(ArgumentsJson(arguments))->hides);
  arguments.hides = true;
  CHECK(ReadArguments(ArgumentsJson(arguments))->hides);
}

TEST_CASE("single instance › paths of a message: one less than the limit, the limit, one more") {
  for (const size_t count : {kSentPathsMax - 1, kSentPathsMax, kSentPathsMax + 1}) {
    const auto read = ReadArguments(ArgumentsJson({std::vector<std::string>(count, "/a"), {}}));
    CHECK(read.has_value() == (count <= kSentPathsMax));
  }
}

TEST_CASE("single instance › bytes of a path: one less than the limit, the limit, one more") {
  for (const size_t size : {kPathBytesMax - 1, kPathBytesMax, kPathBytesMax + 1}) {
    const auto read = ReadArguments(ArgumentsJson({{"/" + std::string(size - 1, 'x')}, {}}));
    CHECK(read.has_value() == (size <= kPathBytesMax));
  }
}

TEST_CASE("single instance › bytes of a message: one less than the limit, the limit, one more") {
  First first;
  for (const size_t size : {kSentBytesMax - 1, kSentBytesMax, kSentBytesMax + 1}) {
    CHECK(first.Send(MessageOf(size)).size() == (size <= kSentBytesMax ? 1 : 0));
  }
  CHECK(first.Send(std::string(kSentBytesMax + 10'000, ' ')).empty());
}

TEST_CASE("single instance › so many senders are received at once, another one waits") {
  First first;
  std::vector<OwnedFd> senders;
  for (size_t count = 1; count <= kSendersMax + 1; count++) {
    senders.push_back(first.Connect());
    first.instance.Receive(0);
    // Each sender, and the listener while there is room.
    CHECK(first.instance.fds().size() == (count < kSendersMax ? count + 1 : kSendersMax));
  }
  senders.erase(senders.begin());
  first.instance.Receive(0);  // notices that one has gone
  const std::string message = MessageOf(100);
  REQUIRE(send(senders.back().get(), message.data(), message.size(), MSG_NOSIGNAL) > 0);
  std::vector<Arguments> received = first.instance.Receive(0);
  CHECK(received.size() == 1);
}

TEST_CASE("single instance › a silent sender is dropped after the limit, not before") {
  First first;
  const OwnedFd sender = first.Connect();
  first.instance.Receive(0);
  for (const int64_t now_ms : {kSendMsMax - 1, kSendMsMax, kSendMsMax + 1}) {
    first.instance.Receive(now_ms);
    CHECK(First::IsClosed(sender) == (now_ms > kSendMsMax));
  }
}

TEST_CASE(
    "single instance › a second one hands its arguments over, and a third after the end is first") {
  auto first = std::make_unique<First>();
  const OwnedFd sender = first->Connect();
  const std::string message = ArgumentsJson({{"/a"}, "sprites:x"});
  REQUIRE(send(sender.get(), message.data(), message.size(), MSG_NOSIGNAL) > 0);
  const auto received = first->instance.Receive(0);
  REQUIRE(received.size() == 1);
  CHECK(received[0].paths == std::vector<std::string>{"/a"});
  CHECK(First::IsClosed(sender));
  first.reset();
  First again;
}

}  // namespace
}  // namespace sprites

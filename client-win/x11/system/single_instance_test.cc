#include "x11/system/single_instance.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <future>
#include <memory>
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

  // Sends a message as a second instance does. Returns what the first one has received.
  std::optional<Arguments> Send(std::string_view message, bool waits_for_answer = true) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = (folder / "socket").string();
    memcpy(address.sun_path, path.c_str(), path.size() + 1);
    OwnedFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const sockaddr_un own{AF_UNIX, {}};
    REQUIRE(bind(socket.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own.sun_family) ==
            0);
    const int bytes = 2 * kSentBytesMax;
    REQUIRE(setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes) == 0);
    REQUIRE(sendto(socket.get(), message.data(), message.size(), 0,
                   reinterpret_cast<const sockaddr*>(&address),
                   sizeof address) == static_cast<ssize_t>(message.size()));
    if (!waits_for_answer) {
      socket.reset();
    }
    return instance.Receive();
  }

  std::filesystem::path folder;
  SingleInstance instance;
};

std::string MessageOf(size_t bytes) {
  std::string message = R"({"link":"x","paths":[]})";
  message.resize(bytes, ' ');  // a part of it could be read
  return message;
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
    CHECK(first.Send(MessageOf(size)).has_value() == (size <= kSentBytesMax));
  }
  CHECK(!first.Send(""));
  CHECK(!first.Send("no JSON"));
  CHECK(first.Send(MessageOf(100)));
  CHECK(!first.instance.Receive());
}

TEST_CASE("single instance › takes nothing from one that does not wait any more") {
  First first;
  CHECK(!first.Send(ArgumentsJson({}), false));
  CHECK(first.Send(ArgumentsJson({})));
  CHECK(!first.instance.Receive());
}

TEST_CASE("single instance › only its owner may send to it") {
  const First first;
  using std::filesystem::perms;
  const perms allowed = std::filesystem::status(first.folder / "socket").permissions();
  CHECK(allowed == (perms::owner_read | perms::owner_write));
}

TEST_CASE("single instance › a second one hands its arguments over; one after the end is first") {
  auto first = std::make_unique<First>();
  const auto start = [&] { return SingleInstance(first->folder).Start({{"/a"}, "sprites:x"}); };
  std::future<StartOutcome> second = std::async(std::launch::async, start);
  pollfd source{first->instance.fd(), POLLIN, 0};
  REQUIRE(poll(&source, 1, kSecondStartMsMax) == 1);
  const std::optional<Arguments> received = first->instance.Receive();
  REQUIRE(received);
  CHECK(received->paths == std::vector<std::string>{"/a"});
  CHECK(second.get() == StartOutcome::kSent);
  first.reset();
  First again;
}

}  // namespace
}  // namespace sprites

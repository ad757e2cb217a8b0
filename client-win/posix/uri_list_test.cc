#include "posix/uri_list.h"

#include <doctest/doctest.h>

#include "posix/files.h"

namespace sprites {
namespace {

using Paths = std::vector<std::string>;

Paths Read(std::string_view text) { return PathsOfUriList(text, "ada"); }

TEST_CASE("uri list › has the files of this machine, decoded, in their order") {
  CHECK(Read("").empty());
  CHECK(Read("file:///tmp/a.png\r\n") == Paths{"/tmp/a.png"});
  CHECK(Read("file:///tmp/a.png\nfile:///tmp/b%20c.gif") == Paths{"/tmp/a.png", "/tmp/b c.gif"});
  CHECK(Read("file://localhost/a\r\nfile://ada/b\r\nfile:/c") == Paths{"/a", "/b", "/c"});
  CHECK(Read("file:///Gr%C3%BC%c3%9fe.png") == Paths{"/Gr\xC3\xBC\xC3\x9F"
                                                     "e.png"});
}

TEST_CASE("uri list › leaves out comments, other schemes and other machines") {
  CHECK(Read("# a comment\r\nfile:///a") == Paths{"/a"});
  CHECK(Read("https://relay.example/cat.png").empty());
  CHECK(Read("file://grace/a").empty());
  CHECK(Read("file:relative").empty());
  CHECK(Read("file://").empty());
  CHECK(Read("file:").empty());
}

TEST_CASE("uri list › leaves out what is no valid escape, and paths with a zero byte") {
  for (const char* wrong : {"file:///a%", "file:///a%4", "file:///a%4x", "file:///a%x4",
                            "file:///a%00b", "file:///a% 4"}) {
    CHECK_MESSAGE(Read(wrong).empty(), wrong);
  }
  CHECK(Read(std::string_view("file:///a\0b", 11)).empty());
  CHECK(Read("file:///a%41") == Paths{"/aA"});
}

TEST_CASE("uri list › the paths of one less than the limit, the limit, and one more") {
  for (const size_t count : {kUriListPathsMax - 1, kUriListPathsMax, kUriListPathsMax + 1}) {
    std::string text;
    for (size_t i = 0; i < count; i++) {
      text += "file:///" + std::to_string(i) + "\r\n";
    }
    const Paths paths = Read(text);
    CHECK(paths.size() == std::min(count, kUriListPathsMax));
    CHECK(paths.back() == "/" + std::to_string(paths.size() - 1));
  }
}

TEST_CASE("uri list › a path of one byte less than the limit, the limit, and one more") {
  for (const size_t size : {kPathBytesMax - 1, kPathBytesMax, kPathBytesMax + 1}) {
    const std::string path = "/" + std::string(size - 1, 'x');
    CHECK(Read("file://" + path) == (size <= kPathBytesMax ? Paths{path} : Paths{}));
  }
}

TEST_CASE("uri list › bytes after the limit are not read") {
  const std::string uri = "file:///end";
  for (const size_t size : {kUriListBytesMax - 1, kUriListBytesMax, kUriListBytesMax + 1}) {
    const std::string text = std::string(size - uri.size() - 1, '#') + "\n" + uri;
    CHECK(text.size() == size);
    CHECK(Read(text) == Paths{size <= kUriListBytesMax ? "/end" : "/en"});
  }
}

}  // namespace
}  // namespace sprites

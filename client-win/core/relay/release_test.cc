#include "core/relay/release.h"

#include <doctest/doctest.h>

#include <span>
#include <string>

#include "core/picture/sheet.h"
#include "core/text/json.h"

namespace sprites {
namespace {

std::string Text(const Json& more = Json::object()) {
  Json release = {{"version", "1.2.3"}, {"sha256", std::string(64, 'a')}, {"size", 1000}};
  release.update(more);
  return WriteJson(release);
}

TEST_CASE("release › is read, and nothing when a member is missing or out of its limits") {
  CHECK(ReadRelease(Text()) == ProgramRelease{"1.2.3", std::string(64, 'a'), 1000});
  CHECK(ReadRelease(Text({{"size", 1}})));
  CHECK(ReadRelease(Text({{"size", kInstallerBytesMax}})));
  CHECK(ReadRelease(Text({{"version", "9999.0.9999"}})));
  for (const Json& wrong : std::initializer_list<Json>{{{"size", 0}},
                                                       {{"size", -1}},
                                                       {{"size", kInstallerBytesMax + 1}},
                                                       {{"size", "1000"}},
                                                       {{"size", 1.5}},
                                                       {{"sha256", std::string(63, 'a')}},
                                                       {{"sha256", std::string(65, 'a')}},
                                                       {{"sha256", std::string(64, 'A')}},
                                                       {{"sha256", "../../x"}},
                                                       {{"version", "1.2"}},
                                                       {{"version", "1.2.3.4"}},
                                                       {{"version", "10000.0.0"}},
                                                       {{"version", "1.2.x"}},
                                                       {{"version", ".2.3"}},
                                                       {{"version", "1..3"}},
                                                       {{"version", "-1.2.3"}},
                                                       {{"version", "+1.2.3"}},
                                                       {{"version", " 1.2.3"}},
                                                       {{"version", "1.2.3 "}},
                                                       {{"version", ""}},
                                                       {{"version", 1}}}) {
    CAPTURE(wrong.dump());
    CHECK(!ReadRelease(Text(wrong)));
  }
  for (const char* wrong : {"", "{}", "[]", "null", "<html>"}) {
    CHECK(!ReadRelease(wrong));
  }
  const std::string text = Text();
  CHECK(ReadRelease(text + std::string(kReleaseBytesMax - text.size(), ' ')));
  CHECK(!ReadRelease(text + std::string(kReleaseBytesMax + 1 - text.size(), ' ')));
}

TEST_CASE("release › versions are compared by number") {
  for (const auto& pair : {std::pair("0.2.0", "0.1.0"), std::pair("0.10.0", "0.9.9"),
                           std::pair("1.0.0", "0.99.99"), std::pair("0.1.1", "0.1.0")}) {
    const std::string version = pair.first;
    const std::string than = pair.second;
    CAPTURE(version);
    CHECK(IsLater(version, than));
    CHECK(!IsLater(than, version));
    CHECK(!IsLater(version, version));
  }
  CHECK(!IsLater("x", "0.1.0"));
  CHECK(!IsLater("0.1.0", "x"));
}

TEST_CASE("release › only the announced bytes are its installer") {
  const std::string bytes = "MZ and more";
  const ProgramRelease release{
      "1.2.3", Sha256Hex({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}),
      bytes.size()};
  CHECK(IsInstallerOf(release, bytes));
  CHECK(!IsInstallerOf(release, bytes + "x"));
  CHECK(!IsInstallerOf(release, "MZ and mora"));
  CHECK(!IsInstallerOf(release, ""));
  CHECK(InstallerRequest("https://relay.example", release).response_bytes_max == bytes.size());
}

}  // namespace
}  // namespace sprites

// The scan of crossings. front/native.test.ts compares it with wire/crossing.ts on random bodies.
#include "http/crossing_scan.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace sprites {
namespace {

const std::string kFile = R"("file":")" + std::string(64, 'a') + '"';
const std::string kSprite = R"("sprite":{)" + kFile + "}";

// The number and the passage, or an empty text when the scan does not accept the body.
std::string Scanned(const std::string& body) {
  // Copies of exactly this size, so that the address sanitizer detects reading one byte too many.
  const std::vector<uint8_t> bytes(body.begin(), body.end());
  ScannedCrossing scanned;
  if (!ScanCrossing(bytes.data(), static_cast<uint32_t>(bytes.size()), &scanned)) {
    return "";
  }
  std::vector<uint8_t> passage(kPassageBytesMax);
  passage.resize(WritePassage(scanned, passage.data()));
  return std::to_string(scanned.crossing) + ' ' + std::string(passage.begin(), passage.end());
}

std::string Passage(const std::string& sprite) {
  return R"(17 "edge":"left","at":0.25,"vx":900,"vy":-50,"sprite":{)" + kFile + sprite + "}}";
}

TEST_CASE("scan › writes the passage of a body with all members, and of one without the optional") {
  const std::string head =
      R"({"crossing":17,"edge":"right","at":0.25,"vx":900,"vy":-50,"sprite":{)";
  const std::string all = R"(,"name":"Blob","animation":"walk","facing":"left","scale":2)";
  CHECK(Scanned(head + kFile + all + "}}") == Passage(all));
  CHECK(Scanned(head + kFile + "}}") ==
        Passage(R"(,"name":"","animation":"fall","facing":"right","scale":1)"));
  CHECK(Scanned(head + R"("scale":0.25,"facing":"left",)" + kFile + "}}") ==
        Passage(R"(,"name":"","animation":"fall","facing":"left","scale":0.25)"));
}

TEST_CASE("scan › leaves a crossing with a goal to JavaScript") {
  const std::string head =
      R"({"crossing":17,"edge":"right","at":0.25,"vx":900,"vy":-50,)" + kSprite;
  CHECK(Scanned(head + "}") != "");
  CHECK(Scanned(head + R"(,"goal":{"name":"Carol","column":3,"row":-1}})") == "");
}

TEST_CASE("scan › reads the members in any order, and spaces between them") {
  const std::string members[] = {R"("crossing":17)", R"("edge":"right")", R"("at":0.25)",
                                 R"("vx":900)",      R"("vy":-50)",       kSprite};
  const std::string usual = Passage(R"(,"name":"","animation":"fall","facing":"right","scale":1)");
  for (size_t first = 0; first < 6; ++first) {
    std::string body = " {";
    for (size_t i = 0; i < 6; ++i) {
      body += (i == 0 ? " " : "\t,\r\n ") + members[(first + 6 - i) % 6];
    }
    CHECK(Scanned(body + " } ") == usual);
    // Every member is required, and may not come twice.
    for (size_t without = 0; without < 6; ++without) {
      const size_t at = body.find(members[without]);
      std::string less = body;
      less.replace(at, members[without].size(), members[(without + 1) % 6]);
      CHECK(Scanned(less) == "");
    }
  }
}

TEST_CASE("scan › accepts a body of 1,024 bytes and no larger one") {
  const std::string body = R"({"crossing":1,"edge":"top","at":0,"vx":0,"vy":0,)" + kSprite + "}";
  CHECK(Scanned(body + std::string(1023 - body.size(), ' ')) != "");
  CHECK(Scanned(body + std::string(1024 - body.size(), ' ')) != "");
  CHECK(Scanned(body + std::string(1025 - body.size(), ' ')) == "");
}

TEST_CASE("scan › leaves a body that is cut off anywhere to JavaScript") {
  const std::string body = R"({"crossing":1,"edge":"top","at":0.5,"vx":1.5,"vy":0,"sprite":{)" +
                           kFile +
                           R"(,"name":"A b","animation":"fall","facing":"right","scale":16}})";
  CHECK(Scanned(body) != "");
  for (size_t size = 0; size < body.size(); ++size) {
    CHECK(Scanned(body.substr(0, size)) == "");
  }
}

TEST_CASE("scan › writes a passage of the most bytes") {
  const std::string number = "-12345.6789012345";
  const std::string body =
      R"({"crossing":999999999999999,"edge":"top","at":0.12345678901234,"vx":)" + number +
      R"(,"vy":)" + number + R"(,"sprite":{)" + kFile + R"(,"name":")" + std::string(64, 'x') +
      R"(","animation":")" + std::string(32, 'a') +
      R"(","facing":"right","scale":10.1234567890123}})";
  CHECK(Scanned(body).find("\"scale\":10.1234567890123}}") != std::string::npos);
}

}  // namespace
}  // namespace sprites

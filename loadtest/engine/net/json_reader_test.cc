#include "net/json_reader.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "plan/random.h"

namespace swarm {
namespace {

constexpr std::string_view kBody =
    R"({"cursor":"6a1f03c2-81", "events" : [ {"type":"sprite","seq":81,"x":[1,{"y":"]}"}],"at":-0.25e3},)"
    R"({"type":"ping","ok":true,"none":null}],"later":{}})";

// Reads the body of a batch as a poll does. Returns how many events it has, −1 on an error.
int CountEvents(std::string_view text, std::string* cursor, uint64_t* seq) {
  JsonReader json(text);
  std::string_view key;
  std::string_view value;
  int events = 0;
  json.EnterObject();
  while (json.NextMember(&key)) {
    if (key == "cursor") {
      if (json.String(&value)) {
        *cursor = value;
      }
    } else if (key == "events") {
      json.EnterArray();
      while (json.NextElement()) {
        ++events;
        json.EnterObject();
        while (json.NextMember(&key)) {
          if (key == "seq") {
            json.Unsigned(seq);
          } else {
            json.Skip();
          }
        }
      }
    } else {
      json.Skip();
    }
  }
  return json.ok() ? events : -1;
}

}  // namespace

TEST_CASE("json reader: finds members in any order, and skips the others") {
  std::string cursor;
  uint64_t seq = 0;
  CHECK_EQ(CountEvents(kBody, &cursor, &seq), 2);
  CHECK_EQ(cursor, "6a1f03c2-81");
  CHECK_EQ(seq, 81U);
  CHECK_EQ(CountEvents(R"({"events":[],"cursor":""})", &cursor, &seq), 0);
  CHECK_EQ(CountEvents("{}", &cursor, &seq), 0);
}

TEST_CASE("json reader: a string ends at the first quote that is not escaped") {
  std::string cursor;
  uint64_t seq = 0;
  CHECK_EQ(CountEvents(R"({"cursor":"a\"b\\"})", &cursor, &seq), 0);
  CHECK_EQ(cursor, R"(a\"b\\)");
}

TEST_CASE("json reader: every prefix of a text is an error, not an endless loop") {
  for (size_t size = 0; size < kBody.size(); ++size) {
    const std::vector<char> bytes(kBody.begin(), kBody.begin() + static_cast<ptrdiff_t>(size));
    std::string cursor;
    uint64_t seq = 0;
    CHECK_EQ(CountEvents({bytes.data(), bytes.size()}, &cursor, &seq), -1);
  }
}

TEST_CASE("json reader: wrong shapes are errors") {
  std::string cursor;
  uint64_t seq = 0;
  for (const std::string_view text :
       {"[]", "7", "{,}", R"({"a" 1})", R"({"events":{}})", R"({"events":[1]})", R"({"cursor":5})",
        R"({"a":1 "b":2})", R"({"events":[{"seq":-1}]})",
        R"({"events":[{"seq":9999999999999999999999}]})"}) {
    CHECK_EQ(CountEvents(text, &cursor, &seq), -1);
  }
}

TEST_CASE("json reader: never reads outside the text, however it is damaged") {
  const uint64_t seed = 99;
  Random random(seed);
  for (int i = 0; i < 200'000; ++i) {
    std::vector<char> bytes(kBody.begin(), kBody.end());
    for (int damage = 0; damage < 3; ++damage) {
      bytes[random.Next() % bytes.size()] = "{}[]\",:\\ 0"[random.Next() % 10];
    }
    bytes.resize(random.Next() % (bytes.size() + 1));
    std::string cursor;
    uint64_t seq = 0;
    CHECK(CountEvents({bytes.data(), bytes.size()}, &cursor, &seq) >= -1);
  }
}

TEST_CASE("json reader: reads numbers with fractions, and rejects what is not a number") {
  for (const auto& [text, wanted] : {std::pair{"[0.125]", 0.125}, std::pair{"[-50]", -50.0},
                                     std::pair{"[1e3]", 1000.0}, std::pair{"[ 0 ]", 0.0}}) {
    JsonReader json(text);
    double value = -1;
    json.EnterArray();
    json.NextElement();
    CHECK(json.Number(&value));
    CHECK_EQ(value, wanted);
    CHECK(!json.NextElement());
    CHECK(json.ok());
  }
  for (const char* const text : {"[\"1\"]", "[]", "[x]", "["}) {
    JsonReader json(text);
    double value = -1;
    json.EnterArray();
    CHECK(!json.Number(&value));
    CHECK(!json.ok());
  }
}

}  // namespace swarm

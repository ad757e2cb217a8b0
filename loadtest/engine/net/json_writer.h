// Writes one JSON text, members in the order of the calls. The caller keeps the brackets balanced.
#ifndef LOADTEST_ENGINE_NET_JSON_WRITER_H_
#define LOADTEST_ENGINE_NET_JSON_WRITER_H_

#include <concepts>
#include <string>
#include <string_view>

namespace swarm {

class JsonWriter {
 public:
  // Without a key: the whole text, or an element of an array.
  JsonWriter& Open(char bracket) { return Open({}, bracket); }
  JsonWriter& Open(std::string_view key, char bracket);
  JsonWriter& Close(char bracket);

  JsonWriter& Text(std::string_view key, std::string_view value);
  JsonWriter& Flag(std::string_view key, bool value);
  // Rounds to three decimal places: no figure of a run is more exact.
  JsonWriter& Real(std::string_view key, double value);
  JsonWriter& Whole(std::string_view key, std::unsigned_integral auto value) {
    Key(key);
    text_ += std::to_string(value);
    return *this;
  }

  const std::string& text() const { return text_; }

 private:
  void Key(std::string_view key);
  void Quote(std::string_view text);

  std::string text_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_NET_JSON_WRITER_H_

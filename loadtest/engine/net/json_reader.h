// Reads a JSON text without building a document: the caller reads the members it knows and skips
// the rest.
//
//   JsonReader json(body);
//   json.EnterObject();
//   while (json.NextMember(&key)) { if (key == "cursor") json.String(&cursor); else json.Skip(); }
//   if (!json.ok()) …
//
// Invariant: it never reads outside the text, and the first error moves it to the end, so every
// loop ends. It is not a validator: of a skipped value it checks only the brackets. Strings are
// views of the text; their escapes are not decoded.
#ifndef LOADTEST_ENGINE_NET_JSON_READER_H_
#define LOADTEST_ENGINE_NET_JSON_READER_H_

#include <cstdint>
#include <string_view>

namespace swarm {

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool ok() const { return ok_; }

  bool EnterObject() { return Enter('{'); }
  bool EnterArray() { return Enter('['); }
  // False at the end of the object, which it then leaves, or on an error.
  bool NextMember(std::string_view* key);
  // Like NextMember, for an array.
  bool NextElement() { return Next(']'); }

  bool String(std::string_view* value);
  // Reads a whole number ≥ 0.
  bool Unsigned(uint64_t* value);
  bool Number(double* value);
  // Reads an object that has a string of this name. False when it has none.
  bool ObjectWith(std::string_view name, std::string_view* value);
  // Skips a value.
  bool Skip();
  // Returns the first character of the next value: '{', '[', '"', 'n' …; 0 at the end.
  char Peek();

 private:
  bool Enter(char bracket);
  bool Next(char closing);
  bool Expect(char wanted);
  bool Fail();
  void SkipSpace();

  const char* at_;
  const char* end_;
  bool ok_ = true;
  bool fresh_ = false;  // just entered: the first value has no comma before it
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_NET_JSON_READER_H_

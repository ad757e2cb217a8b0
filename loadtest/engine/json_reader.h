// Walks a JSON text without building anything: the caller asks for the members it knows and skips
// the rest.
//
//   JsonReader json(body);
//   json.EnterObject();
//   while (json.NextMember(&key)) { if (key == "cursor") json.String(&cursor); else json.Skip(); }
//   if (!json.ok()) …
//
// Invariant: never reads outside the text; the first error empties it, so every loop ends. It reads
// shapes, it is no validator: what is skipped is only bracketed, not checked. Strings are views of
// the text, with escapes left as they are.
#ifndef LOADTEST_ENGINE_JSON_READER_H_
#define LOADTEST_ENGINE_JSON_READER_H_

#include <cstdint>
#include <string_view>

namespace swarm {

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool ok() const { return ok_; }

  bool EnterObject() { return Enter('{'); }
  bool EnterArray() { return Enter('['); }
  // False at the end of the object (or on an error); then the object has been left.
  bool NextMember(std::string_view* key);
  // The same for an array.
  bool NextElement() { return Next(']'); }

  bool String(std::string_view* value);
  // A whole number ≥ 0.
  bool Unsigned(uint64_t* value);
  bool Skip();
  // What kind of value comes next: '{', '[', '"', 'n' …; 0 at the end.
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
  bool fresh_ = false;  // just entered: no comma is due
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_JSON_READER_H_

// One line of text that the person types, in a window that the program draws itself.
//
// The caret is at the end. Invariant: the text is plain and within its limit of bytes.
#ifndef CLIENT_WIN_X11_WINDOWS_TEXT_FIELD_H_
#define CLIENT_WIN_X11_WINDOWS_TEXT_FIELD_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "x11/system/clipboard.h"
#include "x11/system/keyboard.h"
#include "x11/windows/canvas.h"
#include "x11/windows/look.h"

namespace sprites {

constexpr double kFieldHeight = 36;  // dip

// What a key has done to a field.
enum class Edit : uint8_t {
  kNothing,
  kText,   // the text has changed
  kPaste,  // the clipboard was asked; the owner adds the text when it comes
};

class TextField {
 public:
  TextField(const std::string& text, size_t bytes_max) : text_(text), bytes_max_(bytes_max) {}

  const std::string& text() const { return text_; }
  void Clear() { text_.clear(); }
  // Adds the plain characters of `text` that there is room for.
  void Add(std::string_view text);
  Edit HandleKey(const Keyboard::Stroke& stroke, Clipboard* clipboard);
  // `cue` is shown while the field is empty.
  void Draw(Canvas* canvas, const Look& look, const Box& box, bool has_focus,
            const std::string& cue) const;

 private:
  std::string text_;
  size_t bytes_max_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_TEXT_FIELD_H_

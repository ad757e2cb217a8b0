// The mark of an access key: `&` in the texts of the program, `_` in those of GTK.
#ifndef CLIENT_WIN_X11_WINDOWS_ACCESS_KEY_H_
#define CLIENT_WIN_X11_WINDOWS_ACCESS_KEY_H_

#include <glib.h>

#include <string>
#include <string_view>

namespace sprites {

struct AccessKey {
  std::string text;  // as GTK marks it
  char key = 0;      // the letter, in lower case; 0 for none
};

// `&Quit, R&&D, a_b` is `_Quit, R&D, a__b`, and q. Of `taken` keys, the mark is left out.
inline AccessKey ReadAccessKey(std::string_view text, std::string_view taken) {
  AccessKey read;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] == '&' && i + 1 < text.size() && text[++i] != '&') {
      const char key = g_ascii_tolower(text[i]);
      if (taken.find(key) == std::string_view::npos) {
        read.text += '_';
        read.key = key;
      }
    }
    read.text += text[i];
    read.text += text[i] == '_' ? "_" : "";
  }
  return read;
}

inline std::string WithAccessKey(std::string_view text) { return ReadAccessKey(text, "").text; }

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_ACCESS_KEY_H_

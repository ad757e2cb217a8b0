// Converts text between the core (UTF-8) and Windows (UTF-16). Invalid sequences are replaced; no
// conversion fails.
#ifndef CLIENT_WIN_WIN32_SYSTEM_TEXT16_H_
#define CLIENT_WIN_WIN32_SYSTEM_TEXT16_H_

#include <string>
#include <string_view>

namespace sprites {

std::wstring Wide(std::string_view utf8);
std::string Narrow(std::wstring_view utf16);

// Copies text into a fixed array of a Win32 structure, truncated to fit, always zero-terminated.
template <size_t kSize>
void CopyText(std::wstring_view text, wchar_t (&place)[kSize]) {
  const size_t size = text.copy(place, kSize - 1);
  place[size] = 0;
}

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_TEXT16_H_

// Checks text from untrusted sources: UTF-8 without characters that hide or reorder the text around
// them.
#ifndef CLIENT_WIN_CORE_TEXT_TEXT_H_
#define CLIENT_WIN_CORE_TEXT_TEXT_H_

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace sprites {

// Whether `text` is UTF-8.
bool IsUtf8(std::string_view text);

// Whether `text` is UTF-8 without control or invisible characters, and not combining marks alone:
// the relay's rule for the texts of a .spr. For names the relay also allows emoji of several parts.
bool IsPlainText(std::string_view text);

// The plain characters of `text`, as many as fit into `bytes_max`; nothing when they are combining
// marks alone.
std::string PlainText(std::string_view text, size_t bytes_max);

// Whether `text` is read from right to left: its first letter is of such a script (UAX 9, P2).
bool ReadsRightToLeft(std::string_view text);

// Whether a letter of UTF-8 begins with this byte.
constexpr bool IsFirstByte(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

// The bytes of the first `letters` letters of `text`, or of all that it has.
size_t BytesOfLetters(std::string_view text, size_t letters);

// The first `letters` letters of `text`, with an ellipsis if it has more.
std::string Shortened(std::string_view text, size_t letters);

// Whether `text` is printable ASCII without spaces, and so safe in a header or an address.
bool IsToken(std::string_view text);

// `text` with the letters of ASCII in lower case: how schemes and hosts are compared.
std::string LowerCase(std::string_view text);

// A path as text of UTF-8, whatever the system has it in.
std::string Utf8Of(const std::filesystem::path& path);

// `text` encoded as one part of a URL (RFC 3986 §2.3).
std::string PercentEncoded(std::string_view text);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_TEXT_TEXT_H_

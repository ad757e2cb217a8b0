// Text of strangers: UTF-8 that shows what it is, and nothing that hides or turns what stands
// around it.
#ifndef CLIENT_WIN_CORE_TEXT_TEXT_H_
#define CLIENT_WIN_CORE_TEXT_TEXT_H_

#include <string>
#include <string_view>

namespace sprites {

// Whether it is UTF-8 without control or invisible characters (the relay's rule for names).
bool IsPlainText(std::string_view text);

// What of it is plain, in at most so many bytes, cut between characters.
std::string PlainText(std::string_view text, size_t bytes_max);

// Whether it is printable ASCII without spaces: what may stand in a header or an address.
bool IsToken(std::string_view text);

// `text` as one part of a URL's query (RFC 3986 §2.3).
std::string PercentEncoded(std::string_view text);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_TEXT_TEXT_H_

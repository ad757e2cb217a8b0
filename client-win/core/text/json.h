// Reads JSON from untrusted sources: within a limit of depth, field by field, and with a check of
// every type.
#ifndef CLIENT_WIN_CORE_TEXT_JSON_H_
#define CLIENT_WIN_CORE_TEXT_JSON_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/text/json_fwd.h"

namespace sprites {

// Parses `text`. The result is_discarded() when it is not JSON or is nested deeper than
// `depth_max`. Never throws. REQUIRES: the caller has limited the size; the result takes up to
// fifty times that.
Json ParseJson(std::string_view text, int depth_max);

// A member of an object; null when there is no such member, or `value` is not an object.
const Json& MemberOf(const Json& value, const char* name);

// 2⁵³ − 1: up to this, a JSON number is the whole number that was written.
constexpr double kWholeNumberMax = 9007199254740991;

// The value of a member. TextAt returns "" when it is not a string or is longer than `bytes_max`.
// NumberAt clamps a number to its range. NumberAt and BoolAt return `otherwise` for another type.
std::string TextAt(const Json& value, const char* name, size_t bytes_max);
double NumberAt(const Json& value, const char* name, double low, double high, double otherwise);
bool BoolAt(const Json& value, const char* name, bool otherwise);

// The value as one line of JSON. Bytes that are not UTF-8 are replaced.
std::string WriteJson(const Json& value);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_TEXT_JSON_H_

// JSON of strangers: parsed within a depth, read field by field, never trusted to have a type.
#ifndef CLIENT_WIN_CORE_TEXT_JSON_H_
#define CLIENT_WIN_CORE_TEXT_JSON_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace sprites {

using Json = nlohmann::json;

// The value, or one that is_discarded(): no JSON, or nested deeper than `depth_max`. Never throws.
// The caller has limited the size; memory is up to some fifty times that.
Json ParseJson(std::string_view text, int depth_max);

// A member of an object; null when it is not there or `value` is no object.
const Json& MemberOf(const Json& value, const char* name);

// A member's value, or what stands in when it is of another type or out of its range.
std::string TextAt(const Json& value, const char* name, size_t bytes_max);
double NumberAt(const Json& value, const char* name, double low, double high, double otherwise);
bool BoolAt(const Json& value, const char* name, bool otherwise);

// One line of JSON; bytes that are no UTF-8 are replaced.
std::string WriteJson(const Json& value);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_TEXT_JSON_H_

// Names the type of JSON values without its definition, which takes a second to compile.
#ifndef CLIENT_WIN_CORE_TEXT_JSON_FWD_H_
#define CLIENT_WIN_CORE_TEXT_JSON_FWD_H_

#include <nlohmann/json_fwd.hpp>

namespace sprites {

using Json = nlohmann::json;

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_TEXT_JSON_FWD_H_

// Reads the files of vectors, which all desktops play.
#ifndef CLIENT_WIN_TEST_CORE_VECTORS_H_
#define CLIENT_WIN_TEST_CORE_VECTORS_H_

#include <fstream>

#include "core/text/json.h"

namespace sprites {

inline Json ReadVectors(const char* path) {
  std::ifstream file(path);
  return Json::parse(file);
}

}  // namespace sprites

#endif  // CLIENT_WIN_TEST_CORE_VECTORS_H_

// peek.vectors.json; test/peek_vectors.ts explains its fields.
#ifndef CLIENT_WIN_TEST_CORE_PEEK_VECTORS_H_
#define CLIENT_WIN_TEST_CORE_PEEK_VECTORS_H_

#include <string>

#include "test/core/vectors.h"

namespace sprites {

inline const Json& PeekVectors() {
  static const Json vectors = ReadVectors(PEEK_VECTORS);
  return vectors;
}

// The hash that a vector means by two digits.
inline std::string HashOf(const std::string& picture) {
  std::string hash;
  for (int i = 0; i < 32; i++) {
    hash += picture;
  }
  return hash;
}

}  // namespace sprites

#endif  // CLIENT_WIN_TEST_CORE_PEEK_VECTORS_H_

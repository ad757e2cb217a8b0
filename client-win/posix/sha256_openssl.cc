// SHA-256 by OpenSSL, for Linux.
#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "core/picture/sheet.h"

namespace sprites {

std::string Sha256Hex(std::span<const uint8_t> bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  std::array<uint8_t, 32> digest{};
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  std::string hex;
  for (const uint8_t byte : digest) {
    hex += {kHex[byte >> 4], kHex[byte & 15]};
  }
  return hex;
}

}  // namespace sprites

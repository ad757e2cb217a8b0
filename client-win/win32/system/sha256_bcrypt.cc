// SHA-256, computed by Windows.
#include <windows.h>
// After windows.h.
#include <bcrypt.h>

#include <array>
#include <cstdint>
#include <new>
#include <span>
#include <string>

#include "core/picture/sheet.h"

namespace sprites {

namespace {

BCRYPT_ALG_HANDLE Sha256() {
  BCRYPT_ALG_HANDLE handle = nullptr;
  BCryptOpenAlgorithmProvider(&handle, BCRYPT_SHA256_ALGORITHM, nullptr, 0);
  return handle;
}

}  // namespace

std::string Sha256Hex(std::span<const uint8_t> bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  static const BCRYPT_ALG_HANDLE sha256 = Sha256();
  std::array<uint8_t, 32> digest{};
  const NTSTATUS status =
      BCryptHash(sha256, nullptr, 0, const_cast<PUCHAR>(bytes.data()),
                 static_cast<ULONG>(bytes.size()), digest.data(), digest.size());
  if (status < 0) {
    throw std::bad_alloc();  // BCryptHash fails only if memory is short
  }
  std::string hex;
  for (const uint8_t byte : digest) {
    hex += {kHex[byte >> 4], kHex[byte & 15]};
  }
  return hex;
}

}  // namespace sprites

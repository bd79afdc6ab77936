// SPDX-License-Identifier: Apache-2.0
// The Toeplitz hash of receive-side scaling: for each bit of the input that is set, the 32 bits of the key that
// begin at its place, added up (exclusive or). Linear, like a CRC.
//
// The secret key is Microsoft's 40 bytes unless another is given. For an input longer than the key's length − 4 bytes
// the key's bits repeat from the beginning. One table of 256 words for each byte of the input: a load a byte. 64 KiB
// at most; switches share them.
// Source: Microsoft, "Verifying the RSS Hash Calculation"; check values in tests/model/hashing.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace softspine::dataplane {

inline constexpr std::array<uint8_t, 40> kMicrosoftRssKey{0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
                                                          0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
                                                          0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
                                                          0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

class ToeplitzTables {
 public:
  // For inputs of up to `bytes`; the key has at least one byte.
  ToeplitzTables(std::span<const uint8_t> key, uint32_t bytes) : tables_(bytes) {
    const auto bit_of_key = [key](uint32_t i) { return uint32_t{key[i / 8 % key.size()]} >> (7 - i % 8) & 1; };
    for (uint32_t position = 0; position < bytes; ++position) {
      std::array<uint32_t, 8> windows{};  // of the byte's bits, from the highest
      for (uint32_t bit = 0; bit < 8; ++bit) {
        for (uint32_t i = 0; i < 32; ++i) windows[bit] = windows[bit] << 1 | bit_of_key(position * 8 + bit + i);
      }
      for (uint32_t byte = 0; byte < 256; ++byte) {
        for (uint32_t bit = 0; bit < 8; ++bit) {
          if ((byte >> (7 - bit) & 1) != 0) tables_[position][byte] ^= windows[bit];
        }
      }
    }
  }

  // Eight bytes as memory has them, the first of which is the input's byte 8 × `index`.
  uint32_t of_word(uint32_t index, uint64_t word) const noexcept {
    const auto* t = &tables_[size_t{index} * 8];
    uint32_t hash = 0;
    for (uint32_t i = 0; i < 8; ++i) hash ^= t[i][static_cast<uint8_t>(word >> (8 * i))];
    return hash;
  }

 private:
  std::vector<std::array<uint32_t, 256>> tables_;
};

}  // namespace softspine::dataplane

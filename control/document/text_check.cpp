// SPDX-License-Identifier: Apache-2.0
#include "control/document/text_check.hpp"

#include <cstdint>
#include <cstdio>

namespace softspine::control {
namespace {

std::string hex(uint8_t byte) {
  char out[8];
  std::snprintf(out, sizeof out, "0x%02x", byte);
  return out;
}

// Bytes of the UTF-8 sequence that begins here; 0 if none does (RFC 3629: no overlong forms, no surrogates).
size_t sequence_bytes(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = at(0);
  if (lead < 0x80) return 1;
  const size_t n = lead >= 0xC2 && lead <= 0xDF ? 2 : (lead & 0xF0) == 0xE0 ? 3 : lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
  if (n == 0 || text.size() < n) return 0;
  for (size_t i = 1; i < n; ++i) {
    if ((at(i) & 0xC0) != 0x80) return 0;
  }
  const uint8_t second = at(1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool outside = (lead == 0xED && second > 0x9F) || (lead == 0xF4 && second > 0x8F);
  return overlong || outside ? 0 : n;
}

}  // namespace

std::optional<TextFlaw> find_flaw(std::string_view text) {
  int line = 1;
  int column = 1;
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<uint8_t>(text[i]);
    const bool control = (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F;
    if (control) return TextFlaw{line, column, "not a text file: control character " + hex(byte)};
    const size_t bytes = sequence_bytes(text.substr(i));
    if (bytes == 0) return TextFlaw{line, column, "not UTF-8: byte " + hex(byte)};
    column = byte == '\n' ? 1 : column + 1;
    line += byte == '\n' ? 1 : 0;
    i += bytes;
  }
  return std::nullopt;
}

}  // namespace softspine::control

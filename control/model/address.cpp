// SPDX-License-Identifier: Apache-2.0
#include "control/model/address.hpp"

#include <arpa/inet.h>

#include <charconv>
#include <cstdio>

namespace softspine::control {
namespace {

// The bits of a byte that a prefix of this length covers, for the byte at `place`.
uint8_t byte_mask(uint8_t length, size_t place) {
  const int covered = static_cast<int>(length) - static_cast<int>(place) * 8;
  return static_cast<uint8_t>(covered >= 8 ? 0xFF : covered <= 0 ? 0 : 0xFF << (8 - covered));
}

std::optional<uint8_t> parse_length(std::string_view text, uint8_t most) {
  uint8_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  const bool good = error == std::errc{} && end == text.data() + text.size() && length <= most;
  return good ? std::optional(length) : std::nullopt;
}

}  // namespace

bool Ipv6Prefix::contains(const Ipv6Address& a) const {
  for (size_t i = 0; i < a.bytes.size(); ++i) {
    if ((a.bytes[i] & byte_mask(length, i)) != address.bytes[i]) return false;
  }
  return true;
}

std::string to_string(const MacAddress& a) {
  char out[24];
  std::snprintf(out, sizeof out, "%02x:%02x:%02x:%02x:%02x:%02x", a.bytes[0], a.bytes[1], a.bytes[2], a.bytes[3],
                a.bytes[4], a.bytes[5]);
  return out;
}

std::string to_string(Ipv4Address a) {
  char out[20];
  std::snprintf(out, sizeof out, "%u.%u.%u.%u", a.value >> 24, (a.value >> 16) & 255, (a.value >> 8) & 255,
                a.value & 255);
  return out;
}

std::string to_string(const Ipv6Address& a) {
  char out[INET6_ADDRSTRLEN];
  return inet_ntop(AF_INET6, a.bytes.data(), out, sizeof out);
}

std::string to_string(const Ipv4Prefix& p) {
  return to_string(p.address) + "/" + std::to_string(p.length);
}
std::string to_string(const Ipv6Prefix& p) {
  return to_string(p.address) + "/" + std::to_string(p.length);
}

std::optional<MacAddress> parse_mac(std::string_view text) {
  MacAddress out;
  if (text.size() != 17) return std::nullopt;
  for (size_t i = 0; i < 6; ++i) {
    const char* at = text.data() + 3 * i;
    const auto [end, error] = std::from_chars(at, at + 2, out.bytes[i], 16);
    if (error != std::errc{} || end != at + 2) return std::nullopt;
    if (i < 5 && at[2] != ':') return std::nullopt;
  }
  return out;
}

std::optional<Ipv4Address> parse_ipv4(std::string_view text) {
  in_addr out{};
  if (inet_pton(AF_INET, std::string(text).c_str(), &out) != 1) return std::nullopt;
  return Ipv4Address{ntohl(out.s_addr)};
}

std::optional<Ipv6Address> parse_ipv6(std::string_view text) {
  Ipv6Address out;
  if (inet_pton(AF_INET6, std::string(text).c_str(), out.bytes.data()) != 1) return std::nullopt;
  return out;
}

std::optional<Ipv4Prefix> parse_ipv4_prefix(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto address = parse_ipv4(text.substr(0, slash));
  const auto length = parse_length(text.substr(slash + 1), 32);
  if (!address || !length) return std::nullopt;
  const Ipv4Prefix prefix{*address, *length};
  return (address->value & ~prefix.mask()) == 0 ? std::optional(prefix) : std::nullopt;
}

std::optional<Ipv6Prefix> parse_ipv6_prefix(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto address = parse_ipv6(text.substr(0, slash));
  const auto length = parse_length(text.substr(slash + 1), 128);
  if (!address || !length) return std::nullopt;
  const Ipv6Prefix prefix{*address, *length};
  return prefix.contains(*address) ? std::optional(prefix) : std::nullopt;
}

}  // namespace softspine::control

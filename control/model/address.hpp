// SPDX-License-Identifier: Apache-2.0
// Addresses as the configuration knows them: values to compare, print and parse; no packet here.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace softspine::control {

struct MacAddress {
  std::array<uint8_t, 6> bytes{};
  bool is_multicast() const { return (bytes[0] & 1) != 0; }
  bool is_zero() const { return bytes == std::array<uint8_t, 6>{}; }
  friend auto operator<=>(const MacAddress&, const MacAddress&) = default;
};

struct Ipv4Address {
  uint32_t value = 0;  // host byte order: 10.0.0.1 is 0x0A000001
  friend auto operator<=>(const Ipv4Address&, const Ipv4Address&) = default;
};

struct Ipv6Address {
  std::array<uint8_t, 16> bytes{};  // as on the wire
  friend auto operator<=>(const Ipv6Address&, const Ipv6Address&) = default;
};

// A prefix's address has no bit set below its length.
struct Ipv4Prefix {
  Ipv4Address address;
  uint8_t length = 0;
  uint32_t mask() const { return length == 0 ? 0 : ~uint32_t{0} << (32 - length); }
  bool contains(Ipv4Address a) const { return (a.value & mask()) == address.value; }
  bool overlaps(const Ipv4Prefix& other) const { return contains(other.address) || other.contains(address); }
  Ipv4Address last() const { return {address.value | ~mask()}; }
  friend auto operator<=>(const Ipv4Prefix&, const Ipv4Prefix&) = default;
};

struct Ipv6Prefix {
  Ipv6Address address;
  uint8_t length = 0;
  bool contains(const Ipv6Address& a) const;
  bool overlaps(const Ipv6Prefix& other) const { return contains(other.address) || other.contains(address); }
  friend auto operator<=>(const Ipv6Prefix&, const Ipv6Prefix&) = default;
};

inline Ipv4Prefix host_prefix(Ipv4Address a) {
  return {a, 32};
}
inline Ipv6Prefix host_prefix(const Ipv6Address& a) {
  return {a, 128};
}

std::string to_string(const MacAddress& address);   // 02:00:00:01:00:00
std::string to_string(Ipv4Address address);         // 10.0.1.2
std::string to_string(const Ipv6Address& address);  // fd00:0:0:1::2, shortest form (RFC 5952)
std::string to_string(const Ipv4Prefix& prefix);    // 10.0.1.0/24
std::string to_string(const Ipv6Prefix& prefix);

std::optional<MacAddress> parse_mac(std::string_view text);
std::optional<Ipv4Address> parse_ipv4(std::string_view text);
std::optional<Ipv6Address> parse_ipv6(std::string_view text);
// Nothing if a bit below the length is set.
std::optional<Ipv4Prefix> parse_ipv4_prefix(std::string_view text);
std::optional<Ipv6Prefix> parse_ipv6_prefix(std::string_view text);

}  // namespace softspine::control

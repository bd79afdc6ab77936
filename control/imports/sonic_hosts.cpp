// SPDX-License-Identifier: Apache-2.0
#include "control/imports/sonic_hosts.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "control/imports/entries.hpp"
#include "control/model/address.hpp"

namespace softspine::control {
namespace {

// The prefix that an interface's address is in: SONiC writes the address with its own bits.
std::optional<std::string> subnet_around(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(slash + 1);
  uint8_t length = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (error != std::errc{} || stop != digits.data() + digits.size()) return std::nullopt;
  if (const auto v4 = parse_ipv4(text.substr(0, slash)); v4 && length <= 32) {
    Ipv4Prefix out{*v4, length};
    out.address.value &= out.mask();
    return to_string(out);
  }
  const auto v6 = parse_ipv6(text.substr(0, slash));
  if (!v6 || length > 128) return std::nullopt;
  Ipv6Prefix out{*v6, length};
  for (uint32_t bit = length; bit < 128; ++bit) out.address.bytes[bit / 8] &= static_cast<uint8_t>(~(0x80U >> bit % 8));
  return to_string(out);
}

bool is_ipv6(const std::string& subnet) {
  return subnet.find(':') != std::string::npos;
}

}  // namespace

SonicHosts read_sonic_hosts(Value root) {
  SonicHosts out{.subnets = {}, .left_out = {}, .at = root};
  const auto table = entry(root, "VLAN_INTERFACE");
  if (!is_map(table)) return out;
  out.at = *table;
  std::set<std::string_view> vlans;
  for_each_entry(*table, [&](Value key, Value) {
    if (key.kind() != ValueKind::kScalar) return;
    const std::string_view text = key.text();
    const size_t bar = text.find('|');
    if (bar == std::string_view::npos) return;
    vlans.insert(text.substr(0, bar));
    const auto subnet = subnet_around(text.substr(bar + 1));
    if (!subnet) {
      out.left_out = "has no address and length that are known here";
      return;
    }
    const auto is_of_version = [&](const std::string& other) { return is_ipv6(other) == is_ipv6(*subnet); };
    if (std::ranges::any_of(out.subnets, is_of_version)) {
      out.left_out = "has several subnets of one IP version";
    } else {
      out.subnets.push_back(*subnet);
    }
  });
  if (vlans.size() > 1) out.left_out = "is of several VLANs: say which hosts are in which (vlan of a host)";
  if (!out.left_out.empty()) out.subnets.clear();
  return out;
}

}  // namespace softspine::control

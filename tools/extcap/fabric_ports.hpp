// SPDX-License-Identifier: Apache-2.0
// What Wireshark lists as interfaces: each running fabric of this user, and each port of its switches.
//
//   softspine:two-tier                    the fabric: what every port sends, unless ports are chosen
//   softspine:two-tier:tor1:Ethernet0     one port, both ways
//
// Wireshark starts a program for each interface that it lists, so ports are listed up to kMostPorts of a fabric; those
// of larger ones are chosen in the dialogue of the fabric. Hosts' ports are the other ends of links that are listed; in
// a fabric without switches they are listed.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace softspine::tools {

inline constexpr size_t kMostPorts = 128;

struct ListedPort {
  std::string name;  // "tor1:Ethernet0"
  std::string peer;
};
struct ListedFabric {
  std::string name;
  std::vector<ListedPort> ports;  // none if there are more than kMostPorts, or the fabric does not answer in time
};

// A fabric that does not answer within a second has its name alone; a socket that is left over is none.
std::vector<ListedFabric> running_fabrics();

struct InterfaceName {
  std::string fabric;
  std::string port;  // empty: the fabric
};
std::string text_of(const InterfaceName& name);
std::optional<InterfaceName> interface_name(const std::string& text);

}  // namespace softspine::tools

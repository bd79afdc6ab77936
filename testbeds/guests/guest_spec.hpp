// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "testbeds/process/outside_error.hpp"

namespace softspine::testbeds {

// A machine of its own, or this machine's kernel in a network namespace.
enum class GuestKind { kUml, kQemu, kNamespace };

// One NIC of a guest: the guest connects to a vhost-user socket that the fabric serves. (A namespace has its NICs
// already, as eth0, eth1, …: they have no socket.)
struct NicSpec {
  std::string vhost_socket;
  std::string mac;
  std::vector<std::string> addresses;  // "10.0.0.1/24", "2001:db8::1/64"
  std::vector<std::string> gateways;
  unsigned mtu = 1500;
};

struct GuestSpec {
  std::string name;
  GuestKind kind = GuestKind::kUml;
  std::vector<NicSpec> nics;
  std::string run;  // shell command; its exit status is the guest's
  unsigned memory_mib = 192;
  unsigned cpus = 1;  // user-mode Linux has one
  std::map<std::string, std::string> env;
  unsigned vlan = 0;      // not 0: the addresses are those of a device of this VLAN over the NIC, or over the bond
  std::string bond_mode;  // not empty: all NICs as one bond0 of this mode, addressed as the first NIC says
};

// Everything in a spec that a kernel command line or a shell file could not carry, or that can't work.
std::vector<Error> errors_of(const GuestSpec& spec);

// A path can be part of a kernel command line: absolute, and free of blanks, colons, commas and quotes.
bool fits_command_line(const std::string& path);

}  // namespace softspine::testbeds

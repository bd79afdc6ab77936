// SPDX-License-Identifier: Apache-2.0
// The setup inside a host that we start, whatever it runs on, and the command that then runs there:
// scripts/softspine-host gets it through the host's folder (guest_folder.hpp).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "testbeds/process/outside_error.hpp"

namespace softspine::testbeds {

struct NicSpec {
  std::string vhost_socket;  // served by the fabric: a guest connects to it. Empty where the NICs are there already
  std::string mac;
  std::vector<std::string> addresses;  // "10.0.0.1/24", "2001:db8::1/64"
  std::vector<std::string> gateways;
  unsigned mtu = 1500;
  std::string device;  // its name there; empty: eth0, eth1, … in their order
};

struct HostSetup {
  std::string name;
  std::vector<NicSpec> nics;
  std::string run;  // shell command; its exit status is the host's
  std::map<std::string, std::string> env;
  unsigned vlan = 0;      // not 0: the addresses are those of a device of this VLAN over the NIC, or over the bond
  std::string bond_mode;  // not empty: all NICs as one bond0 of this mode, with the first NIC's address
  bool stays = false;     // set up, when its command has ended, until it is asked to stop
  // Not of ours alone: others use its network, too. Only the NIC is set up, with routes to these by its gateways in the
  // place of default routes.
  bool joins = false;
  std::vector<std::string> routes;
  std::string board = "board";  // a folder beside its own, by which hosts signal each other
  bool is_at_once = false;      // set up within milliseconds: the others that are await it before their commands begin
};

// Everything in a setup that a shell file could not carry, or that can't work.
std::vector<Error> errors_of(const HostSetup& setup);

// A path can be part of a kernel command line: absolute, and free of blanks, colons, commas and quotes.
bool fits_command_line(const std::string& path);

}  // namespace softspine::testbeds

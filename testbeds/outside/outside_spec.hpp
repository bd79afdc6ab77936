// SPDX-License-Identifier: Apache-2.0
// The facts of the fabric for a host that is not built in: pure data, made from the fabric.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/model/fabric.hpp"

namespace softspine::testbeds {

struct OutsideSpec {
  std::string name;
  control::Attachment attachment;      // not a built-in host
  uint32_t ports = 1;                  // two: one bond over both
  std::string bond_mode;               // of two ports, in the words of Linux: "802.3ad"; empty with one
  std::string mac;                     // "02:00:00:01:00:00"; the same on all ports
  std::vector<std::string> addresses;  // "10.0.1.2/24", "fd00:0:0:1::2/64"
  std::vector<std::string> gateways;   // "10.0.1.1", "fd00:0:0:1::1"; none for hosts linked back to back
  std::vector<std::string> routes;     // in a namespace that is there already: the fabric's other subnets
  uint16_t vlan = 0;                   // it makes this VLAN's tags itself; 0: none
  uint32_t mtu = 1500;                 // the smallest of its links
  uint32_t speed_mbps = 0;             // of its slowest link
  std::vector<std::string> nics;  // of its server: the hosts of its kind there, it among them, in the fabric's order
  std::string board = "board";    // by which hosts of one run folder signal each other: a folder's name
  bool stays = false;             // its host, when its command has ended, until the run does; without a timeout
};

// `node`: a host of `fabric` whose attachment is not built in.
OutsideSpec outside_spec(const control::Fabric& fabric, uint32_t node);

// True if the host's bond is to agree with its switches by LACP: its `bond` has it, which is the default, and each of
// its ports leads to another switch. Two ports at one switch would need a switch that forwards by aggregates.
bool bonds_by_lacp(const control::Fabric& fabric, uint32_t node);

// The command of a kind that can have one; null: this kind has none.
const std::string* command_in(const control::Attachment& attachment);

// True if the host has a command whose end is waited for and whose exit status counts.
bool has_command(const OutsideSpec& spec);

}  // namespace softspine::testbeds

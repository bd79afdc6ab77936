// SPDX-License-Identifier: Apache-2.0
// A fabric as another system's file describes it, on its way to a testbed.
//
// A reader of a format (ns3_topology, containerlab, sonic_neighbors) fills in nodes and links in the file's order, each
// with its place, and notes what it cannot map. `complete` (completion.hpp) then does what all formats need: the user's
// rules, hosts and switches, roles, names, ports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/document/error.hpp"
#include "control/format/quantity.hpp"
#include "control/imports/node_rule.hpp"

namespace softspine::control {

enum class ImportFormat : uint8_t { kHpcc, kSimai, kContainerlab, kSonic, kHtsim };

struct ImportOptions {
  std::vector<NodeRule> rules;  // the first that fits a node's name, or else the first that fits its kind
  // The rate of links for which the file has none.
  dataplane::Rate rate = dataplane::Rate::gbps(100);
  Length length = Length::metres(3);
  Place place;  // where the rules stand, or the file is named
};

// A text and the file that it is from.
struct ImportFile {
  std::string path;
  std::string text;
};

struct ForeignNode {
  std::string name;                  // as its file calls it
  std::optional<uint32_t> number;    // of a node without a name
  std::string kind;                  // the file's word; empty if it has none
  NodeUse use = NodeUse::kByLinks;   // after `complete`: kHost, or a role
  std::string server;                // hosts: the machine that this NIC is in
  std::vector<std::string> subnets;  // switches: of the hosts on it; planned if there are none
  std::string own_file;              // switches: the file that is about it alone, a config_db.json
  std::string config_db;             // the same as the testbed is to name it; empty: not attached
  Place place;
};

struct ForeignEnd {
  uint32_t node = 0;
  std::string port;  // empty: none is named; after `complete` every port is
};

struct ForeignLink {
  ForeignEnd a;
  ForeignEnd b;
  dataplane::Rate rate;
  Length length;
  std::optional<uint32_t> mtu;
  uint64_t damaged_millionths = 0;  // frames that arrive damaged, either way
  std::optional<uint32_t> lag;      // of the topology's
  Place place;
};

// Links between two switches that are one way, by LACP.
struct ForeignLag {
  std::string name;  // as the file of its links' ends `a` has it
  uint32_t min_links = 1;
  bool fast_rate = false;
  Place place;
};

struct ForeignTopology {
  std::vector<ForeignNode> nodes;
  std::vector<ForeignLink> links;
  std::vector<ForeignLag> lags;
  // Counts of what was left out, so that counts of the file can be compared.
  uint64_t nodes_left_out = 0;
  uint64_t links_left_out = 0;
  Errors notes;          // what could not be mapped, or had to be decided
  std::string left_out;  // tables of the files that are read over
};

}  // namespace softspine::control

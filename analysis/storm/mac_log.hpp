// SPDX-License-Identifier: Apache-2.0
// Which MAC addresses ports have sent from and to. Neighbours are guessed from these when a capture names none.
//
// A MAC belongs to the port that was first seen sending from it, since a bridge sends it on later. A frame that a port
// sends from an address of its own node goes to the address of its next hop; so a link joins two ports of which
// each sends to the other's node. Hosts of one rack send to each other, too, but their ToR's ports have one
// partner each; those are joined first, and what remains is tried again. Ambiguous ports (parallel links, addresses
// that two switches share) stay unknown.
// Bounds: kMaxMacs addresses in all, kMaxPartners of each port; further ones are not learned.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace softspine::analysis::storm {

class MacLog {
 public:
  static constexpr size_t kMaxMacs = 1 << 18;
  static constexpr size_t kMaxPartners = 256;

  // A frame that `port` transmitted.
  void transmitted(uint32_t port, uint64_t source, uint64_t destination);

  // Pairs of ports that a link joins. `node_of[port]` is the number of the port's node.
  std::vector<std::pair<uint32_t, uint32_t>> links(const std::vector<uint32_t>& node_of) const;

 private:
  struct Pair {
    uint64_t source;
    uint64_t destination;
    friend bool operator==(const Pair&, const Pair&) = default;
  };
  using Candidates = std::vector<std::vector<uint32_t>>;
  Candidates candidates(const std::vector<uint32_t>& node_of) const;

  std::unordered_map<uint64_t, uint32_t> owners_;  // MAC → port
  std::vector<std::vector<Pair>> pairs_;           // by port: different ones, the latest last
};

}  // namespace softspine::analysis::storm

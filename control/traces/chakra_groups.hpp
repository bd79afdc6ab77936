// SPDX-License-Identifier: Apache-2.0
// Process groups of a Chakra trace: their ranks, and their collectives in order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control/model/collective.hpp"
#include "control/traces/chakra_nodes.hpp"

namespace softspine::control {

// comm_type; nothing: none that we know.
std::optional<Collective> collective_of_chakra(uint64_t comm_type);
bool is_chakra_barrier(uint64_t comm_type);

class ChakraGroups {
 public:
  struct Group {
    std::vector<uint32_t> ranks;  // ascending
    struct Started {
      uint64_t comm_type = 0;
      uint64_t comm_size = 0;
    };
    std::vector<Started> collectives;
    std::vector<uint64_t> counts;  // by place in `ranks`
    uint32_t first_tag = 0;
  };

  // By rank, and of each rank in its order. Empty, or what the node is and should not be.
  std::string add(uint32_t rank, const ChakraNode& node);
  // After all. Empty, or which group has ranks that disagree; all ranks are in the group without a name.
  std::string finish(uint32_t ranks);

  const Group& of(const std::string& name) const { return groups_.at(name); }

 private:
  std::map<std::string, Group> groups_;
};

}  // namespace softspine::control

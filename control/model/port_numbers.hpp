// SPDX-License-Identifier: Apache-2.0
// The ports of a fabric, numbered through: nodes in its order, and their ports in theirs. Recordings, traces and the
// page know ports by these numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "control/model/fabric.hpp"

namespace softspine::control {

class PortNumbers {
 public:
  // `fabric` outlives it.
  explicit PortNumbers(const Fabric& fabric);

  uint32_t size() const { return first_.back(); }
  uint32_t of(LinkEnd end) const { return first_[end.node] + end.port; }
  std::optional<uint32_t> find(std::string_view node, std::string_view port) const;
  // tor1:Ethernet0
  std::optional<uint32_t> find(std::string_view name) const;

 private:
  const Fabric& fabric_;
  std::vector<uint32_t> first_{0};  // by node: of its first port; and behind the last
  std::unordered_map<std::string_view, uint32_t> nodes_;
};

}  // namespace softspine::control

// SPDX-License-Identifier: Apache-2.0
// The service of a testbed's switches to hosts that are not built in: which DSCPs are lossless on their ways, and what
// they must write into their packets for it. Their traffic is known for guests only, by their commands.
//   warnings   a guest's command whose tools send a DSCP that may be dropped; packets that WRED drops because they are
//              not ECN-capable
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "control/compile/service.hpp"

namespace softspine::control {

// The service to hosts that are not built in.
struct OutsideService {
  std::vector<uint32_t> hosts;
  std::vector<uint8_t> lossless_dscps;  // on all ways between them, or to all others if there is but one
  bool drops_early = false;             // WRED drops packets of these DSCPs that are not ECN-capable
};

class OutsideReview {
 public:
  // Warnings are added to `warnings`.
  OutsideReview(const Fabric& fabric, const ServiceBook& book, Errors& warnings);

  // Which of these hosts may send to which.
  Demands demands() const;
  // `ways`: of these demands.
  OutsideService review(const Ways& ways);

 private:
  void review_guest(uint32_t index);
  void review_unknown_senders(const std::string& why);
  void warn(const Place& place, std::string message) { warnings_.push_back(error_at(place, std::move(message))); }

  const Fabric& fabric_;
  const ServiceBook& book_;
  Errors& warnings_;
  OutsideService out_;
};

// The traffic classes (DSCP × 4 + ECN) that a command gives its tools: `--tclass 14`, `--tclass=14`.
std::vector<uint8_t> traffic_classes_in(std::string_view command);

}  // namespace softspine::control

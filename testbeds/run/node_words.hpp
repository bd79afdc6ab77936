// SPDX-License-Identifier: Apache-2.0
// What reports call a node of the fabric: a switch by its role, what stands outside by its kind.
#pragma once

#include "control/model/fabric.hpp"

namespace softspine::testbeds {

inline const char* role_name(control::Role role) {
  switch (role) {
    case control::Role::kTor: return "tor";
    case control::Role::kAggregation: return "aggregation";
    case control::Role::kCore: return "core";
    case control::Role::kHost: break;
  }
  return "host";
}

inline const char* edge_kind(const control::Attachment& attachment) {
  static constexpr const char* kKinds[] = {"built-in",  "guest",      "namespace", "tap",
                                           "af_packet", "vhost-user", "pcap",      "dpdk"};
  return kKinds[attachment.index()];
}

}  // namespace softspine::testbeds

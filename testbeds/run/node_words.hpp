// SPDX-License-Identifier: Apache-2.0
// What reports call a host by what stands behind it.
#pragma once

#include "control/model/attachment.hpp"

namespace softspine::testbeds {

inline const char* edge_kind(const control::Attachment& attachment) {
  static constexpr const char* kKinds[] = {"built-in",  "guest",      "namespace", "tap",
                                           "af_packet", "vhost-user", "pcap",      "dpdk"};
  return kKinds[attachment.index()];
}

}  // namespace softspine::testbeds

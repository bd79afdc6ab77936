// SPDX-License-Identifier: Apache-2.0
// What reports call a host by what stands behind it.
#pragma once

#include "control/model/attachment.hpp"

namespace softspine::testbeds {

// Of the host's port.
inline const char* edge_kind(const control::Attachment& attachment, uint16_t port) {
  struct Word {
    const char* operator()(const control::BuiltinHost&) const { return "built-in"; }
    const char* operator()(const control::Guest&) const { return "guest"; }
    const char* operator()(const control::NamespaceHost&) const { return "namespace"; }
    const char* operator()(const control::EdgeHost& host) const { return std::visit(*this, host.edges[port]); }
    const char* operator()(const control::TapEdge&) const { return "tap"; }
    const char* operator()(const control::AfPacketEdge&) const { return "af_packet"; }
    const char* operator()(const control::VhostUserEdge&) const { return "vhost-user"; }
    const char* operator()(const control::PcapEdge&) const { return "pcap"; }
    const char* operator()(const control::DpdkEdge&) const { return "dpdk"; }
    uint16_t port;
  };
  return std::visit(Word{port}, attachment);
}

}  // namespace softspine::testbeds

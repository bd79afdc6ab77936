// SPDX-License-Identifier: Apache-2.0
// The other end of a veth: in this network namespace, or in another one that a process is in or that /run/netns names.
// The peer is found by rtnetlink: the interface's link has the peer's index and the id by which our namespace knows the
// peer's; each namespace that we can see is asked for its id.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "testbeds/namespaces/network_namespace.hpp"
#include "testbeds/process/outside_error.hpp"

namespace softspine::testbeds {

struct VethPeer {
  std::string interface;
  std::optional<NetworkNamespace> space;  // none: this thread's

  // Runs `action` where the peer is.
  std::expected<void, Error> within(const std::function<void()>& action) const;
};

// Nothing when `interface` is no veth. An error when it is, and the peer cannot be reached.
std::expected<std::optional<VethPeer>, Error> veth_peer_of(const std::string& interface);

}  // namespace softspine::testbeds

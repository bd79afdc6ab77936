// SPDX-License-Identifier: Apache-2.0
// A port for one guest over vhost-user: we listen at a socket (mode 0600), QEMU, user-mode Linux or another DPDK
// process connects. A guest that goes away and comes back connects again; the device is up while one is there.
//
// Not offered to the guest, since user-mode Linux would not come up with it: packed rings, a control queue and
// what hangs on it. Not offered since the fabric wants whole frames with real checksums: every offload.
// Not offered since nobody here needs it: live migration, postcopy, requests from us to the guest's process.
//
// What a bad peer can do: nothing but its own port's harm. See edge/vhost_gate.hpp for the socket,
// edge/bus_error_guard.hpp for memory that vanishes. SIGPIPE is ignored in the process from here on: DPDK calls a
// user-mode guest through a socket, and writing to one whose guest has been killed would raise it.
#pragma once

#include <expected>
#include <memory>
#include <string>

#include "dataplane/dpdk/device.hpp"

namespace softspine::dataplane {

std::expected<std::unique_ptr<Device>, EdgeError> open_vhost_device(const std::string& socket_path, PacketPool& pool);

}  // namespace softspine::dataplane

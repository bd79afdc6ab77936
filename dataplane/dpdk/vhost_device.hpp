// SPDX-License-Identifier: Apache-2.0
// A port for one guest over vhost-user: we listen at a socket (mode 0600), QEMU, user-mode Linux or another DPDK
// process connects. A guest that goes away and comes back connects again; the device is up while one is there.
//
// Three kinds of features are not offered to the guest: packed rings, a control queue and all that depends on it,
// since user-mode Linux would not come up with them; every offload, since the fabric needs whole frames with real
// checksums; live migration, postcopy and requests from us to the guest's process, since nothing here uses them.
//
// The guest's carrier follows the link (Device::set_link): see edge/vhost_link.hpp.
//
// A misbehaving peer can harm only its own port. See edge/vhost_gate.hpp for the socket, edge/bus_error_guard.hpp for
// memory that vanishes. Opening the first device makes the process ignore SIGPIPE: DPDK notifies a user-mode guest
// through a socket, and writing to it after the guest was killed would raise the signal.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include "dataplane/dpdk/device.hpp"

namespace softspine::dataplane {

// `speed_mbps`: of the link, for the guest's driver.
std::expected<std::unique_ptr<Device>, EdgeError> open_vhost_device(const std::string& socket_path, PacketPool& pool,
                                                                    uint32_t speed_mbps = 0);

}  // namespace softspine::dataplane

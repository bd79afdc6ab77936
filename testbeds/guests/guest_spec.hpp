// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "testbeds/guests/guest_layers.hpp"
#include "testbeds/guests/host_setup.hpp"
#include "testbeds/process/outside_error.hpp"

namespace softspine::testbeds {

enum class GuestKind { kUml, kQemu };

// A machine of its own, whose NICs connect to vhost-user sockets.
struct GuestSpec : HostSetup {
  GuestKind kind = GuestKind::kUml;
  unsigned memory_mib = 192;
  unsigned cpus = 1;  // user-mode Linux has one
  RootLayer root;
  std::vector<LaidFile> files;
  std::filesystem::path kernel;  // empty: ours
};

// Those of its setup, and everything that a kernel command line could not carry.
std::vector<Error> errors_of(const GuestSpec& spec);

}  // namespace softspine::testbeds

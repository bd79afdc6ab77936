// SPDX-License-Identifier: Apache-2.0
// A network namespace of ours: nameless, so that the kernel itself removes it, with all that is in it, when the last
// process or descriptor that holds it is gone, however that happens. Needs CAP_SYS_ADMIN.
// To look inside while it lives: nsenter --net=/proc/PID/ns/net, PID being any process in it.
#pragma once

#include <expected>
#include <functional>

#include "testbeds/process/error.hpp"
#include "testbeds/process/kept_process.hpp"

namespace softspine::testbeds {

class NetworkNamespace {
 public:
  static std::expected<NetworkNamespace, Error> make();

  // Runs `action` with this thread in the namespace: sockets and TAPs that it opens belong there for good, processes
  // that it starts live there. A thread that can't come back ends the program: it would do its work in the wrong place.
  std::expected<void, Error> within(const std::function<void()>& action) const;

 private:
  explicit NetworkNamespace(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  Descriptor descriptor_;
};

}  // namespace softspine::testbeds

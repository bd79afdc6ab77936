// SPDX-License-Identifier: Apache-2.0
// A network namespace. One that we make has no name, so that the kernel itself removes it, with all that is in it,
// when the last process or descriptor that holds it is gone, however that happens. Needs CAP_SYS_ADMIN. To look
// inside while it lives: nsenter --net=/proc/PID/ns/net, PID being any process in it.
#pragma once

#include <expected>
#include <filesystem>
#include <functional>

#include "dataplane/edge/owned_fd.hpp"
#include "testbeds/process/kept_process.hpp"
#include "testbeds/process/outside_error.hpp"

namespace softspine::testbeds {

class NetworkNamespace {
 public:
  static std::expected<NetworkNamespace, Error> make();
  // An existing namespace, by its file (/proc/PID/ns/net or one in /run/netns). The namespace is held as long as this
  // object lives.
  static std::expected<NetworkNamespace, Error> at(const std::filesystem::path& file);

  // Runs `action` with this thread in the namespace: sockets and TAPs that it opens belong there for good, processes
  // that it starts live there. Where the thread may not return to its own namespace (`unshare -r`), another one runs
  // `action`, and ends.
  std::expected<void, Error> within(const std::function<void()>& action) const;
  int descriptor() const { return descriptor_.get(); }
  // What at() has opened may be any file.
  bool is_one() const;
  // True if it is this process's own.
  bool is_ours() const;

 private:
  std::expected<void, Error> within_for_good(const std::function<void()>& action) const;
  explicit NetworkNamespace(dataplane::OwnedFd descriptor) : descriptor_(std::move(descriptor)) {}
  dataplane::OwnedFd descriptor_;
};

}  // namespace softspine::testbeds

// SPDX-License-Identifier: Apache-2.0
#include "testbeds/namespaces/network_namespace.hpp"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

namespace softspine::testbeds {

using dataplane::OwnedFd;

namespace {

constexpr const char* kOfThisThread = "/proc/thread-self/ns/net";

Error failed(const char* call) {
  const int number = errno;
  const char* cure = number == EPERM ? " (a namespace host needs root, or CAP_SYS_ADMIN and CAP_NET_ADMIN)" : "";
  return {"network namespace", std::string{call} + ": " + std::strerror(number) + cure};
}

// In a thread of its own, which need not come back to the namespace that we are in.
void in_another_thread(const std::function<void()>& work) {
  std::jthread{work}.join();
}

// Brings the thread back to where it was, if it has left.
class WayBack {
 public:
  WayBack() : home_(open(kOfThisThread, O_RDONLY | O_CLOEXEC)) {}
  ~WayBack() {
    if (left_ && setns(home_.get(), CLONE_NEWNET) != 0) std::terminate();
  }
  WayBack(const WayBack&) = delete;
  WayBack& operator=(const WayBack&) = delete;
  bool known() const { return home_.get() >= 0; }
  // A process that is root by `unshare -r` may make namespaces and enter them, but cannot return to the one it was
  // started in: that belongs to others.
  bool exists() const { return setns(home_.get(), CLONE_NEWNET) == 0; }
  void leave() { left_ = true; }

 private:
  OwnedFd home_;
  bool left_ = false;
};

}  // namespace

std::expected<NetworkNamespace, Error> NetworkNamespace::make() {
  std::expected<NetworkNamespace, Error> made = std::unexpected(Error{});
  in_another_thread([&made] {
    if (unshare(CLONE_NEWNET) != 0) {
      made = std::unexpected(failed("unshare"));
    } else {
      made = at(kOfThisThread);
    }
  });
  return made;
}

std::expected<NetworkNamespace, Error> NetworkNamespace::at(const std::filesystem::path& file) {
  OwnedFd descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor.get() < 0) return std::unexpected(failed(file.c_str()));
  return NetworkNamespace(std::move(descriptor));
}

bool NetworkNamespace::is_one() const {
  return ioctl(descriptor_.get(), NS_GET_NSTYPE) == CLONE_NEWNET;
}

bool NetworkNamespace::is_ours() const {
  struct stat its{};
  struct stat ours{};
  return fstat(descriptor_.get(), &its) == 0 && stat("/proc/self/ns/net", &ours) == 0 && its.st_ino == ours.st_ino &&
         its.st_dev == ours.st_dev;
}

std::expected<void, Error> NetworkNamespace::within(const std::function<void()>& action) const {
  WayBack way_back;
  if (!way_back.known()) return std::unexpected(failed(kOfThisThread));
  if (!way_back.exists()) return within_for_good(action);
  if (setns(descriptor_.get(), CLONE_NEWNET) != 0) return std::unexpected(failed("setns"));
  way_back.leave();
  action();
  return {};
}

std::expected<void, Error> NetworkNamespace::within_for_good(const std::function<void()>& action) const {
  std::expected<void, Error> done;
  in_another_thread([&] {
    if (setns(descriptor_.get(), CLONE_NEWNET) != 0) {
      done = std::unexpected(failed("setns"));
    } else {
      action();
    }
  });
  return done;
}

}  // namespace softspine::testbeds

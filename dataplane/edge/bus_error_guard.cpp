// SPDX-License-Identifier: Apache-2.0
#include "dataplane/edge/bus_error_guard.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>

#include "dataplane/edge/owned_fd.hpp"

namespace softspine::dataplane {

namespace {

struct sigaction previous;

// Reads /proc/self/maps with nothing but what a signal handler may call: open, read, close.
class MapsReader {
 public:
  MapsReader() : fd_(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}

  // "begin-end rwxs …": whether `address` lies in a mapping that is shared with someone.
  bool is_shared(uintptr_t address) {
    for (;;) {
      const uintptr_t begin = number();
      const uintptr_t end = number();
      if (ended_) return false;
      for (int i = 0; i < 3; ++i) next();
      const bool shared = next() == 's';
      if (address >= begin && address < end) return shared;
      while (!ended_ && next() != '\n') continue;
    }
  }

 private:
  uintptr_t number() {
    uintptr_t value = 0;
    for (;;) {
      const char c = next();
      if (c >= '0' && c <= '9') {
        value = value << 4 | static_cast<uintptr_t>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        value = value << 4 | static_cast<uintptr_t>(c - 'a' + 10);
      } else {
        return value;
      }
    }
  }
  char next() {
    if (at_ == filled_) {
      filled_ = fd_ ? read(fd_.get(), buffer_.data(), buffer_.size()) : 0;
      at_ = 0;
      if (filled_ <= 0) {
        filled_ = 0;
        ended_ = true;
        return '\n';
      }
    }
    return buffer_[static_cast<size_t>(at_++)];
  }
  OwnedFd fd_;
  std::array<char, 4096> buffer_;
  ssize_t filled_ = 0;
  ssize_t at_ = 0;
  bool ended_ = false;
};

bool replace_page(uintptr_t address) {
  // A mapping of huge pages can only be replaced a huge page at a time.
  for (const uintptr_t size : {uintptr_t{4096}, uintptr_t{2} << 20}) {
    void* page = reinterpret_cast<void*>(address & ~(size - 1));
    if (mmap(page, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page) return true;
  }
  return false;
}

void on_bus_error(int number, siginfo_t* info, void*) {
  const int saved = errno;
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  const bool ours = info->si_code == BUS_ADRERR && MapsReader{}.is_shared(address) && replace_page(address);
  errno = saved;
  if (!ours) sigaction(number, &previous, nullptr);  // on return the access faults again, and this one decides
}

}  // namespace

void install_bus_error_guard() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action{};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigfillset(&action.sa_mask);
    sigaction(SIGBUS, &action, &previous);
  });
}

}  // namespace softspine::dataplane

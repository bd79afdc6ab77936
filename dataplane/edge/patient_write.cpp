// SPDX-License-Identifier: Apache-2.0
#include "dataplane/edge/patient_write.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace softspine::dataplane {

namespace {

constexpr std::chrono::milliseconds kLookEvery{100};

// False: the reader was given up.
bool wait_for_room(int file, const std::atomic<bool>* ending) noexcept {
  pollfd waiting{.fd = file, .events = POLLOUT, .revents = 0};
  std::chrono::milliseconds waited{0};
  while (::poll(&waiting, 1, static_cast<int>(kLookEvery.count())) == 0) {
    if (ending == nullptr || !ending->load(std::memory_order_relaxed)) continue;
    waited += kLookEvery;
    if (waited >= kLastWait) return false;
  }
  return true;
}

}  // namespace

void stop_blocking(int file) noexcept {
  ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) | O_NONBLOCK);
}

Written write_patiently(int file, const void* bytes, size_t count, const std::atomic<bool>* ending) noexcept {
  Written out;
  while (out.bytes < count) {
    const ssize_t n = ::write(file, static_cast<const char*>(bytes) + out.bytes, count - out.bytes);
    if (n >= 0) {
      out.bytes += static_cast<size_t>(n);
    } else if (errno == EAGAIN) {
      if (!wait_for_room(file, ending)) out.error = ETIMEDOUT;
    } else if (errno != EINTR) {
      out.error = errno;
    }
    if (out.error != 0) break;
  }
  return out;
}

std::string why_not_written(int error) {
  if (error == EPIPE) return "its reader has gone";
  return error == ETIMEDOUT ? "its reader takes nothing" : std::strerror(error);
}

}  // namespace softspine::dataplane

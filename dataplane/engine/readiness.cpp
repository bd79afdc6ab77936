// SPDX-License-Identifier: Apache-2.0
#include "dataplane/engine/readiness.hpp"

#include <sys/epoll.h>

namespace softspine::dataplane {

bool Readiness::watch(int descriptor, void* whose, Mode mode) {
  if (!epoll_) epoll_ = OwnedFd{epoll_create1(EPOLL_CLOEXEC)};
  epoll_event event{};
  event.events = mode == Mode::kNews ? EPOLLIN | EPOLLET : EPOLLIN;
  event.data.ptr = whose;
  return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0;
}

uint32_t Readiness::look(std::array<void*, kMost>& news) noexcept {
  std::array<epoll_event, kMost> events;
  const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) news[static_cast<size_t>(i)] = events[static_cast<size_t>(i)].data.ptr;
  return count > 0 ? static_cast<uint32_t>(count) : 0;
}

}  // namespace softspine::dataplane

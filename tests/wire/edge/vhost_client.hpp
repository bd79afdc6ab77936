// SPDX-License-Identifier: Apache-2.0
// The driver's side of a vhost-user socket, message by message.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "dataplane/edge/owned_fd.hpp"

namespace softspine::dataplane {

inline OwnedFd connect_to(const std::string& path) {
  OwnedFd fd{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return OwnedFd{};
  return fd;
}

// At most eight descriptors. False: the other side has left, or takes nothing now.
inline bool send_request(const OwnedFd& to, uint32_t request, uint32_t flags, std::vector<uint32_t> payload,
                         const std::vector<int>& descriptors = {}) {
  payload.insert(payload.begin(), {request, flags, static_cast<uint32_t>(payload.size() * 4)});
  iovec part{payload.data(), payload.size() * 4};
  alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))]{};
  msghdr message{.msg_iov = &part, .msg_iovlen = 1};
  if (!descriptors.empty()) {
    const size_t bytes = descriptors.size() * sizeof(int);
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    *head = {.cmsg_len = CMSG_LEN(bytes), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    std::memcpy(CMSG_DATA(head), descriptors.data(), bytes);
  }
  return sendmsg(to.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(part.iov_len);
}

}  // namespace softspine::dataplane

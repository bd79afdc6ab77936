// SPDX-License-Identifier: Apache-2.0
#include "dataplane/edge/kernel_drops.hpp"

#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace softspine::dataplane {

namespace {

EdgeError failed(const std::string& interface, const char* call) {
  return {interface, std::string{call} + ": " + std::strerror(errno)};
}

struct Question {
  nlmsghdr header;
  ifinfomsg link;
};

// The 64-bit statistics among the attributes of a link's answer.
uint64_t dropped_in(const char* answer, size_t bytes) {
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer);
  if (!NLMSG_OK(header, bytes) || header->nlmsg_type != RTM_NEWLINK) return 0;
  auto left = static_cast<int>(IFLA_PAYLOAD(header));
  const auto* link = static_cast<const ifinfomsg*>(NLMSG_DATA(header));
  for (const rtattr* it = IFLA_RTA(link); RTA_OK(it, left); it = RTA_NEXT(it, left)) {
    if (it->rta_type != IFLA_STATS64 || RTA_PAYLOAD(it) < sizeof(uint64_t) * 8) continue;
    rtnl_link_stats64 statistics{};
    std::memcpy(&statistics, RTA_DATA(it), std::min(sizeof statistics, static_cast<size_t>(RTA_PAYLOAD(it))));
    return statistics.tx_dropped;
  }
  return 0;
}

}  // namespace

std::expected<KernelDrops, EdgeError> KernelDrops::open(const std::string& interface) {
  OwnedFd fd{socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE)};
  if (!fd) return std::unexpected(failed(interface, "socket"));
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  const OwnedFd control{socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (!control || ioctl(control.get(), SIOCGIFINDEX, &request) != 0) {
    return std::unexpected(failed(interface, "SIOCGIFINDEX"));
  }
  return KernelDrops{std::move(fd), request.ifr_ifindex};
}

uint64_t KernelDrops::count() const noexcept {
  Question question{};
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = RTM_GETLINK;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.link.ifi_family = AF_UNSPEC;
  question.link.ifi_index = index_;
  if (send(fd_.get(), &question, sizeof question, 0) != static_cast<ssize_t>(sizeof question)) return 0;
  // The kernel has answered when send() returns.
  alignas(nlmsghdr) char answer[16'384];
  const ssize_t got = recv(fd_.get(), answer, sizeof answer, 0);
  return got > 0 ? dropped_in(answer, static_cast<size_t>(got)) : 0;
}

}  // namespace softspine::dataplane

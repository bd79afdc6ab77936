// SPDX-License-Identifier: Apache-2.0
#include "dataplane/edge/kernel_interface.hpp"

#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>

namespace softspine::dataplane {

EdgeError call_failed(const std::string& interface, const char* call) {
  return {interface, std::string{call} + ": " + std::strerror(errno)};
}

namespace {

struct Question {
  nlmsghdr header;
  ifinfomsg link;
};

// The one byte of an attribute of a link's answer; nothing if it has none.
std::optional<uint8_t> byte_in(const nlmsghdr* header, unsigned short type) {
  auto left = static_cast<int>(IFLA_PAYLOAD(header));
  for (const rtattr* it = IFLA_RTA(static_cast<const ifinfomsg*>(NLMSG_DATA(header))); RTA_OK(it, left);
       it = RTA_NEXT(it, left)) {
    if (it->rta_type == type && RTA_PAYLOAD(it) >= 1) return *static_cast<const uint8_t*>(RTA_DATA(it));
  }
  return std::nullopt;
}

// The 64-bit statistics among the attributes of a link's answer.
std::optional<uint64_t> dropped_in(const nlmsghdr* header) {
  auto left = static_cast<int>(IFLA_PAYLOAD(header));
  const auto* link = static_cast<const ifinfomsg*>(NLMSG_DATA(header));
  for (const rtattr* it = IFLA_RTA(link); RTA_OK(it, left); it = RTA_NEXT(it, left)) {
    if (it->rta_type != IFLA_STATS64 || RTA_PAYLOAD(it) < sizeof(uint64_t) * 8) continue;
    rtnl_link_stats64 statistics{};
    std::memcpy(&statistics, RTA_DATA(it), std::min(sizeof statistics, static_cast<size_t>(RTA_PAYLOAD(it))));
    return statistics.tx_dropped;
  }
  return std::nullopt;
}

bool says_no_such_device(const nlmsghdr* header) {
  if (header->nlmsg_type != NLMSG_ERROR || header->nlmsg_len < NLMSG_LENGTH(sizeof(nlmsgerr))) return false;
  return static_cast<const nlmsgerr*>(NLMSG_DATA(header))->error == -ENODEV;
}

}  // namespace

struct KernelInterface::Change {
  nlmsghdr header;
  ifinfomsg link;
  rtattr attribute;  // none, if its length is 0
  uint32_t value;
};

struct KernelInterface::Answer {
  bool gone = false;
  std::optional<uint64_t> dropped;
  std::optional<State> state;
};

std::expected<KernelInterface, EdgeError> KernelInterface::open(const std::string& name) {
  OwnedFd fd{socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE)};
  if (!fd) return std::unexpected(call_failed(name, "socket"));
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  OwnedFd control{socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE)};
  if (!control || ioctl(control.get(), SIOCGIFINDEX, &request) != 0) {
    return std::unexpected(call_failed(name, "SIOCGIFINDEX"));
  }
  return KernelInterface{std::move(fd), std::move(control), request.ifr_ifindex, name};
}

// Nothing is known if the kernel does not answer.
KernelInterface::Answer KernelInterface::ask() const noexcept {
  Question question{};
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = RTM_GETLINK;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.link.ifi_family = AF_UNSPEC;
  question.link.ifi_index = index_;
  if (send(fd_.get(), &question, sizeof question, 0) != static_cast<ssize_t>(sizeof question)) return {};
  // The kernel has answered when send() returns.
  alignas(nlmsghdr) char answer[16'384];
  const ssize_t got = recv(fd_.get(), answer, sizeof answer, 0);
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer);
  if (got <= 0 || !NLMSG_OK(header, static_cast<size_t>(got))) return {};
  if (header->nlmsg_type != RTM_NEWLINK) {
    return {.gone = says_no_such_device(header), .dropped = std::nullopt, .state = std::nullopt};
  }
  const bool up = (static_cast<const ifinfomsg*>(NLMSG_DATA(header))->ifi_flags & IFF_UP) != 0;
  const bool carrier = up && byte_in(header, IFLA_CARRIER).value_or(1) != 0;
  return {.gone = false, .dropped = dropped_in(header), .state = State{.up = up, .carrier = carrier}};
}

std::optional<KernelInterface::State> KernelInterface::state() const noexcept {
  return ask().state;
}

std::expected<void, EdgeError> KernelInterface::set_up(bool up) const {
  Change change{};
  change.link.ifi_flags = up ? IFF_UP : 0;
  change.link.ifi_change = IFF_UP;
  return make(change, up ? "setting it up" : "setting it down");
}

// Not by SIOCSIFTXQLEN, which asks for rights over the whole machine: root of a user namespace has none.
std::expected<void, EdgeError> KernelInterface::set_queue_length(uint32_t frames) const {
  Change change{};
  change.attribute = {.rta_len = RTA_LENGTH(sizeof frames), .rta_type = IFLA_TXQLEN};
  change.value = frames;
  return make(change, "setting its queue's length");
}

std::expected<void, EdgeError> KernelInterface::make(Change& change, const char* what) const {
  const bool has_value = change.attribute.rta_len != 0;
  change.header.nlmsg_len = has_value ? sizeof change : offsetof(Change, attribute);
  change.header.nlmsg_type = RTM_NEWLINK;
  change.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
  change.link.ifi_family = AF_UNSPEC;
  change.link.ifi_index = index_;
  if (send(control_.get(), &change, change.header.nlmsg_len, 0) != static_cast<ssize_t>(change.header.nlmsg_len)) {
    return std::unexpected(call_failed(name_, "RTM_NEWLINK"));
  }
  struct {
    nlmsghdr header;
    nlmsgerr error;
    char rest[512];
  } answer{};
  const ssize_t got = recv(control_.get(), &answer, sizeof answer, 0);
  const bool answered = got >= static_cast<ssize_t>(NLMSG_LENGTH(sizeof(nlmsgerr)));
  if (answered && answer.header.nlmsg_type == NLMSG_ERROR && answer.error.error == 0) return {};
  errno = answered ? -answer.error.error : EIO;
  return std::unexpected(call_failed(name_, what));
}

bool KernelInterface::is_gone() const noexcept {
  return ask().gone;
}

uint64_t KernelInterface::dropped() const noexcept {
  dropped_ = ask().dropped.value_or(dropped_);
  return dropped_;
}

}  // namespace softspine::dataplane

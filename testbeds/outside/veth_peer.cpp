// SPDX-License-Identifier: Apache-2.0
#include "testbeds/outside/veth_peer.hpp"

#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "dataplane/edge/owned_fd.hpp"

namespace softspine::testbeds {

using dataplane::OwnedFd;

namespace {

namespace fs = std::filesystem;

// One attribute of an answer, checked to lie within it.
struct Attribute {
  int type;
  std::string_view value;
};

std::vector<Attribute> attributes_in(std::string_view bytes) {
  std::vector<Attribute> found;
  while (bytes.size() >= sizeof(rtattr)) {
    rtattr head;
    std::memcpy(&head, bytes.data(), sizeof head);
    if (head.rta_len < sizeof head || head.rta_len > bytes.size()) break;
    found.push_back({head.rta_type & NLA_TYPE_MASK, bytes.substr(sizeof head, head.rta_len - sizeof head)});
    bytes.remove_prefix(std::min<size_t>(RTA_ALIGN(head.rta_len), bytes.size()));
  }
  return found;
}

std::optional<std::string_view> value_of(const std::vector<Attribute>& attributes, int type) {
  const auto found = std::ranges::find(attributes, type, &Attribute::type);
  return found == attributes.end() ? std::nullopt : std::optional{found->value};
}

std::optional<int> number_of(const std::vector<Attribute>& attributes, int type) {
  const auto value = value_of(attributes, type);
  int number = 0;
  if (!value || value->size() < sizeof number) return std::nullopt;
  std::memcpy(&number, value->data(), sizeof number);
  return number;
}

// Asks the kernel one thing; an answer's body, without its headers. Nothing when it refuses.
template <typename Body>
std::optional<std::string> ask(uint16_t type, const Body& body) {
  const OwnedFd kernel(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  struct Question {
    nlmsghdr head;
    Body body;
  } question{};
  question.head.nlmsg_len = sizeof question;
  question.head.nlmsg_type = type;
  question.head.nlmsg_flags = NLM_F_REQUEST;
  question.body = body;
  if (send(kernel.get(), &question, sizeof question, 0) < 0) return std::nullopt;
  std::vector<char> answer(65536);
  const ssize_t got = recv(kernel.get(), answer.data(), answer.size(), 0);
  nlmsghdr head{};
  if (got < static_cast<ssize_t>(sizeof head)) return std::nullopt;
  std::memcpy(&head, answer.data(), sizeof head);
  if (head.nlmsg_type == NLMSG_ERROR || head.nlmsg_len > static_cast<size_t>(got)) return std::nullopt;
  return std::string(answer.data() + NLMSG_HDRLEN, head.nlmsg_len - NLMSG_HDRLEN);
}

struct VethLink {
  int peer_index;
  std::optional<int> peer_space;  // the id of its namespace; none: ours
};

std::optional<VethLink> veth_link(unsigned index) {
  ifinfomsg body{};
  body.ifi_index = static_cast<int>(index);
  const auto answer = ask(RTM_GETLINK, body);
  if (!answer || answer->size() < sizeof body) return std::nullopt;
  const auto attributes = attributes_in(std::string_view(*answer).substr(sizeof body));
  const auto information = value_of(attributes, IFLA_LINKINFO);
  if (!information) return std::nullopt;
  const auto kind = value_of(attributes_in(*information), IFLA_INFO_KIND);
  if (!kind || !kind->starts_with("veth")) return std::nullopt;
  const auto peer = number_of(attributes, IFLA_LINK);
  if (!peer) return std::nullopt;
  return VethLink{*peer, number_of(attributes, IFLA_LINK_NETNSID)};
}

std::optional<int> id_of(const NetworkNamespace& space) {
  struct {
    rtgenmsg family;
    std::array<char, NLMSG_ALIGN(sizeof(rtgenmsg)) - sizeof(rtgenmsg)> padding;
    rtattr head;
    int descriptor;
  } body{};
  body.head = {.rta_len = static_cast<unsigned short>(RTA_LENGTH(sizeof(int))), .rta_type = NETNSA_FD};
  body.descriptor = space.descriptor();
  const auto answer = ask(RTM_GETNSID, body);
  if (!answer || answer->size() < NLMSG_ALIGN(sizeof(rtgenmsg))) return std::nullopt;
  return number_of(attributes_in(std::string_view(*answer).substr(NLMSG_ALIGN(sizeof(rtgenmsg)))), NETNSA_NSID);
}

std::vector<fs::path> places_of_namespaces() {
  std::vector<fs::path> places;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/run/netns", ignored)) places.push_back(entry.path());
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename().string();
    if (std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; })) {
      places.push_back(entry.path() / "ns" / "net");
    }
  }
  return places;
}

std::optional<NetworkNamespace> find_namespace(int id) {
  std::set<ino_t> seen;
  for (const fs::path& place : places_of_namespaces()) {
    struct stat what{};
    if (stat(place.c_str(), &what) != 0 || !seen.insert(what.st_ino).second) continue;
    auto space = NetworkNamespace::at(place);
    if (space && id_of(*space) == id) return std::move(*space);
  }
  return std::nullopt;
}

std::string name_of(int index) {
  std::array<char, IF_NAMESIZE> name{};
  return if_indextoname(static_cast<unsigned>(index), name.data()) == nullptr ? "" : name.data();
}

}  // namespace

std::expected<void, Error> VethPeer::within(const std::function<void()>& action) const {
  if (space) return space->within(action);
  action();
  return {};
}

std::expected<std::optional<VethPeer>, Error> veth_peer_of(const std::string& interface) {
  const auto link = veth_link(if_nametoindex(interface.c_str()));
  if (!link) return std::optional<VethPeer>{};
  VethPeer peer;
  if (link->peer_space) {
    peer.space = find_namespace(*link->peer_space);
    if (!peer.space)
      return std::unexpected(Error{interface, "its other end is in a network namespace that is out of reach"});
  }
  auto done = peer.within([&] { peer.interface = name_of(link->peer_index); });
  if (!done) return std::unexpected(Error{interface, "its other end is out of reach: " + done.error().message});
  if (peer.interface.empty()) return std::unexpected(Error{interface, "its other end is not to be found"});
  return std::optional(std::move(peer));
}

}  // namespace softspine::testbeds

// SPDX-License-Identifier: Apache-2.0
// Names of the fabric's hosts for programs that exchange their addresses by TCP over this machine: each host has a
// loopback address of its own, and a program that listens on any address listens on its host's. So two hosts can have
// servers on one port, and `ib_write_bw h1` reaches the one on h1, without rights.
//
// A connection to another host comes from the host's own address, and says when asked (getsockname) that this is the
// one that it has in the fabric: by that, programs choose their RDMA device.
//
// Preloaded into the programs of a verbs host. $SOFTSPINE_HOSTS names the file of them,
// $SOFTSPINE_ADDRESS is the host's own, $SOFTSPINE_FABRIC_ADDRESS that in the fabric. Without them nothing is changed.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "testbeds/verbs_device/library/fabric_names.hpp"

namespace {

// The host's loopback address; null: it is no host of the fabric.
const char* find_address(const char* name, softspine::testbeds::FabricName& found) {
  const auto is_it = [name](const softspine::testbeds::FabricName& each) { return std::strcmp(each.name, name) == 0; };
  return name != nullptr && softspine::testbeds::find_fabric_name(is_it, found) ? found.loopback : nullptr;
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool address_in(const char* variable, in_addr& out) {
  const char* const text = std::getenv(variable);
  return text != nullptr && inet_pton(AF_INET, text, &out) == 1;
}
bool own_address(in_addr& out) {
  return address_in("SOFTSPINE_ADDRESS", out);
}

// The IPv4 address in an address of either family; null: it has none.
in_addr* ipv4_in(sockaddr* address, socklen_t bytes) {
  if (address->sa_family == AF_INET && bytes >= sizeof(sockaddr_in))
    return &reinterpret_cast<sockaddr_in*>(address)->sin_addr;
  if (address->sa_family != AF_INET6 || bytes < sizeof(sockaddr_in6)) return nullptr;
  in6_addr& wide = reinterpret_cast<sockaddr_in6*>(address)->sin6_addr;
  return IN6_IS_ADDR_V4MAPPED(&wide) ? reinterpret_cast<in_addr*>(wide.s6_addr + 12) : nullptr;
}

// 127.64.0.0/10: a host of a fabric.
bool is_of_fabric(const in_addr& address) {
  return (ntohl(address.s_addr) & 0xffc00000) == 0x7f400000;
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** out) {
  static const auto real = next<decltype(&getaddrinfo)>("getaddrinfo");
  softspine::testbeds::FabricName found;
  const char* const address = find_address(name, found);
  return real(address != nullptr ? address : name, service, hints, out);
}

hostent* gethostbyname(const char* name) {
  static const auto real = next<decltype(&gethostbyname)>("gethostbyname");
  softspine::testbeds::FabricName found;
  const char* const address = find_address(name, found);
  return real(address != nullptr ? address : name);
}

// Any address becomes the host's own, of either family.
int bind(int socket, const sockaddr* wanted, socklen_t bytes) {
  static const auto real = next<decltype(&bind)>("bind");
  in_addr own{};
  if (wanted != nullptr && wanted->sa_family == AF_INET && bytes >= sizeof(sockaddr_in) && own_address(own)) {
    sockaddr_in address;
    std::memcpy(&address, wanted, sizeof address);
    if (address.sin_addr.s_addr == htonl(INADDR_ANY)) address.sin_addr = own;
    return real(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  if (wanted != nullptr && wanted->sa_family == AF_INET6 && bytes >= sizeof(sockaddr_in6) && own_address(own)) {
    sockaddr_in6 address;
    std::memcpy(&address, wanted, sizeof address);
    int only = 0;
    socklen_t length = sizeof only;
    getsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &only, &length);
    if (only == 0 && IN6_IS_ADDR_UNSPECIFIED(&address.sin6_addr)) {
      address.sin6_addr = in6_addr{};
      address.sin6_addr.s6_addr[10] = address.sin6_addr.s6_addr[11] = 0xff;
      std::memcpy(address.sin6_addr.s6_addr + 12, &own, sizeof own);
    }
    return real(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  return real(socket, wanted, bytes);
}

// A socket that is bound already stays so.
int connect(int socket, const sockaddr* to, socklen_t bytes) {
  static const auto real = next<decltype(&connect)>("connect");
  static const auto bind_it = next<decltype(&bind)>("bind");
  sockaddr_in own{};
  own.sin_family = AF_INET;
  if (to != nullptr && to->sa_family == AF_INET && bytes >= sizeof(sockaddr_in) && own_address(own.sin_addr)) {
    sockaddr_in address;
    std::memcpy(&address, to, sizeof address);
    if (is_of_fabric(address.sin_addr))
      static_cast<void>(bind_it(socket, reinterpret_cast<const sockaddr*>(&own), sizeof own));
  }
  return real(socket, to, bytes);
}

int getsockname(int socket, sockaddr* out, socklen_t* bytes) {
  static const auto real = next<decltype(&getsockname)>("getsockname");
  const socklen_t room = bytes == nullptr ? 0 : *bytes;
  const int done = real(socket, out, bytes);
  in_addr own{};
  in_addr in_fabric{};
  in_addr* const found = done == 0 && room >= sizeof(sockaddr) ? ipv4_in(out, std::min(room, *bytes)) : nullptr;
  if (found == nullptr || !own_address(own) || !address_in("SOFTSPINE_FABRIC_ADDRESS", in_fabric)) return done;
  if (found->s_addr == own.s_addr) *found = in_fabric;
  return done;
}
}

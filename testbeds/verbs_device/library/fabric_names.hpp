// SPDX-License-Identifier: Apache-2.0
// What $SOFTSPINE_HOSTS says of the fabric's hosts: lines "loopback address, name, address in the fabric".
#pragma once

#include <arpa/inet.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace softspine::testbeds {

struct FabricName {
  char loopback[INET6_ADDRSTRLEN];
  char name[256];
  char address[INET6_ADDRSTRLEN];
};

// The first line that `is_it` likes; false: there is none.
template <typename IsIt>
bool find_fabric_name(IsIt&& is_it, FabricName& out) {
  const char* const path = std::getenv("SOFTSPINE_HOSTS");
  std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "re");
  if (file == nullptr) return false;
  char line[512];
  bool is_found = false;
  while (!is_found && std::fgets(line, sizeof line, file) != nullptr) {
    is_found = std::sscanf(line, "%45s %255s %45s", out.loopback, out.name, out.address) == 3 && is_it(out);
  }
  std::fclose(file);
  return is_found;
}

// A socket address of 28 bytes: one on the loopback that stands for a host becomes the host's in the fabric, and
// 127.0.0.1 the own host's.
inline void put_fabric_address(uint8_t* place) {
  sockaddr_in address;
  std::memcpy(&address, place, sizeof address);
  char text[INET_ADDRSTRLEN];
  if (address.sin_family != AF_INET || inet_ntop(AF_INET, &address.sin_addr, text, sizeof text) == nullptr) return;
  const char* const own = std::getenv("SOFTSPINE_FABRIC_ADDRESS");
  if (ntohl(address.sin_addr.s_addr) == INADDR_LOOPBACK && own != nullptr) {
    if (inet_pton(AF_INET, own, &address.sin_addr) == 1) std::memcpy(place, &address, sizeof address);
    return;
  }
  FabricName found;
  if (!find_fabric_name([&](const FabricName& each) { return std::strcmp(each.loopback, text) == 0; }, found)) return;
  if (inet_pton(AF_INET, found.address, &address.sin_addr) == 1) std::memcpy(place, &address, sizeof address);
}

}  // namespace softspine::testbeds

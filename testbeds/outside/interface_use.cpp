// SPDX-License-Identifier: Apache-2.0
#include "testbeds/outside/interface_use.hpp"

#include <net/if.h>

#include <charconv>

namespace softspine::testbeds {

namespace {

constexpr size_t kInterfacesNamed = 20;

// "lo, eth0"
std::string interfaces_here() {
  std::string out;
  struct if_nameindex* const all = if_nameindex();
  size_t count = 0;
  for (const struct if_nameindex* it = all; it != nullptr && it->if_index != 0; ++it, ++count) {
    if (count < kInterfacesNamed) out += (out.empty() ? "" : ", ") + std::string(it->if_name);
  }
  if_freenameindex(all);
  if (count > kInterfacesNamed) out += ", and " + std::to_string(count - kInterfacesNamed) + " more";
  return out;
}

void read_number(const std::string& devargs, std::string_view key, uint64_t& out) {
  const std::string text = argument_in(devargs, key);
  std::from_chars(text.data(), text.data() + text.size(), out);
}

}  // namespace

std::string PacketRing::arguments() const {
  return ",framesz=" + std::to_string(frame_bytes) + ",blocksz=" + std::to_string(block_bytes) +
         ",framecnt=" + std::to_string(frames);
}

PacketRing packet_ring(uint32_t mtu) {
  if (mtu <= 1500) return {.frame_bytes = 2048, .block_bytes = 4096, .frames = 2048};
  return {.frame_bytes = 9216, .block_bytes = 36'864, .frames = 512};
}

PacketRing packet_ring_in(const std::string& devargs) {
  PacketRing out;
  read_number(devargs, "framesz", out.frame_bytes);
  read_number(devargs, "blocksz", out.block_bytes);
  read_number(devargs, "framecnt", out.frames);
  return out;
}

std::string argument_in(const std::string& devargs, std::string_view key) {
  const std::string wanted = "," + std::string(key) + "=";
  const size_t at = devargs.find(wanted);
  if (at == std::string::npos) return "";
  const size_t begin = at + wanted.size();
  return devargs.substr(begin, devargs.find(',', begin) - begin);
}

std::string interface_in(const std::string& devargs) {
  return devargs.starts_with("net_tap") ? "" : argument_in(devargs, "iface");
}

std::optional<Error> missing_interface(const std::string& interface) {
  if (if_nametoindex(interface.c_str()) != 0) return std::nullopt;
  return Error{interface, "there is no interface " + interface + "; there are: " + interfaces_here()};
}

}  // namespace softspine::testbeds

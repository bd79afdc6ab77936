// SPDX-License-Identifier: Apache-2.0
// Interfaces of this machine's kernel: TAPs that are to be made, and what is to be there.
#include <fmt/format.h>

#include "testbeds/doctor/looks.hpp"
#include "testbeds/outside/interface_use.hpp"

namespace softspine::testbeds {

namespace {

void look_at_tun(const Examination& it, Findings& out) {
  Finding finding{.what = "/dev/net/tun", .fact = "can be opened", .mend = {}};
  if (const std::string obstacle = it.machine.why_not_open("dev/net/tun"); !obstacle.empty()) {
    finding.state = State::kMissing;
    finding.fact = "cannot be opened: " + obstacle;
    finding.mend = it.machine.has("dev/net/tun")
                       ? "as root: modprobe tun; chmod 666 /dev/net/tun"
                       : "as root: modprobe tun; mkdir -p /dev/net; mknod -m 666 /dev/net/tun c 10 200";
  }
  out.push_back(finding);
}

void look_at_taps(const Examination& it, Findings& out) {
  for (const AskedInterface& asked : it.asked.taps) {
    Finding finding{.what = "interface " + asked.name, .fact = asked.host + ": will be made", .mend = {}};
    const auto here = it.machine.calls().interface(asked.name);
    if (here && here->driver == "tun") {
      finding.fact = asked.host + ": is there, a TAP";
    } else if (here) {
      finding.state = State::kMissing;
      finding.fact = fmt::format("{}: is there, and no TAP (driver {})", asked.host, here->driver);
      finding.mend = "as root: ip link delete " + asked.name;
    }
    out.push_back(finding);
  }
}

// Linux takes 256 bytes of a page before a frame and 320 behind it, Ethernet 14: a veth takes no XDP program when its
// other end has a larger MTU.
constexpr uint32_t kMaxXdpMtu = 4096 - 256 - 320 - 14;

struct Trouble {
  State state = State::kOk;
  std::string fact;
  std::string mend;
};

// Why no edge can be opened over it; empty: one can.
Trouble obstacle_of(const AskedInterface& asked, const InterfaceHere& here) {
  if (asked.use == Use::kAfPacket && asked.mtu > kMaxPacketMtu) {
    return {State::kMissing,
            fmt::format(", and its link's is {}: an af_packet edge has at most {}", asked.mtu, kMaxPacketMtu),
            fmt::format("mtu: {} of its link", kMaxPacketMtu)};
  }
  if (asked.use == Use::kAfXdp && here.peer_mtu > kMaxXdpMtu) {
    return {
        State::kMissing,
        fmt::format("; its other end {} has {}: a veth takes AF_XDP up to {}", here.peer, here.peer_mtu, kMaxXdpMtu),
        fmt::format("as root: ip link set dev {} mtu {}", here.peer, kMaxXdpMtu)};
  }
  return {};
}

// The loss that a run over it would have.
Trouble shortage_of(const AskedInterface& asked, const InterfaceHere& here) {
  if (!here.up) {
    return {State::kShort, ", set down: so is its link", fmt::format("as root: ip link set dev {} up", asked.name)};
  }
  if (!here.carrier)
    return {State::kShort, ", no carrier: its link is down", "plug its cable in, or set its other end up"};
  if (asked.use == Use::kAfXdp && asked.mtu > kMaxXdpMtu) {
    return {State::kShort,
            fmt::format("; its link's is {}: a frame of AF_XDP lies in a page, longer ones are lost", asked.mtu),
            fmt::format("mtu: {} of its link", kMaxXdpMtu)};
  }
  if (here.mtu >= asked.mtu) return {};
  return {State::kShort, fmt::format(", and its link's is {}: longer frames are lost", asked.mtu),
          fmt::format("as root: ip link set dev {} mtu {}", asked.name, asked.mtu)};
}

Finding interface_found(const AskedInterface& asked, const InterfaceHere& here) {
  Trouble trouble = obstacle_of(asked, here);
  if (trouble.state == State::kOk) trouble = shortage_of(asked, here);
  const std::string fact =
      fmt::format("{}: {}, MTU {}", asked.host, here.driver.empty() ? "there" : here.driver, here.mtu);
  return {"interface " + asked.name, trouble.state, fact + trouble.fact, trouble.mend};
}

void look_at_interfaces(const Examination& it, Findings& out) {
  for (const AskedInterface& asked : it.asked.interfaces) {
    const auto here = it.machine.calls().interface(asked.name);
    if (here) {
      out.push_back(interface_found(asked, *here));
    } else {
      out.push_back({"interface " + asked.name, State::kMissing, asked.host + ": there is none of that name",
                     "another name in FILE: ip link shows those that there are"});
    }
  }
}

void look_at_xdp(const Examination& it, Findings& out) {
  Finding finding{.what = "AF_XDP", .fact = "the kernel has such sockets", .mend = {}};
  if (const std::string obstacle = it.machine.calls().why_no_xdp(); !obstacle.empty()) {
    finding.state = State::kMissing;
    finding.fact = "no such socket: " + obstacle;
    finding.mend = "a kernel with CONFIG_XDP_SOCKETS";
  }
  out.push_back(finding);
}

constexpr Look kInterfaceLooks[] = {
    {"/dev/net/tun", uses(Use::kTap, Use::kNamespace), look_at_tun},
    {"TAP interfaces", uses(Use::kTap), look_at_taps},
    {"interfaces", uses(Use::kAfPacket, Use::kAfXdp, Use::kDpdkPcap), look_at_interfaces},
    {"AF_XDP", uses(Use::kAfXdp), look_at_xdp},
};

}  // namespace

std::span<const Look> interface_looks() {
  return kInterfaceLooks;
}

}  // namespace softspine::testbeds

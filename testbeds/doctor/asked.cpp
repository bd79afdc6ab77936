// SPDX-License-Identifier: Apache-2.0
#include "testbeds/doctor/asked.hpp"

#include <algorithm>
#include <array>

#include "testbeds/outside/interface_use.hpp"
#include "testbeds/outside/outside_spec.hpp"

namespace softspine::testbeds {

namespace {

class Reader {
 public:
  explicit Reader(Asked& out) : out_(out) {}

  void read(const OutsideSpec& spec) {
    spec_ = &spec;
    if (const auto* guest = std::get_if<control::Guest>(&spec.attachment)) {
      out_.used |= uses(guest->kind == control::GuestKind::kQemu ? Use::kQemu : Use::kUml);
    } else if (std::holds_alternative<control::NamespaceHost>(spec.attachment)) {
      out_.used |= uses(Use::kNamespace);
      out_.bonds |= !spec.bond_mode.empty();
      out_.vlans |= spec.vlan != 0;
    } else if (std::holds_alternative<control::VerbsHost>(spec.attachment)) {
      out_.used |= uses(Use::kVerbs);
    } else if (const auto* host = std::get_if<control::EdgeHost>(&spec.attachment)) {
      for (const control::Edge& edge : host->edges) std::visit([this](const auto& kind) { add(kind); }, edge);
    }
  }

 private:
  void add(const control::TapEdge& edge) { add_made(edge.name); }
  void add(const control::AfPacketEdge& edge) {
    add_there(interface(edge.interface, Use::kAfPacket));
    out_.locked_bytes += packet_ring(spec_->mtu).locked_bytes();
  }
  void add(const control::VhostUserEdge&) {}
  void add(const control::PcapEdge&) {}
  void add(const control::DpdkEdge& edge) {
    if (is_pci(edge)) {
      out_.used |= uses(Use::kPci);
      out_.devices.push_back({spec_->name, pci_address(edge.device)});
      return;
    }
    if (edge.device.starts_with("net_tap")) return add_made(argument_in(edge.device, "iface"));
    const std::string named = interface_in(edge.device);
    if (named.empty()) return;
    if (is_xdp(edge)) return add_there(interface(named, Use::kAfXdp));
    if (edge.device.starts_with("net_pcap")) return add_there(interface(named, Use::kDpdkPcap));
    if (edge.device.starts_with("net_af_packet")) {
      out_.locked_bytes += packet_ring_in(edge.device).locked_bytes();
      add_there(interface(named, Use::kAfPacket));
    }
  }
  void add_made(const std::string& name) {
    out_.used |= uses(Use::kTap);
    if (!name.empty()) out_.taps.push_back(interface(name, Use::kTap));
  }
  void add_there(const AskedInterface& interface) {
    out_.used |= uses(interface.use);
    out_.interfaces.push_back(interface);
  }
  AskedInterface interface(const std::string& name, Use use) const { return {spec_->name, name, spec_->mtu, use}; }

  Asked& out_;
  const OutsideSpec* spec_ = nullptr;
};

}  // namespace

std::string words_of(UseSet given) {
  static constexpr std::array<const char*, kUses> kNames = {"TAP edges",
                                                            "AF_PACKET edges",
                                                            "AF_XDP edges",
                                                            "net_pcap on an interface",
                                                            "PCI devices",
                                                            "namespaces",
                                                            "verbs hosts",
                                                            "user-mode Linux guests",
                                                            "QEMU guests",
                                                            "PCI devices under uio_pci_generic",
                                                            "PCI devices under vfio-pci"};
  std::string out;
  for (size_t i = 0; i < kUses; ++i) {
    if ((given >> i & 1) != 0) out += (out.empty() ? "" : ", ") + std::string(kNames[i]);
  }
  return out;
}

Asked asked_by(const control::Testbed& testbed) {
  Asked out{.testbed = &testbed};
  Reader reader(out);
  const auto& nodes = testbed.fabric.nodes;
  for (uint32_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].kind != control::NodeKind::kHost || control::is_builtin(nodes[n].attachment)) continue;
    reader.read(outside_spec(testbed.fabric, n));
  }
  out.need = device_need(testbed);
  out.locked_bytes += out.need.xdp_bytes;
  return out;
}

// Memory: that of one device of each kind.
Asked all_of_it() {
  Asked out;
  out.used = uses(Use::kTap, Use::kAfPacket, Use::kAfXdp, Use::kDpdkPcap, Use::kPci, Use::kNamespace, Use::kVerbs,
                  Use::kUml, Use::kQemu);
  out.bonds = out.vlans = true;
  out.need = device_need(1, {""}, 0);
  out.locked_bytes = packet_ring(1500).locked_bytes() + device_need(1, {}, 1).xdp_bytes;
  return out;
}

}  // namespace softspine::testbeds

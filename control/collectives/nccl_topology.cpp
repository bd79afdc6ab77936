// SPDX-License-Identifier: Apache-2.0
#include "control/collectives/nccl_topology.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <set>
#include <utility>

#include "control/collectives/xml_file.hpp"
#include "control/document/words.hpp"

namespace softspine::control {
namespace {

using dataplane::Rate;
using pugi::xml_node;

constexpr size_t kMaxDevices = 4096;
constexpr uint32_t kMaxLevels = 32;
constexpr uint32_t kMaxNvlinks = 1024;
constexpr uint32_t kNvswitchClass = 0x0680;

struct NvlinkRate {
  uint32_t least_sm;
  int64_t mbps;
};
// 86 is a chip of its own; above it they go on by generations.
constexpr std::array kNvlinkRates{NvlinkRate{100, 320'800}, NvlinkRate{90, 164'800}, NvlinkRate{87, 160'000},
                                  NvlinkRate{86, 96'000},   NvlinkRate{70, 160'000}, NvlinkRate{60, 144'000}};

struct PcieSpeed {
  std::string_view text;  // before " GT/s"
  int64_t mbps_of_16_lanes;
};
constexpr std::array kPcieSpeeds{PcieSpeed{"2.5", 24'000},   PcieSpeed{"5", 48'000},    PcieSpeed{"5.0", 48'000},
                                 PcieSpeed{"8", 96'000},     PcieSpeed{"8.0", 96'000},  PcieSpeed{"16", 192'000},
                                 PcieSpeed{"16.0", 192'000}, PcieSpeed{"32", 384'000},  PcieSpeed{"32.0", 384'000},
                                 PcieSpeed{"64", 768'000},   PcieSpeed{"64.0", 768'000}};

enum class PciKind : uint8_t { kSystem, kCpu, kBridge, kGpu, kNic, kNvswitch };

struct PciDevice {
  PciKind kind = PciKind::kSystem;
  size_t parent = 0;  // of the first: itself
  std::string bus;
  std::string name;
  std::optional<uint32_t> number;
  std::optional<uint32_t> sm;
  uint32_t nvlinks = 0;
  Rate rate;
  Rate pcie;
  xml_node at;
};

class TopologyReader {
 public:
  TopologyReader(std::string_view text, const std::string& file) : file_(text, file) {}

  std::expected<ServerTopology, Errors> run() {
    if (const auto root = file_.read()) read(*root);
    if (!file_.is_good()) return std::unexpected(file_.take_errors());
    return std::move(out_);
  }

 private:
  bool fail(const xml_node& at, std::string message) { return file_.fail(at, std::move(message)); }

  std::optional<uint32_t> number_of(const xml_node& at, const char* name, uint32_t most) {
    const std::string_view text = at.attribute(name).value();
    if (text.empty()) return std::nullopt;
    if (const auto out = whole_number(text, most)) return static_cast<uint32_t>(*out);
    fail(at, std::string(name) + " is a number from 0 to " + std::to_string(most) + ", and here stands " + shown(text));
    return std::nullopt;
  }
  // The upper four of six digits.
  std::optional<uint32_t> class_of(const xml_node& at, const char* name) {
    const std::string_view text = at.attribute(name).value();
    if (text.empty()) {
      fail(at, std::string("needs ") + name);
      return std::nullopt;
    }
    uint32_t out = 0;
    if (text.size() == 8 && text.starts_with("0x")) {
      const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), out, 16);
      if (error == std::errc{} && end == text.data() + text.size()) return out >> 8U;
    }
    fail(at, std::string(name) + " is a PCI class such as 0x030200, and here stands " + shown(text));
    return std::nullopt;
  }

  void read(const xml_node& system) {
    if (std::string_view(system.name()) != "system") {
      fail(system, std::string_view(system.name()) == "graphs"
                       ? "is a graph file of NCCL's (NCCL_GRAPH_DUMP_FILE), and a topology is asked for: <system>"
                       : "expected <system>, and here stands " + shown(system.name()));
      return;
    }
    devices_.push_back({.at = system});
    read_children(system, 0, 1);
    if (!file_.is_good()) return;
    number(PciKind::kGpu, gpus_);
    number(PciKind::kNic, nics_);
    if (gpus_.empty()) fail(system, "has no GPU: no pci of class 0x0300 or 0x0302");
    if (nics_.empty()) fail(system, "has no NIC: neither a pci of class 0x0200 or 0x0207, nor a net");
    if (file_.is_good()) fill();
  }

  void read_children(const xml_node& node, size_t parent, uint32_t level) {
    if (level > kMaxLevels) {
      fail(node, "is deeper than " + std::to_string(kMaxLevels) + " levels");
      return;
    }
    for (const xml_node& child : node.children()) {
      if (child.type() != pugi::node_element) continue;
      if (devices_.size() > kMaxDevices) {
        fail(child, "is one too many: there are " + std::to_string(kMaxDevices) + " devices at most");
        return;
      }
      read_element(child, parent, level);
    }
  }

  void read_element(const xml_node& it, size_t parent, uint32_t level) {
    const std::string_view name = it.name();
    const PciKind above = devices_[parent].kind;
    if (name == "cpu" && above == PciKind::kSystem) {
      devices_.push_back({.kind = PciKind::kCpu, .parent = parent, .at = it});
      read_children(it, devices_.size() - 1, level + 1);
    } else if (name == "pci" && (above == PciKind::kCpu || above == PciKind::kBridge)) {
      read_pci(it, parent, level);
    } else if (name == "gpu" && above == PciKind::kGpu) {
      read_gpu(it, parent);
    } else if (name == "nic" && (above == PciKind::kNic || above == PciKind::kCpu)) {
      read_nic(it, parent);
    } else if (name == "pcilink" || name == "c2c") {
      out_.notes.push_back(file_.error_of(it, std::string(name) + " changes nothing here"));
    } else {
      fail(it, "<" + std::string(name) + "> is not known in <" + devices_[parent].at.name() + ">");
    }
  }

  void read_pci(const xml_node& it, size_t parent, uint32_t level) {
    PciDevice out{.parent = parent, .bus = it.attribute("busid").value(), .at = it};
    const auto number = class_of(it, "class");
    if (!number) return;
    switch (*number) {
      case 0x0300:
      case 0x0302: out.kind = PciKind::kGpu; break;
      case 0x0200:
      case 0x0207: out.kind = PciKind::kNic; break;
      case 0x0604: out.kind = PciKind::kBridge; break;
      case kNvswitchClass: out.kind = PciKind::kNvswitch; break;
      default:
        fail(it, "class " + shown(it.attribute("class").value()) +
                     " is neither a GPU, a NIC, a PCIe switch nor an NVSwitch");
        return;
    }
    if (out.bus.empty()) {
      fail(it, "needs busid");
      return;
    }
    if (!buses_.insert(out.bus).second) {
      fail(it, "busid " + shown(out.bus) + " stands here twice");
      return;
    }
    out.pcie = pcie_of(it);
    devices_.push_back(std::move(out));
    read_children(it, devices_.size() - 1, level + 1);
  }

  // Zero: the file does not say.
  Rate pcie_of(const xml_node& it) {
    const std::string_view text = it.attribute("link_speed").value();
    const uint32_t lanes = number_of(it, "link_width", 64).value_or(0);
    if (text.empty() || text.starts_with("Unknown") || lanes == 0) return {};  // Linux knows no more of some devices
    const std::string_view speed = text.substr(0, text.find(' '));
    const auto found = std::ranges::find(kPcieSpeeds, speed, &PcieSpeed::text);
    if (found != kPcieSpeeds.end()) return Rate::mbps(found->mbps_of_16_lanes * lanes / 16);
    fail(it, "link_speed is 2.5, 5, 8, 16, 32 or 64 GT/s, and here stands " + shown(text));
    return {};
  }

  void read_gpu(const xml_node& it, size_t device) {
    devices_[device].number = number_of(it, "dev", kMaxDevices);
    devices_[device].sm = number_of(it, "sm", 1000);
    for (const xml_node& link : it.children()) {
      if (link.type() != pugi::node_element) continue;
      if (std::string_view(link.name()) == "nvlink") {
        read_nvlink(link, device);
      } else {
        read_element(link, device, 0);  // of a GPU there is nothing else
      }
    }
  }

  void read_nvlink(const xml_node& it, size_t device) {
    const auto target = class_of(it, "tclass");
    const auto count = number_of(it, "count", kMaxNvlinks);
    if (!target || !file_.is_good()) return;
    if (*target != kNvswitchClass) {
      fail(it,
           "goes from GPU to GPU, or to a cpu: built-in hosts have NVLinks to NVSwitches (tclass 0x068000), by which "
           "each GPU reaches all others of its server at one rate");
      return;
    }
    devices_[device].nvlinks += count.value_or(1);
  }

  // Those of a pci are this NIC's nets: the first has the number and the speed. At a cpu each is a NIC.
  void read_nic(const xml_node& it, size_t parent) {
    bool is_first = true;
    for (const xml_node& net : it.children()) {
      if (net.type() != pugi::node_element) continue;
      if (std::string_view(net.name()) != "net") {
        fail(net, "<" + std::string(net.name()) + "> is not known in <nic>");
        continue;
      }
      if (devices_[parent].kind == PciKind::kCpu) {
        devices_.push_back({.kind = PciKind::kNic, .parent = parent, .at = net});
        read_net(net, devices_.back());
      } else if (std::exchange(is_first, false)) {
        read_net(net, devices_[parent]);
      } else {
        fail(net, "is a second net of one NIC: a built-in host is a NIC with one");
      }
    }
  }

  void read_net(const xml_node& net, PciDevice& out) {
    out.name = net.attribute("name").value();
    out.number = number_of(net, "dev", kMaxDevices);
    out.rate = Rate::mbps(number_of(net, "speed", 100'000'000).value_or(0));
  }

  // By `dev` if all have it, which then are 0, 1, 2 …; by bus ids if none has.
  void number(PciKind kind, std::vector<size_t>& out) {
    size_t numbered = 0;
    for (size_t i = 0; i < devices_.size(); ++i) {
      if (devices_[i].kind != kind) continue;
      out.push_back(i);
      numbered += devices_[i].number ? 1 : 0;
    }
    std::ranges::stable_sort(out, [&](size_t a, size_t b) {
      return std::pair(devices_[a].number, devices_[a].bus) < std::pair(devices_[b].number, devices_[b].bus);
    });
    if (numbered == 0) return;
    for (size_t i = 0; i < out.size(); ++i) {
      if (devices_[out[i]].number == i) continue;
      const std::string what = kind == PciKind::kGpu ? "GPUs" : "NICs";
      fail(devices_[out[i]].at, "dev of the " + std::to_string(out.size()) + " " + what + " must be 0 to " +
                                    std::to_string(out.size() - 1) + ", each once");
      return;
    }
  }

  std::vector<size_t> way_up(size_t device) const {
    std::vector<size_t> out{device};
    while (out.back() != 0) out.push_back(devices_[out.back()].parent);
    return out;
  }

  PciPath path_between(size_t gpu, size_t nic) const {
    const std::vector<size_t> a = way_up(gpu);
    const std::vector<size_t> b = way_up(nic);
    const auto meets = std::ranges::find_if(a, [&](size_t each) { return std::ranges::find(b, each) != b.end(); });
    if (devices_[*meets].kind == PciKind::kSystem) return PciPath::kSys;
    if (devices_[*meets].kind == PciKind::kCpu) return PciPath::kPhb;
    const bool is_one = devices_[gpu].parent == *meets && devices_[nic].parent == *meets;
    return is_one ? PciPath::kPix : PciPath::kPxb;
  }

  static uint32_t reversed(uint32_t number, uint32_t power_of_two) {
    uint32_t out = 0;
    for (uint32_t bit = 1, other = power_of_two >> 1U; bit < power_of_two; bit <<= 1U, other >>= 1U)
      out |= (number & bit) != 0 ? other : 0;
    return out;
  }

  void fill() {
    for (const size_t i : nics_)
      out_.nics.push_back({devices_[i].bus, devices_[i].name, devices_[i].rate, devices_[i].pcie});
    std::vector<uint32_t> gpu_of(nics_.size(), UINT32_MAX);
    for (uint32_t dev = 0; dev < gpus_.size(); ++dev) {
      ServerGpu& gpu = out_.gpus.emplace_back();
      gpu.bus = devices_[gpus_[dev]].bus;
      gpu.nvlinks = devices_[gpus_[dev]].nvlinks;
      take_nic(dev, gpu);
      if (gpu_of[gpu.nic] == UINT32_MAX) {
        gpu_of[gpu.nic] = dev;
        continue;
      }
      fail(devices_[gpus_[dev]].at, "GPU " + std::to_string(dev) + " has NIC " + std::to_string(gpu.nic) + ", as GPU " +
                                        std::to_string(gpu_of[gpu.nic]) + " has: here each GPU has a NIC of its own");
    }
    if (!file_.is_good()) return;
    note_unlike_nics();
    fill_nvlinks();
  }

  void note_unlike_nics() {
    const PciDevice& first = devices_[nics_.front()];
    const auto is_other = [&](size_t i) { return devices_[i].rate != first.rate || devices_[i].pcie != first.pcie; };
    const auto other = std::ranges::find_if(nics_, is_other);
    if (other == nics_.end()) return;
    out_.notes.push_back(file_.error_of(devices_[*other].at,
                                        "is not as fast as NIC 0: NCCL prefers the NIC with the fastest path, here "
                                        "each GPU has the nearest"));
  }

  void take_nic(uint32_t dev, ServerGpu& gpu) const {
    std::vector<uint32_t> local;
    gpu.path = PciPath::kSys;
    for (uint32_t n = 0; n < nics_.size(); ++n) {
      const PciPath path = path_between(gpus_[dev], nics_[n]);
      if (path < gpu.path) local.clear();
      gpu.path = std::min(gpu.path, path);
      if (path == gpu.path) local.push_back(n);
    }
    const auto count = static_cast<uint32_t>(local.size());
    gpu.nic = local[(std::has_single_bit(count) ? reversed(dev, count) : dev) % count];
  }

  void fill_nvlinks() {
    const PciDevice& first = devices_[gpus_.front()];
    for (const size_t i : gpus_) {
      const PciDevice& it = devices_[i];
      if (it.nvlinks == first.nvlinks && it.sm == first.sm) continue;
      fail(it.at, "has " + std::to_string(it.nvlinks) + " NVLinks of sm " + std::to_string(it.sm.value_or(0)) +
                      ", and GPU 0 has " + std::to_string(first.nvlinks) + " of sm " +
                      std::to_string(first.sm.value_or(0)) + ": here all GPUs of a server are alike");
    }
    if (first.nvlinks == 0) return;
    const uint32_t sm = first.sm.value_or(0);
    const auto rate = std::ranges::find_if(kNvlinkRates, [&](const NvlinkRate& it) { return it.least_sm <= sm; });
    if (rate == kNvlinkRates.end()) {
      fail(first.at, "sm " + std::to_string(sm) + " has no NVLinks whose rate is known: 60 and above have");
      return;
    }
    out_.gpu_nvlink = Rate::mbps(rate->mbps * first.nvlinks);
  }

  XmlFile file_;
  ServerTopology out_;
  std::vector<PciDevice> devices_;
  std::set<std::string> buses_;
  std::vector<size_t> gpus_;
  std::vector<size_t> nics_;
};

}  // namespace

std::string_view word_for(PciPath path) {
  switch (path) {
    case PciPath::kPix: return "PIX";
    case PciPath::kPxb: return "PXB";
    case PciPath::kPhb: return "PHB";
    default: return "SYS";
  }
}

std::expected<ServerTopology, Errors> read_nccl_topology(std::string_view text, const std::string& name) {
  return TopologyReader(text, name).run();
}

}  // namespace softspine::control

// SPDX-License-Identifier: Apache-2.0
#include "analysis/reading/sightings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "analysis/reading/capture_file.hpp"
#include "analysis/reading/captured_packet.hpp"
#include "analysis/reading/link_way.hpp"
#include "analysis/storm/capture_reader.hpp"
#include "analysis/storm/port_list.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

using control::LinkEnd;
using storm::Way;

constexpr size_t kHeadBytes = 256;  // of a frame: beyond what any hash reaches
constexpr uint64_t kProgressEvery = 1 << 14;
constexpr uint8_t kTtl = 64;

// Fields that differ from hop to hop are made the same: MACs, TTL, and the checksum, which may never have been right
// where it was captured (offload).
void normalise(BareFrame& frame) {
  if (frame.bytes.size() < dp::ethernet::kBytes) return;
  std::fill_n(frame.bytes.begin(), dp::ethernet::kType, uint8_t{0});
  uint8_t* l3 = frame.bytes.data() + dp::ethernet::kBytes;
  const size_t stored = frame.bytes.size() - dp::ethernet::kBytes;
  const uint16_t type = dp::load16(frame.bytes.data() + dp::ethernet::kType);
  if (type == dp::ethernet::kTypeIpv6 && stored > dp::ipv6::kHopLimit) l3[dp::ipv6::kHopLimit] = kTtl;
  if (type != dp::ethernet::kTypeIpv4 || stored < dp::ipv4::kMinBytes) return;
  const uint32_t header_bytes = (l3[dp::ipv4::kVersionIhl] & 0x0fU) * 4;
  if (header_bytes < dp::ipv4::kMinBytes || header_bytes > stored) return;
  l3[dp::ipv4::kTtl] = kTtl;
  dp::store16(l3 + dp::ipv4::kChecksum, 0);
  dp::store16(l3 + dp::ipv4::kChecksum, dp::ipv4_checksum(l3, header_bytes));
}

// Names and addresses that stand for ports.
struct KnownPorts {
  std::unordered_map<std::string, LinkEnd> by_name;
  storm::KnownFabric listed;

  std::optional<LinkEnd> named(const std::string& name) const {
    const auto found = by_name.find(name);
    return found == by_name.end() ? std::nullopt : std::optional{found->second};
  }
  std::optional<LinkEnd> of_interface(const CaptureSource& source, const std::string& name) const {
    if (source.port) return source.port;
    const auto listed_as = listed.port_of_interface.find(name);
    if (listed_as != listed.port_of_interface.end()) return named(listed_as->second);
    return named(source.node.empty() ? name : source.node + ":" + name);
  }
  // The owner of a frame whose interface is no port: a mirror's.
  std::optional<LinkEnd> of_sender(std::span<const uint8_t> frame) const {
    if (listed.port_of_mac.empty() || frame.size() < dp::ethernet::kBytes) return std::nullopt;
    const auto found = listed.port_of_mac.find(dp::load48(frame.data() + dp::ethernet::kSource));
    return found == listed.port_of_mac.end() ? std::nullopt : named(found->second);
  }
};

std::expected<KnownPorts, std::string> known_ports(const control::Fabric& fabric, const std::string& list) {
  KnownPorts out;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    for (uint16_t p = 0; p < fabric.nodes[n].ports.size(); ++p)
      out.by_name.emplace(fabric.name_of({n, p}), LinkEnd{n, p});
  }
  if (list.empty()) return out;
  if (auto read = storm::read_port_list(list, out.listed); !read) return std::unexpected(read.error());
  const auto fail = [&list](const std::string& port) {
    return std::unexpected(list + ": the testbed has no port '" + port + "'");
  };
  for (const storm::ListedName& it : out.listed.listed) {
    if (out.listed.node_of_mac.contains(it.mac)) {
      return std::unexpected(fmt::format(
          "{}:{}: an address tells a port here, not a node: write NODE:PORT, such as tor1:Ethernet4", list, it.line));
    }
  }
  for (const auto& [name, port] : out.listed.port_of_interface) {
    if (!out.named(port)) return fail(port);
  }
  for (const auto& [mac, port] : out.listed.port_of_mac) {
    if (!out.named(port)) return fail(port);
  }
  return out;
}

class Collection {
 public:
  Collection(Walker& walker, const KnownPorts& ports, std::optional<LinkEnd> from)
      : fabric_(walker.testbed().fabric), ports_(ports), from_(from), hosts_(hosts_by_address(fabric_)), way_(fabric_) {
    for (const control::Profile& profile : walker.testbed().profiles) hashes_.emplace_back(profile.hash);
  }

  // Begins one file: the ports of its interfaces.
  void begin(const CaptureSource& source) {
    source_ = &source;
    of_interface_.clear();
  }
  void add(const storm::CapturedFrame& frame, const std::vector<storm::CapturedInterface>& interfaces) {
    ++out_.packets;
    const Place place = place_of(frame.interface, interfaces);
    if (!place.is_ethernet) {
      ++out_.without_ip;
      return;
    }
    BareFrame bare = without_tags(frame.bytes, frame.original_bytes);
    const auto sender = place.port ? std::nullopt : ports_.of_sender(frame.bytes);
    normalise(bare);
    dp::Packet& packet = scratch_.load(bare.bytes, bare.length);
    dp::parse(packet);
    if ((packet.meta().flags & (dp::kIsIpv4 | dp::kIsIpv6)) == 0) {
      ++out_.without_ip;
    } else if (!place.port && !sender) {
      ++out_.without_place;
      if (!place.name.empty()) out_.unknown_interfaces.insert(place.name);
    } else {
      take(packet, bare, place.port ? *place.port : *sender, sender ? Way::kOut : frame.way);
    }
  }
  void note(std::string cut_short) { out_.cut_short.push_back(std::move(cut_short)); }

  Sightings take() && {
    for (size_t f = 0; f < out_.flows.size(); ++f) finish(out_.flows[f], here_[f], there_[f]);
    return std::move(out_);
  }

 private:
  struct Place {
    std::optional<LinkEnd> port;
    std::string name;
    bool is_ethernet = true;
  };
  using Counts = std::map<LinkEnd, uint64_t>;

  const Place& place_of(uint32_t interface, const std::vector<storm::CapturedInterface>& interfaces) {
    while (of_interface_.size() <= interface) {
      const storm::CapturedInterface& it = interfaces[of_interface_.size()];
      of_interface_.push_back({ports_.of_interface(*source_, it.name), it.name, it.is_ethernet()});
      if (of_interface_.back().port) out_.ports.insert(*of_interface_.back().port);
    }
    return of_interface_[interface];
  }

  void take(const dp::Packet& packet, const BareFrame& bare, LinkEnd port, Way way) {
    const FlowIdentity identity = identity_of(packet);
    const auto source = hosts_.find(identity.source);
    const auto destination = hosts_.find(identity.destination);
    const uint32_t from = source != hosts_.end() ? source->second : from_ ? from_->node : control::kNone;
    const uint32_t to = destination != hosts_.end() ? destination->second : control::kNone;
    if (way == Way::kUnknown) way = way_.of(port, from, to);
    if (way == Way::kUnknown) {
      ++out_.without_way;
      return;
    }
    const auto flow = flow_of(identity.all() + keys_of(packet), bare, source == hosts_.end() ? control::kNone : from);
    if (!flow) {
      ++out_.left_out;
      return;
    }
    ++(way == Way::kOut ? here_[*flow][port] : there_[*flow][fabric_.peer_of(port)]);
  }

  // All that any profile's hash takes of the packet.
  std::string keys_of(const dp::Packet& packet) const {
    std::string out;
    for (const dp::EcmpHash& hash : hashes_) {
      dp::HashKey key{};
      hash.build(dp::header_view(packet), key);
      out.append(reinterpret_cast<const char*>(key.bytes()), key.count * sizeof(uint64_t));
    }
    return out;
  }

  std::optional<size_t> flow_of(std::string key, const BareFrame& bare, uint32_t source) {
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    if (out_.flows.size() >= Sightings::kMaxFlows) return std::nullopt;
    const size_t flow = out_.flows.size();
    known_.emplace(std::move(key), flow);
    const auto end = bare.bytes.begin() + static_cast<ptrdiff_t>(std::min(bare.bytes.size(), kHeadBytes));
    SightedFlow& made = out_.flows.emplace_back(SightedFlow{{bare.bytes.begin(), end}, bare.length, {}, {}});
    if (source == control::kNone) made.sender = from_;
    if (source != control::kNone && fabric_.nodes[source].ports.size() == 1) made.sender = LinkEnd{source, 0};
    sources_.push_back(source);
    here_.emplace_back();
    there_.emplace_back();
    return flow;
  }

  // A frame that both ends of a link captured is one frame. A bond's flow begins at the port that sent most of it.
  void finish(SightedFlow& flow, const Counts& here, const Counts& there) const {
    flow.left = here;
    for (const auto& [end, packets] : there) flow.left[end] = std::max(flow.left[end], packets);
    if (flow.sender) return;
    const uint32_t source = sources_[static_cast<size_t>(&flow - out_.flows.data())];
    uint64_t most = 0;
    for (const auto& [end, packets] : flow.left) {
      if (end.node != source || packets <= most) continue;
      most = packets;
      flow.sender = end;
    }
  }

  const control::Fabric& fabric_;
  const KnownPorts& ports_;
  std::optional<LinkEnd> from_;
  std::unordered_map<std::string, uint32_t> hosts_;
  LinkWay way_;
  std::vector<dp::EcmpHash> hashes_;
  const CaptureSource* source_ = nullptr;
  std::vector<Place> of_interface_;
  std::unordered_map<std::string, size_t> known_;
  std::vector<uint32_t> sources_;  // of flows: hosts
  std::vector<Counts> here_;       // of flows: packets that went out where they were captured
  std::vector<Counts> there_;      // that came in, by the port at the other end of the link
  dp::ScratchPacket scratch_;
  Sightings out_;
};

std::expected<void, std::string> read_file(const CaptureSource& source, const ProgressFunction& progress,
                                           Collection& collection) {
  auto file = CaptureFile::open(source.file, false);
  if (!file) return std::unexpected(file.error());
  collection.begin(source);
  storm::CapturedFrame frame;
  for (;;) {
    const auto got = file->next(frame);
    if (!got) return std::unexpected(got.error());
    if (!*got) break;
    collection.add(frame, file->reader().interfaces());
    if (file->frames() % kProgressEvery == 0) file->show(progress, fmt::format("{} frames", file->frames()));
  }
  for (const std::string& note : file->notes()) collection.note(source.file + ": " + note);
  return {};
}

}  // namespace

std::expected<Sightings, std::string> read_sightings(Walker& walker, const std::vector<CaptureSource>& sources,
                                                     const SightingOptions& options) {
  const control::Fabric& fabric = walker.testbed().fabric;
  const auto ports = known_ports(fabric, options.ports_file);
  if (!ports) return std::unexpected(ports.error());
  const auto from = sender_named(fabric, options.from);
  if (!from) return std::unexpected(from.error());
  Collection collection{walker, *ports, *from};
  for (const CaptureSource& source : sources) {
    if (auto read = read_file(source, options.progress, collection); !read) return std::unexpected(read.error());
  }
  return std::move(collection).take();
}

std::string left_out_text(const Sightings& sightings) {
  std::string out;
  const auto tell = [&](uint64_t n, const std::string& what) {
    if (n > 0) out += fmt::format("{} of {} frames {}. ", n, sightings.packets, what);
  };
  for (const std::string& sentence : sightings.cut_short) out += sentence + ". ";
  std::string names;
  for (const std::string& name : sightings.unknown_interfaces) {
    if (names.size() > 60) break;
    names += (names.empty() ? " (" : ", ") + name;
  }
  tell(sightings.without_ip, "are not IP over Ethernet, or were cut before their addresses");
  tell(sightings.without_place, "are of interfaces that are no port of the testbed" +
                                    (names.empty() ? "" : names + ")") +
                                    ": SWITCH=FILE, SWITCH:PORT=FILE or --ports FILE says where they were captured");
  tell(sightings.without_way, "may have gone either way over their link: no host of the testbed has their addresses");
  tell(sightings.left_out, fmt::format("are of flows beyond the first {}", Sightings::kMaxFlows));
  return out;
}

}  // namespace softspine::analysis

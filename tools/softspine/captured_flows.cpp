// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/captured_flows.hpp"

#include <fmt/format.h>

#include <optional>
#include <unordered_map>

#include "dataplane/edge/pcap_reader.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/wire.hpp"
#include "tools/softspine/captured_packet.hpp"

namespace softspine::tools {

namespace dp = dataplane;

namespace {

using control::LinkEnd;

class Collection {
 public:
  Collection(control::Walker& walker, std::optional<LinkEnd> from)
      : walker_(walker), from_(from), hosts_(hosts_by_address(walker.testbed().fabric)) {}

  void add(const dp::RecordedFrame& frame) {
    ++out_.packets;
    BareFrame bare = without_tags({frame.bytes, frame.captured}, frame.length);
    dp::Packet& packet = scratch_.load(bare.bytes, bare.length);
    dp::parse(packet);
    if ((packet.meta().flags & (dp::kIsIpv4 | dp::kIsIpv6)) == 0) {
      ++out_.without_ip;
      return;
    }
    const FlowIdentity identity = identity_of(packet);
    const auto known = seen_.find(identity.all());
    if (known != seen_.end()) {
      out_.flows[known->second].bytes += frame.length;
      return;
    }
    const auto host = hosts_.find(identity.source);
    if (!from_ && host == hosts_.end()) {
      ++out_.unknown_sources;
      return;
    }
    const LinkEnd sender = from_ ? *from_ : LinkEnd{host->second, 0};
    const LinkEnd first = walker_.testbed().fabric.peer_of(sender);
    dp::store_mac(bare.bytes.data() + dp::ethernet::kDestination, walker_.router_mac(first.node));
    out_.unknown_destinations += hosts_.contains(identity.destination) ? 0 : 1;
    seen_.emplace(identity.all(), out_.flows.size());
    out_.flows.push_back({std::move(bare.bytes), sender, frame.length, bare.length});
  }
  CapturedFlows take() && { return std::move(out_); }

 private:
  control::Walker& walker_;
  std::optional<LinkEnd> from_;
  std::unordered_map<std::string, uint32_t> hosts_;
  std::unordered_map<std::string, size_t> seen_;
  dp::ScratchPacket scratch_;
  CapturedFlows out_;
};

}  // namespace

std::expected<CapturedFlows, std::string> captured_flows(control::Walker& walker, const std::vector<std::string>& files,
                                                         const std::string& from) {
  const auto sender = sender_named(walker.testbed().fabric, from);
  if (!sender) return std::unexpected(sender.error());
  Collection collection(walker, *sender);
  for (const std::string& file : files) {
    auto reader = dp::PcapReader::open(file);
    if (!reader) return std::unexpected(file + ": " + reader.error().message);
    dp::RecordedFrame frame;
    while (reader->next(frame)) collection.add(frame);
    if (!reader->error().empty()) return std::unexpected(file + ": " + reader->error());
  }
  CapturedFlows out = std::move(collection).take();
  if (out.flows.empty())
    return std::unexpected("no flow in the capture. " + told_of(out) +
                           "--from HOST or --from SWITCH:PORT says where packets come in, whatever their addresses");
  return out;
}

std::string told_of(const CapturedFlows& captured) {
  std::string out;
  if (captured.without_ip > 0)
    out += fmt::format("{} of {} packets are not IP, or were cut before their addresses. ", captured.without_ip,
                       captured.packets);
  if (captured.unknown_sources > 0)
    out += fmt::format("{} of {} packets come from addresses that no host of the testbed has. ",
                       captured.unknown_sources, captured.packets);
  if (captured.unknown_destinations > 0)
    out += fmt::format("{} of {} flows go to addresses that no host of the testbed has. ",
                       captured.unknown_destinations, captured.flows.size());
  return out;
}

}  // namespace softspine::tools

// SPDX-License-Identifier: Apache-2.0
#include "analysis/reading/captured_flows.hpp"

#include <fmt/format.h>

#include <optional>
#include <unordered_map>

#include "analysis/reading/entering_frames.hpp"
#include "dataplane/edge/pcap_reader.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

using control::LinkEnd;

constexpr uint64_t kMaxCapturedFlows = 10'000'000;
class FlowCollection {
 public:
  FlowCollection(Walker& walker, std::optional<LinkEnd> from) : frames_(walker, from) {}

  void add(const dp::RecordedFrame& frame) {
    ++out_.packets;
    EnteringFrame entering = frames_.read(frame, EnteringFrames::kHeaderReach);
    out_.oversize += entering.is_oversize ? 1 : 0;
    if (entering.known != EnteringFrame::Known::kFlow) {
      ++(entering.known == EnteringFrame::Known::kCutBeforePorts ? out_.cut_before_ports : out_.without_ip);
      return;
    }
    out_.cut_before_qp += entering.is_cut_before_qp ? 1 : 0;
    const auto known = seen_.find(entering.identity.all());
    if (known != seen_.end()) {
      out_.flows[known->second].bytes += frame.length;
      return;
    }
    if (out_.flows.size() == kMaxCapturedFlows) {
      ++out_.beyond_limit;
      return;
    }
    const auto sender = frames_.sender_of(entering);
    if (!sender) {
      ++out_.unknown_sources;
      return;
    }
    frames_.address_to_router(entering, *sender);
    out_.unknown_destinations += frames_.is_host(entering.identity.destination) ? 0 : 1;
    seen_.emplace(entering.identity.all(), out_.flows.size());
    out_.flows.push_back({std::move(entering.frame.bytes), *sender, frame.length, entering.frame.length});
  }
  CapturedFlows take() && { return std::move(out_); }

 private:
  EnteringFrames frames_;
  std::unordered_map<std::string, size_t> seen_;
  CapturedFlows out_;
};

}  // namespace

std::expected<CapturedFlows, std::string> captured_flows(Walker& walker, const std::vector<std::string>& files,
                                                         const std::string& from) {
  const auto sender = sender_named(walker.testbed().fabric, from);
  if (!sender) return std::unexpected(sender.error());
  FlowCollection collection(walker, *sender);
  for (const std::string& file : files) {
    auto reader = dp::PcapReader::open(file);
    if (!reader) return std::unexpected(file + ": " + reader.error().message);
    dp::RecordedFrame frame;
    while (reader->next(frame)) collection.add(frame);
    if (!reader->error().empty()) return std::unexpected(file + ": " + reader->error());
  }
  CapturedFlows out = std::move(collection).take();
  if (out.flows.empty())
    return std::unexpected("no flow in the capture. " + left_out_text(out) +
                           "--from HOST or --from SWITCH:PORT says where packets come in, whatever their addresses");
  return out;
}

std::string left_out_text(const CapturedFlows& captured) {
  std::string out;
  if (captured.without_ip > 0)
    out += fmt::format("{} of {} packets are not IP, have a faulty header, or were cut before their addresses. ",
                       captured.without_ip, captured.packets);
  if (captured.cut_before_ports > 0)
    out += fmt::format("{} of {} packets were cut before their ports: capture at least 64 bytes of each. ",
                       captured.cut_before_ports, captured.packets);
  if (captured.cut_before_qp > 0)
    out += fmt::format(
        "{} of {} packets were cut before their QPs, so that all QPs of one source port are one flow: capture at "
        "least 96 bytes of each. ",
        captured.cut_before_qp, captured.packets);
  if (captured.oversize > 0)
    out += fmt::format(
        "{} of {} packets are longer than the links take, as NICs with offloads show them: they are "
        "followed as the longest frames would be. ",
        captured.oversize, captured.packets);
  if (captured.beyond_limit > 0)
    out += fmt::format("{} of {} packets are of flows beyond the first {}. ", captured.beyond_limit, captured.packets,
                       kMaxCapturedFlows);
  if (captured.unknown_sources > 0)
    out += fmt::format("{} of {} packets come from addresses that no host of the testbed has. ",
                       captured.unknown_sources, captured.packets);
  if (captured.unknown_destinations > 0)
    out += fmt::format("{} of {} flows go to addresses that no host of the testbed has. ",
                       captured.unknown_destinations, captured.flows.size());
  return out;
}

}  // namespace softspine::analysis

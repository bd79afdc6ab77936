// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/explain_captures.hpp"

#include <fmt/format.h>

#include <optional>

#include "analysis/explain/explanation.hpp"
#include "analysis/reading/entering_frames.hpp"
#include "control/telemetry/json.hpp"
#include "dataplane/edge/pcap_reader.hpp"
#include "tools/command/wrong_input.hpp"

namespace softspine::tools {

namespace dp = dataplane;

using control::Json;
using control::LinkEnd;

namespace {

// Why a packet can't be followed: a word for programs, a sentence for people.
struct Refusal {
  const char* end;
  const char* words;
};

constexpr Refusal kNoSender{"unknown_sender", "no host has its source address; name one, or SWITCH:PORT, by --from"};
constexpr Refusal kNotIp{"not_ip", "it is not IP, or its header is faulty; --from says who sends it"};
constexpr Refusal kNoAddresses{"cut_before_addresses", "it was cut before its addresses; capture at least 96 bytes"};
constexpr Refusal kNoPorts{"cut_before_ports", "it was cut before its ports; capture at least 96 bytes"};
constexpr const char* kNoBth =
    "it was cut before its BTH: neither opcode nor destination QP is in a key; capture at least 96 bytes";

class PacketExplainer {
 public:
  PacketExplainer(const CaptureQuestion& question, std::optional<LinkEnd> from, analysis::Walker& walker)
      : question_(question), walker_(walker), frames_(walker, from) {}

  void begin(const std::string& file) {
    file_ = file;
    number_ = 0;
  }
  void add(const dp::RecordedFrame& frame) {
    ++number_;
    analysis::EnteringFrame entering = frames_.read(frame, dp::kMaxFrameBytes);
    const auto sender = frames_.sender_of(entering);
    if (const auto refusal = refusal_of(entering, sender.has_value())) return refuse(*refusal);
    const LinkEnd from = by_port(*sender);
    if (entering.known == analysis::EnteringFrame::Known::kFlow) frames_.address_to_router(entering, from);
    const analysis::Path path = walker_.walk(entering.frame.bytes, entering.frame.length, from);
    print(path, from, entering.is_cut_before_qp ? kNoBth : "");
  }

 private:
  static std::optional<Refusal> refusal_of(const analysis::EnteringFrame& entering, bool has_sender) {
    switch (entering.known) {
      case analysis::EnteringFrame::Known::kWithoutIp: return has_sender ? std::nullopt : std::optional{kNotIp};
      case analysis::EnteringFrame::Known::kCutBeforeAddresses: return kNoAddresses;
      case analysis::EnteringFrame::Known::kCutBeforePorts: return kNoPorts;
      case analysis::EnteringFrame::Known::kFlow: break;
    }
    return has_sender ? std::nullopt : std::optional{kNoSender};
  }
  // A host with several ports sends by the one that --port names, if it has so many.
  LinkEnd by_port(LinkEnd sender) const {
    const control::FabricNode& node = walker_.testbed().fabric.nodes[sender.node];
    const bool is_host = node.kind == control::NodeKind::kHost;
    return is_host && question_.port < node.ports.size() ? LinkEnd{sender.node, std::max(sender.port, question_.port)}
                                                         : sender;
  }
  std::string name() const {
    return question_.files.size() > 1 ? fmt::format("{}, packet {}", file_, number_)
                                      : fmt::format("packet {}", number_);
  }
  Json begun() const {
    Json out{{"packet", number_}};
    if (question_.files.size() > 1) out["file"] = file_;
    return out;
  }
  void refuse(const Refusal& refusal) const {
    if (!question_.json) return fmt::print("{}: {}\n\n", name(), refusal.words);
    Json out = begun();
    out["end"] = refusal.end;
    fmt::print("{}\n", out.dump());
  }
  void print(const analysis::Path& path, LinkEnd from, const std::string& remark) {
    const std::string& sender = walker_.testbed().fabric.nodes[from.node].name;
    if (!question_.json) {
      const std::string line = remark.empty() ? "" : "    " + remark + "\n";
      return fmt::print("{}, from {}\n{}{}\n", name(), sender, line, path_text(walker_, path));
    }
    Json out = begun();
    out["from"] = sender;
    if (!remark.empty()) out["remark"] = remark;
    out.update(path_json(walker_, path));
    fmt::print("{}\n", out.dump());
  }

  const CaptureQuestion& question_;
  analysis::Walker& walker_;
  analysis::EnteringFrames frames_;
  std::string file_;
  uint64_t number_ = 0;
};

}  // namespace

ExitStatus explain_captures(const CaptureQuestion& question, analysis::Walker& walker) {
  const auto from = analysis::sender_named(walker.testbed().fabric, question.from);
  if (!from) return wrong_input(from.error());
  PacketExplainer explainer(question, *from, walker);
  for (const std::string& file : question.files) {
    auto reader = dp::PcapReader::open(file);
    if (!reader) return wrong_input(file + ": " + reader.error().message);
    explainer.begin(file);
    dp::RecordedFrame frame;
    while (reader->next(frame)) explainer.add(frame);
    if (!reader->error().empty()) return wrong_input(file + ": " + reader->error());
  }
  return ExitStatus::kDone;
}

}  // namespace softspine::tools

// SPDX-License-Identifier: Apache-2.0
// A file of frames as `explain --pcap`, `inject` and pcap edges read it: whatever it holds, it is read to its end or to
// an error in words. What can be read of it is walked through a small fabric; one walk (the input's length chooses) is
// told in text and JSON, which takes longer than walking.
#include <algorithm>
#include <cstdint>

#include "analysis/explain/explanation.hpp"
#include "analysis/explain/walker.hpp"
#include "control/load/load.hpp"
#include "control/telemetry/json.hpp"
#include "dataplane/edge/pcap_reader.hpp"
#include "dataplane/packet/parse.hpp"
#include "tests/fuzz/bytes_as_file.hpp"
#include "tools/command/hex.hpp"

namespace {

using namespace softspine;

constexpr size_t kMaxFileFrames = 16;

const control::Testbed& fabric() {
  static const control::Testbed testbed = *control::parse_testbed(
      "name: t\nfabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 1, host_link: {rate: 1Gbps}, "
      "fabric_link: {rate: 1Gbps}}\n",
      "t.yaml");
  return testbed;
}

void explain(analysis::Walker& walker, const dataplane::RecordedFrame& frame, bool tells) {
  const uint32_t stored = std::min(frame.captured, dataplane::kMaxFrameBytes);
  const auto host = static_cast<uint32_t>(
      std::ranges::find(fabric().fabric.nodes, control::NodeKind::kHost, &control::FabricNode::kind) -
      fabric().fabric.nodes.begin());
  const analysis::Path path = walker.walk({frame.bytes, stored}, std::max(frame.length, stored), {host, 0});
  SOFTSPINE_CHECK(path.hops.size() <= analysis::Walker::kMaxHops, path.hops.size(), stored);
  if (!tells) return;
  SOFTSPINE_CHECK(!path_text(walker, path).empty(), stored, 0);
  SOFTSPINE_CHECK(!path_json(walker, path).dump().empty(), stored, 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tests::BytesAsFile file;
  static analysis::Walker walker{fabric(), std::vector<bool>(fabric().fabric.links.size(), true)};
  auto reader = dataplane::PcapReader::open(file.hold(data, size));
  if (!reader) {
    SOFTSPINE_CHECK(!reader.error().message.empty(), size, 0);
    return 0;
  }
  dataplane::RecordedFrame frame;
  for (size_t frames = 0; frames < kMaxFileFrames && reader->next(frame); ++frames) {
    SOFTSPINE_CHECK(frame.captured <= frame.length, frame.captured, frame.length);
    const std::string digits = tools::hex_of({frame.bytes, frame.captured});
    SOFTSPINE_CHECK(tools::bytes_of_hex(digits)->size() == frame.captured, frame.captured, size);
    explain(walker, frame, frames == size % kMaxFileFrames);
  }
  return 0;
}

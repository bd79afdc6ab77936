// SPDX-License-Identifier: Apache-2.0
// A file of any bytes as the input of a pcap edge, and a second edge that writes what crosses the link between them:
// each frame of the file enters or is counted with its reason, and those that enter are in the other file, in their
// order, whole.
#include "dataplane/edge/pcap_edge.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/engine/engine.hpp"
#include "dataplane/packet/wire.hpp"
#include "tests/fuzz/bytes_as_file.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/scenario/edge/reference_capture.hpp"

namespace {

using namespace softspine;
using namespace softspine::dataplane;

constexpr uint32_t kPackets = 1023;

PacketPool& pool() {
  static PacketPool pool{"fuzz", kPackets, kMaxFrameBytes};
  return pool;
}

// What a file should come to, by the same reader and none of the edge.
struct Expected {
  std::vector<std::vector<uint8_t>> frames;  // that reach the other file
  uint64_t entered = 0;
  uint64_t truncated = 0;
  uint64_t oversize = 0;
};

Expected expected_of(const std::string& path) {
  Expected out;
  auto reader = PcapReader::open(path);
  RecordedFrame frame;
  while (reader && reader->next(frame)) {
    if (frame.captured < ethernet::kBytes) {
      ++out.truncated;
    } else if (frame.length > kMaxFrameBytes) {
      ++out.oversize;
    } else {
      ++out.entered;
      // Pauses end in the NIC that they reach.
      if (load16(frame.bytes + ethernet::kType) == ethernet::kTypeMacControl) continue;
      out.frames.emplace_back(frame.bytes, frame.bytes + frame.captured);
      out.frames.back().resize(frame.length);
    }
  }
  return out;
}

uint64_t dropped(const Nic& edge, DropReason reason) {
  return edge.counters().in_drops[static_cast<size_t>(reason)];
}

std::vector<CapturedFrame> play(std::unique_ptr<PcapEdge> source, std::unique_ptr<PcapEdge> sink,
                                const tests::BytesAsFile& written, const Expected& expected) {
  VirtualClock clock;
  Engine engine{clock, Engine::Config{}};
  const PcapEdge& in = *source;
  PcapEdge& out = *sink;
  const PortRef a{engine.add(std::move(source), 0), PortNo{0}};
  const PortRef b{engine.add(std::move(sink), 0), PortNo{0}};
  engine.connect(a, b, Rate::gbps(100), Duration::ns(500));
  SOFTSPINE_CHECK(engine.run(Instant::never()) == RunEnd::kIdle, 0, 0);
  out.finish(engine.now());
  SOFTSPINE_CHECK(engine.drain() == 0 && out.faults().empty(), 0, 0);
  SOFTSPINE_CHECK(out.counters().arrived_packets == in.counters().in_packets, out.counters().arrived_packets,
                  in.counters().in_packets);
  SOFTSPINE_CHECK(dropped(in, DropReason::kNoBuffer) == 0, 0, 0);
  if (in.faults().empty()) {
    SOFTSPINE_CHECK(in.counters().in_packets == expected.entered, in.counters().in_packets, expected.entered);
    SOFTSPINE_CHECK(dropped(in, DropReason::kTruncated) == expected.truncated, expected.truncated, 0);
    SOFTSPINE_CHECK(dropped(in, DropReason::kOversize) == expected.oversize, expected.oversize, 0);
  }
  std::vector<CapturedFrame> frames = parse_pcap(written.content());
  SOFTSPINE_CHECK(frames.size() == out.counters().out_packets, frames.size(), out.counters().out_packets);
  // A time that no instant holds ends the input early.
  SOFTSPINE_CHECK(frames.size() == expected.frames.size() || !in.faults().empty(), frames.size(),
                  expected.frames.size());
  return frames;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  start_eal({.memory_mib = 256});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tests::BytesAsFile read;
  static tests::BytesAsFile written;
  const PcapEdge::Config from{.read_path = read.hold(data, size),
                              .offset = {},
                              .zero_ns = size % 2 == 1 ? std::optional<int64_t>(0) : std::nullopt};
  auto source = PcapEdge::open("in", from, pool());
  if (!source) {
    SOFTSPINE_CHECK(!source.error().message.empty(), size, 0);
    return 0;
  }
  auto sink = PcapEdge::open("out", {.write_path = written.path(), .offset = {}}, pool());
  SOFTSPINE_CHECK(sink.has_value(), size, 0);
  const Expected expected = expected_of(read.path());
  const auto frames = play(std::move(*source), std::move(*sink), written, expected);
  SOFTSPINE_CHECK(frames.size() <= expected.frames.size(), frames.size(), expected.frames.size());
  for (size_t i = 0; i < frames.size(); ++i) {
    SOFTSPINE_CHECK(frames[i].bytes == expected.frames[i] && frames[i].length == frames[i].bytes.size(), i, size);
  }
  SOFTSPINE_CHECK(pool().in_use() == 0, pool().in_use(), size);
  return 0;
}

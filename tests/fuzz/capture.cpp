// SPDX-License-Identifier: Apache-2.0
// A capture: whatever it holds, it is read to its end or to an error inside it; what was read is recorded, analysed,
// and reported or drawn.
#include <cstdint>
#include <cstring>

#include "analysis/storm/capture_reader.hpp"
#include "analysis/storm/picture.hpp"
#include "analysis/storm/storm_report.hpp"
#include "control/telemetry/json.hpp"
#include "dataplane/units/check.hpp"

using namespace softspine::analysis::storm;

namespace {

// So little at once that records and blocks cross from one read to the next; or as much as files are read by, which
// finds more in a second. The input's length chooses.
constexpr size_t kReadBytes[] = {64, size_t{64} << 10};

void report(const CaptureFacts& facts, const PauseLog& log, const Analysis& analysis, size_t how) {
  using softspine::control::Json;
  const auto replace = Json::error_handler_t::replace;
  if (how == 0) SOFTSPINE_CHECK(!text_report(facts, log, analysis, 5).empty(), 0, 0);
  if (how == 1) SOFTSPINE_CHECK(!json_report(facts, log, analysis).dump(-1, ' ', false, replace).empty(), 0, 0);
  if (how == 2) SOFTSPINE_CHECK(picture(facts, log, analysis).ends_with("</svg>\n"), 0, 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  size_t taken = 0;
  CaptureReader reader{[&](std::span<uint8_t> into) {
                         const size_t n = std::min(into.size(), size - taken);
                         if (n > 0) std::memcpy(into.data(), data + taken, n);
                         taken += n;
                         return n;
                       },
                       kReadBytes[size / 16 % 2]};
  PauseRecorder recorder;
  CapturedFrame frame;
  uint64_t frames = 0;
  for (;;) {
    const auto got = reader.next(frame);
    if (!got) {
      SOFTSPINE_CHECK(!got.error().message.empty() && got.error().offset <= size, got.error().offset, size);
      break;
    }
    if (!*got) break;
    SOFTSPINE_CHECK(frame.interface < reader.interfaces().size() && frame.bytes.size() <= size, frame.interface, size);
    recorder.take(frame, reader.interfaces());
    ++frames;
  }
  recorder.finish(reader.interfaces());
  SOFTSPINE_CHECK(recorder.tally().frames + recorder.tally().timeless == frames, recorder.tally().frames, frames);
  const PauseLog log = assemble_log(recorder);
  for (const Pause& pause : log.pauses) {
    SOFTSPINE_CHECK(pause.span.begin <= pause.span.end && pause.span.end <= log.end, pause.from, pause.to);
    SOFTSPINE_CHECK(log.ports[pause.from].peer == pause.to || log.ports[pause.to].peer != pause.from, pause.from,
                    pause.to);
  }
  const Analysis analysis = analyse(log);
  // Each takes far longer than the reading: the input's length chooses one, or none.
  report({.file = "fuzz", .tally = recorder.tally(), .ports = recorder.ports().size()}, log, analysis, size % 64);
  return 0;
}

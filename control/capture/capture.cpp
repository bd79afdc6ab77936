// SPDX-License-Identifier: Apache-2.0
#include "control/capture/capture.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "dataplane/units/check.hpp"

namespace softspine::control {

using dataplane::Direction;
using dataplane::Instant;
using dataplane::Packet;

namespace {

constexpr uint32_t kIcrcBytes = 4;
constexpr size_t kMaxCommentBytes = 255;
constexpr size_t kBytesPerRecord = 64;  // room for records: one for so many bytes of frames, the shortest frame

// Stored bytes that stand where they stood on the wire.
uint32_t head_of(const Packet& packet) {
  const uint32_t stored = packet.stored_bytes();
  return packet.elided_bytes() == 0 ? stored : stored - std::min(stored, kIcrcBytes);
}

}  // namespace

// The part that one worker writes; a line of its own, so that workers do not share.
struct alignas(64) Capture::WorkerSide {
  CaptureBuffer buffer;
  uint64_t missed = 0;
  uint64_t omitted = 0;
  size_t pressure_bytes = 0;
  bool pressed = false;
};

class Capture::PortTap final : public dataplane::Tap {
 public:
  PortTap(Capture& capture, WorkerSide& side, uint32_t interface)
      : capture_(capture), side_(side), interface_(interface) {}

  void frame(Direction direction, const Packet& packet, Instant at, const char* comment) noexcept override {
    if (at >= capture_.until_) return;
    const uint32_t head = head_of(packet);
    if (!capture_.filter_.takes(packet.data(), head, packet.frame_bytes())) return;
    if (capture_.writer_->full()) [[unlikely]] {
      ++side_.omitted;
      return;
    }
    CaptureRecord record{.at = at,
                         .sequence = sequence_++,
                         .missed_before = missed_,
                         .interface = interface_,
                         .original_bytes = packet.frame_bytes(),
                         .captured_bytes = std::min(head, capture_.options_.snaplen),
                         .way = direction == Direction::kReceived ? pcapng::Way::kIn : pcapng::Way::kOut};
    if (capture_.options_.full) take_whole(packet, head, record);
    if (comment != nullptr) record.comment_bytes = static_cast<uint16_t>(strnlen(comment, kMaxCommentBytes));
    if (!capture_.options_.grow && !side_.buffer.has_room_for(record.captured_bytes + record.comment_bytes)) {
      ++missed_;
      ++total_missed_;
      ++side_.missed;
    } else {
      side_.buffer.add(record, packet.data(), comment);
      missed_ = 0;
    }
    if (side_.buffer.bytes() >= side_.pressure_bytes && !side_.pressed) press();
  }
  // Called after the last frame.
  uint64_t missed() const { return total_missed_; }

 private:
  // All that is stored, and how many zeros the file is to have before the ICRC.
  static void take_whole(const Packet& packet, uint32_t head, CaptureRecord& record) noexcept {
    record.captured_bytes = packet.stored_bytes();
    record.zeros_at = head;
    record.zeros = packet.elided_bytes();
  }

  void press() noexcept {
    side_.pressed = true;
    if (capture_.on_pressure_) capture_.on_pressure_();
  }

  Capture& capture_;
  WorkerSide& side_;
  uint32_t interface_;
  uint64_t sequence_ = 0;
  uint64_t missed_ = 0;  // since the last frame that found room
  uint64_t total_missed_ = 0;
};

std::expected<std::unique_ptr<Capture>, std::string> Capture::open(const std::string& path, CaptureOptions options) {
  SOFTSPINE_CHECK(options.snaplen >= 1 && options.workers >= 1, options.snaplen, options.workers);
  auto filter = FrameFilter::compile(options.filter);
  if (!filter) return std::unexpected("the filter '" + options.filter + "': " + filter.error());
  auto files = CaptureFiles::open(path, options.rotation, options.wait_for_reader);
  if (!files) return std::unexpected(files.error());
  return std::unique_ptr<Capture>{new Capture{std::move(*files), std::move(*filter), std::move(options)}};
}

Capture::Capture(CaptureFiles files, FrameFilter filter, CaptureOptions options)
    : files_(std::move(files)), name_(files_->name()), filter_(std::move(filter)), options_(std::move(options)) {
  pcapng::append(
      head_,
      pcapng::Section{.hardware = "emulated switch fabric", .application = "softspine", .comment = options_.comment});
  for (uint32_t i = 0; i < options_.workers; ++i) {
    workers_.push_back(std::make_unique<WorkerSide>());
    workers_.back()->pressure_bytes = options_.buffer_bytes / 2;
  }
}

Capture::~Capture() {
  static_cast<void>(close());
}

bool Capture::wants(const std::string& port) const {
  const auto matches = [&port](const std::string& pattern) { return fnmatch(pattern.c_str(), port.c_str(), 0) == 0; };
  return options_.ports.empty() || std::ranges::any_of(options_.ports, matches);
}

dataplane::Tap* Capture::add_port(const std::string& name, dataplane::Rate speed, uint32_t worker,
                                  const std::string& description) {
  SOFTSPINE_CHECK(!writer_ && !closed_, 0, 0);
  if (!wants(name)) return nullptr;
  pcapng::append(head_, pcapng::Interface{.name = name,
                                          .speed = speed,
                                          .snaplen = options_.full ? 0 : options_.snaplen,
                                          .description = description,
                                          .filter = options_.filter});
  WorkerSide& side = *workers_[worker % options_.workers];
  taps_.push_back(std::make_unique<PortTap>(*this, side, static_cast<uint32_t>(taps_.size())));
  return taps_.back().get();
}

void Capture::on_pressure(std::function<void()> call) {
  on_pressure_ = std::move(call);
}

void Capture::on_failure(std::function<void(const std::string& why)> call) {
  on_failure_ = std::move(call);
}

void Capture::start(Instant until) {
  SOFTSPINE_CHECK(!writer_ && !closed_, 0, 0);
  until_ = until;
  writer_ = std::make_unique<CaptureWriter>(std::move(*files_), head_, options_.max_bytes, on_pressure_, on_failure_,
                                            taps_.size());
  files_.reset();
  for (auto& side : workers_) side->buffer = fresh_buffer();
}

CaptureBuffer Capture::fresh_buffer() {
  CaptureBuffer buffer = writer_->recycled();
  buffer.reserve(options_.buffer_bytes, options_.buffer_bytes / kBytesPerRecord + 1);
  return buffer;
}

std::vector<CaptureBuffer> Capture::take() {
  std::vector<CaptureBuffer> out;
  for (auto& side : workers_) {
    side->pressed = false;
    if (side->buffer.empty()) continue;
    out.push_back(std::move(side->buffer));
    side->buffer = fresh_buffer();
  }
  return out;
}

CaptureWriter::Batch Capture::batch_of(Instant floor, std::vector<CaptureBuffer> further) {
  CaptureWriter::Batch batch{.buffers = take(), .floor = floor};
  std::ranges::move(further, std::back_inserter(batch.buffers));
  return batch;
}

void Capture::flush(Instant floor, std::vector<CaptureBuffer> further) {
  if (!writer_ || closed_) return;
  if (!options_.grow && !writer_->has_room()) return;  // the writer calls on_pressure when it has
  writer_->put(batch_of(floor, std::move(further)));
}

std::expected<CaptureTotals, std::string> Capture::close(std::vector<CaptureBuffer> further) {
  if (!writer_) start();
  if (!closed_) {
    closed_ = true;
    std::vector<uint64_t> missed;
    for (const auto& tap : taps_) missed.push_back(tap->missed());
    writer_->finish(batch_of(Instant::never(), std::move(further)), std::move(missed));
  }
  if (!writer_->error().empty()) return std::unexpected("the capture " + name_ + " is not whole: " + writer_->error());
  CaptureTotals totals = so_far();
  totals.omitted = writer_->omitted();
  for (const auto& side : workers_) {
    totals.missed += side->missed;
    totals.omitted += side->omitted;
  }
  return totals;
}

CaptureTotals Capture::so_far() const {
  if (!writer_) return {};
  return {.frames = writer_->frames(), .bytes = writer_->bytes(), .files = writer_->files()};
}

}  // namespace softspine::control

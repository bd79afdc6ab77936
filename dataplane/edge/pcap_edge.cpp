// SPDX-License-Identifier: Apache-2.0
#include "dataplane/edge/pcap_edge.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

namespace {

// Times before the fabric's start count as its start, times beyond what an Instant holds as never.
Instant since(int64_t zero_ns, int64_t at_ns, Duration offset) {
  int64_t ns = 0;
  int64_t ps = 0;
  if (__builtin_sub_overflow(at_ns, zero_ns, &ns) || __builtin_mul_overflow(ns, int64_t{1000}, &ps) ||
      __builtin_add_overflow(ps, offset.count_ps(), &ps)) {
    return at_ns < zero_ns ? Instant{} : Instant::never();
  }
  return std::max(Instant{}, Instant::at_ps(ps));
}

}  // namespace

std::expected<std::unique_ptr<PcapEdge>, EdgeError> PcapEdge::open(std::string name, const Config& config,
                                                                   PacketPool& pool, const NicConfig& nic) {
  std::error_code unknown;  // a file that is not there yet is no other file either
  if (!config.read_path.empty() && std::filesystem::equivalent(config.read_path, config.write_path, unknown)) {
    return std::unexpected(EdgeError{config.write_path, "is the file to read from, too: writing would destroy it"});
  }
  std::unique_ptr<PcapEdge> edge{new PcapEdge{std::move(name), config, nic, pool}};
  if (!config.read_path.empty()) {
    auto reader = PcapReader::open(config.read_path);
    if (!reader) return std::unexpected(std::move(reader.error()));
    edge->reader_.emplace(std::move(*reader));
    edge->read_ahead(Instant{});
    if (!edge->faults_.empty()) return std::unexpected(edge->faults_.front().error);
  }
  if (!config.write_path.empty()) {
    auto writer = PcapWriter::open(config.write_path, config.snap_bytes);
    if (!writer) return std::unexpected(std::move(writer.error()));
    edge->writer_.emplace(std::move(*writer));
    edge->writer_->give_up_when(edge->ending_);
  }
  return edge;
}

void PcapEdge::read_ahead(Instant now) noexcept {
  next_start_ = Instant::never();
  if (!reader_->next(next_)) {
    std::string broken = reader_->error();
    if (!broken.empty()) faults_.push_back({{config_.read_path, std::move(broken)}, now});
    return;
  }
  if (!zero_ns_) zero_ns_ = config_.zero_ns.value_or(next_.at_ns);
  plan_entry(now);
}

void PcapEdge::plan_entry(Instant now) noexcept {
  next_start_ = since(*zero_ns_, next_.at_ns, config_.offset);
  if (next_start_.is_never()) {
    faults_.push_back({{config_.read_path, "a frame was recorded more than 106 days after the fabric's start"}, now});
  }
}

std::optional<int64_t> PcapEdge::first_recorded_ns() const {
  return next_start_.is_never() ? std::nullopt : std::optional(next_.at_ns);
}

void PcapEdge::set_zero(int64_t zero_ns) noexcept {
  zero_ns_ = zero_ns;
  if (!next_start_.is_never()) plan_entry(Instant{});
}

// One frame waits at most: the file keeps the others.
Instant PcapEdge::next_entry() const {
  return waiting_packets() == 0 ? std::max(next_start_, free_at()) : Instant::never();
}

Instant PcapEdge::run(Instant until) noexcept {
  struct Outside {
    PcapEdge& edge;
    Instant next() const { return edge.next_entry(); }
    void enter(Instant now) noexcept { edge.enter(now); }
    void give(Packet packet, Instant now) noexcept { edge.write(std::move(packet), now); }
  };
  return run_with(until, Outside{*this});
}

void PcapEdge::enter(Instant now) noexcept {
  if (Packet packet = packet_of(next_)) {
    take_in(std::move(packet), now);
    find_next();
  }
  read_ahead(now);
  next_start_ = std::max(next_start_, now);
}

Packet PcapEdge::packet_of(const RecordedFrame& frame) noexcept {
  const auto refuse = [this](DropReason reason) {
    ++counters_.in_drops[static_cast<size_t>(reason)];
    return Packet{};
  };
  if (frame.captured < ethernet::kBytes) return refuse(DropReason::kTruncated);
  if (frame.length > kMaxFrameBytes) return refuse(DropReason::kOversize);
  const uint32_t zeros = std::min(frame.length - frame.captured, kIcrcBytes);
  const uint32_t stored = frame.captured + zeros;
  Packet packet = pool_.make_any(stored);
  if (!packet) return refuse(DropReason::kNoBuffer);
  std::memcpy(packet.data(), frame.bytes, frame.captured);
  std::memset(packet.data() + frame.captured, 0, zeros);
  packet.meta().frame_bytes = frame.length;
  return packet;
}

void PcapEdge::write(Packet packet, Instant now) noexcept {
  if (!writer_ || writer_->write(packet, now)) {
    ++counters_.out_packets;
    counters_.out_bytes += packet.frame_bytes();
  } else {
    ++counters_.out_drops[static_cast<size_t>(DropReason::kEdgeFull)];
  }
  PacketPool::release(std::move(packet));
  if (writer_ && writer_->failed() && !output_failed_) give_up_output(now);
}

// Frames that were counted when they were taken, and that the file then had no room for.
void PcapEdge::give_up_output(Instant now) noexcept {
  output_failed_ = true;
  faults_.push_back({{config_.write_path, writer_->error()}, now});
  const PcapWriter::Lost& lost = writer_->lost();
  counters_.out_packets -= lost.packets;
  counters_.out_bytes -= lost.bytes;
  counters_.out_drops[static_cast<size_t>(DropReason::kEdgeFull)] += lost.packets;
}

void PcapEdge::finish(Instant now) noexcept {
  if (!writer_) return;
  writer_->finish();
  if (writer_->failed() && !output_failed_) give_up_output(now);
  writer_.reset();
}

void PcapEdge::drain() noexcept {
  end_waiting();
  finish(Instant::never());
}

}  // namespace softspine::dataplane

// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/pfc_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "dataplane/packet/pfc.hpp"
#include "testbeds/run/ns3_nodes.hpp"

namespace softspine::testbeds {

using control::LinkEnd;
using dataplane::Duration;
using dataplane::Instant;

namespace {

constexpr Duration kPausesEveryVirtual = Duration::ms(1);
constexpr Duration kPausesEveryWall = Duration::ms(100);
constexpr int64_t kPsPerNanosecond = 1'000;
constexpr size_t kPausesRestAt = size_t{1} << 15;

}  // namespace

class PfcFile::PauseTap final : public dataplane::Tap {
 public:
  PauseTap(LinkEnd sender, LinkEnd receiver, Duration propagation, Buffer& buffer, std::atomic<bool>& wants_rest)
      : sender_(sender), receiver_(receiver), propagation_(propagation), buffer_(buffer), wants_rest_(wants_rest) {}

  LinkEnd sender() const { return sender_; }
  void frame(dataplane::Direction, const dataplane::Packet& packet, Instant at, const char*) noexcept override {
    if (packet.is_of_flow() || packet.stored_bytes() < dataplane::ethernet::kBytes) return;
    if (dataplane::load16(packet.data() + dataplane::ethernet::kType) != dataplane::ethernet::kTypeMacControl) return;
    const auto frame = dataplane::read_pfc(packet.data(), packet.stored_bytes());
    if (!frame) return;
    bool stops = false;
    bool resumes = false;
    for (size_t p = 0; p < frame->quanta.size(); ++p) {
      const bool is_named = (frame->enable >> p & 1) != 0;
      stops |= is_named && frame->quanta[p] > 0;
      resumes |= is_named && frame->quanta[p] == 0;
    }
    if (stops) buffer_.push_back({at + propagation_, receiver_, true});
    if (resumes) buffer_.push_back({at + propagation_, receiver_, false});
    if (buffer_.size() >= kPausesRestAt) wants_rest_.store(true, std::memory_order_relaxed);
  }

 private:
  LinkEnd sender_;
  LinkEnd receiver_;
  Duration propagation_;
  Buffer& buffer_;
  std::atomic<bool>& wants_rest_;
};

PfcFile::PfcFile(const control::Testbed& testbed, const LocalNodes& nodes, Captures& captures,
                 control::ErrorChannel& errors)
    : testbed_(testbed), nodes_(nodes), captures_(captures), errors_(errors) {}

PfcFile::~PfcFile() {
  for (const auto& tap : taps_) captures_.board().remove({tap->sender(), false}, tap.get());
}

std::expected<void, std::string> PfcFile::open_file(const std::string& path) {
  if (!nodes_.ranks().is_first()) return {};
  auto file = control::LineFile::open(path, &ending_);
  if (!file) return std::unexpected("cannot write pauses to " + path + ": " + file.error());
  file_.emplace(std::move(*file));
  path_ = path;
  return {};
}

std::expected<void, std::string> PfcFile::open(const std::string& path) {
  if (auto opened = open_file(path); !opened) return opened;
  is_open_ = true;
  numbers_ = ns3_nodes(testbed_.fabric);
  dataplane::Engine& engine = nodes_.engine();
  for (uint32_t i = 0; i < engine.workers(); ++i) buffers_.push_back(std::make_unique<Buffer>());
  nodes_.for_each_port([&](LinkEnd port, const dataplane::Transmitter& wire) {
    Buffer& own = *buffers_[nodes_.worker_at(port).value_or(0)];
    taps_.push_back(
        std::make_unique<PauseTap>(port, testbed_.fabric.peer_of(port), wire.propagation(), own, engine.wants_rest()));
    captures_.board().add({port, false}, taps_.back().get());
  });
  engine.at_rest([this](Instant now) { write_before(now); });
  engine.look_at(Instant::at(kPausesEveryVirtual), [this](Instant now) { look(now); });
  return {};
}

// The workers stand still for it, which is all that it is for.
void PfcFile::look(Instant now) {
  dataplane::Engine& engine = nodes_.engine();
  const Instant next = engine.next_event();
  if (next.is_never() && !engine.is_wall()) return;
  const Instant then = now + (engine.is_wall() ? kPausesEveryWall / testbed_.run.dilation : kPausesEveryVirtual);
  engine.look_at(engine.is_wall() ? then : std::max(then, next), [this](Instant later) { look(later); });
}

// Those at `now` itself wait: more of them may come.
void PfcFile::write_before(Instant now) {
  if (!is_open_) return;
  Buffer here;
  for (const auto& buffer : buffers_) {
    here.insert(here.end(), buffer->begin(), buffer->end());
    buffer->clear();
  }
  for (const Buffer& each : nodes_.ranks().collect(here)) pauses_.insert(pauses_.end(), each.begin(), each.end());
  if (!file_) return;
  std::ranges::sort(pauses_, {}, [](const Pause& it) { return std::tuple(it.at, it.port, !it.stops); });
  const auto end = std::ranges::lower_bound(pauses_, now, {}, &Pause::at);
  for (auto it = pauses_.begin(); it != end; ++it) {
    const bool is_switch = testbed_.fabric.nodes[it->port.node].kind == control::NodeKind::kSwitch;
    fmt::format_to(std::back_inserter(file_->text()), "{} {} {} {} {}\n", it->at.count_ps() / kPsPerNanosecond,
                   numbers_[it->port.node], int{is_switch}, it->port.port + 1, int{it->stops});
  }
  pauses_.erase(pauses_.begin(), end);
  file_->put();
  if (std::string error = file_->take_error(); !error.empty())
    errors_.report("pauses", path_ + ": " + error, std::min(now, nodes_.engine().now()));
}

void PfcFile::finish(Instant) {
  if (!is_open_) return;
  write_before(Instant::never());
  is_open_ = false;
  if (!file_) return;
  file_->flush();
  if (std::string error = file_->take_error(); !error.empty())
    errors_.report("pauses", path_ + ": " + error, nodes_.engine().now());
  file_.reset();
}

}  // namespace softspine::testbeds

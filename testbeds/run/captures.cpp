// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/captures.hpp"

#include <algorithm>

namespace softspine::testbeds {

using dataplane::Duration;
using dataplane::Instant;

namespace {

constexpr Duration kFlushEvery = Duration::ms(100);  // wall time: how old a live capture's file is at most

}  // namespace

std::expected<void, std::string> Captures::start(const std::string& name, const CaptureRequest& request, Instant now) {
  for (const auto& [other, capture] : running_) {
    if (other == name) return std::unexpected("a capture named '" + name + "' is there already");
    if (capture->request().path == request.path) return std::unexpected("capture '" + other + "' writes to that file");
  }
  auto opened = FabricCapture::open(request, testbed_, assembly_, now);
  if (!opened) return std::unexpected(opened.error());
  (*opened)->attach(board_);
  running_[name] = std::move(*opened);
  if (!assembly_.engine->is_wall() || is_flushing_) return {};
  is_flushing_ = true;
  flush_now_and_then();
  return {};
}

// On the wall clock: the files follow, and who has seen enough is told nothing more.
void Captures::flush_now_and_then() {
  const Duration every = kFlushEvery / testbed_.run.dilation;
  assembly_.engine->at(assembly_.engine->now() + every, [this](Instant now) {
    for (const auto& [name, capture] : running_) {
      if (capture->attached()) capture->flush(now);
      if (capture->until() <= now) capture->detach(board_);
    }
    if (running_.empty()) {
      is_flushing_ = false;
    } else {
      flush_now_and_then();
    }
  });
}

std::expected<Captures::Ended, std::string> Captures::stop(const std::string& name) {
  if (running_.empty()) return std::unexpected("nothing is captured");
  if (name.empty() && running_.size() > 1) return std::unexpected("several captures run: name one");
  const auto found = name.empty() ? running_.begin() : running_.find(name);
  if (found == running_.end()) return std::unexpected("there is no capture '" + name + "'");
  Ended out{found->first, std::move(found->second)};
  running_.erase(found);
  out.capture->detach(board_);
  return out;
}

std::vector<Captures::Row> Captures::list(Instant now) {
  std::vector<Row> out;
  for (const auto& [name, capture] : running_) {
    if (capture->attached()) capture->flush(now);
    out.push_back({.name = name,
                   .file = capture->capture().name(),
                   .filter = capture->request().filter,
                   .ports = capture->capture().ports(),
                   .running = now < capture->until(),
                   .so_far = capture->capture().so_far()});
  }
  return out;
}

std::expected<control::CaptureTotals, std::string> Captures::close_all(const std::string& name) {
  std::expected<control::CaptureTotals, std::string> out = control::CaptureTotals{};
  for (const auto& [each, capture] : running_) {
    capture->detach(board_);
    const auto closed = capture->capture().close();
    if (each == name || !closed) out = closed;
  }
  return out;
}

}  // namespace softspine::testbeds

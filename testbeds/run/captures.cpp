// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/captures.hpp"

#include <algorithm>
#include <filesystem>

namespace softspine::testbeds {

using dataplane::Duration;
using dataplane::Instant;

namespace {

constexpr const char* kRunCapture = "run";
constexpr const char* kReaderHasLeft = "reader has left";
constexpr Duration kFlushEvery = Duration::ms(100);  // wall time: how old a live capture's file is at most

}  // namespace

std::expected<void, std::string> Captures::reserve(const std::string& name, const std::string& path) {
  const std::lock_guard guard{names_lock_};
  for (const auto& [other, file] : names_) {
    if (other == name) return std::unexpected("a capture named '" + name + "' is there already");
    std::error_code none;
    if (file == path || std::filesystem::equivalent(file, path, none))
      return std::unexpected("capture '" + other + "' writes to that file");
  }
  names_[name] = path;
  return {};
}

void Captures::release(const std::string& name) {
  const std::lock_guard guard{names_lock_};
  names_.erase(name);
}

void Captures::start() {
  requests_.on(kReaderHasLeft, [this](const std::string& name, Instant) {
    const auto found = running_.find(name);
    if (found != running_.end()) end_without_reader(name, found->second.get());
  });
}

Captures::Opened Captures::open(const std::string& name, const CaptureRequest& request) {
  if (auto reserved = reserve(name, request.path); !reserved) return std::unexpected(reserved.error());
  auto opened = FabricCapture::open(request, testbed_, nodes_);
  if (!opened) {
    release(name);
    return opened;
  }
  if (request.for_reader) {
    (*opened)->on_failure(
        [this, name, capture = opened->get()](const std::string&) { reader_has_left(name, capture); });
    return opened;
  }
  (*opened)->on_failure([this, name, file = (*opened)->capture().name()](const std::string& why) {
    errors_.report("capture " + name, file + ": " + why);
  });
  return opened;
}

// The first rank's error is everybody's.
Captures::Opened Captures::open_on_all(const std::string& name, const CaptureRequest& request,
                                       const std::string& refused) {
  Opened opened = refused.empty() ? open(name, request) : Opened(std::unexpected(refused));
  if (nodes_.ranks().is_alone()) return opened;
  for (const std::string& error : nodes_.ranks().gather(opened ? std::string{} : opened.error())) {
    if (error.empty()) continue;
    if (opened) release(name);
    return std::unexpected(error);
  }
  return opened;
}

Captures::Done Captures::open_for_run(const CaptureRequest& request) {
  auto opened = open(kRunCapture, request);
  if (!opened) return std::unexpected(opened.error());
  begin_one(kRunCapture, std::move(*opened), nodes_.engine().now());
  return {};
}

void Captures::start_live(const std::string& name, const CaptureRequest& request, std::function<void(Done)> done,
                          const std::string& refused) {
  auto opened = open_on_all(name, request, refused);
  if (!opened) return done(std::unexpected(opened.error()));
  const auto capture = std::make_shared<std::unique_ptr<FabricCapture>>(std::move(*opened));
  nodes_.engine().post([this, name, capture, done = std::move(done)](Instant now) {
    begin_one(name, std::move(*capture), now);
    done({});
  });
}

void Captures::ask(std::function<void(Captures&, Instant)> act) {
  nodes_.engine().post([this, act = std::move(act)](Instant now) { act(*this, now); });
}

void Captures::begin_one(const std::string& name, std::unique_ptr<FabricCapture> capture, Instant now) {
  capture->begin(board_, now);
  running_[name] = std::move(capture);
  if (!nodes_.engine().is_wall() || is_flushing_) return;
  is_flushing_ = true;
  flush_now_and_then();
}

// On the wall clock: the files follow, and a reader that has seen enough gets nothing more.
void Captures::flush_now_and_then() {
  const Duration every = kFlushEvery / testbed_.run.dilation;
  nodes_.engine().at(nodes_.engine().now() + every, [this](Instant now) {
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
  release(out.name);
  out.capture->detach(board_);
  return out;
}

// From the thread that writes.
void Captures::reader_has_left(const std::string& name, const FabricCapture* capture) {
  if (requests_.are_shared()) return requests_.put(kReaderHasLeft, name);
  nodes_.engine().post([this, name, capture](Instant) { end_without_reader(name, capture); });
}

// Closing waits for no disk: nothing more can be written. It may have been stopped meanwhile.
void Captures::end_without_reader(const std::string& name, const FabricCapture* capture) {
  const auto found = running_.find(name);
  if (found == running_.end() || found->second.get() != capture) return;
  if (auto ended = stop(name)) static_cast<void>(ended->close());
}

std::vector<Captures::Row> Captures::list(Instant now) {
  std::vector<Row> out;
  for (const auto& [name, capture] : running_) {
    if (capture->attached()) capture->flush(now);
    std::string failure = capture->capture().failure();
    out.push_back({.name = name,
                   .file = capture->capture().name(),
                   .filter = capture->request().filter,
                   .ports = capture->capture().ports(),
                   .running = now < capture->until() && failure.empty(),
                   .failure = failure,
                   .so_far = capture->capture().so_far()});
  }
  return out;
}

std::expected<control::CaptureTotals, std::string> Captures::close_all() {
  std::expected<control::CaptureTotals, std::string> out = control::CaptureTotals{};
  for (const auto& [name, capture] : running_) {
    capture->detach(board_);
    const auto closed = capture->close();
    if (name == kRunCapture || !closed) out = closed;
  }
  return out;
}

}  // namespace softspine::testbeds

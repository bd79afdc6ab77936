// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/fabric_capture.hpp"

#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <iterator>

#include "control/document/words.hpp"
#include "control/topology/node_sets.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

constexpr const char* kNoFile = "/dev/null";

// A name that is no pattern of ports names nodes: all ports of each.
std::expected<std::vector<std::string>, std::string> port_patterns(const std::vector<std::string>& given,
                                                                   const control::Fabric& fabric) {
  std::vector<std::string> out;
  control::NodeSets sets(fabric);
  control::Guesser guesser;
  for (const std::string& each : given) {
    if (each.find(':') != std::string::npos || each == "*") {
      out.push_back(each);
      continue;
    }
    const control::NamedNodes found = sets.find(each, control::Among::kNodes);
    if (found.nodes.empty()) {
      const bool guess = !found.unknown.empty() && found.of == control::NamedNodes::Of::kNode;
      return std::unexpected("no port to capture: " + found.wrong +
                             (guess ? guesser.guess(found.unknown, sets.names()) : ""));
    }
    for (const uint32_t node : found.nodes) out.push_back(fabric.nodes[node].name + ":*");
  }
  return out;
}

bool is_pipe(const std::string& path) {
  struct stat about{};
  return ::stat(path.c_str(), &about) == 0 && S_ISFIFO(about.st_mode);
}

bool names_a_port(const std::string& pattern, const control::Fabric& fabric) {
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    for (uint16_t p = 0; p < fabric.nodes[n].ports.size(); ++p) {
      if (fnmatch(pattern.c_str(), fabric.name_of(control::LinkEnd{n, p}).c_str(), 0) == 0) return true;
    }
  }
  return false;
}

}  // namespace

std::expected<std::unique_ptr<FabricCapture>, std::string> FabricCapture::open(const CaptureRequest& asked,
                                                                               const control::Testbed& testbed,
                                                                               const LocalNodes& nodes) {
  auto patterns = port_patterns(asked.ports, testbed.fabric);
  if (!patterns) return std::unexpected(patterns.error());
  CaptureRequest request = asked;
  request.ports = std::move(*patterns);
  for (const std::string& pattern : request.ports) {
    if (!names_a_port(pattern, testbed.fabric)) return std::unexpected("no port to capture is named " + pattern);
  }
  if (request.for_reader && nodes.ranks().is_first() && !is_pipe(request.path))
    return std::unexpected(request.path + " is no pipe with a reader");
  control::CaptureOptions options;
  options.snaplen = request.snaplen;
  options.full = request.full;
  options.ports = request.ports;
  options.max_bytes = request.max_bytes;
  options.grow = !nodes.engine().is_wall();
  options.workers = testbed.run.workers;
  options.comment = fmt::format("softspine {}, seed {}", testbed.name, testbed.run.seed);
  options.filter = request.filter;
  options.rotation = request.rotation;
  options.wait_for_reader = request.wait_for_reader;
  if (!nodes.ranks().is_first()) {  // rank 0 writes
    request.path = kNoFile;
    options.rotation = {};
  }
  auto capture = control::Capture::open(request.path, std::move(options));
  if (!capture) return std::unexpected(capture.error());
  std::unique_ptr<FabricCapture> out{new FabricCapture(request, std::move(*capture), nodes.ranks())};
  out->choose_ports(testbed, nodes);
  if (out->taps_.empty() && request.watched == Watched::kReceived && nodes.ranks().is_alone()) {
    return std::unexpected("what hosts receive is captured where their switch sends it");
  }
  out->flush_in_time(nodes.engine());
  return out;
}

// Asked for by a worker or by the writer's thread, done between two windows: the capture may have ended by then.
void FabricCapture::flush_in_time(Engine& engine) {
  if (!ranks_.is_alone()) {  // no rank flushes by itself
    engine.at_rest([this, watches = watches_](Instant now) {
      if (*watches) flush(now);
    });
    capture_->on_pressure([&engine] { engine.wants_rest().store(true, std::memory_order_relaxed); });
    return;
  }
  capture_->on_pressure([&engine, capture = capture_.get(), watches = watches_] {
    engine.post([capture, watches](Instant then) {
      if (*watches) capture->flush(then);
    });
  });
}

std::vector<control::CaptureBuffer> FabricCapture::frames_elsewhere() {
  if (ranks_.is_alone()) return {};
  auto all = ranks_.collect(ranks_.is_first() ? std::vector<control::CaptureBuffer>{} : capture_->take());
  std::vector<control::CaptureBuffer> out;
  for (auto& each : all) std::ranges::move(each, std::back_inserter(out));
  return out;
}

void FabricCapture::choose_ports(const control::Testbed& testbed, const LocalNodes& nodes) {
  if (ranks_.is_alone()) {
    return nodes.for_each_port([&](control::LinkEnd end, const Transmitter&) { choose_port(testbed, nodes, end); });
  }
  for (uint32_t n = 0; n < testbed.fabric.nodes.size(); ++n) {
    for (uint16_t p = 0; p < testbed.fabric.nodes[n].ports.size(); ++p) choose_port(testbed, nodes, {n, p});
  }
}

// Ports of nodes elsewhere have their place among the file's interfaces, too.
void FabricCapture::choose_port(const control::Testbed& testbed, const LocalNodes& nodes, control::LinkEnd end) {
  const control::Fabric& fabric = testbed.fabric;
  const size_t node_ports = request_.filter.empty() ? fabric.nodes[end.node].ports.size() : 0;
  const auto worker = nodes.worker_at(end);
  Tap* tap = capture_->add_port(fabric.name_of(end), fabric.links[fabric.port(end).link].rate, worker.value_or(0),
                                control::pcapng::link_description(fabric.name_of(fabric.peer_of(end)), node_ports));
  if (tap == nullptr || !worker) return;
  if (request_.watched != Watched::kReceived) taps_.push_back({{end, false}, tap});
  if (watches_received() && nodes.switch_at(end.node) != nullptr) taps_.push_back({{end, true}, tap});
}

bool FabricCapture::watches_received() const {
  if (request_.watched == Watched::kBoth) return !request_.ports.empty();
  return request_.watched == Watched::kReceived;
}

void FabricCapture::begin(TapBoard& board, Instant now) {
  if (request_.lasts.count_ps() != 0) until_ = now + request_.lasts;
  capture_->start(until_);
  for (const auto& [place, tap] : taps_) board.add(place, tap);
  *watches_ = true;
}

void FabricCapture::detach(TapBoard& board) {
  if (!attached()) return;
  for (const auto& [place, tap] : taps_) board.remove(place, tap);
  *watches_ = false;
}

}  // namespace softspine::testbeds

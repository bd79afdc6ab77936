// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/fabric_capture.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

namespace softspine::testbeds {

using namespace dataplane;

namespace {

constexpr Duration kFlushEvery = Duration::ms(100);  // wall time: how old a live capture's file is at most

bool names_a_port(const std::string& pattern, const control::Fabric& fabric) {
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    for (uint16_t p = 0; p < fabric.nodes[n].ports.size(); ++p) {
      if (fnmatch(pattern.c_str(), fabric.name_of(control::LinkEnd{n, p}).c_str(), 0) == 0) return true;
    }
  }
  return false;
}

}  // namespace

std::expected<std::unique_ptr<FabricCapture>, std::string> FabricCapture::open(const CaptureRequest& request,
                                                                               const control::Testbed& testbed,
                                                                               Assembly& assembly) {
  for (const std::string& pattern : request.ports) {
    if (!names_a_port(pattern, testbed.fabric)) return std::unexpected("no port to capture is named " + pattern);
  }
  control::CaptureOptions options;
  options.snaplen = request.snaplen;
  options.ports = request.ports;
  options.max_bytes = request.max_bytes;
  options.grow = !assembly.engine->is_wall();
  options.workers = testbed.run.workers;
  options.comment = fmt::format("softspine {}, seed {}", testbed.name, testbed.run.seed);
  auto capture = control::Capture::open(request.path, std::move(options));
  if (!capture) return std::unexpected(capture.error());
  std::unique_ptr<FabricCapture> out{new FabricCapture(std::move(*capture))};
  out->watch(!request.ports.empty(), testbed, assembly);
  Engine& engine = *assembly.engine;
  out->capture_->on_pressure(
      [&engine, capture = out->capture_.get()] { engine.post([capture](Instant now) { capture->flush(now); }); });
  out->capture_->start();
  if (engine.is_wall()) out->flush_now_and_then(engine, kFlushEvery / testbed.run.dilation);
  return out;
}

void FabricCapture::watch(bool received_too, const control::Testbed& testbed, Assembly& assembly) {
  const control::Fabric& fabric = testbed.fabric;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    for (uint16_t p = 0; p < fabric.nodes[n].ports.size(); ++p) {
      const control::LinkEnd end{n, p};
      Tap* tap = capture_->add_port(fabric.name_of(end), fabric.links[fabric.port(end).link].rate,
                                    assembly.worker_at(end), fabric.name_of(fabric.peer_of(end)));
      if (tap == nullptr) continue;
      const PortRef ref = assembly.port_ref(end);
      assembly.engine->node(ref.node).transmitter(ref.port).set_tap(tap);
      if (received_too && assembly.switches[n] != nullptr) assembly.switches[n]->set_receive_tap(PortNo{p}, tap);
    }
  }
}

void FabricCapture::flush_now_and_then(Engine& engine, Duration every) {
  engine.at(engine.now() + every, [this, &engine, every](Instant now) {
    capture_->flush(now);
    flush_now_and_then(engine, every);
  });
}

}  // namespace softspine::testbeds

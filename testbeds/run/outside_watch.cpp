// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/outside_watch.hpp"

#include <chrono>
#include <utility>

#include "testbeds/outside/outside_spec.hpp"

namespace softspine::testbeds {

using dataplane::Instant;

namespace {

constexpr std::chrono::milliseconds kWatchEvery{20};
constexpr std::chrono::milliseconds kGrace{5'000};  // for commands to end when they are asked to

// Calls, in the fabric's order, see(number of the node).
template <typename See>
void for_each_outside(const control::Fabric& fabric, See&& see) {
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const control::FabricNode& node = fabric.nodes[n];
    if (node.kind == control::NodeKind::kHost && !control::is_builtin(node.attachment)) see(n);
  }
}

}  // namespace

std::expected<std::unique_ptr<OutsideHosts>, std::string> make_outside(const control::Testbed& testbed,
                                                                       const std::filesystem::path& run_folder,
                                                                       bool stays) {
  std::vector<OutsideSpec> specs;
  for_each_outside(testbed.fabric, [&](uint32_t n) { specs.push_back(outside_spec(testbed.fabric, n)); });
  if (specs.empty()) return nullptr;
  for (OutsideSpec& spec : specs) spec.stays = stays;
  const auto folder = std::filesystem::absolute(std::filesystem::path(testbed.file)).parent_path();
  auto made = OutsideHosts::make(specs, {.run_folder = run_folder, .testbed_folder = folder});
  if (made) return std::move(*made);
  std::string text;
  for (const Error& error : made.error()) text += (text.empty() ? "" : "; ") + error.path + ": " + error.message;
  return std::unexpected(text);
}

OutsideWatch::OutsideWatch(const control::Testbed& testbed, OutsideHosts* hosts, const Assembly& assembly,
                           control::ErrorChannel& errors, bool stays)
    : testbed_(testbed), hosts_(hosts), assembly_(assembly), errors_(errors) {
  is_watched_ = hosts != nullptr && hosts->need_wall_clock();
  for_each_outside(testbed.fabric, [&](uint32_t n) {
    waits_for_commands_ = waits_for_commands_ || (!stays && has_command(outside_spec(testbed.fabric, n)));
  });
}

std::expected<void, std::string> OutsideWatch::begin() {
  if (hosts_ == nullptr) {
    say_up();
    return {};
  }
  if (const auto started = hosts_->start(); !started) {
    const Error& first = started.error().front();
    return std::unexpected(first.path + ": " + first.message);
  }
  if (is_watched_) {
    watcher_ = std::jthread{[this] { watch(); }};
  } else {
    say_up();
  }
  return {};
}

void OutsideWatch::end_soon() noexcept {
  is_to_end_.store(true, std::memory_order_relaxed);
  if (!is_watched_) assembly_.engine->stop();
}

void OutsideWatch::finish(Instant /*now*/) {
  if (watcher_.joinable()) watcher_.join();
}

void OutsideWatch::watch() {
  const Instant end = Instant::at(testbed_.run.duration);
  for (;;) {
    const bool ended = hosts_->poll();
    report_unasked_ends();
    if (hosts_->are_up()) say_up();
    const bool is_to_end = is_to_end_.load(std::memory_order_relaxed) || assembly_.budget->is_spent();
    if (is_to_end || assembly_.engine->progress() >= end || (waits_for_commands_ && ended)) break;
    std::this_thread::sleep_for(kWatchEvery);
  }
  hosts_->stop(kGrace);
  report_unasked_ends();
  assembly_.engine->stop();
}

void OutsideWatch::report_unasked_ends() {
  for (UnaskedEnd& end : hosts_->unasked_ends()) errors_.report(std::move(end.host), std::move(end.message));
}

void OutsideWatch::say_up() {
  if (const auto call = std::exchange(when_up_, nullptr)) call();
}

std::expected<Entrance, std::string> OutsideWatch::entrance_of(const std::string& host) const {
  if (hosts_ != nullptr) return hosts_->entrance_of(host);
  return std::unexpected(host + " cannot be entered: programs run on namespace and verbs hosts");
}

std::vector<OutsideOutcome> OutsideWatch::outcomes() const {
  return hosts_ != nullptr ? hosts_->outcomes() : std::vector<OutsideOutcome>{};
}

std::vector<std::string> OutsideWatch::notes() const {
  return hosts_ != nullptr ? hosts_->notes() : std::vector<std::string>{};
}

}  // namespace softspine::testbeds

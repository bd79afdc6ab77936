// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/outside_watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <utility>

#include "testbeds/outside/outside_spec.hpp"

namespace softspine::testbeds {

using dataplane::Instant;

namespace {

constexpr std::chrono::milliseconds kWatchEvery{20};
constexpr std::chrono::milliseconds kGrace{5'000};  // for commands to end when they are asked to

// What watchers of several ranks tell each other.
constexpr const char* kWantsEnd = "outside: end";
constexpr const char* kCommandsHaveEnded = "outside: commands have ended";
constexpr const char* kHostsHaveStopped = "outside: hosts have stopped";
constexpr const char* kSignal = "outside: signal";

// Calls, in the fabric's order, see(number of the node).
template <typename See>
void for_each_outside(const control::Fabric& fabric, See&& see) {
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const control::FabricNode& node = fabric.nodes[n];
    if (node.kind == control::NodeKind::kHost && !control::is_builtin(node.attachment)) see(n);
  }
}

// Of the processes that a process can enter: one machine, and one of its PID namespaces.
std::string machine_here() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  std::error_code none;
  return boot + " " + std::filesystem::read_symlink("/proc/self/ns/pid", none).string();
}

std::string host_name() {
  std::string out(256, '\0');
  if (gethostname(out.data(), out.size() - 1) != 0) return "another machine";
  out.resize(out.find('\0'));
  return out;
}

}  // namespace

std::expected<std::unique_ptr<OutsideHosts>, std::string> make_outside(const control::Testbed& testbed,
                                                                       const Ranks& ranks,
                                                                       const std::filesystem::path& run_folder,
                                                                       bool stays) {
  std::vector<OutsideSpec> specs;
  std::vector<OutsideSpec> all;
  for_each_outside(testbed.fabric, [&](uint32_t n) {
    OutsideSpec spec = outside_spec(testbed.fabric, n);
    spec.stays = stays;
    if (!ranks.is_first()) spec.board += "." + std::to_string(ranks.rank());
    if (ranks.is_here(n)) specs.push_back(spec);
    all.push_back(std::move(spec));
  });
  if (specs.empty()) return nullptr;
  const auto folder = std::filesystem::absolute(std::filesystem::path(testbed.file)).parent_path();
  auto made = OutsideHosts::make(specs, {.run_folder = run_folder, .testbed_folder = folder}, all);
  if (made) return std::move(*made);
  std::string text;
  for (const Error& error : made.error()) text += (text.empty() ? "" : "; ") + error.path + ": " + error.message;
  return std::unexpected(text);
}

OutsideWatch::OutsideWatch(const control::Testbed& testbed, OutsideHosts* hosts, const Assembly& assembly,
                           RankRequests& requests, control::ErrorChannel& errors, bool stays)
    : testbed_(testbed), hosts_(hosts), assembly_(assembly), requests_(requests), errors_(errors) {
  for_each_outside(testbed.fabric, [&](uint32_t n) {
    const control::FabricNode& node = testbed.fabric.nodes[n];
    names_.push_back(node.name);
    is_watched_ = is_watched_ || control::needs_wall_clock(node.attachment);
    waits_for_commands_ = waits_for_commands_ || (!stays && has_command(outside_spec(testbed.fabric, n)));
  });
}

void OutsideWatch::start() {
  requests_.on(kWantsEnd, [this](const std::string&, Instant) { all_end_.store(true, std::memory_order_relaxed); });
  requests_.on(kCommandsHaveEnded, [this](const std::string&, Instant) {
    if (++ranks_over_ == ranks().ranks() && waits_for_commands_) all_end_.store(true, std::memory_order_relaxed);
  });
  requests_.on(kHostsHaveStopped, [this](const std::string&, Instant) {
    if (++ranks_stopped_ == ranks().ranks()) assembly_.engine->stop();
  });
  requests_.on(kSignal, [this](const std::string& text, Instant) {
    const size_t rank_ends = text.find('\0');
    const size_t name_ends = text.find('\0', rank_ends + 1);
    BoardSignal signal{text.substr(rank_ends + 1, name_ends - rank_ends - 1), text.substr(name_ends + 1)};
    const std::lock_guard guard{signals_lock_};
    signals_.push_back({text.substr(0, rank_ends) == std::to_string(ranks().rank()), std::move(signal)});
  });
}

std::expected<void, std::string> OutsideWatch::begin() {
  if (hosts_ != nullptr) {
    if (requests_.are_shared() && hosts_->board()) board_ = std::make_unique<BoardSignals>(*hosts_->board());
    if (const auto started = hosts_->start(); !started) {
      const Error& first = started.error().front();
      return std::unexpected(first.path + ": " + first.message);
    }
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
  has_ended_.store(true, std::memory_order_relaxed);
  if (watcher_.joinable()) watcher_.join();
}

void OutsideWatch::watch() {
  for (;;) {
    const bool ended = hosts_ == nullptr || hosts_->poll();
    report_unasked_ends();
    if (hosts_ == nullptr || hosts_->are_up()) say_up();
    carry_signals();
    if (is_over(ended)) break;
    std::this_thread::sleep_for(kWatchEvery);
  }
  if (hosts_ != nullptr) hosts_->stop(kGrace);
  report_unasked_ends();
  if (requests_.are_shared()) {
    tell(kHostsHaveStopped);
  } else {
    assembly_.engine->stop();
  }
}

// Whether hosts are to be stopped. Over ranks when all have agreed, or nothing runs any more.
bool OutsideWatch::is_over(bool commands_have_ended) noexcept {
  const bool wants_end = is_to_end_.load(std::memory_order_relaxed) || assembly_.budget->is_spent() ||
                         assembly_.engine->progress() >= Instant::at(testbed_.run.duration);
  if (has_ended_.load(std::memory_order_relaxed)) return true;
  if (!requests_.are_shared()) return wants_end || (waits_for_commands_ && commands_have_ended);
  if (wants_end && !std::exchange(has_told_end_, true)) tell(kWantsEnd);
  if (commands_have_ended && !std::exchange(has_told_commands_, true)) tell(kCommandsHaveEnded);
  return all_end_.load(std::memory_order_relaxed);
}

void OutsideWatch::tell(const char* kind, std::string text) {
  requests_.put(kind, std::move(text));
}

void OutsideWatch::carry_signals() {
  std::vector<CarriedSignal> come;
  {
    const std::lock_guard guard{signals_lock_};
    come.swap(signals_);
  }
  if (!board_) return;
  std::vector<Error> errors;
  for (const BoardSignal& signal : board_->take_new(errors)) {
    tell(kSignal, std::to_string(ranks().rank()) + '\0' + signal.name + '\0' + signal.text);
  }
  for (const auto& [is_ours, signal] : come) {
    if (is_ours) {
      board_->see_own(signal);
    } else if (auto done = board_->put(signal); !done) {
      errors.push_back(std::move(done.error()));
    }
  }
  for (Error& error : errors) errors_.report(std::move(error.path), std::move(error.message));
}

void OutsideWatch::report_unasked_ends() {
  if (hosts_ == nullptr) return;
  for (UnaskedEnd& end : hosts_->unasked_ends()) errors_.report(std::move(end.host), std::move(end.message));
}

void OutsideWatch::say_up() {
  if (const auto call = std::exchange(when_up_, nullptr)) call();
}

std::expected<Entrance, std::string> OutsideWatch::entrance_of(const std::string& host) const {
  struct Door {
    bool is_here = false;
    std::string machine;
    std::string machine_name;
    std::string error;
    Entrance entrance;
  };
  Door mine;
  if (hosts_ != nullptr && hosts_->has(host)) {
    auto entrance = hosts_->entrance_of(host);
    mine = {.is_here = true, .machine = machine_here(), .machine_name = host_name(), .error = {}, .entrance = {}};
    if (entrance) mine.entrance = std::move(*entrance);
    if (!entrance) mine.error = entrance.error();
  }
  const std::vector<Door> all = ranks().collect(mine);
  const auto door = std::ranges::find(all, true, &Door::is_here);
  if (door == all.end()) return std::unexpected(no_entrance(host));
  if (!door->error.empty()) return std::unexpected(door->error);
  if (door->machine == machine_here()) return door->entrance;
  return std::unexpected(host + " runs at rank " + std::to_string(door - all.begin()) + ", on " + door->machine_name +
                         ": programs are started on hosts of rank 0's machine alone");
}

std::vector<OutsideOutcome> OutsideWatch::outcomes(size_t last_words) const {
  struct Numbered {
    uint32_t number = 0;
    OutsideOutcome outcome;
  };
  std::vector<Numbered> mine;
  for (OutsideOutcome& outcome : hosts_ != nullptr ? hosts_->outcomes() : std::vector<OutsideOutcome>{}) {
    outcome.last_words = last_lines_of(outcome.stderr_path, last_words);
    const auto number = std::ranges::find(names_, outcome.host) - names_.begin();
    mine.push_back({static_cast<uint32_t>(number), std::move(outcome)});
  }
  std::vector<OutsideOutcome> out;
  for (Numbered& each : ranks().collect_all(mine, &Numbered::number)) out.push_back(std::move(each.outcome));
  return out;
}

void OutsideWatch::share_notes() {
  shared_notes_.clear();
  for (const auto& of_rank : ranks().gather(hosts_ != nullptr ? hosts_->notes() : std::vector<std::string>{})) {
    shared_notes_.insert(shared_notes_.end(), of_rank.begin(), of_rank.end());
  }
  shares_notes_ = true;
}

std::vector<std::string> OutsideWatch::notes() const {
  if (shares_notes_) return shared_notes_;
  return hosts_ != nullptr ? hosts_->notes() : std::vector<std::string>{};
}

}  // namespace softspine::testbeds

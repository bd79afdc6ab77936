// SPDX-License-Identifier: Apache-2.0
#include "testbeds/outside/outside_hosts.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "testbeds/guests/guest.hpp"
#include "testbeds/guests/installation.hpp"
#include "testbeds/guests/owned_folder.hpp"
#include "testbeds/namespaces/network_namespace.hpp"

namespace softspine::testbeds {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kGraceAfterTimeout{5000};
// Of a guest, until its command begins: QEMU without KVM takes a minute on a machine that has nothing else to do.
constexpr milliseconds kMostBoot{300'000};
constexpr size_t kConsoleLines = 6;  // that tell how a guest ended
constexpr uint64_t kMebi = 1U << 20;
// A host without a command of its own stays until it is stopped.
constexpr const char* kStay = "exec tail -f /dev/null";

milliseconds wall(dataplane::Duration duration) {
  return milliseconds{duration.count_ps() / 1'000'000'000};
}

std::filesystem::path socket_of(const OutsidePlaces& places, const OutsideSpec& spec, uint32_t port) {
  return places.run_folder / (spec.name + "." + std::to_string(port));
}

GuestKind kind_of(const control::Guest& guest) {
  return guest.kind == control::GuestKind::kQemu ? GuestKind::kQemu : GuestKind::kUml;
}

// Nothing for a bare edge.
std::optional<GuestSpec> guest_spec_of(const OutsideSpec& spec, const OutsidePlaces& places) {
  GuestSpec guest{.name = spec.name, .run = kStay};
  if (const auto* machine = std::get_if<control::Guest>(&spec.attachment)) {
    guest.kind = kind_of(*machine);
    guest.memory_mib = static_cast<unsigned>(machine->memory_bytes / kMebi);
    guest.cpus = machine->cpus;
    if (has_command(spec)) guest.run = machine->run;
  } else if (const auto* space = std::get_if<control::NamespaceHost>(&spec.attachment)) {
    guest.kind = GuestKind::kNamespace;
    if (has_command(spec)) guest.run = space->run;
  } else {
    return std::nullopt;
  }
  for (uint32_t port = 0; port < spec.ports; ++port) {
    guest.nics.push_back({.vhost_socket = socket_of(places, spec, port), .mac = spec.mac, .mtu = spec.mtu});
  }
  guest.nics.front().addresses = spec.addresses;
  guest.nics.front().gateways = spec.gateways;
  guest.bond_mode = spec.bond_mode;
  guest.vlan = spec.vlan;
  return guest;
}

// Of a command.
milliseconds timeout_of(const OutsideSpec& spec) {
  if (const auto* guest = std::get_if<control::Guest>(&spec.attachment)) return wall(guest->timeout);
  return wall(std::get<control::NamespaceHost>(spec.attachment).timeout);
}

}  // namespace

struct OutsideHosts::Host {
  OutsideSpec spec;
  std::optional<GuestSpec> guest_spec;
  std::optional<NetworkNamespace> space;
  std::optional<Guest> guest;              // from start() on
  Clock::time_point began;                 // to boot
  std::optional<Clock::time_point> is_up;  // since then its command runs
  Clock::time_point ended;
  Clock::time_point kill_at = Clock::time_point::max();
  bool over = false;
  bool timed_out = false;
  bool stopped = false;
  bool asked = false;          // to end, by whomever
  bool ended_unasked = false;  // and nobody has been told of it

  std::expected<void, std::vector<Error>> start(const Installation& installation, const OutsidePlaces& places);
  void look(Clock::time_point now);
  bool is_out_of_time(Clock::time_point now) const;
  void ask();
  void end();
  bool left_a_result() const;
};

std::expected<void, std::vector<Error>> OutsideHosts::Host::start(const Installation& installation,
                                                                  const OutsidePlaces& places) {
  if (!guest_spec) return {};
  std::vector<Error> errors;
  const auto begin = [&] {
    auto started = Guest::start(*guest_spec, installation, places.run_folder);
    if (started) {
      guest.emplace(std::move(*started));
    } else {
      errors = std::move(started.error());
    }
  };
  if (space) {
    if (auto inside = space->within(begin); !inside) errors.push_back(std::move(inside.error()));
  } else {
    begin();
  }
  began = Clock::now();
  if (errors.empty()) return {};
  for (Error& error : errors) error.path = spec.name + ": " + error.path;
  return std::unexpected(std::move(errors));
}

void OutsideHosts::Host::look(Clock::time_point now) {
  if (!guest || over) return;
  if (!is_up && guest->ready()) is_up = now;
  if (!guest->running()) {
    ended_unasked = !asked && !left_a_result();
    return end();
  }
  if (now >= kill_at) {
    guest->kill();
    return end();
  }
  if (!timed_out && is_out_of_time(now)) {
    timed_out = true;
    kill_at = now + kGraceAfterTimeout;
    ask();
  }
}

// A command's time begins with the command, however long its guest has booted.
bool OutsideHosts::Host::is_out_of_time(Clock::time_point now) const {
  if (!has_command(spec)) return false;
  return is_up ? now - *is_up > timeout_of(spec) : now - began > std::max(kMostBoot, timeout_of(spec));
}

// Of a command of its own: what only stays until it is stopped should not have ended at all.
bool OutsideHosts::Host::left_a_result() const {
  return has_command(spec) && guest->result().has_value();
}

void OutsideHosts::Host::ask() {
  asked = true;
  if (!ask_to_stop(guest->places().folder)) kill_at = Clock::now();
}

void OutsideHosts::Host::end() {
  over = true;
  ended = Clock::now();
}

OutsideHosts::OutsideHosts(OutsidePlaces places, Installation installation)
    : places_(std::move(places)), installation_(std::move(installation)) {}

OutsideHosts::~OutsideHosts() {
  stop(milliseconds{0});
}

std::expected<std::unique_ptr<OutsideHosts>, std::vector<Error>> OutsideHosts::make(std::vector<OutsideSpec> specs,
                                                                                    OutsidePlaces places) {
  std::set<GuestKind> kinds;
  for (const OutsideSpec& spec : specs) {
    if (const auto* guest = std::get_if<control::Guest>(&spec.attachment)) kinds.insert(kind_of(*guest));
  }
  auto installation = prepare_installation(kinds);
  if (!installation) return std::unexpected(std::vector{installation.error()});
  std::unique_ptr<OutsideHosts> hosts{new OutsideHosts{std::move(places), std::move(*installation)}};
  auto errors = hosts->make_hosts(std::move(specs));
  if (errors.empty()) errors = hosts->take_folders();
  if (!errors.empty()) return std::unexpected(std::move(errors));
  return hosts;
}

std::vector<Error> OutsideHosts::make_hosts(std::vector<OutsideSpec> specs) {
  std::vector<Error> errors;
  bool may_make_namespaces = true;
  for (OutsideSpec& spec : specs) {
    auto host = std::make_unique<Host>();
    host->guest_spec = guest_spec_of(spec, places_);
    if (host->guest_spec) host->guest_spec = as_it_can_run(std::move(*host->guest_spec), installation_);
    host->spec = std::move(spec);
    if (host->guest_spec) {
      for (Error& error : errors_of(*host->guest_spec)) {
        errors.push_back({host->spec.name + ": " + error.path, std::move(error.message)});
      }
    }
    // What forbids one namespace forbids all: it is an error once.
    if (std::holds_alternative<control::NamespaceHost>(host->spec.attachment) && may_make_namespaces) {
      auto space = NetworkNamespace::make();
      if (space) {
        host->space.emplace(std::move(*space));
      } else {
        may_make_namespaces = false;
        errors.push_back({host->spec.name + ": " + space.error().path, std::move(space.error().message)});
      }
    }
    hosts_.push_back(std::move(host));
  }
  return errors;
}

// All are looked at before one is touched.
std::vector<Error> OutsideHosts::take_folders() const {
  std::vector<GuestSpec> specs;
  for (const auto& host : hosts_) {
    if (host->guest_spec) specs.push_back(*host->guest_spec);
  }
  if (specs.empty()) return {};
  std::vector<Error> errors;
  const auto gather = [&errors](std::expected<void, Error> done) {
    if (!done) errors.push_back(std::move(done.error()));
  };
  gather(check_folder(places_.run_folder / "board"));
  for (const GuestSpec& spec : specs) gather(check_folder(places_.run_folder / spec.name));
  if (!errors.empty()) return errors;
  gather(lay_board(places_.run_folder / "board", specs));
  for (const GuestSpec& spec : specs) gather(take_folder(places_.run_folder / spec.name));
  return errors;
}

std::expected<OpenedEdge, Error> OutsideHosts::open_edge(size_t host, uint32_t port, dataplane::PacketPool& pool,
                                                         int64_t dilation, const dataplane::NicConfig& nic) {
  const Host& at = *hosts_[host];
  const EdgeSetting setting{at.spec.name, at.spec.mtu, pool, dilation, at.spec.speed_mbps, nic};
  if (at.space) {
    std::expected<OpenedEdge, Error> edge = std::unexpected(Error{});
    auto inside = at.space->within([&] { edge = open_nic("eth" + std::to_string(port), setting); });
    if (!inside) return std::unexpected(std::move(inside.error()));
    return edge;
  }
  const auto& folder = places_.testbed_folder;
  if (at.guest_spec) {
    return testbeds::open_edge(control::VhostUserEdge{socket_of(places_, at.spec, port)}, folder, setting);
  }
  const auto* const outside = std::get_if<control::EdgeHost>(&at.spec.attachment);
  if (outside == nullptr) return std::unexpected(Error{at.spec.name, "a built-in host has no edge"});
  auto edge = testbeds::open_edge(outside->edges[port], folder, setting);
  if (edge && !edge->note.empty()) edge_notes_.push_back(at.spec.name + ": " + edge->note);
  return edge;
}

std::expected<void, std::vector<Error>> OutsideHosts::start() {
  std::vector<Error> errors;
  for (const auto& host : hosts_) {
    if (auto started = host->start(installation_, places_); !started) {
      errors.insert(errors.end(), started.error().begin(), started.error().end());
    }
  }
  if (errors.empty()) return {};
  stop(milliseconds{0});
  return std::unexpected(std::move(errors));
}

bool OutsideHosts::poll() {
  const auto now = Clock::now();
  bool all_over = true;
  for (const auto& host : hosts_) {
    host->look(now);
    if (has_command(host->spec) && !host->over) all_over = false;
  }
  return all_over;
}

void OutsideHosts::stop(milliseconds grace) {
  const auto deadline = Clock::now() + grace;
  for (const auto& host : hosts_) {
    host->look(Clock::now());
    if (!host->guest || host->over) continue;
    host->stopped = true;
    host->ask();
  }
  for (const auto& host : hosts_) {
    if (!host->guest || host->over) continue;
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
    if (!host->guest->await_end(std::max(left, milliseconds{0}))) host->guest->kill();
    host->end();
  }
}

std::vector<UnaskedEnd> OutsideHosts::unasked_ends() {
  std::vector<UnaskedEnd> ends;
  for (const auto& host : hosts_) {
    if (!std::exchange(host->ended_unasked, false)) continue;
    const auto console = host->guest->places().folder / "console";
    std::string message = "has ended unasked, with status " + std::to_string(host->guest->exit_status().value_or(-1)) +
                          "; its console " + console.string() + " ends with";
    const auto lines = last_lines_of(console, kConsoleLines);
    for (const std::string& line : lines) message += " | " + line;
    if (lines.empty()) message += " nothing";
    ends.push_back({host->spec.name, std::move(message)});
  }
  return ends;
}

std::vector<std::string> OutsideHosts::notes() const {
  std::string guests;
  for (const auto& host : hosts_) {
    const auto* machine = std::get_if<control::Guest>(&host->spec.attachment);
    if (machine == nullptr || kind_of(*machine) == host->guest_spec->kind) continue;
    guests += (guests.empty() ? "" : ", ") + host->spec.name;
  }
  std::vector<std::string> notes = edge_notes_;
  if (guests.empty()) return notes;
  notes.push_back("user-mode Linux cannot run here: " + installation_.uml_obstacle + ". " +
                  machine_of(GuestKind::kQemu, installation_) + " takes its place for " + guests +
                  (installation_.kvm ? "" : ": expect a tenth of the speed or less"));
  return notes;
}

std::vector<OutsideOutcome> OutsideHosts::outcomes() const {
  std::vector<OutsideOutcome> outcomes;
  for (const auto& host : hosts_) {
    if (!has_command(host->spec)) continue;
    OutsideOutcome outcome{.host = host->spec.name, .timed_out = host->timed_out, .stopped = host->stopped};
    outcome.machine = machine_of(host->guest_spec->kind, installation_);
    if (host->guest) {
      const auto& folder = host->guest->places().folder;
      outcome.stdout_path = folder / "stdout";
      outcome.stderr_path = folder / "stderr";
      outcome.console_path = folder / "console";
    }
    if (!host->guest || !host->over) {
      outcome.problem = host->guest ? "has not ended yet" : "was never started";
    } else if (auto result = host->guest->result()) {
      outcome.exit_status = result->exit_status;
      outcome.counters = std::move(result->counters);
    } else {
      outcome.problem = result.error().path + ": " + result.error().message;
    }
    outcome.came_up = host->is_up.has_value();
    const Clock::time_point since = host->is_up.value_or(host->began);
    if (host->over) outcome.seconds = std::chrono::duration<double>(host->ended - since).count();
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

}  // namespace softspine::testbeds

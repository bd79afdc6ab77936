// SPDX-License-Identifier: Apache-2.0
#include "testbeds/outside/outside_hosts.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "dataplane/units/check.hpp"
#include "testbeds/guests/installation.hpp"
#include "testbeds/guests/owned_folder.hpp"

namespace softspine::testbeds {
namespace {

using std::chrono::milliseconds;

std::unique_ptr<OutsideHost> host_of(const OutsideSpec& spec) {
  const auto make = [&spec](const auto& kind) -> std::unique_ptr<OutsideHost> {
    if constexpr (requires { make_host(kind, spec); }) return make_host(kind, spec);
    return nullptr;
  };
  auto made = std::visit(make, spec.attachment);
  SOFTSPINE_CHECK(made != nullptr, 0, 0);
  return made;
}

}  // namespace

OutsideHosts::OutsideHosts(const std::vector<OutsideSpec>& specs, OutsidePlaces places,
                           const std::vector<OutsideSpec>& known) {
  ground_.places = std::move(places);
  for (const OutsideSpec& spec : specs) hosts_.push_back(host_of(spec));
  for (const OutsideSpec& spec : known.empty() ? specs : known) {
    const auto host = host_of(spec);
    if (const HostSetup* setup = host->setup(); setup != nullptr) known_.push_back(*setup);
  }
}

OutsideHosts::~OutsideHosts() {
  stop(milliseconds{0});
}

std::expected<std::unique_ptr<OutsideHosts>, std::vector<Error>> OutsideHosts::make(
    const std::vector<OutsideSpec>& specs, OutsidePlaces places, const std::vector<OutsideSpec>& known) {
  std::unique_ptr<OutsideHosts> hosts{new OutsideHosts{specs, std::move(places), known}};
  std::vector<Error> errors = hosts->prepare();
  if (errors.empty()) errors = hosts->take_folders();
  if (!errors.empty()) return std::unexpected(std::move(errors));
  return hosts;
}

std::vector<Error> OutsideHosts::prepare() {
  std::set<GuestKind> kinds;
  for (const auto& host : hosts_) host->add_needs(kinds);
  auto installation = prepare_installation(kinds);
  if (!installation) return {installation.error()};
  ground_.installation = std::move(*installation);
  OutsideErrors errors;
  for (const auto& host : hosts_) host->prepare(ground_, errors);
  return errors.take();
}

// All are looked at before one is touched.
std::vector<Error> OutsideHosts::take_folders() const {
  std::vector<HostSetup> setups;
  for (const auto& host : hosts_) {
    if (const HostSetup* setup = host->setup(); setup != nullptr) setups.push_back(*setup);
  }
  if (setups.empty()) return {};
  std::vector<Error> errors;
  const auto gather = [&errors](std::expected<void, Error> done) {
    if (!done) errors.push_back(std::move(done.error()));
  };
  const auto& folder = ground_.places.run_folder;
  const std::filesystem::path board = folder / setups.front().board;
  gather(check_folder(board));
  for (const HostSetup& setup : setups) gather(check_folder(folder / setup.name));
  if (!errors.empty()) return errors;
  gather(lay_board(board, known_));
  for (const HostSetup& setup : setups) gather(take_folder(folder / setup.name));
  return errors;
}

bool OutsideHosts::need_wall_clock() const {
  return std::ranges::any_of(hosts_, [](const auto& host) { return host->clock() == control::HostClock::kWall; });
}

std::expected<OpenedEdge, Error> OutsideHosts::open_edge(size_t host, uint32_t port, dataplane::PacketPool& pool,
                                                         int64_t dilation, const dataplane::NicConfig& nic) {
  const OutsideSpec& spec = hosts_[host]->spec();
  return hosts_[host]->open_edge(port, ground_, {spec.name, spec.mtu, pool, dilation, spec.speed_mbps, nic});
}

std::expected<void, std::vector<Error>> OutsideHosts::start() {
  std::vector<Error> errors;
  for (const auto& host : hosts_) {
    if (auto started = host->start(ground_); !started) {
      errors.insert(errors.end(), started.error().begin(), started.error().end());
    }
  }
  if (errors.empty()) return {};
  stop(milliseconds{0});
  return std::unexpected(std::move(errors));
}

bool OutsideHosts::poll() {
  const auto now = OutsideHost::Clock::now();
  for (const auto& host : hosts_) host->poll(now);
  return std::ranges::none_of(hosts_, [](const auto& host) { return host->is_awaited(); });
}

void OutsideHosts::stop(milliseconds grace) {
  const auto deadline = OutsideHost::Clock::now() + grace;
  for (const auto& host : hosts_) host->ask_to_stop();
  for (const auto& host : hosts_) host->end_by(deadline);
}

std::vector<UnaskedEnd> OutsideHosts::unasked_ends() {
  std::vector<UnaskedEnd> ends;
  for (const auto& host : hosts_) {
    if (auto end = host->take_unasked_end()) ends.push_back(std::move(*end));
  }
  return ends;
}

bool OutsideHosts::are_up() const {
  return std::ranges::all_of(hosts_, [](const auto& host) { return host->is_up(); });
}

std::expected<Entrance, std::string> OutsideHosts::entrance_of(const std::string& host) const {
  const auto found = std::ranges::find(hosts_, host, [](const auto& each) { return each->spec().name; });
  if (found != hosts_.end()) return (*found)->entrance(ground_);
  return std::unexpected(no_entrance(host));
}

bool OutsideHosts::has(const std::string& host) const {
  return std::ranges::any_of(hosts_, [&host](const auto& each) { return each->spec().name == host; });
}

std::optional<std::filesystem::path> OutsideHosts::board() const {
  for (const auto& host : hosts_) {
    if (const HostSetup* setup = host->setup(); setup != nullptr) return ground_.places.run_folder / setup->board;
  }
  return std::nullopt;
}

std::vector<std::string> OutsideHosts::notes() const {
  std::vector<std::pair<OutsideNote, std::string>> notes;  // each with the names of its hosts
  for (const auto& host : hosts_) {
    for (OutsideNote& note : host->notes()) {
      const auto same = std::ranges::find(notes, note, &std::pair<OutsideNote, std::string>::first);
      if (same == notes.end()) {
        notes.emplace_back(std::move(note), host->spec().name);
      } else {
        same->second += ", " + host->spec().name;
      }
    }
  }
  std::vector<std::string> out;
  for (const auto& [note, names] : notes) out.push_back(note.before + names + note.after);
  return out;
}

std::vector<OutsideOutcome> OutsideHosts::outcomes() const {
  std::vector<OutsideOutcome> outcomes;
  for (const auto& host : hosts_) {
    if (auto outcome = host->outcome()) outcomes.push_back(std::move(*outcome));
  }
  return outcomes;
}

}  // namespace softspine::testbeds

// SPDX-License-Identifier: Apache-2.0
// A network namespace of this machine's kernel, of ours or one that is there already. Its NICs are TAPs, made inside
// it.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "testbeds/guests/owned_folder.hpp"
#include "testbeds/namespaces/network_namespace.hpp"
#include "testbeds/outside/command_host.hpp"

namespace softspine::testbeds {
namespace {

// A command in a namespace uses this machine's programs, and finds them where we do.
std::vector<std::string> our_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

class NamespaceHost : public CommandHost {
 public:
  NamespaceHost(const control::NamespaceHost& space, const OutsideSpec& spec)
      : CommandHost(spec, space.timeout), join_(space.join), setup_(setup_of(spec)) {
    setup_.is_at_once = true;
    if (join_.empty()) return;
    setup_.joins = true;
    setup_.nics.front().device = space.interface;
  }

  void prepare(const OutsideGround&, OutsideErrors& errors) override {
    for (Error& error : errors_of(setup_)) errors.add(setup_.name, std::move(error));
    auto made = join_.empty() ? NetworkNamespace::make() : joined();
    if (!made && join_.empty()) return errors.add_once(setup_.name, std::move(made.error()));
    if (!made) return errors.add(setup_.name, std::move(made.error()));
    space_.emplace(std::move(*made));
  }

  const HostSetup* setup() const override { return &setup_; }

  std::expected<OpenedEdge, Error> open_edge(uint32_t port, const OutsideGround&, const EdgeSetting& setting) override {
    std::expected<OpenedEdge, Error> edge = std::unexpected(Error{});
    const std::string& device = setup_.nics[port].device;
    auto inside =
        space_->within([&] { edge = open_nic(device.empty() ? "eth" + std::to_string(port) : device, setting); });
    if (!inside) return std::unexpected(std::move(inside.error()));
    return edge;
  }

  std::expected<Entrance, std::string> entrance(const OutsideGround& ground) const override {
    const GuestPlaces places = places_in(ground.places.run_folder, setup_);
    std::error_code none;
    const std::optional<int> process = process_in(places);
    if (!process || !std::filesystem::exists(places.folder / "ready", none)) {
      return std::unexpected(setup_.name + " is not up: it has not been set up yet, or has ended");
    }
    const auto scripts = ground.installation.enter.parent_path().parent_path() / "guests" / "scripts";
    const char* const path = std::getenv("PATH");
    return Entrance{.environment = {{"SOFTSPINE_GUEST", setup_.name},
                                    {"SOFTSPINE_FOLDER", places.folder},
                                    {"SOFTSPINE_BOARD", places.board},
                                    {"SOFTSPINE_NEVER", places.folder / "never"},
                                    {"PATH", scripts.string() + (path != nullptr ? std::string(":") + path : "")}},
                    .folder = places.folder,
                    .process = process};
  }

 private:
  // What we would change there is this machine's own network otherwise.
  std::expected<NetworkNamespace, Error> joined() const {
    auto space = NetworkNamespace::at(join_);
    if (!space) return space;
    if (!space->is_one()) return std::unexpected(Error{join_, "is not a network namespace"});
    if (space->is_ours())
      return std::unexpected(Error{
          join_,
          "is the network namespace that softspine runs in; a host may be behind an interface of it: edge: {tap: …}"});
    return space;
  }

  // The number that `enter` has written. A process that has got it since is not in our namespace.
  std::optional<int> process_in(const GuestPlaces& places) const {
    const auto text = read_file_end(places.folder / "process", 32);
    const int process = text ? std::atoi(text->c_str()) : 0;
    struct stat ours{};
    struct stat its{};
    if (process <= 0 || fstat(space_->descriptor(), &ours) != 0) return std::nullopt;
    if (stat(("/proc/" + std::to_string(process) + "/ns/net").c_str(), &its) != 0) return std::nullopt;
    if (its.st_ino != ours.st_ino || its.st_dev != ours.st_dev) return std::nullopt;
    return process;
  }

  // All files of this machine are in its sight.
  std::expected<HostedCommand, std::vector<Error>> launch(const OutsideGround& ground) override {
    const GuestPlaces places = places_in(ground.places.run_folder, setup_);
    Launch launch{.keeper = ground.installation.keeper,
                  .command = {ground.installation.enter.string(), places.folder.string(), places.board.string()},
                  .environment = our_environment(),
                  .sight = {}};
    std::expected<HostedCommand, std::vector<Error>> started = std::unexpected(std::vector<Error>{});
    auto inside = space_->within([&] { started = HostedCommand::start(setup_, places, std::move(launch)); });
    if (!inside) return std::unexpected(std::vector{std::move(inside.error())});
    return started;
  }
  std::string machine() const override { return "network namespace"; }

  std::string join_;  // empty: a namespace of ours
  HostSetup setup_;
  std::optional<NetworkNamespace> space_;  // from prepare() on
};

}  // namespace

std::unique_ptr<OutsideHost> make_host(const control::NamespaceHost& space, const OutsideSpec& spec) {
  return std::make_unique<NamespaceHost>(space, spec);
}

}  // namespace softspine::testbeds

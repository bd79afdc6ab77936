// SPDX-License-Identifier: Apache-2.0
// A network namespace of this machine's kernel. Its NICs are TAPs, made inside it.
#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

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
      : CommandHost(spec, space.timeout), setup_(setup_of(spec)) {
    setup_.is_at_once = true;
  }

  void prepare(const OutsideGround&, OutsideErrors& errors) override {
    for (Error& error : errors_of(setup_)) errors.add(setup_.name, std::move(error));
    auto made = NetworkNamespace::make();
    if (!made) return errors.add_once(setup_.name, std::move(made.error()));
    space_.emplace(std::move(*made));
  }

  const HostSetup* setup() const override { return &setup_; }

  std::expected<OpenedEdge, Error> open_edge(uint32_t port, const OutsideGround&, const EdgeSetting& setting) override {
    std::expected<OpenedEdge, Error> edge = std::unexpected(Error{});
    auto inside = space_->within([&] { edge = open_nic("eth" + std::to_string(port), setting); });
    if (!inside) return std::unexpected(std::move(inside.error()));
    return edge;
  }

 private:
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

  HostSetup setup_;
  std::optional<NetworkNamespace> space_;  // from prepare() on
};

}  // namespace

std::unique_ptr<OutsideHost> make_host(const control::NamespaceHost& space, const OutsideSpec& spec) {
  return std::make_unique<NamespaceHost>(space, spec);
}

}  // namespace softspine::testbeds

// SPDX-License-Identifier: Apache-2.0
// A guest: user-mode Linux, or QEMU. Its NICs are vhost-user sockets that the fabric serves.
#include <memory>
#include <utility>

#include "testbeds/guest_line/guest_line.hpp"
#include "testbeds/guests/guest.hpp"
#include "testbeds/guests/installation.hpp"
#include "testbeds/outside/command_host.hpp"

namespace softspine::testbeds {
namespace {

constexpr uint64_t kMebi = 1U << 20;

LayerKind layer_of(control::GuestRoot root) {
  switch (root) {
    case control::GuestRoot::kOurs: return LayerKind::kNone;
    case control::GuestRoot::kFolder: return LayerKind::kFolder;
    case control::GuestRoot::kExt4: return LayerKind::kExt4;
    case control::GuestRoot::kSquashfs: return LayerKind::kSquashfs;
  }
  return LayerKind::kNone;
}

GuestSpec guest_spec_of(const control::Guest& guest, HostSetup setup) {
  const bool is_qemu = guest.kind == control::GuestKind::kQemu;
  GuestSpec spec{std::move(setup)};
  spec.kind = is_qemu ? GuestKind::kQemu : GuestKind::kUml;
  spec.memory_mib = static_cast<unsigned>((guest.memory_bytes + kMebi - 1) / kMebi);
  spec.cpus = guest.cpus;
  spec.root = {layer_of(guest.root_kind), guest.root};
  for (const control::GuestFile& file : guest.files) spec.files.push_back({file.place, file.source});
  spec.kernel = guest.kernel;
  return spec;
}

class GuestHost : public CommandHost {
 public:
  GuestHost(const control::Guest& guest, const OutsideSpec& spec)
      : CommandHost(spec, guest.timeout), guest_(guest_spec_of(guest, setup_of(spec))), wanted_(guest_.kind) {}
  ~GuestHost() override {
    if (!files_.empty()) remove_files(files_);
  }

  void add_needs(std::set<GuestKind>& kinds) const override {
    if (guest_.kernel.empty()) kinds.insert(wanted_);
  }

  void prepare(const OutsideGround& ground, OutsideErrors& errors) override {
    const std::string folder = (ground.places.run_folder / guest_.name).string();
    for (size_t port = 0; port < guest_.nics.size(); ++port) {
      guest_.nics[port].vhost_socket = folder + "." + std::to_string(port);
    }
    installation_ = &ground.installation;
    if (!guest_.kernel.empty()) take_kernel(errors);
    guest_ = as_it_can_run(std::move(guest_), *installation_);
    for (Error& error : errors_of(guest_)) errors.add(guest_.name, std::move(error));
  }

  const HostSetup* setup() const override { return &guest_; }

  std::expected<OpenedEdge, Error> open_edge(uint32_t port, const OutsideGround& ground,
                                             const EdgeSetting& setting) override {
    if (port == 0) {
      if (auto laid = lay_its_files(ground); !laid) return std::unexpected(std::move(laid.error()));
      auto line = GuestLine::open(guest_.name, ground.places.run_folder / (guest_.name + ".line"));
      if (!line) return std::unexpected(std::move(line.error()));
      line_ = std::move(*line);
    }
    return testbeds::open_edge(control::VhostUserEdge{guest_.nics[port].vhost_socket}, ground.places.testbed_folder,
                               setting);
  }

  std::expected<Entrance, std::string> entrance(const OutsideGround& ground) const override {
    const GuestPlaces places = places_in(ground.places.run_folder, guest_);
    std::error_code none;
    if (line_->has_ended() || !std::filesystem::exists(places.folder / "ready", none)) {
      return std::unexpected(guest_.name + " is not up: it has not been set up yet, or has ended");
    }
    return Entrance{.environment = {}, .folder = places.folder, .process = std::nullopt, .line = line_->socket()};
  }

  std::vector<OutsideNote> notes() const override {
    if (wanted_ == guest_.kind) return {};
    return {
        {"user-mode Linux cannot run here: " + installation_->uml_obstacle + ". " + machine() + " takes its place for ",
         installation_->kvm ? "" : ": expect a tenth of the speed or less"}};
  }

 private:
  void take_kernel(OutsideErrors& errors) {
    auto made = with_kernel(*installation_, wanted_, guest_.kernel);
    if (!made) {
      made.error().path = "kernel " + made.error().path;
      return errors.add_once(guest_.name, std::move(made.error()));
    }
    own_installation_ = std::move(*made);
    installation_ = &*own_installation_;
  }
  std::expected<void, Error> lay_its_files(const OutsideGround& ground) {
    if (guest_.files.empty()) return {};
    files_ = files_folder(ground.places.run_folder, guest_.name);
    auto laid = lay_files(files_, guest_.files);
    if (!laid) laid.error().path = guest_.name + ": files: " + laid.error().path;
    return laid;
  }
  std::expected<HostedCommand, std::vector<Error>> launch(const OutsideGround& ground) override {
    auto guest = start_guest(guest_, *installation_, ground.places.run_folder, line_->guest_end());
    line_->close_guest_end();
    return guest;
  }
  std::string machine() const override { return machine_of(guest_.kind, *installation_); }

  GuestSpec guest_;
  GuestKind wanted_;
  const Installation* installation_ = nullptr;    // from prepare() on
  std::optional<Installation> own_installation_;  // with a kernel of its own
  std::filesystem::path files_;                   // the copies of its files; empty: none
  std::unique_ptr<GuestLine> line_;               // from open_edge() on
};

}  // namespace

std::unique_ptr<OutsideHost> make_host(const control::Guest& guest, const OutsideSpec& spec) {
  return std::make_unique<GuestHost>(guest, spec);
}

}  // namespace softspine::testbeds

// SPDX-License-Identifier: Apache-2.0
// Programs of this machine that have an RDMA device of ours in the place of the machine's: nothing runs that needs
// rights. They find our library by LD_LIBRARY_PATH, the device by a socket on the board, and the fabric's hosts by
// names that a preloaded library knows. Hosts of one server are its NICs: each program there has the devices of all of
// them, softspine0 the first's.
#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "testbeds/guests/installation.hpp"
#include "testbeds/guests/owned_folder.hpp"
#include "testbeds/outside/command_host.hpp"
#include "testbeds/verbs_device/device_files.hpp"
#include "testbeds/verbs_device/shared/device_calls.hpp"
#include "testbeds/verbs_device/verbs_edge.hpp"
#include "testbeds/verbs_device/verbs_libraries_here.hpp"

namespace softspine::testbeds {
namespace {

namespace fs = std::filesystem;

// In front of what stands there already.
std::string before(const std::string& first, const char* variable) {
  const char* const rest = std::getenv(variable);
  return rest == nullptr || *rest == '\0' ? first : first + std::string(":") + rest;
}

// "10.0.0.1/24" and "2001:db8::1/64" of a plan.
void put_address(HostConfig& host, const std::string& text) {
  const std::string address = text.substr(0, text.find('/'));
  in_addr v4{};
  if (inet_pton(AF_INET, address.c_str(), &v4) == 1) {
    host.ipv4 = ntohl(v4.s_addr);
  } else {
    static_cast<void>(inet_pton(AF_INET6, address.c_str(), host.ipv6.data()));
  }
}

class VerbsHost : public CommandHost {
 public:
  VerbsHost(const control::VerbsHost& verbs, const OutsideSpec& spec)
      : CommandHost(spec, verbs.timeout), setup_(setup_of(spec)) {
    setup_.is_at_once = true;
  }

  void prepare(const OutsideGround&, OutsideErrors& errors) override {
    for (Error& error : errors_of(setup_)) errors.add(setup_.name, std::move(error));
  }

  const HostSetup* setup() const override { return &setup_; }

  std::expected<Entrance, std::string> entrance(const OutsideGround& ground) const override {
    return Entrance{.environment = environment(ground),
                    .folder = places_in(ground.places.run_folder, setup_).folder,
                    .process = std::nullopt};
  }

  std::expected<OpenedEdge, Error> open_edge(uint32_t port, const OutsideGround& ground,
                                             const EdgeSetting& setting) override {
    if (port == 0) return open_device(ground, setting);
    auto edge = std::make_unique<VerbsEdge>(setting.name, device_.lock(), setting.pool, setting.nic);
    return OpenedEdge{std::move(edge), ""};
  }

 private:
  std::expected<OpenedEdge, Error> open_device(const OutsideGround& ground, const EdgeSetting& setting) {
    VerbsEdge::Config config;
    config.socket = socket_in(ground, spec().name);
    config.mtu = setting.mtu;
    config.speed_mbps = setting.speed_mbps * spec().ports;
    config.has_backup = spec().bond_mode == "active-backup";
    config.dilation = setting.dilation;
    config.host.name = spec().name;
    config.host.mac = setting.nic.mac;
    config.host.gateway = setting.nic.gateway;
    config.host.tag = {.vlan = static_cast<uint16_t>(spec().vlan), .pcp_of_dscp = setting.nic.pcp_of_dscp};
    for (const std::string& address : spec().addresses) put_address(config.host, address);
    if (auto laid = lay_files(ground); !laid) return std::unexpected(std::move(laid.error()));
    auto edge = VerbsEdge::open(setting.name, config, setting.pool, setting.nic);
    if (!edge) return std::unexpected(Error{edge.error().where, edge.error().message});
    device_ = (*edge)->device();
    return OpenedEdge{std::move(*edge), ""};
  }

  std::map<std::string, std::string> environment(const OutsideGround& ground) const {
    const std::string scripts = ground.installation.enter_verbs.parent_path().parent_path() / "guests" / "scripts";
    std::string sockets;
    for (const std::string& nic : spec().nics) sockets += (sockets.empty() ? "" : ":") + socket_in(ground, nic);
    return {{kSocketVariable, sockets},
            {kOwnVariable, std::to_string(own_device())},
            {kFilesVariable, files_in(ground)},
            {"SOFTSPINE_HOSTS", places_in(ground.places.run_folder, setup_).board / "loopback"},
            {"SOFTSPINE_ADDRESS", loopback_of(spec().addresses.front())},
            {"SOFTSPINE_FABRIC_ADDRESS", spec().addresses.front().substr(0, spec().addresses.front().find('/'))},
            {"PATH", before(scripts + ":" + fs::path(verbs_program()).parent_path().string(), "PATH")},
            {"LD_LIBRARY_PATH", before(verbs_library_folder(), "LD_LIBRARY_PATH")},
            {"LD_PRELOAD", before(names_library(), "LD_PRELOAD")}};
  }

  // Beside the host's folder, which is emptied when its command begins.
  std::string socket_in(const OutsideGround& ground, const std::string& nic) const {
    return places_in(ground.places.run_folder, setup_).board / ("verbs." + nic);
  }
  fs::path files_in(const OutsideGround& ground) const {
    return places_in(ground.places.run_folder, setup_).board / ("verbs-files." + spec().nics.front());
  }
  size_t own_device() const {
    return static_cast<size_t>(std::ranges::find(spec().nics, spec().name) - spec().nics.begin());
  }

  // Names without text: the library asks the device for that.
  std::expected<void, Error> lay_files(const OutsideGround& ground) const {
    const fs::path folder = files_in(ground) / (kDeviceName + std::to_string(own_device()));
    std::error_code error;
    for (const std::string& path : device_file_paths()) {
      fs::create_directories((folder / path).parent_path(), error);
      if (error) return std::unexpected(Error{folder.string(), error.message()});
      if (auto made = write_new_file(folder / path, ""); !made) return made;
    }
    return {};
  }

  // All files of this machine are in its sight.
  std::expected<HostedCommand, std::vector<Error>> launch(const OutsideGround& ground) override {
    const GuestPlaces places = places_in(ground.places.run_folder, setup_);
    std::vector<std::string> ours;
    for (char** entry = environ; *entry != nullptr; ++entry) ours.emplace_back(*entry);
    HostSetup setup = setup_;
    std::string exports;
    for (const auto& [name, value] : environment(ground))
      exports += "export " + name + "=" + shell_quoted(value) + "\n";
    setup.run = exports + setup.run;
    return HostedCommand::start(
        std::move(setup), places,
        {.keeper = ground.installation.keeper,
         .command = {ground.installation.enter_verbs.string(), places.folder.string(), places.board.string()},
         .environment = std::move(ours),
         .sight = {}});
  }
  std::string machine() const override { return "verbs"; }

  HostSetup setup_;
  std::weak_ptr<RdmaDevice> device_;  // its edges own it
};

}  // namespace

std::unique_ptr<OutsideHost> make_host(const control::VerbsHost& verbs, const OutsideSpec& spec) {
  return std::make_unique<VerbsHost>(verbs, spec);
}

}  // namespace softspine::testbeds

// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guests/hosted_command.hpp"

#include <system_error>
#include <utility>

#include "testbeds/guests/guest_layers.hpp"

namespace softspine::testbeds {
namespace {

std::expected<KeptProcess, Error> launched(const HostSetup& setup, const GuestPlaces& places, const Launch& launch) {
  if (auto written = write_folder(places.folder, setup); !written) return std::unexpected(written.error());
  return KeptProcess::start(launch.keeper, launch.command, launch.environment, places.folder / "console", launch.sight,
                            launch.kept);
}

}  // namespace

std::vector<Error> errors_of(const GuestPlaces& places) {
  std::vector<Error> errors;
  for (const auto& path : {places.folder.string(), places.board.string()}) {
    if (!fits_command_line(path))
      errors.push_back({path, "a guest's folder must be an absolute path of letters, digits and _./+-"});
  }
  return errors;
}

GuestPlaces places_in(const std::filesystem::path& run_folder, const HostSetup& setup) {
  return {run_folder / setup.name, run_folder / setup.board, files_folder(run_folder, setup.name)};
}

HostedCommand::HostedCommand(HostSetup setup, GuestPlaces places, Launch launch, KeptProcess process)
    : setup_(std::move(setup)), places_(std::move(places)), launch_(std::move(launch)), process_(std::move(process)) {}

std::expected<HostedCommand, std::vector<Error>> HostedCommand::start(HostSetup setup, GuestPlaces places,
                                                                      Launch launch) {
  std::vector<Error> errors = errors_of(setup);
  for (Error& error : errors_of(places)) errors.push_back(std::move(error));
  if (!errors.empty()) return std::unexpected(std::move(errors));
  std::error_code error;
  std::filesystem::create_directories(places.board, error);
  if (error) return std::unexpected(std::vector{Error{places.board.string(), error.message()}});
  auto process = launched(setup, places, launch);
  if (!process) return std::unexpected(std::vector{process.error()});
  launch.kept.reset();
  return HostedCommand(std::move(setup), std::move(places), std::move(launch), std::move(*process));
}

bool HostedCommand::ready() const {
  std::error_code ignored;
  return std::filesystem::exists(places_.folder / "ready", ignored);
}

bool HostedCommand::stop(std::chrono::milliseconds grace) {
  const bool asked = ask_to_stop(places_.folder).has_value();
  const bool ended = asked && process_.await_end(grace);
  process_.kill();
  return ended;
}

std::expected<void, Error> HostedCommand::restart() {
  process_.kill();
  auto process = launched(setup_, places_, launch_);
  if (!process) return std::unexpected(process.error());
  process_ = std::move(*process);
  return {};
}

}  // namespace softspine::testbeds

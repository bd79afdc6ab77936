// SPDX-License-Identifier: Apache-2.0
// The process of one host that we start, with a folder of its own: it sets the host up, runs its command, writes its
// result and ends. The caller chooses what it runs on (a guest's kernel, a network namespace): a Launch.
#pragma once

#include <chrono>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "testbeds/guests/guest_folder.hpp"
#include "testbeds/guests/host_setup.hpp"
#include "testbeds/process/confinement.hpp"
#include "testbeds/process/kept_process.hpp"

namespace softspine::testbeds {

using Command = std::vector<std::string>;

// Where one host's files lie.
struct GuestPlaces {
  std::filesystem::path folder;
  std::filesystem::path board;
  std::filesystem::path files = {};  // of a guest: the copies of its files (guest_layers.hpp)
};
// run_folder/NAME, and the setup's board beside it, for signals between hosts.
GuestPlaces places_in(const std::filesystem::path& run_folder, const HostSetup& setup);
std::vector<Error> errors_of(const GuestPlaces& places);

struct Launch {
  std::filesystem::path keeper;
  Command command;
  std::vector<std::string> environment;
  Sight sight;
  std::optional<int> kept = std::nullopt;  // a descriptor that the command inherits when it is first started
};

class HostedCommand {
 public:
  // Errors of the setup come all at once.
  static std::expected<HostedCommand, std::vector<Error>> start(HostSetup setup, GuestPlaces places, Launch launch);

  const GuestPlaces& places() const { return places_; }

  bool running() { return process_.running(); }
  bool await_end(std::chrono::milliseconds timeout) { return process_.await_end(timeout); }
  // The exit status of the host's process, once that has ended.
  std::optional<int> exit_status() const { return process_.exit_status(); }

  // The host is set up, and its command has begun.
  bool ready() const;
  // The result of the ended host; an error when it ended without one.
  std::expected<GuestResult, Error> result() const { return read_result(places_.folder); }

  // Asks the command to end (SIGTERM in the host) and lets the host write its result, for at most `grace`; then
  // kills. True when it ended by itself.
  bool stop(std::chrono::milliseconds grace);
  void kill() { process_.kill(); }
  // Kills it if it runs, forgets its result, and starts it anew.
  std::expected<void, Error> restart();

 private:
  HostedCommand(HostSetup setup, GuestPlaces places, Launch launch, KeptProcess process);

  HostSetup setup_;
  GuestPlaces places_;
  Launch launch_;
  KeptProcess process_;
};

}  // namespace softspine::testbeds

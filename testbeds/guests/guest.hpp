// SPDX-License-Identifier: Apache-2.0
// One guest: a real Linux kernel with rdma_rxe that connects to the fabric's vhost-user sockets, runs its command,
// writes its result and powers off. Or a network namespace of this machine's kernel: then start and restart are called
// inside NetworkNamespace::within, once its NICs are there. A guest must be started after the fabric serves its
// sockets, and stopped before the fabric ceases to serve them: a user-mode Linux guest whose vhost-user server has gone
// spins when it powers off, and has to be killed.
#pragma once

#include <chrono>
#include <expected>
#include <filesystem>
#include <optional>

#include "testbeds/guests/command_line.hpp"
#include "testbeds/guests/guest_folder.hpp"
#include "testbeds/guests/guest_spec.hpp"
#include "testbeds/process/kept_process.hpp"

namespace softspine::testbeds {

class Guest {
 public:
  // Files go to run_folder/NAME, signals between guests to run_folder/board. Errors of the spec come all at once.
  static std::expected<Guest, std::vector<Error>> start(const GuestSpec& spec, const Installation& installation,
                                                        const std::filesystem::path& run_folder);

  const GuestSpec& spec() const { return spec_; }
  const GuestPlaces& places() const { return places_; }

  bool running() { return process_.running(); }
  bool await_end(std::chrono::milliseconds timeout) { return process_.await_end(timeout); }
  // The exit status of the guest's process, once that has ended.
  std::optional<int> exit_status() const { return process_.exit_status(); }

  // The guest is set up, and its command has begun.
  bool ready() const;
  // What the ended guest left; an error when it ended without a result.
  std::expected<GuestResult, Error> result() const { return read_result(places_.folder); }

  // Asks the command to end (SIGTERM in the guest) and lets the guest write its result, for at most `grace`; then
  // kills. True when it ended by itself.
  bool stop(std::chrono::milliseconds grace);
  void kill() { process_.kill(); }
  // Kills it if it runs, forgets its result, and boots it anew.
  std::expected<void, Error> restart();

 private:
  Guest(GuestSpec spec, Installation installation, GuestPlaces places, KeptProcess process);

  GuestSpec spec_;
  Installation installation_;
  GuestPlaces places_;
  KeptProcess process_;
};

}  // namespace softspine::testbeds

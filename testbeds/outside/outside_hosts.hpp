// SPDX-License-Identifier: Apache-2.0
// The outside hosts of one running fabric: user-mode Linux and QEMU guests, network namespaces, and bare edges (tap,
// af_packet, vhost-user, pcap, any DPDK device), behind one interface (outside_host.hpp). In this order, all from one
// control thread:
//
//   make        before the engine: kernels and roots of guests (minutes when not cached), namespaces; nothing runs yet
//   open_edge   for each host and port: the node for the engine
//   start       the engine runs, or is about to: guests boot, commands begin
//   poll        now and then while the engine runs (microseconds: also from an engine's action): asks what is out of
//               time to end, and kills it if it does not; true once every command has ended. A command's time begins
//               when its host has booted, and that may take five minutes
//   unasked_ends  after poll or stop: guests that have died, panicked or turned themselves off
//   stop        all at once: commands are asked to end, after `grace` killed. While the engine still runs, or a
//               user-mode Linux guest spins when it powers off and has to be killed
//   outcomes    how each command went
//
// Nothing outlives this object or this process, however that ends: processes are kept by softspine-keeper, namespaces
// and TAPs live only as long as someone is in them.
// The run folder gets a folder for each host with a command (settings, run, stdout, stderr, console, …) and `board`,
// where hosts signal each other (see guests/guest_folder.hpp). A folder of such a name that no run has made is refused
// (guests/owned_folder.hpp). Its path goes into sockets' names: keep it below 60
// bytes.
#pragma once

#include <chrono>
#include <expected>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/packet/pool.hpp"
#include "testbeds/outside/edges.hpp"
#include "testbeds/outside/outside_host.hpp"
#include "testbeds/outside/outside_spec.hpp"

namespace softspine::testbeds {

class OutsideHosts {
 public:
  // Returns all errors at once; a built-in host is not ours. `specs` keep their order: a host is named by its index.
  // `known`: the hosts whose names and addresses these have; if there are none, these are all.
  static std::expected<std::unique_ptr<OutsideHosts>, std::vector<Error>> make(
      const std::vector<OutsideSpec>& specs, OutsidePlaces places, const std::vector<OutsideSpec>& known = {});
  ~OutsideHosts();
  OutsideHosts(const OutsideHosts&) = delete;
  OutsideHosts& operator=(const OutsideHosts&) = delete;

  // Somebody has to poll while the engine runs: wall time passes in one of them.
  bool need_wall_clock() const;
  // `pool` must have room for whole frames and outlive the node. `dilation` as of the wall clock.
  std::expected<OpenedEdge, Error> open_edge(size_t host, uint32_t port, dataplane::PacketPool& pool,
                                             int64_t dilation = 1, const dataplane::NicConfig& nic = {});
  std::expected<void, std::vector<Error>> start();
  // True at once when no host has a command.
  bool poll();
  void stop(std::chrono::milliseconds grace);
  // The unasked ends since the last call, each once.
  std::vector<UnaskedEnd> unasked_ends();
  // Whether each host is set up, or has failed.
  bool are_up() const;
  // The way onto that host for a program, or why there is none. Any thread.
  std::expected<Entrance, std::string> entrance_of(const std::string& host) const;
  bool has(const std::string& host) const;
  // Where they signal each other; nothing if none of them has a folder.
  std::optional<std::filesystem::path> board() const;
  // Differences from the testbed that do not stop the run; complete from open_edge() on.
  std::vector<std::string> notes() const;
  // The outcomes of the hosts that have a command, in the order of `specs`. After poll() has returned true, or after
  // stop().
  std::vector<OutsideOutcome> outcomes() const;

 private:
  OutsideHosts(const std::vector<OutsideSpec>& specs, OutsidePlaces places, const std::vector<OutsideSpec>& known);
  std::vector<Error> prepare();
  std::vector<Error> take_folders() const;

  OutsideGround ground_;
  std::vector<std::unique_ptr<OutsideHost>> hosts_;
  std::vector<HostSetup> known_;  // those with a folder, of all that these know
};

}  // namespace softspine::testbeds

// SPDX-License-Identifier: Apache-2.0
// The outside of one host that is not built in. One class a kind, made by its make_host(); OutsideHosts holds a
// list of them, calls them in the order of its own manual, and asks for no kind. A new kind: its attachment
// (control/model/attachment.hpp), its make_host() below, and its class.
#pragma once

#include <chrono>
#include <expected>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testbeds/guests/command_line.hpp"
#include "testbeds/guests/guest_folder.hpp"
#include "testbeds/outside/edges.hpp"
#include "testbeds/outside/outside_spec.hpp"

namespace softspine::testbeds {

struct OutsidePlaces {
  std::filesystem::path run_folder;      // absolute, of letters, digits and _./+-; made when missing
  std::filesystem::path testbed_folder;  // what pcap files' paths are relative to
};

// Shared by all hosts of a fabric.
struct OutsideGround {
  OutsidePlaces places;
  Installation installation;
};

struct OutsideOutcome {
  std::string host;
  std::optional<int> exit_status;  // of the command; 125 when its host could not be set up (the reason is in stderr)
  bool timed_out = false;
  bool came_up = false;  // its command has begun
  bool stopped = false;  // ended by stop(), not by itself
  std::string machine;   // what it ran on: "user-mode Linux", "QEMU without KVM", …
  std::string problem;   // when there is no exit status: why
  double seconds = 0;    // wall time that the command took, without its host's boot; of one that never began, all
  std::filesystem::path stdout_path;
  std::filesystem::path stderr_path;
  std::filesystem::path console_path;
  std::vector<std::string> last_words;  // the last lines of its stderr, if somebody has read them
  GuestCounters counters;               // of its NICs and RDMA devices
  bool succeeded() const { return exit_status == 0 && !timed_out; }
};

// A host that ended while the fabric ran, without being asked to and without a result of its command.
struct UnaskedEnd {
  std::string host;
  std::string message;  // with the last lines of its console
};

// The way onto a host for a program.
struct Entrance {
  std::map<std::string, std::string> environment;  // in addition to the program's own
  std::filesystem::path folder;                    // of the host's files
  std::optional<int> process;  // whose namespaces are the host's; none: the host has none of its own
  std::filesystem::path line;  // not empty: the program is the guest's own, and this socket runs it
                               // (guest_line/guest_line.hpp)
};

// A difference from the testbed. Those of several hosts that differ in nothing are one: `before`, their names, `after`.
struct OutsideNote {
  std::string before;
  std::string after;
  bool operator==(const OutsideNote&) const = default;
};

// All errors that forbid hosts to be made.
class OutsideErrors {
 public:
  void add(const std::string& host, Error error) {
    all_.push_back({host + ": " + error.path, std::move(error.message)});
  }
  // An error that forbids one host of a kind forbids all: it is listed once.
  void add_once(const std::string& host, Error error) {
    if (said_.insert(error.message).second) add(host, std::move(error));
  }
  std::vector<Error> take() { return std::move(all_); }

 private:
  std::vector<Error> all_;
  std::set<std::string> said_;
};

inline std::string no_entrance(const std::string& host) {
  return host + " cannot be entered: programs run on namespace and verbs hosts, and in guests";
}

class OutsideHost {
 public:
  using Clock = std::chrono::steady_clock;

  explicit OutsideHost(OutsideSpec spec) : spec_(std::move(spec)) {}
  virtual ~OutsideHost() = default;
  OutsideHost(const OutsideHost&) = delete;
  OutsideHost& operator=(const OutsideHost&) = delete;

  const OutsideSpec& spec() const { return spec_; }
  // The clock that the host runs by.
  control::HostClock clock() const { return control::clock_of(spec_.attachment); }

  // Called before the engine starts. The guests that this machine has to be able to start:
  virtual void add_needs(std::set<GuestKind>&) const {}
  // `ground` outlives the host.
  virtual void prepare(const OutsideGround&, OutsideErrors&) {}
  // Not null for a host that has a folder in the run folder.
  virtual const HostSetup* setup() const { return nullptr; }
  virtual std::expected<OpenedEdge, Error> open_edge(uint32_t port, const OutsideGround& ground,
                                                     const EdgeSetting& setting) = 0;
  // Complete once all edges are open.
  virtual std::vector<OutsideNote> notes() const { return {}; }

  // While the engine runs, or is about to.
  virtual std::expected<void, std::vector<Error>> start(const OutsideGround&) { return {}; }
  virtual void poll(Clock::time_point) {}
  // What it has to set up is set up, or has failed.
  virtual bool is_up() const { return true; }
  // A command of its own has not ended.
  virtual bool is_awaited() const { return false; }
  // Once.
  virtual std::optional<UnaskedEnd> take_unasked_end() { return std::nullopt; }

  // All hosts are asked before the first is awaited.
  virtual void ask_to_stop() {}
  virtual void end_by(Clock::time_point) {}
  // Any thread, while the engine runs. The error is a sentence for a person.
  virtual std::expected<Entrance, std::string> entrance(const OutsideGround&) const {
    return std::unexpected(no_entrance(spec_.name));
  }
  // The outcome of a host with a command of its own.
  virtual std::optional<OutsideOutcome> outcome() const { return std::nullopt; }

 private:
  OutsideSpec spec_;
};

std::unique_ptr<OutsideHost> make_host(const control::Guest& guest, const OutsideSpec& spec);
std::unique_ptr<OutsideHost> make_host(const control::NamespaceHost& space, const OutsideSpec& spec);
std::unique_ptr<OutsideHost> make_host(const control::VerbsHost& verbs, const OutsideSpec& spec);
std::unique_ptr<OutsideHost> make_host(const control::EdgeHost& edges, const OutsideSpec& spec);
std::unique_ptr<OutsideHost> make_host(const control::BuiltinHost&, const OutsideSpec&) = delete;

}  // namespace softspine::testbeds

// SPDX-License-Identifier: Apache-2.0
// Does this machine have what a testbed asks? A look is a row of a table: what it is about, who asks for it, and a
// function that finds out and names the remedy. Each look stands with its like: machine_looks,
// rights, interface_looks, host_looks (guests and namespaces), device_looks (PCI).
//
// Invariant: where `softspine run` would not start for a lack of this machine, a look returns kMissing, and where all
// is there, `run` starts (tests/wire/command/doctor.py asks both).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "testbeds/doctor/asked.hpp"
#include "testbeds/doctor/machine.hpp"

namespace softspine::testbeds {

enum class State : uint8_t {
  kOk,
  kShort,      // a run starts; the fact names the price
  kMissing,    // a run does not start, or a host of it cannot be set up
  kUnknown,    // it cannot be seen
  kNotNeeded,  // nobody asks for it
};
const char* word_of(State state);

struct Finding {
  std::string what;
  State state = State::kOk;
  std::string fact;
  std::string mend;  // a command where there is one; empty: nothing is to be done
};
using Findings = std::vector<Finding>;

// The parts that guests would be made of. Only looked at where they are asked for.
struct GuestsHere {
  PartHere kernel;
  PartHere root;
  std::string obstacle;  // to user-mode Linux; QEMU then takes its place
};

struct Examination {
  const Machine& machine;
  Asked asked;
  GuestsHere guests;
};

struct Look {
  std::string_view what;
  UseSet asked_by;  // 0: every testbed
  void (*look)(const Examination& it, Findings& out);
  bool (*is_asked)(const Asked& asked) = nullptr;  // beside `asked_by`
};

std::span<const Look> machine_looks();
std::span<const Look> right_looks();
std::span<const Look> interface_looks();
std::span<const Look> host_looks();
std::span<const Look> device_looks();

// In the order of the table; first what is asked, then, a line each, what is not.
Findings examine(const Machine& machine, Asked asked);
// Whether nothing that is asked is missing or unknown.
bool is_ready(const Findings& findings);

// The command that runs the testbed, for mends: "softspine run two-tier.yaml".
std::string run_command(const Asked& asked);

}  // namespace softspine::testbeds

// SPDX-License-Identifier: Apache-2.0
#include "testbeds/doctor/looks.hpp"

#include <algorithm>
#include <utility>

#include "testbeds/doctor/pci_device.hpp"

namespace softspine::testbeds {

namespace {

bool is_wanted(const Look& look, const Asked& asked) {
  if (look.asked_by != 0 && (look.asked_by & asked.used) == 0) return false;
  return look.is_asked == nullptr || look.is_asked(asked);
}

Examination prepared(const Machine& machine, Asked asked) {
  Examination out{.machine = machine, .asked = std::move(asked), .guests = {}};
  if (out.asked.has(Use::kUml)) {
    out.guests.kernel = machine.calls().uml_kernel();
    out.guests.root = machine.calls().guest_root();
    out.guests.obstacle = machine.calls().uml_obstacle(out.guests.kernel.value_or(""), out.guests.root.value_or(""));
    if (!out.guests.obstacle.empty()) out.asked.used |= uses(Use::kQemu);
  } else if (out.asked.has(Use::kQemu)) {
    out.guests.root = machine.calls().guest_root();
  }
  for (const AskedDevice& asked_device : out.asked.devices) {
    const std::string driver = pci_device(machine, asked_device.address).driver;
    if (is_uio(driver)) out.asked.used |= uses(Use::kUio);
    if (driver == kVfioDriver) out.asked.used |= uses(Use::kVfio);
  }
  return out;
}

}  // namespace

const char* word_of(State state) {
  switch (state) {
    case State::kOk: return "ok";
    case State::kShort: return "short";
    case State::kMissing: return "missing";
    case State::kUnknown: return "unknown";
    case State::kNotNeeded: return "not needed";
  }
  return "";
}

Findings examine(const Machine& machine, Asked asked) {
  const Examination it = prepared(machine, std::move(asked));
  Findings out;
  Findings idle;
  for (const std::span<const Look> part :
       {machine_looks(), right_looks(), interface_looks(), host_looks(), device_looks()}) {
    for (const Look& look : part) {
      if (is_wanted(look, it.asked)) {
        look.look(it, out);
      } else {
        idle.push_back({std::string(look.what), State::kNotNeeded, "for " + words_of(look.asked_by), ""});
      }
    }
  }
  out.insert(out.end(), std::make_move_iterator(idle.begin()), std::make_move_iterator(idle.end()));
  return out;
}

bool is_ready(const Findings& findings) {
  return std::ranges::none_of(findings, [](const Finding& finding) {
    return finding.state == State::kMissing || finding.state == State::kUnknown;
  });
}

std::string run_command(const Asked& asked) {
  return "softspine run " + (asked.testbed == nullptr ? "FILE" : asked.testbed->file);
}

}  // namespace softspine::testbeds

// SPDX-License-Identifier: Apache-2.0
// Runs a testbed from its text, whole, and keeps what came of it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "control/load/load.hpp"
#include "control/telemetry/json.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::testbeds {

struct Outcome {
  control::FabricSnapshot snapshot;
  control::Json report;
  std::string capture;  // the file's bytes, if it was asked for
  uint64_t leaked = 0;
  uint64_t most_packets = 0;  // under way at once, and in workers' caches
};

std::string bytes_of(const std::filesystem::path& path);

// Clocks agree and hosts start packets when they can, unless the text says else: most tests hold a run to a closed
// form. Failures are the test's; what is returned then is empty.
control::Testbed testbed_of(const std::string& text, const control::Overrides& overrides = {});

// Holds it to the invariants of every run: nothing is counted twice or lost, and every packet came back to its pool.
Outcome run_whole(const control::Testbed& testbed, bool capture = false, const std::filesystem::path& folder = {},
                  bool flat = false);
Outcome run_text(const std::string& text, const control::Overrides& overrides = {}, bool capture = false);

// By its name, which has to be there.
const control::HostSnapshot& host_of(const Outcome& out, const std::string& name);

uint64_t number(const control::Json& at, const char* key);

// What must not depend on the number of workers, as text.
std::string without_engine(control::Json report);

}  // namespace softspine::testbeds

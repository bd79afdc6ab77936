// SPDX-License-Identifier: Apache-2.0
// The way in: a testbed file becomes a Testbed, or the list of everything that is wrong with it
// (in the file's order, each error once).
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/document/error.hpp"
#include "control/document/setting.hpp"
#include "control/format/quantity.hpp"
#include "control/model/testbed.hpp"

namespace softspine::control {

// What the command line says instead of the file; checked together with it.
struct Overrides {
  std::optional<ClockKind> clock;
  std::optional<dataplane::Duration> duration;
  std::optional<uint64_t> seed;
  std::optional<uint32_t> workers;
  std::optional<uint32_t> dilation;
  std::optional<uint32_t> clock_ppm;
  std::optional<Share> start_jitter;
  std::vector<Setting> settings;  // made before anything is read
};

std::expected<Testbed, Errors> load_testbed(const std::string& path, const Overrides& overrides = {});
std::expected<Testbed, Errors> parse_testbed(std::string_view text, std::string_view name,
                                             const Overrides& overrides = {});

// A file with errors. Its fabric is handed out whatever else is wrong, but not if the names of its nodes are not known.
struct Refused {
  Errors errors;
  std::optional<Fabric> fabric;
};
// As load_testbed. The file is read once, since it may be a pipe.
std::expected<Testbed, Refused> load_testbed_or_fabric(const std::string& path, const Overrides& overrides = {});

// The JSON Schema of the format, indented, with a line end.
std::string testbed_schema();

}  // namespace softspine::control

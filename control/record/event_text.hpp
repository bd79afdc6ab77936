// SPDX-License-Identifier: Apache-2.0
// An event as a JSON object, as files (json_lines.hpp) and readers of /events have it. Appended to `out`, without a
// newline.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "control/record/sink.hpp"

namespace softspine::control {

std::string event_head(const std::string& testbed);
void add_event(std::string& out, const dataplane::Event& event, std::string_view port);
void add_event(std::string& out, const ControlNote& note);
std::string event_end(dataplane::Instant now, uint64_t lines);

}  // namespace softspine::control

// SPDX-License-Identifier: Apache-2.0
// A measured or expected quantity of any dimension: "12", "-0.5", "20us", "97Gbps", "1MiB", "25%".
#pragma once

#include <optional>
#include <string_view>

#include "control/model/expectation.hpp"

namespace softspine::control {

std::optional<Measure> parse_measure(std::string_view text);

}  // namespace softspine::control

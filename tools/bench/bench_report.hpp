// SPDX-License-Identifier: Apache-2.0
// The benches' results, for people and for programs.
#pragma once

#include <string>

#include "tools/bench/forwarding_bench.hpp"
#include "tools/bench/virtual_bench.hpp"

namespace softspine::tools {

// One line each, without its end.
std::string text_of(const ForwardingBench& bench, const ForwardingResult& result);
std::string text_of(const VirtualBench& bench, const VirtualResult& result);

// One JSON object each; checksums as strings of 16 hexadecimal digits.
std::string json_of(const ForwardingBench& bench, const ForwardingResult& result);
std::string json_of(const VirtualBench& bench, const VirtualResult& result);

// The text of run_flood_bench()'s result.
std::string flood_text(const ForwardingResult& result);
std::string flood_json(const ForwardingResult& result);

}  // namespace softspine::tools

// SPDX-License-Identifier: Apache-2.0
// SONiC's own calculators, run by Debian's lua5.1 on databases that a test writes (redis.lua). They lie in the folder
// that SOFTSPINE_SONIC_SWSS names, or beside the checkout (tests/harness/samples.hpp). Nothing of them is here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace softspine::tests {

// One database of Redis: by key, then field.
using RedisTables = std::map<std::string, std::map<std::string, std::string>>;

struct RedisCase {
  std::vector<std::string> argv;
  std::map<int, RedisTables> databases;
};
inline constexpr int kApplDb = 0;
inline constexpr int kConfigDb = 4;
inline constexpr int kStateDb = 6;

// Why the originals cannot be run, or nothing.
std::string why_not(std::string_view script);

// What the script returned for each case: of parts "name:first:second" the numbers, by name.
using Figures = std::map<std::string, std::vector<uint64_t>>;
std::vector<Figures> run_original(std::string_view script, const std::vector<RedisCase>& cases);

}  // namespace softspine::tests

// SPDX-License-Identifier: Apache-2.0
#include "control/vendors/sand_profiles.hpp"

#include "control/document/words.hpp"

namespace softspine::control {
namespace {

constexpr std::string_view kSandBlock = "load-balance policies load-balance sand profile *";
constexpr std::string_view kSandOfEcmp = "ip load-sharing sand profile *";
constexpr std::string_view kSandOfLags = "port-channel load-balance sand profile *";

}  // namespace

void SandProfiles::finish() {
  if (names_.empty()) return;
  if (of_ecmp_ || of_lags_) {
    if (!of_ecmp_) remarks_.emplace_back("no line names the profile of ECMP groups: that of LAGs is taken for both");
    if (!of_ecmp_) of_ecmp_ = of_lags_;
    if (!of_lags_) of_lags_ = of_ecmp_;
    return;
  }
  if (names_.contains("default")) {
    of_ecmp_ = "default";
  } else if (names_.size() == 1) {
    of_ecmp_ = *names_.begin();
    remarks_.push_back("no line puts the profile " + shown(*of_ecmp_) + " in force: it is taken, as the only one");
  } else {
    remarks_.emplace_back("no line says which profile is in force: none is taken");
  }
}

SandProfiles sand_profiles_in(std::string_view text) {
  SandProfiles out;
  for_each_line(text, LineSyntax::kIndented, [&out](const ConfigurationLine& line) {
    if (const auto name = sand_profile_of(line)) out.add(std::string(*name));
    for (const auto& [words, of_lags] : {std::pair(kSandOfEcmp, false), std::pair(kSandOfLags, true)}) {
      if (const size_t taken = begins_with(line, words); taken > 0) out.put_in_force(line.words[taken - 1], of_lags);
    }
  });
  out.finish();
  return out;
}

std::optional<std::string_view> sand_profile_of(const ConfigurationLine& line) {
  const size_t taken = begins_with(line, kSandBlock);
  return taken == 0 ? std::nullopt : std::optional<std::string_view>(line.words[taken - 1]);
}

}  // namespace softspine::control

// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/paced_incast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace softspine::tests {
namespace {

template <typename T, size_t N>
T one_of(dataplane::Rng& rng, const std::array<T, N>& all) {
  return all[rng.below(N)];
}

// In a classic Clos network and a crossbar those whose name begins with "in" send, and the others receive.
bool only_sends(const std::string& host) {
  return host.starts_with("in");
}

Json ends_of(const std::vector<std::string>& hosts) {
  constexpr size_t kMaxIncastSenders = 6;
  const bool is_staged = std::ranges::any_of(hosts, only_sends);
  const auto receives = [&](const std::string& host) { return !is_staged || !only_sends(host); };
  const std::string to = *std::ranges::find_if(hosts, receives);
  Json from = Json::array();
  for (const std::string& host : hosts) {
    if (host != to && (!is_staged || only_sends(host)) && from.size() < kMaxIncastSenders) from.push_back(host);
  }
  return {{"pattern", "incast"}, {"from", from}, {"to", to}};
}

}  // namespace

void draw_paced_incast(dataplane::Rng& rng, const std::vector<std::string>& hosts, Json& testbed) {
  constexpr std::array<std::string_view, 4> kRates{"5Gbps", "10Gbps", "20Gbps", "40Gbps"};
  constexpr std::array<int, 4> kDscps{3, 4, 3, 0};
  constexpr std::array<int, 4> kTight{-7, -6, -6, -4};
  constexpr std::array<int, 3> kMtus{256, 1024, 4096};
  const std::string rate(one_of(rng, kRates));
  const Json ends = ends_of(hosts);
  const uint64_t first = rng.below(kDscps.size());
  const int mtu = one_of(rng, kMtus);
  Json all = Json::array();
  for (uint64_t i = 0, n = 2 + rng.below(3); i < n; ++i) {
    Json one{{"name", fmt::format("w{}", i)},
             {"message", "64KiB"},
             {"messages", 1000},
             {"mtu", mtu},
             {"rate", rate},
             {"dscp", kDscps[(first + i) % kDscps.size()]}};
    one.update(ends);
    if (rng.below(4) == 0) one.update({{"transport", "rc"}, {"congestion_control", "dcqcn_paper"}});
    all.push_back(std::move(one));
  }
  testbed["workload"] = std::move(all);
  const Json group{{"pg_lossless_auto_profile", {{"dynamic_th", one_of(rng, kTight)}}}};
  const Json pool{{"ingress_lossless_pool", {{"size", rng.below(2) == 0 ? "2MiB" : "4MiB"}}}};
  const Json profile{{"base", "lossless"}, {"BUFFER_PROFILE", group}, {"BUFFER_POOL", pool}};
  testbed["profiles"] = {{"default", profile}, {"other", profile}};
  testbed["run"]["start_jitter"] = "0%";
  if (rng.below(2) == 0) testbed["run"]["clock_ppm"] = 0;
}

}  // namespace softspine::tests

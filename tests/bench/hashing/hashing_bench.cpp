// SPDX-License-Identifier: Apache-2.0
// What does hashing cost a packet? 4096 flows of RoCEv2, bursts of 32, headers in the cache: from the fields in the
// frame to the hash, for each algorithm, in cycles of the time stamp counter while this thread ran. Usual: 5-tuple and
// destination QP. Laid out: any other key takes the long way. The limits are three times what was measured.
#include <benchmark/benchmark.h>
#include <time.h>
#include <x86intrin.h>

#include <array>
#include <chrono>
#include <vector>

#include "dataplane/hashing/usual_key.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::dataplane {
namespace {

constexpr uint32_t kFlows = 4096;
constexpr uint32_t kBurst = 32;
constexpr double kMaxUsualCycles = 3 * 19;
constexpr double kMaxRtag7Cycles = 3 * 17;
constexpr double kAnyCycles = 1e9;
constexpr uint32_t kL3 = 14;
constexpr uint32_t kL4 = 34;
using Frame = std::array<uint8_t, 64>;

std::vector<Frame> frames() {
  Rng rng{1, 0};
  std::vector<Frame> out(kFlows);
  for (Frame& frame : out) {
    for (uint8_t& byte : frame) byte = static_cast<uint8_t>(rng.next());
    store16(frame.data() + kL4 + udp::kDestinationPort, udp::kRoceV2Port);
  }
  return out;
}

HeaderView view_of(const Frame& frame) {
  return {.frame = frame.data(),
          .stored_bytes = sizeof frame,
          .frame_bytes = sizeof frame,
          .l3_offset = kL3,
          .l4_offset = kL4,
          .in_port = 0,
          .vlan = 0,
          .ether_type = ethernet::kTypeIpv4,
          .flags = kIsIpv4 | kIsUdp | kIsRoce,
          .ip_protocol = ip::kUdp};
}

template <HashAlgorithm A>
uint64_t hash_burst(const EcmpHash& hash, const Frame* burst) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < kBurst; ++i) {
    const uint8_t* frame = burst[i].data();
    const UsualFields usual =
        usual_fields(hash.usual_key(), kIsIpv4 | kIsUdp | kIsRoce, ip::kUdp, frame + kL3, frame + kL4);
    if (usual.are_all) {
      sum += hash_of_usual<A>(hash, usual);
    } else {
      HashKey key;
      hash.build(view_of(burst[i]), key);
      sum += hash.of<A>(key);
    }
  }
  return sum;
}

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double tsc_hertz() {
  static const double hertz = [] {
    const auto start = std::chrono::steady_clock::now();
    const uint64_t begin = __rdtsc();
    std::chrono::duration<double> passed{};
    while (passed.count() < 0.02) passed = std::chrono::steady_clock::now() - start;
    return static_cast<double>(__rdtsc() - begin) / passed.count();
  }();
  return hertz;
}

void run(benchmark::State& state, const HashConfig& config, double most_cycles) {
  const EcmpHash hash{config};
  const std::vector<Frame> all = frames();
  uint64_t checksum = 0;
  uint64_t packets = 0;
  const double begin = thread_seconds();
  for (auto _ : state) {
    checksum = 0;
    for (uint32_t i = 0; i < kFlows; i += kBurst) {
      checksum += with_algorithm(config.algorithm, [&]<HashAlgorithm A>() { return hash_burst<A>(hash, &all[i]); });
    }
    packets += kFlows;
    benchmark::DoNotOptimize(checksum);
  }
  const double cycles = (thread_seconds() - begin) * tsc_hertz() / static_cast<double>(packets);
  state.counters["cycles_per_packet"] = cycles;
  // The first rounds find a cold cache.
  if (packets > 100 * uint64_t{kFlows} && cycles > most_cycles) {
    state.SkipWithError(("more than " + std::to_string(most_cycles) + " cycles").c_str());
  }
  state.SetLabel("checksum " + std::to_string(checksum));
}

void usual(benchmark::State& state, HashAlgorithm algorithm) {
  HashConfig config{.algorithm = algorithm};
  config.fields.push_back(HashField::kRdmaBthDestQp);
  run(state, config, kMaxUsualCycles);
}
void rtag7(benchmark::State& state, HashAlgorithm algorithm) {
  HashConfig config{.model = HashModel::kRtag7, .algorithm = algorithm};
  config.udfs = {destination_qp_udf()};
  run(state, config, kMaxRtag7Cycles);
}
void laid_out(benchmark::State& state, HashAlgorithm algorithm) {
  HashConfig config{.algorithm = algorithm};
  config.udfs = {destination_qp_udf()};
  config.fields.push_back(HashField::kInPort);
  run(state, config, kAnyCycles);
}

BENCHMARK_CAPTURE(usual, crc, HashAlgorithm::kCrc);
BENCHMARK_CAPTURE(usual, xor, HashAlgorithm::kXor);
BENCHMARK_CAPTURE(usual, crc_32lo, HashAlgorithm::kCrc32Lo);
BENCHMARK_CAPTURE(usual, crc_ccitt, HashAlgorithm::kCrcCcitt);
BENCHMARK_CAPTURE(usual, crc_xor, HashAlgorithm::kCrcXor);
BENCHMARK_CAPTURE(usual, toeplitz, HashAlgorithm::kToeplitz);
BENCHMARK_CAPTURE(usual, xxh3, HashAlgorithm::kXxh3);
BENCHMARK_CAPTURE(usual, jenkins_lo, HashAlgorithm::kJenkinsLo);
BENCHMARK_CAPTURE(rtag7, crc, HashAlgorithm::kCrc);
BENCHMARK_CAPTURE(rtag7, crc_ccitt, HashAlgorithm::kCrcCcitt);
BENCHMARK_CAPTURE(rtag7, crc_32lo, HashAlgorithm::kCrc32Lo);
BENCHMARK_CAPTURE(laid_out, crc, HashAlgorithm::kCrc);

}  // namespace
}  // namespace softspine::dataplane

BENCHMARK_MAIN();

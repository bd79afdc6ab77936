// SPDX-License-Identifier: Apache-2.0
// HPCC against a second one, written from algorithm 1 of its paper in real numbers, over ports whose counters never
// wrap; and closed formulas.
#include "dataplane/congestion/hpcc.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::dataplane {
namespace {

constexpr Rate kHpccLine = Rate::gbps(100);

// A port as it is, and as its record says it is.
struct TruePort {
  double rate = 0;  // bit/s
  uint64_t ns = 0;
  uint64_t bytes = 0;
  uint64_t queue = 0;

  double told_bytes() const { return static_cast<double>(bytes / 128 * 128); }
  double told_queue() const { return static_cast<double>(queue / 80 * 80); }
};

class HpccReference {
 public:
  HpccReference(const HpccParameters& p, size_t hops)
      : p_(p), t_(p.rtt.seconds()), u_(hops, 1.0), rc_(hops, line()), stage_(hops, 0), last_(hops) {}

  // Whether the comparison of a load with η was clear: rounding decides the others.
  bool acknowledge(const std::vector<TruePort>& ports, uint64_t acked, uint64_t next) {
    bool is_clear = true;
    if (update_ == 0) {
      last_ = ports;
      update_ = next;
      return true;
    }
    const bool full = acked > update_;
    if (full || p_.fast_react) {
      if (p_.multi_rate) {
        rate_ = line();
        for (size_t j = 0; j < ports.size(); ++j) {
          const auto [u, tau] = of(ports[j], last_[j]);
          rate_ = std::min(rate_, step(j, u, tau, full, is_clear));
        }
      } else {
        double most = 0;
        double tau_of_most = 0;
        for (size_t j = 0; j < ports.size(); ++j) {
          const auto [u, tau] = of(ports[j], last_[j]);
          if (u > most) {
            most = u;
            tau_of_most = tau;
          }
        }
        rate_ = step(0, most, tau_of_most, full, is_clear);
      }
      last_ = ports;
    }
    if (full) update_ = std::max(update_, next);
    return is_clear;
  }
  double rate() const { return rate_; }

 private:
  static double line() { return static_cast<double>(kHpccLine.count_bps()); }
  std::pair<double, double> of(const TruePort& now, const TruePort& before) const {
    const double tau = static_cast<double>(now.ns - before.ns) * 1e-9;
    const double tx = (now.told_bytes() - before.told_bytes()) * 8 / tau;
    const double queue = std::min(now.told_queue(), before.told_queue());
    return {tx / now.rate + queue * 8 / (now.rate * t_), std::min(tau, t_)};
  }
  double step(size_t j, double u, double tau, bool full, bool& is_clear) {
    u_[j] = (1 - tau / t_) * u_[j] + tau / t_ * u;
    const double eta = static_cast<double>(p_.eta.part) / p_.eta.whole;
    is_clear = is_clear && std::abs(u_[j] - eta) > 1e-4;
    double r = 0;
    uint32_t stage = 0;
    if (u_[j] >= eta || stage_[j] >= p_.max_stage) {
      r = rc_[j] / (u_[j] / eta) + static_cast<double>(p_.ai_rate.count_bps());
    } else {
      r = rc_[j] + static_cast<double>(p_.ai_rate.count_bps());
      stage = stage_[j] + 1;
    }
    r = std::min(std::max(r, static_cast<double>(p_.min_rate.count_bps())), line());
    if (full) {
      rc_[j] = r;
      stage_[j] = stage;
    }
    return r;
  }
  HpccParameters p_;
  double t_;
  std::vector<double> u_;
  std::vector<double> rc_;
  std::vector<uint32_t> stage_;
  std::vector<TruePort> last_;
  uint64_t update_ = 0;
  double rate_ = line();
};

telemetry::Record record_of(const std::vector<TruePort>& ports) {
  std::array<uint8_t, telemetry::kBytes> field{};
  for (const TruePort& port : ports) {
    const auto code = telemetry::code_of(Rate::bps(static_cast<uint64_t>(port.rate)));
    const Instant at = Instant::at_ps(static_cast<int64_t>(port.ns * 1000 + 999));
    telemetry::push(field.data(), telemetry::hop_of(*code, at, port.bytes, port.queue));
  }
  return telemetry::read(field.data());
}

HpccParameters drawn_hpcc(Rng& rng) {
  HpccParameters p;
  p.rtt = Duration::us(static_cast<int64_t>(4 + rng.below(40)));
  p.eta = {static_cast<uint32_t>(80 + rng.below(20)), 100};
  p.max_stage = static_cast<uint32_t>(rng.below(8));
  p.ai_rate = Rate::mbps(1 + rng.below(500));
  p.min_rate = Rate::mbps(50 + rng.below(1000));
  p.multi_rate = rng.below(2) == 0;
  p.fast_react = rng.below(3) != 0;
  return p;
}

// Time goes on by much more than its field wraps, and so do the bytes; loads are between none and a full link, queues
// between none and a megabyte.
TEST(Hpcc, FollowsAlgorithmOneOnTracesOfTelemetry) {
  const uint64_t seed = tests::seed();
  SCOPED_TRACE(seed);
  Rng rng{seed, 2};
  uint64_t compared = 0;
  for (int round = 0; round < 60; ++round) {
    const HpccParameters p = round == 0 ? HpccParameters{} : drawn_hpcc(rng);
    const size_t hops = 1 + rng.below(telemetry::kHops);
    std::vector<TruePort> ports(hops);
    for (TruePort& port : ports)
      port = {.rate = static_cast<double>(telemetry::kRates[rng.below(8)].count_bps()), .ns = rng.below(1U << 25)};
    Hpcc hpcc{p, kHpccLine};
    HpccReference reference{p, hops};
    uint64_t next = 1 + rng.below(60);
    for (uint64_t i = 0; i < 1500; ++i) {
      for (TruePort& port : ports) {
        const uint64_t ns = 80 + rng.below(rng.below(20) == 0 ? 60'000 : 900);
        port.ns += ns;
        port.bytes += static_cast<uint64_t>(port.rate / 8e9 * static_cast<double>(ns * rng.below(101)) / 100);
        port.queue = rng.below(3) == 0 ? rng.below(1'000'000) : rng.below(20'000);
      }
      next = std::max(i + 1, next + rng.below(3));
      const telemetry::Record record = record_of(ports);
      hpcc.on_ack(Instant{}, {.packets = 1, .acked = i + 1, .next = next, .telemetry = &record});
      if (!reference.acknowledge(ports, i + 1, next)) break;
      ASSERT_NEAR(static_cast<double>(hpcc.rate_bps()), reference.rate(), 1e-3 * reference.rate()) << round << " " << i;
      ++compared;
    }
  }
  EXPECT_GT(compared, 5000U);
}

// A link that is full, without a queue, has U = 1: a round trip leads to η of the rate, and a step.
TEST(Hpcc, AimsAtEtaOfAFullLink) {
  Hpcc hpcc{{.rtt = Duration::us(10), .ai_rate = Rate::mbps(40)}, kHpccLine};
  std::vector<TruePort> ports{{.rate = 100e9}};
  for (uint64_t i = 0; i < 2; ++i) {
    const telemetry::Record record = record_of(ports);
    hpcc.on_ack(Instant{}, {.packets = 1, .acked = 1 + i * 10, .next = 11 + i, .telemetry = &record});
    ports[0].ns += 10'240;
    ports[0].bytes += 128'000;
  }
  const telemetry::Record record = record_of(ports);
  hpcc.on_ack(Instant{}, {.packets = 1, .acked = 30, .next = 40, .telemetry = &record});
  EXPECT_NEAR(static_cast<double>(hpcc.rate_bps()), 0.95 * 100e9 + 40e6, 20e6)
      << "twice, but from the rate of the round trip before";
}

TEST(Hpcc, WaitsForARecordOfTheSameWay) {
  Hpcc hpcc{{}, kHpccLine};
  std::vector<TruePort> ports(3, TruePort{.rate = 100e9, .ns = 1000, .queue = 500'000});
  const auto acknowledge = [&](uint64_t number) {
    const telemetry::Record record = record_of(ports);
    hpcc.on_ack(Instant{}, {.packets = 1, .acked = number, .next = number + 10, .telemetry = &record});
    for (TruePort& port : ports) port.ns += 5000;
  };
  acknowledge(1);
  ports.resize(5, TruePort{.rate = 100e9, .ns = 77, .queue = 500'000});
  acknowledge(20);
  EXPECT_EQ(hpcc.rate_bps(), kHpccLine.count_bps()) << "another number of hops: only kept";
  acknowledge(40);
  EXPECT_LT(hpcc.rate_bps(), kHpccLine.count_bps());
  const uint64_t before = hpcc.rate_bps();
  hpcc.on_ack(Instant{}, {.packets = 1, .acked = 41, .next = 60});
  EXPECT_EQ(hpcc.rate_bps(), before) << "without telemetry nothing changes";
}

TEST(Hpcc, UsesNoRecordOfNoHopNorOfMoreThanItHasRoomFor) {
  for (const size_t hops : {size_t{0}, size_t{telemetry::kHops + 1}}) {
    Hpcc hpcc{{}, kHpccLine};
    std::vector<TruePort> ports(hops, TruePort{.rate = 25e9, .queue = 900'000});
    for (uint64_t i = 1; i < 20; ++i) {
      const telemetry::Record record = record_of(ports);
      hpcc.on_ack(Instant{}, {.packets = 1, .acked = 10 * i, .next = 10 * i + 5, .telemetry = &record});
      for (TruePort& port : ports) port.ns += 5000;
    }
    EXPECT_EQ(hpcc.rate_bps(), kHpccLine.count_bps()) << hops;
  }
}

TEST(Telemetry, AHopIsWhatWasPacked) {
  const telemetry::Hop hop{.rate = 5, .time = 0xabcdef, .bytes = 0xfedcb, .queue = 0x1ffff};
  EXPECT_EQ(telemetry::unpacked(telemetry::packed(hop)), hop);
  EXPECT_EQ(telemetry::packed({.rate = 7, .time = 0xffffff, .bytes = 0xfffff, .queue = 0x1ffff}), UINT64_MAX);
  std::array<uint8_t, telemetry::kBytes> field{};
  for (uint8_t i = 0; i < 6; ++i) telemetry::push(field.data(), {.rate = i});
  const telemetry::Record record = telemetry::read(field.data());
  EXPECT_EQ(record.count, 6);
  EXPECT_EQ(record.hops[0].rate, 5) << "the sixth is in the place of the first";
  EXPECT_EQ(record.hops[4].rate, 4);
}

}  // namespace
}  // namespace softspine::dataplane

// SPDX-License-Identifier: Apache-2.0
#include "control/traffic/qp_numbers.hpp"

#include "control/traffic/flow.hpp"

namespace softspine::control {
namespace {

constexpr uint32_t kQpBits = 24;
constexpr uint32_t kFirstFree = 2;  // 0 and 1 are management's
constexpr uint32_t kMlx5Least = 0x100;
constexpr uint32_t kMlx5Starts = 0xff00;
constexpr uint64_t kRngStream = uint64_t{1} << 32;  // beside those of workloads

// The n-th of the two banks that share a completion queue; the first eight numbers are reserved.
uint32_t hns_number(uint32_t n) {
  return (n / 2 + 1) << 3 | n % 2;
}

// The n-th: `place` in a half, whose groups of 2048 numbers alternate with the other half's.
uint32_t ionic_number(uint32_t n) {
  constexpr uint32_t kGroupShift = 11;
  const uint32_t half = n % 2;
  const uint32_t place = n / 2 + (half == 0 ? kFirstFree : 0);
  return place >> kGroupShift << (kGroupShift + 1) | half << kGroupShift | (place & ((1U << kGroupShift) - 1));
}

}  // namespace

QpNumbers::QpNumbers(size_t hosts, uint64_t seed) : hosts_(hosts) {
  for (size_t host = 0; host < hosts; ++host) {
    hosts_[host].rng = dataplane::Rng{seed, kRngStream + host};
    hosts_[host].mlx5_first = kMlx5Least + static_cast<uint32_t>(hosts_[host].rng.below(kMlx5Starts));
  }
}

void QpNumbers::begin_at(uint32_t host, uint32_t qp) {
  Host& its = hosts_[host];
  const uint32_t next = kFirstQp + its.rxe_skipped + its.given[static_cast<size_t>(QpNumbering::kRxe)];
  if (qp > next) its.rxe_skipped += qp - next;
}

uint32_t QpNumbers::next(Host& host, QpNumbering numbering) {
  const uint32_t n = host.given[static_cast<size_t>(numbering)]++;
  switch (numbering) {
    case QpNumbering::kRxe: return kFirstQp + host.rxe_skipped + n;
    case QpNumbering::kMlx5: return host.mlx5_first + n;
    case QpNumbering::kHns: return hns_number(n);
    case QpNumbering::kIonic: return ionic_number(n);
    case QpNumbering::kRandom: break;
  }
  return kFirstFree + static_cast<uint32_t>(host.rng.below((1U << kQpBits) - kFirstFree));
}

uint32_t QpNumbers::take(uint32_t host, QpNumbering numbering) {
  Host& its = hosts_[host];
  for (;;) {
    const uint32_t number = next(its, numbering);
    if (its.used.insert(number).second) return number;
  }
}

}  // namespace softspine::control

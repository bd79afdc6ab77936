// SPDX-License-Identifier: Apache-2.0
// Why the choices of two tiers depend on each other, or why one tier is uneven by itself. The cause is computed from
// the hashes, on the hull of the keys that were seen (key_hull.hpp), not guessed from counts.
//
//   alike        the same hash of the same key, and the numbers of buckets have a common factor
//   seeds        only the seeds differ: a linear hash changes by a constant (rank 0 of the difference), which renames
//                the buckets modulo the largest power of two that divides both numbers of them
//   rotation     the offsets differ, and rotating a w-bit hash multiplies it modulo 2^w − 1: where both numbers of
//                buckets have a factor in common with that (3, 5, 17, 257 and products), it renames them modulo that
//   shared_bits  some bits of the later tier's choice are sums of bits of the earlier tier's: the rank of both
//                together is less than their ranks' sum
//   few_keys     the flows have too few keys, or keys that differ in too few bits
//   key_pattern  the hash is good for other keys, but these are regular, and a linear hash keeps regularity
//   unknown      none of these
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/explain/flow_choices.hpp"
#include "analysis/explain/tier_tests.hpp"

namespace softspine::analysis {

enum class CauseKind : uint8_t { kAlike, kSeeds, kRotation, kSharedBits, kFewKeys, kKeyPattern, kUnknown };

struct Cause {
  CauseKind kind = CauseKind::kUnknown;
  std::string text;
};

std::string word_of(CauseKind kind);

// Why the choices of the later tier depend on those of the earlier one, for flows that met `guilty` functions.
Cause cause_of_dependence(Walker& walker, const FlowChoices& choices, uint32_t earlier, uint32_t later,
                          const std::vector<FunctionPair>& guilty);
// The same, if the hashes alone are the cause, for whatever flows; else none.
std::optional<Cause> cause_by_hashes(Walker& walker, const FlowChoices& choices, uint32_t earlier, uint32_t later,
                                     const std::vector<FunctionPair>& functions);
// Whether any functions of the two tiers depend on each other for any flows, because of the hashes alone. True also if
// flows meet both tiers and none of them is among the samples.
bool may_go_together(Walker& walker, const FlowChoices& choices, uint32_t earlier, uint32_t later);

// Why a tier is uneven by itself, or only some of its groups are. The flows have `keys` distinct keys; `are_spread`:
// the hash spreads these evenly.
struct TierKeys {
  uint64_t flows = 0;
  uint64_t keys = 0;
  bool are_spread = true;
  std::vector<UnevenEcmpGroup> groups;
};
Cause cause_of_unevenness(Walker& walker, const FlowChoices& choices, uint32_t tier, const TierKeys& found);

}  // namespace softspine::analysis

// SPDX-License-Identifier: Apache-2.0
#include "control/load/lag_hash.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "control/load/hash_check.hpp"
#include "control/load/hash_rows.hpp"

namespace softspine::control {
namespace {

template <typename T>
void overlay(const T& given, T& out) {
  if (given) out = given;
}

void put_options_over(const Rtag7OptionsRow& row, Rtag7OptionsRow& out) {
  overlay(row.second, out.second);
  overlay(row.equal_ports, out.equal_ports);
  overlay(row.pre_processing, out.pre_processing);
  overlay(row.low_ipv6, out.low_ipv6);
  overlay(row.symmetric, out.symmetric);
}

void put_rtag7_over(const Rtag7Row& row, Rtag7Row& out) {
  if (row.a) put_options_over(*row.a, out.a ? *out.a : out.a.emplace());
  if (row.b) {
    Rtag7BRow& b = out.b ? *out.b : out.b.emplace();
    put_options_over(*row.b, b);
    overlay(row.b->first, b.first);
    overlay(row.b->fields, b.fields);
    overlay(row.b->seed, b.seed);
  }
  overlay(row.output, out.output);
  overlay(row.macro_flow, out.macro_flow);
}

// As if one were applied after the other.
void put_hash_over(const HashRow& row, HashRow& out) {
  overlay(row.model, out.model);
  // A model's own, unless the same row gives it.
  if (out.model && has_own_algorithm(row, *out.model)) out.algorithm.reset();
  overlay(row.algorithm, out.algorithm);
  overlay(row.fields, out.fields);
  overlay(row.udf, out.udf);
  overlay(row.seed, out.seed);
  overlay(row.offset, out.offset);
  overlay(row.key, out.key);
  overlay(row.fine_grained, out.fine_grained);
  overlay(row.symmetric, out.symmetric);
  for (const auto& [key, object] : kHashObjectRows) overlay(row.*object, out.*object);
  overlay(row.policy, out.policy);
  if (row.rtag7) put_rtag7_over(*row.rtag7, out.rtag7 ? *out.rtag7 : out.rtag7.emplace());
}

// One of SONiC's pairs of attributes.
template <typename T>
struct Pair {
  const std::optional<T>& of_ecmp;
  const std::optional<T>& of_lags;
  const T& before;  // of ECMP groups

  bool is_given() const { return of_ecmp || of_lags; }
  void overlay(std::optional<T>& out) const {
    if (of_ecmp == of_lags) {
      if (of_lags) out.reset();
    } else if (of_lags) {
      out = of_lags;
    } else if (!out) {
      out = before;  // LAGs stay as they are
    }
  }
};

// The same of one of SONiC's hash objects; whether the row says anything of it.
bool put_object_over(const SwitchHashGlobalRow& row, size_t object, const HashConfig& before,
                     std::shared_ptr<const HashObjectRow>& out) {
  const SwitchHashGlobalRow::Fields& of_ecmp = row.*kSonicHashObjects[object].ecmp;
  const SwitchHashGlobalRow::Fields& of_lags = row.*kSonicHashObjects[object].lag;
  if (!of_ecmp && !of_lags) return false;
  HashObjectRow now;
  if (of_lags) {
    now.fields = of_lags->fields;
  } else {
    now.as_it_is = before.objects[object];
  }
  if (of_ecmp == of_lags) {
    out = nullptr;
  } else if (of_lags || out == nullptr) {
    out = std::make_shared<const HashObjectRow>(std::move(now));
  }
  return true;
}

bool same(const dataplane::Rtag7Options& a, const dataplane::Rtag7Options& b) {
  const auto all = [](const dataplane::Rtag7Options& of) {
    return std::tie(of.second, of.equal_ports, of.pre_processing, of.low_ipv6, of.symmetric);
  };
  return all(a) == all(b);
}

bool same(const dataplane::Rtag7MacroFlow& a, const dataplane::Rtag7MacroFlow& b) {
  using Entry = dataplane::Rtag7MacroFlow::Entry;
  const auto alike = [](const Entry& x, const Entry& y) { return x.output == y.output && x.offset == y.offset; };
  return a.algorithm == b.algorithm && a.upper_byte == b.upper_byte && std::ranges::equal(a.table, b.table, alike);
}

bool same(const dataplane::Rtag7Config& a, const dataplane::Rtag7Config& b) {
  const auto all = [](const dataplane::Rtag7Config& of) {
    return std::tie(of.b_first, of.b_fields, of.b_seed, of.output);
  };
  if (all(a) != all(b) || a.macro_flow.has_value() != b.macro_flow.has_value()) return false;
  return same(a.a, b.a) && same(a.b, b.b) && (!a.macro_flow || same(*a.macro_flow, *b.macro_flow));
}

bool same(const HashConfig& a, const HashConfig& b) {
  const auto all = [](const HashConfig& of) {
    return std::tie(of.model, of.algorithm, of.fields, of.udfs, of.fine_grained, of.objects, of.symmetric, of.seed,
                    of.offset, of.linux_policy, of.key);
  };
  if (all(a) != all(b) || a.rtag7.has_value() != b.rtag7.has_value()) return false;
  return !a.rtag7 || same(*a.rtag7, *b.rtag7);
}

}  // namespace

void LagHash::apply(const HashRow& row) {
  HashRow now = given();
  put_hash_over(row, now);
  set(std::move(now), row.where);
}

void LagHash::apply(const SwitchHashGlobalRow& row, const HashConfig& before) {
  const auto fields_of = [](const HashFieldList& list) { return list.fields; };
  const auto of_ecmp = row.fields.transform(fields_of);
  const auto of_lags = row.lag_fields.transform(fields_of);
  const Pair algorithm{row.algorithm, row.lag_algorithm, before.algorithm};
  const Pair fields{of_ecmp, of_lags, before.fields};
  HashRow now = given();
  algorithm.overlay(now.algorithm);
  fields.overlay(now.fields);
  bool is_given = algorithm.is_given() || fields.is_given();
  for (size_t i = 0; i < kSonicHashObjects.size(); ++i)
    is_given |= put_object_over(row, i, before, now.*kHashObjectRows[i].second);
  if (is_given) set(std::move(now), row.where);
}

void LagHash::apply(const SwitchTableRow& row, const HashConfig& before) {
  const Pair seed{row.seed, row.lag_seed, before.seed};
  const Pair offset{row.offset, row.lag_offset, before.offset};
  if (!seed.is_given() && !offset.is_given()) return;
  HashRow now = given();
  seed.overlay(now.seed);
  offset.overlay(now.offset);
  set(std::move(now), row.where);
}

void LagHash::apply(const LocalhostRow& row) {
  if (given_ == nullptr || row.switch_type == "dpu") return;  // SONiC gives a DPU neither
  HashRow now = given();
  now.seed.reset();
  if (row.switch_type != "chassis-packet") now.offset.reset();
  set(std::move(now), row.where);
}

HashRow LagHash::given() const {
  return given_ == nullptr ? HashRow{} : *given_;
}

void LagHash::set(HashRow now, Value where) {
  given_ = std::make_shared<const HashRow>(std::move(now));
  place_ = where;
}

void LagHash::resolve(Reader& reader, Value where, Profile& profile) {
  const std::optional<Value> place = std::exchange(place_, std::nullopt);
  if (given_ == nullptr) return;
  HashConfig hash = profile.hash;
  apply_hash(*given_, hash);
  if (same(hash, profile.hash)) {
    profile.lag_hash = nullptr;
    return;
  }
  if (place || is_sound_) {
    const uint64_t complaints = reader.log().count();
    check_hash(reader, place.value_or(where), hash);
    is_sound_ = reader.log().count() == complaints;
    if (!is_sound_ && !place) reader.fail(where, "its hash does not go with what its bases say of lag_hash");
  }
  if (profile.lag_hash && same(hash, *profile.lag_hash)) return;
  profile.lag_hash = std::make_shared<const HashConfig>(std::move(hash));
}

}  // namespace softspine::control

// SPDX-License-Identifier: Apache-2.0
#include "control/load/hash_rows.hpp"

#include <utility>
#include <variant>

#include "control/rows/row_formats.hpp"

namespace softspine::control {
namespace {

dataplane::Udf udf_of(const UdfRow& row) {
  dataplane::Udf udf{.base = row.base, .offset = row.offset, .length = row.length, .mask = {}};
  if (row.mask) udf.mask = row.mask->bytes;
  if (!row.match) return udf;
  if (row.match->l2_type) udf.l2_type = row.match->l2_type->value;
  udf.l3_protocol = row.match->l3_protocol;
  udf.l4_dst_port = row.match->l4_dst_port;
  return udf;
}

UdfRow udf_row_of(const dataplane::Udf& udf) {
  UdfRow row{.where = {}, .base = udf.base, .offset = udf.offset, .length = udf.length, .mask = {}, .match = {}};
  if (!udf.mask.empty()) row.mask = HexBytes{udf.mask};
  UdfMatchRow& match = row.match.emplace();
  if (udf.l2_type) match.l2_type = HexNumber{*udf.l2_type};
  match.l3_protocol = udf.l3_protocol;
  match.l4_dst_port = udf.l4_dst_port;
  return row;
}

std::vector<dataplane::Udf> udfs_of(const std::vector<UdfRow>& rows) {
  std::vector<dataplane::Udf> out;
  for (const UdfRow& row : rows) out.push_back(udf_of(row));
  return out;
}

std::vector<dataplane::FineGrainedField> fine_grained_of(const std::vector<FineGrainedRow>& rows) {
  std::vector<dataplane::FineGrainedField> out;
  for (const FineGrainedRow& row : rows) {
    dataplane::FineGrainedField& fine = out.emplace_back(row.field, std::vector<uint8_t>{}, row.sequence);
    if (!row.mask) continue;
    if (const auto* ipv6 = std::get_if<Ipv6Address>(&*row.mask))
      fine.mask.assign(ipv6->bytes.begin(), ipv6->bytes.end());
    if (const auto* ipv4 = std::get_if<Ipv4Address>(&*row.mask)) {
      for (int shift = 24; shift >= 0; shift -= 8) fine.mask.push_back(static_cast<uint8_t>(ipv4->value >> shift));
    }
  }
  return out;
}

// What an object does not say it does not hash.
void apply_objects(const HashRow& row, HashConfig& hash) {
  for (size_t i = 0; i < dataplane::kHashObjects; ++i) {
    const auto& given = row.*kHashObjectRows[i].second;
    if (!given) continue;
    if (given->as_it_is) {
      hash.objects[i] = *given->as_it_is;
      continue;
    }
    hash.objects[i] = {.fields = given->fields.value_or(std::vector<HashField>{}),
                       .udfs = udfs_of(given->udf.value_or(std::vector<UdfRow>{})),
                       .fine_grained = fine_grained_of(given->fine_grained.value_or(std::vector<FineGrainedRow>{}))};
  }
}

void apply_options(const Rtag7OptionsRow& row, dataplane::Rtag7Options& options) {
  set_if(row.second, options.second);
  if (row.equal_ports) options.equal_ports = row.equal_ports;
  set_if(row.pre_processing, options.pre_processing);
  set_if(row.low_ipv6, options.low_ipv6);
  set_if(row.symmetric, options.symmetric);
}

void apply_rtag7(const Rtag7Row& row, dataplane::Rtag7Config& rtag7) {
  if (row.a) apply_options(*row.a, rtag7.a);
  if (row.b) {
    apply_options(*row.b, rtag7.b);
    set_if(row.b->first, rtag7.b_first);
    if (row.b->fields) rtag7.b_fields = row.b->fields;
    set_if(row.b->seed, rtag7.b_seed);
  }
  set_if(row.output, rtag7.output);
  if (!row.macro_flow) return;
  dataplane::Rtag7MacroFlow& flows = rtag7.macro_flow.emplace();
  set_if(row.macro_flow->algorithm, flows.algorithm);
  set_if(row.macro_flow->upper_byte, flows.upper_byte);
  for (const MacroFlowEntryRow& entry : row.macro_flow->table) flows.table.push_back({entry.output, entry.offset});
}

}  // namespace

bool has_own_algorithm(const HashRow& row, HashModel model) {
  return dataplane::row_of(model).is_of_hosts && (row.model || dataplane::algorithms_in(model) == 1);
}

std::optional<HashRow> lag_row_of(const HashReading& reading) {
  HashRow out;
  out.algorithm = reading.lag_algorithm;
  out.fields = reading.lag_fields;
  out.seed = reading.lag_seed;
  bool says_any = out.algorithm || out.fields || out.seed || !reading.lag_udfs.empty();
  for (const dataplane::Udf& udf : reading.lag_udfs)
    (out.udf ? *out.udf : out.udf.emplace()).push_back(udf_row_of(udf));
  for (size_t i = 0; i < dataplane::kHashObjects; ++i) {
    if (!reading.lag_objects[i]) continue;
    HashObjectRow object;
    object.fields = reading.lag_objects[i];
    out.*kHashObjectRows[i].second = std::make_shared<const HashObjectRow>(std::move(object));
    says_any = true;
  }
  return says_any ? std::optional(std::move(out)) : std::nullopt;
}

void apply_hash(const HashRow& row, HashConfig& hash) {
  set_if(row.algorithm, hash.algorithm);
  set_if(row.fields, hash.fields);
  set_if(row.seed, hash.seed);
  set_if(row.offset, hash.offset);
  set_if(row.model, hash.model);
  set_if(row.policy, hash.linux_policy);
  if (!row.algorithm && has_own_algorithm(row, hash.model)) hash.algorithm = dataplane::first_algorithm_in(hash.model);
  if (row.key) hash.key = row.key->bytes;
  if (row.udf) hash.udfs = udfs_of(*row.udf);
  if (row.fine_grained) hash.fine_grained = fine_grained_of(*row.fine_grained);
  set_if(row.symmetric, hash.symmetric);
  apply_objects(row, hash);
  if (row.rtag7) apply_rtag7(*row.rtag7, hash.rtag7 ? *hash.rtag7 : hash.rtag7.emplace());
}

void apply_hash(const SwitchHashGlobalRow& row, HashConfig& hash) {
  set_if(row.algorithm, hash.algorithm);
  if (row.fields) hash.fields = row.fields->fields;
  for (size_t i = 0; i < dataplane::kHashObjects; ++i) {
    const SwitchHashGlobalRow::Fields& given = row.*kSonicHashObjects[i].ecmp;
    if (given) hash.objects[i] = {.fields = given->fields, .udfs = {}, .fine_grained = {}};
  }
}

}  // namespace softspine::control

// SPDX-License-Identifier: Apache-2.0
// How a congestion control is written:
//
//   congestion_control: dcqcn_paper                          a set of parameters by its word; none: no control
//   congestion_control: {kind: dcqcn_paper, g: 1/128}        that set, but for the keys that stand there
//
// Words, keys, limits and help are each algorithm's own (dataplane/congestion/congestion_algorithm.hpp).
#pragma once

#include "control/format/table.hpp"
#include "dataplane/congestion/congestion_parameters.hpp"
#include "dataplane/units/byte_count.hpp"
#include "dataplane/units/fraction.hpp"

namespace softspine::control {

template <>
struct WordTraits<dataplane::Fraction> {
  static constexpr const char* name = "a part of one";
  static constexpr const char* example = "1/256 or 0.8";
  // Above 0, at most 1; numbers up to 10^9, nine digits behind the point.
  static std::optional<dataplane::Fraction> parse(std::string_view text);
  static std::string print(const dataplane::Fraction& fraction);
};

template <>
struct QuantityTraits<dataplane::ByteCount> {
  static const QuantityKind& kind() { return kBytesQuantity; }
  static dataplane::ByteCount make(int64_t n) { return {static_cast<uint64_t>(n)}; }
  static int64_t count(dataplane::ByteCount b) { return static_cast<int64_t>(b.count); }
};

template <>
struct Format<dataplane::CongestionParameters> {
  static bool read(Reader& reader, Value value, dataplane::CongestionParameters& out);
  static Json schema(SchemaBook& book);
  static Json write(const dataplane::CongestionParameters& parameters);
};

}  // namespace softspine::control

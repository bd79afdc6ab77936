// SPDX-License-Identifier: Apache-2.0
// How the types of SONiC's tables are written.
#pragma once

#include <string>

#include "control/format/table.hpp"
#include "control/rows/qos_rows.hpp"

namespace softspine::control {

template <>
struct Words<PoolType> {
  static constexpr std::array all{std::pair{"ingress", PoolType::kIngress}, std::pair{"egress", PoolType::kEgress},
                                  std::pair{"both", PoolType::kBoth}};
};
template <>
struct Words<PortStatus> {
  static constexpr std::array all{std::pair{"up", PortStatus::kUp}, std::pair{"down", PortStatus::kDown}};
};
template <>
struct Words<PoolSize> {
  static constexpr std::array all{std::pair{"shared", PoolSize::kShared}, std::pair{"total", PoolSize::kTotal}};
};
template <>
struct Words<Platform> {
  static constexpr auto all = [] {
    std::array<std::pair<const char*, Platform>, kPlatforms.size()> out{};
    for (size_t i = 0; i < out.size(); ++i) out[i] = {kPlatforms[i].word, kPlatforms[i].platform};
    return out;
  }();
};
template <>
struct Words<PoolMode> {
  static constexpr std::array all{std::pair{"static", PoolMode::kStatic}, std::pair{"dynamic", PoolMode::kDynamic}};
};
template <>
struct Words<EcnMode> {
  static constexpr std::array all{std::pair{"ecn_none", EcnMode::kOff},
                                  std::pair{"ecn_green", EcnMode::kGreen},
                                  std::pair{"ecn_yellow", EcnMode::kYellow},
                                  std::pair{"ecn_red", EcnMode::kRed},
                                  std::pair{"ecn_green_yellow", EcnMode::kGreenYellow},
                                  std::pair{"ecn_green_red", EcnMode::kGreenRed},
                                  std::pair{"ecn_yellow_red", EcnMode::kYellowRed},
                                  std::pair{"ecn_all", EcnMode::kAll}};
};
template <>
struct Words<SchedulerType> {
  static constexpr std::array all{std::pair{"STRICT", SchedulerType::kStrict}, std::pair{"DWRR", SchedulerType::kDwrr}};
};
template <>
struct Words<MeterType> {
  static constexpr std::array all{std::pair{"bytes", MeterType::kBytes}};
};
template <>
struct Words<DiscardAction> {
  static constexpr std::array all{std::pair{"drop", DiscardAction::kDrop}};
};
template <>
struct Words<PfcWdAction> {
  static constexpr std::array all{std::pair{"drop", PfcWdAction::kDrop}, std::pair{"forward", PfcWdAction::kForward},
                                  std::pair{"alert", PfcWdAction::kAlert}};
};
template <>
struct Words<PfcWdWaiting> {
  static constexpr std::array all{std::pair{"drop", PfcWdWaiting::kDrop}, std::pair{"keep", PfcWdWaiting::kKeep}};
};
template <>
struct Words<PfcWdCounter> {
  static constexpr std::array all{std::pair{"always", PfcWdCounter::kAlways},
                                  std::pair{"while_enabled", PfcWdCounter::kWhileEnabled}};
};

template <>
struct Format<Reference> {
  static bool read(Reader& reader, Value value, Reference& out);
  static Json schema(SchemaBook&) { return text_schema(); }
  static Json write(const Reference& reference) { return reference.name; }
};
template <>
struct Format<ReferenceList> {
  static bool read(Reader& reader, Value value, ReferenceList& out);
  static Json schema(SchemaBook&);
  static Json write(const ReferenceList& list);
};
template <>
struct Format<DynamicTh> {
  static bool read(Reader& reader, Value value, DynamicTh& out);
  static Json schema(SchemaBook&);
  static Json write(DynamicTh th) { return th.value; }
};
template <>
struct Format<Xoff> {
  static bool read(Reader& reader, Value value, Xoff& out);
  static Json schema(SchemaBook& book) { return {{"anyOf", {Json{{"enum", {"auto"}}}, Format<Bytes>::schema(book)}}}; }
  static Json write(const Xoff& xoff) { return xoff.automatic ? Json("auto") : Format<Bytes>::write(xoff.bytes); }
};
template <>
struct Format<CableLength> {
  static bool read(Reader& reader, Value value, CableLength& out);
  static Json schema(SchemaBook& book) { return Format<Length>::schema(book); }
  static Json write(const CableLength& cable) { return Format<Length>::write(cable.length); }
};
template <>
struct Format<PriorityList> {
  static bool read(Reader& reader, Value value, PriorityList& out);
  static Json schema(SchemaBook&);
  static Json write(PriorityList list);
};

// Keys of rows: pattern for the schema, example for messages, parse.
template <typename Key>
struct KeyTraits;

template <>
struct KeyTraits<RowName> {
  static constexpr std::string_view pattern = "^[A-Za-z0-9][A-Za-z0-9_.:@+-]{0,127}$";
  static constexpr std::string_view expected = "a row's name such as pg_lossless_100000_40m_profile";
  static std::optional<RowName> parse(std::string_view text);
};
template <>
struct KeyTraits<PortSet> {
  static constexpr std::string_view pattern = "^([*]|[A-Za-z0-9][A-Za-z0-9_./-]*(,[A-Za-z0-9][A-Za-z0-9_./-]*)*)$";
  static constexpr std::string_view expected = "ports such as Ethernet0 or Ethernet0,Ethernet4, or global";
  static std::optional<PortSet> parse(std::string_view text);
};
template <>
struct KeyTraits<PortRange> {
  static constexpr std::string_view pattern =
      "^([A-Za-z0-9][A-Za-z0-9_.-]*[|][A-Za-z0-9]+[|])?(([*]|[A-Za-z0-9][A-Za-z0-9_./-]*(,[A-Za-z0-9][A-Za-z0-9_./"
      "-]*)*)[|])?[0-7](-[0-7])?$";
  static constexpr std::string_view expected = "3, 3-4 or Ethernet0|3-4";
  static std::optional<PortRange> parse(std::string_view text);
};

template <typename Key, typename Row>
struct Format<Keyed<Key, Row>> {
  static bool read(Reader& reader, Value value, Keyed<Key, Row>& out) {
    if (value.kind() != ValueKind::kMap) return reader.wrong_type(value, "a map of rows");
    bool good = true;
    out.items.reserve(value.size());
    for_each_entry(value, [&](Value key, Value content) {
      if (key.kind() != ValueKind::kScalar) return;  // the document has reported it
      auto parsed = KeyTraits<Key>::parse(key.text());
      if (!parsed) {
        good = reader.fail(key, "expected " + std::string(KeyTraits<Key>::expected) + ", found " + shown(key.text()));
      }
      Row row;
      good = Format<Row>::read(reader, content, row) && good;
      if (parsed) out.items.push_back({std::move(*parsed), key, std::move(row)});
    });
    return good;
  }
  static Json schema(SchemaBook& book) { return map_schema(KeyTraits<Key>::pattern, Format<Row>::schema(book)); }
  static Json write(const Keyed<Key, Row>&) { return Json::object(); }
};

}  // namespace softspine::control

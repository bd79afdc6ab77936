// SPDX-License-Identifier: Apache-2.0
// How a profile's LAGs hash, by the profile's own keys and by SONiC's attributes.
//
//   lag_hash       of the profile: a field that it does not give is as in the final `hash`
//   SWITCH_HASH,   of SONiC: algorithm, fields, seed and offset of ECMP groups and of LAGs are attributes of their own.
//   switch.json    If both are given and equal, LAGs hash as ECMP groups do, whatever ECMP groups are given later; if
//                  one is given, or both differ, LAGs keep their own
//   type           of DEVICE_METADATA: SONiC's switch.json gives LAGs the seed and offset of ECMP groups
//
// Of each field the last value counts, be it the profile's or its base's. The hash of LAGs is the profile's final
// `hash` with these fields put over it, so a later `hash` changes the other fields of LAGs, too.
#pragma once

#include <memory>
#include <optional>

#include "control/document/reader.hpp"
#include "control/model/profile.hpp"
#include "control/rows/rows.hpp"

namespace softspine::control {

// Copied from a base to those that build on it.
class LagHash {
 public:
  void apply(const HashRow& row);
  // `before`: the profile's `hash` without this row.
  void apply(const SwitchHashGlobalRow& row, const HashConfig& before);
  void apply(const SwitchTableRow& row, const HashConfig& before);
  void apply(const LocalhostRow& row);

  // When the profile's `hash` is final: sets that of LAGs, to null if it is the same. Its errors are reported where the
  // profile gives fields for LAGs; if only its bases do, at the profile, `where`.
  void resolve(Reader& reader, Value where, Profile& profile);

 private:
  HashRow given() const;
  void set(HashRow now, Value where);

  std::shared_ptr<const HashRow> given_;  // null: nothing; apart: it is large, and few of a long list have one
  std::optional<Value> place_;            // of the profile's own last row
  bool is_sound_ = true;                  // whether the LAG hash inherited from the bases has no errors
};

}  // namespace softspine::control

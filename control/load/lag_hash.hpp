// SPDX-License-Identifier: Apache-2.0
// What a profile says of the hash of LAGs, in its own words and in SONiC's.
//
//   lag_hash       of the profile: what it does not say is as in `hash`, whatever that becomes
//   SWITCH_HASH,   of SONiC: algorithm, fields, seed and offset of ECMP groups and of LAGs are attributes of their own.
//   switch.json    Where both are said, and alike, LAGs hash as ECMP groups do, whatever these are given later; where
//                  one is said, or both differ, each keeps to its own
//   type           of DEVICE_METADATA: SONiC's switch.json gives LAGs the seed and offset of ECMP groups
//
// The last word on each counts, be it the profile's or its base's. The hash of LAGs is then the profile's final `hash`
// with what is said of LAGs: later words about `hash` reach it, too.
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
  void say(const HashRow& row);
  // `before`: the profile's `hash` without this row.
  void say(const SwitchHashGlobalRow& row, const HashConfig& before);
  void say(const SwitchTableRow& row, const HashConfig& before);
  void say(const LocalhostRow& row);

  // When the profile's `hash` is final: sets that of LAGs, to null if it is the same. What is wrong with it is reported
  // where the profile speaks of LAGs; if only its bases do, at the profile, `where`.
  void resolve(Reader& reader, Value where, Profile& profile);

 private:
  HashRow said() const;
  void speak(HashRow now, Value where);

  std::shared_ptr<const HashRow> said_;  // null: nothing; apart: it is large, and few of a long list say something
  std::optional<Value> place_;           // where the profile itself spoke last
  bool is_sound_ = true;                 // what its bases have made of it
};

}  // namespace softspine::control

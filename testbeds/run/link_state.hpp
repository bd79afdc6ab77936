// SPDX-License-Identifier: Apache-2.0
// The state of a link, whatever has happened to it, and the part of it that routing has noticed (link_control.hpp).
#pragma once

#include <cstdint>

namespace softspine::testbeds {

struct LinkState {
  // The use that routes may make of it. kLastResort: it is drained, and forwards what has no other way.
  enum class Use : uint8_t { kNone, kLastResort, kFull };

  bool up = true;
  bool asked = true;      // to be up, whatever state its ends have
  uint8_t lost_ends = 0;  // without carrier
  bool shut = false;      // by its switch itself (stack_control.hpp)
  bool drained = false;
  uint32_t deaths = 0;       // faults by which frames die on it
  bool is_dark = false;      // by one of them an end has no signal
  bool not_agreed = false;   // LACP has not agreed on it
  bool peer_lost = false;    // a stack holds its peer for lost
  Use last = Use::kFull;     // at the last change
  uint64_t changes = 0;      // from one use to another
  Use noticed = Use::kFull;  // by detection

  bool should_be_up() const { return asked && lost_ends == 0 && !shut; }
  Use use() const { return visible(true); }
  // The visible state: a node that exchanges no hellos does not see that frames die while the signal stays.
  Use visible(bool by_hellos) const {
    if (!up || (by_hellos ? deaths > 0 : is_dark)) return Use::kNone;
    return drained ? Use::kLastResort : Use::kFull;
  }
  bool is_unused() const { return not_agreed || peer_lost; }
  bool works() const { return use() == Use::kFull; }
};

}  // namespace softspine::testbeds

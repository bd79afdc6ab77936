// SPDX-License-Identifier: Apache-2.0
// The fields of one hash, as lines turn them: of IPv4 and IPv6 apart, since a line may be of one of them. A hash here
// has one set of fields for both; where lines say two, IPv4's are taken, and a remark says so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/vendors/vendor_words.hpp"

namespace softspine::control {

class KeyReading {
 public:
  // What the vendor documents as the default; 0: nothing.
  KeyReading(FieldSet usual_ipv4, FieldSet usual_ipv6)
      : ipv4_{usual_ipv4}, ipv6_{usual_ipv6}, is_usual_(usual_ipv4 != 0) {}

  void put(const Knob& knob, bool is_in);
  // Of the knob's fields these are in the key, and no others.
  void replace(const Knob& knob, FieldSet fields);

  bool has_lines() const { return has_lines_; }
  // Whether lines say of addresses and ports that they are in the key, or are not.
  bool is_said() const { return ipv4_.is_said() || ipv6_.is_said(); }

  struct Result {
    std::optional<FieldSet> fields;  // none: not said
    bool adds_qp = false;            // to fields that are not said
    std::vector<std::string> remarks;
  };
  Result finish() const;

 private:
  struct Key {
    FieldSet fields = 0;
    FieldSet said = 0;  // of which a line says whether they are in the key
    bool is_said() const;
  };
  template <typename Change>
  void change(const Knob& knob, Change&& change);

  Key ipv4_;
  Key ipv6_;
  bool is_usual_;
  bool has_lines_ = false;
};

}  // namespace softspine::control

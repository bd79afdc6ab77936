// SPDX-License-Identifier: Apache-2.0
// The fields of one hash key as configuration lines set them, for IPv4 and IPv6 apart, since a line may concern one of
// them. A hash here has one set of fields for both: if the lines give two, IPv4's is taken, with a remark.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/vendors/vendor_words.hpp"

namespace softspine::control {

class KeyReading {
 public:
  // The fields that the vendor documents as the default; 0: none documented.
  KeyReading(FieldSet usual_ipv4, FieldSet usual_ipv6)
      : ipv4_{usual_ipv4}, ipv6_{usual_ipv6}, is_usual_(usual_ipv4 != 0) {}

  void put(const Knob& knob, bool is_in);
  // Exactly `fields` of the knob's group of fields are in the key from now on.
  void replace(const Knob& knob, FieldSet fields);

  bool has_lines() const { return has_lines_; }
  // Whether lines decide about all addresses and ports of IPv4, or of IPv6.
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
    FieldSet said = 0;  // fields that some line puts into the key or takes out
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

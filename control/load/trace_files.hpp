// SPDX-License-Identifier: Apache-2.0
// The traces that a testbed names: each is read once, when somebody asks for it first.
#pragma once

#include <expected>
#include <map>

#include "control/document/reader.hpp"
#include "control/rows/rows.hpp"
#include "control/traces/goal.hpp"

namespace softspine::control {

class TraceFiles {
 public:
  using Read = std::expected<SharedWork, Errors>;

  // Rows and reader outlive it.
  explicit TraceFiles(Reader& reader) : reader_(reader) {}
  const Read& of(const TraceRow& row);

 private:
  Read load(const TraceRow& row);

  Reader& reader_;
  std::map<const TraceRow*, Read> read_;
};

}  // namespace softspine::control

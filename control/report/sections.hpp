// SPDX-License-Identifier: Apache-2.0
// The sections of the report, one row each (sections.cpp), in the report's order: key, JSON, what its fields mean, the
// names that it has in an outline, and how `softspine show` shows it.
//
// To add one: a file with its JSON and fields, and its row. The report, `check --counters`, the outline that
// expectations are checked against, `show` and its help read the row. Its values must stand in the snapshot.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/report/report.hpp"
#include "control/report/report_fields.hpp"

namespace softspine::control {

struct ReportInput {
  const FabricSnapshot& snapshot;
  const RunFacts& facts;
  IdleParts idle;
  bool leaves_out_idle = false;

  const IdleParts* left_out() const { return leaves_out_idle ? &idle : nullptr; }
};

// Where the reference lists the fields.
enum class Chapter : uint8_t { kRun, kMachine, kParts };

// As `softspine show` has it; without words it has no view of its own.
struct SectionView {
  std::string_view words = {};
  std::string_view help = {};
  std::string (*table)(const FabricSnapshot& snapshot) = nullptr;
  // Removes what is not of the node; null: whatever the snapshot has of others.
  void (*keep)(FabricSnapshot& snapshot, const std::string& node) = nullptr;
};

struct Section {
  std::string_view key;
  Json (*json)(const ReportInput& input);
  std::vector<ReportField> (*fields)();
  Chapter chapter = Chapter::kParts;
  bool (*is_there)(const FabricSnapshot& snapshot) = nullptr;  // null: in every report
  // Adds the names that a run of the testbed fills in, if the nodes do not give them all.
  void (*outline)(const Testbed& testbed, FabricSnapshot& out) = nullptr;
  SectionView view = {};
};

std::span<const Section> sections();
const Section& section_of(std::string_view key);  // is known

// Counts of the far ends of its links are still needed to show them.
void keep_links_of(FabricSnapshot& snapshot, const std::string& node);

}  // namespace softspine::control

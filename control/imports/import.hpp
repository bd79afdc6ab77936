// SPDX-License-Identifier: Apache-2.0
// A fabric out of the files of another system: the formats, and the way from files to a whole topology.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "control/document/reader.hpp"
#include "control/imports/foreign_topology.hpp"

namespace softspine::control {

struct ImportFormatRow {
  ImportFormat format;
  std::string_view word;
  std::string_view of;  // whose files, for messages
  bool several;         // a fabric may lie in several files
};
inline constexpr std::array kImportFormats{
    ImportFormatRow{ImportFormat::kHpcc, "hpcc", "HPCC's ns-3 topology", false},
    ImportFormatRow{ImportFormat::kSimai, "simai", "SimAI's topology", false},
    ImportFormatRow{ImportFormat::kContainerlab, "containerlab", "containerlab's topology", false},
    ImportFormatRow{ImportFormat::kSonic, "sonic", "SONiC's config_db.json", true},
    ImportFormatRow{ImportFormat::kHtsim, "htsim", "htsim's topology", false}};

constexpr const ImportFormatRow& row_of(ImportFormat format) {
  return kImportFormats[static_cast<size_t>(format)];
}

// Nothing if something is wrong, which is then reported.
std::optional<ForeignTopology> import_topology(Reader& reader, ImportFormat format,
                                               const std::vector<ImportFile>& files, const ImportOptions& options);

}  // namespace softspine::control

// SPDX-License-Identifier: Apache-2.0
#include "control/imports/import.hpp"

#include "control/imports/completion.hpp"
#include "control/imports/containerlab.hpp"
#include "control/imports/htsim_topology.hpp"
#include "control/imports/ns3_topology.hpp"
#include "control/imports/sonic_neighbors.hpp"

namespace softspine::control {
namespace {

bool read(Reader& reader, ImportFormat format, const std::vector<ImportFile>& files, const ImportOptions& options,
          ForeignTopology& out) {
  switch (format) {
    case ImportFormat::kHpcc:
    case ImportFormat::kSimai: return read_ns3_topology(reader, files[0], format, out);
    case ImportFormat::kContainerlab: return read_containerlab(reader, files[0], options, out);
    case ImportFormat::kHtsim: return read_htsim_topology(reader, files[0], out);
    case ImportFormat::kSonic: return read_sonic_neighbors(reader, files, options, out);
  }
  return false;
}

}  // namespace

std::optional<ForeignTopology> import_topology(Reader& reader, ImportFormat format,
                                               const std::vector<ImportFile>& files, const ImportOptions& options) {
  if (files.empty() || (files.size() > 1 && !row_of(format).several)) {
    reader.log().add(
        error_at(options.place, std::string(row_of(format).of) + " is one file, not " + std::to_string(files.size())));
    return std::nullopt;
  }
  for (const ImportFile& file : files) {
    if (file.text.size() <= kMaxTextBytes) continue;
    reader.log().add({file.path, "", 0, 0, "is larger than " + std::to_string(kMaxTextBytes >> 20) + " MiB"});
    return std::nullopt;
  }
  ForeignTopology out;
  if (!read(reader, format, files, options, out) || !complete(reader, options, out)) return std::nullopt;
  sort_by_place(out.notes);
  return out;
}

}  // namespace softspine::control

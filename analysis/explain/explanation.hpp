// SPDX-License-Identifier: Apache-2.0
// A path in words: JSON for programs, text for people. Pure functions over what a Walker has found.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/explain/walker.hpp"
#include "control/telemetry/json_fwd.hpp"

namespace softspine::analysis {

// kFields: also how far each field of a linear hash's key gets alone; the text names those that spread nothing.
enum class PathDetail : uint8_t { kHops, kFields };

// {hops: [{switch, role, in_port, route, …, hash: {algorithm, key, fields, raw, hash, …}, out_port, to}], end, at}
control::Json path_json(Walker& walker, const Path& path, PathDetail detail = PathDetail::kHops);

// A line or two for each hop.
std::string path_text(Walker& walker, const Path& path, PathDetail detail = PathDetail::kHops);

// "CRC, seed 0, offset 0"; also a report's words for a profile's hash.
std::string hash_words(const control::HashConfig& hash);

}  // namespace softspine::analysis

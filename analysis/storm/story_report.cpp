// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/story_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::analysis::storm {

using control::Json;
using control::TextTable;

std::string story_text(const PauseLog& log, const Analysis& analysis, const Story& story, size_t rows) {
  if (!story.misfit.empty())
    return fmt::format("{} is another run's: {}. Nothing is taken from it.\n\n", story.file, story.misfit);
  TextTable table{{"AT", "<SEEN BY", "<WHAT"}};
  const size_t shown = std::min(rows, story.lines.size());
  for (size_t i = 0; i < shown; ++i) {
    const StoryLine& line = story.lines[i];
    std::string what = line.what;
    if (line.may_have_caused) {
      what +=
          fmt::format("  ← {} the storm from {}", line.names_its_node ? "names and may have caused" : "may have caused",
                      log.nodes[analysis.storms[*line.may_have_caused].root].name);
    }
    table.add({at_text(line.at), line.is_captured ? "capture" : "log", what});
  }
  return fmt::format("What happened, by the capture and {}\n", story.file) + indented(table.text()) +
         more_text(story.lines.size(), shown) + "\n";
}

Json story_json(const PauseLog& log, const Analysis& analysis, const std::optional<Story>& story) {
  if (!story) return nullptr;
  Json lines = Json::array();
  for (const StoryLine& it : story->lines) {
    const auto node = [&](uint32_t storm) { return Json(log.nodes[analysis.storms[storm].root].name); };
    lines.push_back({{"t_ps", it.at.count_ps()},
                     {"seen_by", it.is_captured ? "capture" : "log"},
                     {"what", it.what},
                     {"may_have_caused", it.may_have_caused ? node(*it.may_have_caused) : Json(nullptr)},
                     {"names_its_node", it.names_its_node}});
  }
  return {{"file", story->file},
          {"misfit", story->misfit.empty() ? Json(nullptr) : Json(story->misfit)},
          {"lines", std::move(lines)}};
}

}  // namespace softspine::analysis::storm

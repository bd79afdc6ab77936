// SPDX-License-Identifier: Apache-2.0
// A report's section on what happened, by the capture and an event log (event_story.hpp): which line may have caused
// which storm.
#pragma once

#include "analysis/storm/storm_report.hpp"

namespace softspine::analysis::storm {

// The first `rows` lines.
std::string story_text(const PauseLog& log, const Analysis& analysis, const Story& story, size_t rows);
// null: there was no event log.
control::Json story_json(const PauseLog& log, const Analysis& analysis, const std::optional<Story>& story);

}  // namespace softspine::analysis::storm

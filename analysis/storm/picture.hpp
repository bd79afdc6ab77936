// SPDX-License-Identifier: Apache-2.0
// The analysis as a picture for someone who sees a pause for the first time: the fabric by tiers with an arrow from
// each node that pauses another, coloured by the share of time; the root, or the deadlock, marked; below it a time line
// of who was paused when; and a legend that explains all this.
//
// Bounds: a tier shows the kMaxNodesPerTier nodes with the largest part in the pauses by name and with their arrows,
// and the next kMaxSquaresPerTier as squares of the same colours, the time line kMaxTimelineRows links; the picture
// names what is left out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/storm/storm_report.hpp"
#include "control/telemetry/svg.hpp"

namespace softspine::analysis::storm {

using control::Point;
using control::Svg;

inline constexpr size_t kMaxNodesPerTier = 20;
inline constexpr size_t kMaxSquaresPerTier = 990;
inline constexpr size_t kMaxTimelineRows = 24;

std::string picture(const CaptureFacts& facts, const PauseLog& log, const Analysis& analysis);

// Shared by the parts of the picture.
namespace colours {
inline constexpr std::string_view kRoot = "#b3001b";
inline constexpr std::string_view kVictim = "#fbe0cc";
inline constexpr std::string_view kVictimEdge = "#c96a1f";
inline constexpr std::string_view kLocked = "#e6d5f5";
inline constexpr std::string_view kLockedEdge = "#7b2cbf";
inline constexpr std::string_view kQuiet = "#f1f4f7";
inline constexpr std::string_view kQuietEdge = "#9aa7b3";
inline constexpr std::string_view kCongestion = "#5b7f9f";
inline constexpr std::string_view kSpread = "#e8833a";
inline constexpr std::string_view kWords = "#222222";
inline constexpr std::string_view kFaint = "#66727d";
std::string heat(double percent);  // of time paused: amber to dark red
}  // namespace colours

enum class Part : uint8_t { kQuiet, kCongested, kVictim, kLocked, kSuspect, kRoot };
// The parts, by node.
std::vector<Part> parts_of(const PauseLog& log, const Analysis& analysis);
// One link, all priorities: from → to.
struct Arrow {
  uint32_t from = 0;  // ports
  uint32_t to = 0;
  uint16_t priorities = 0;
  double percent = 0;  // of the capture's time; of the priority that was paused longest
};
std::vector<Arrow> arrows_of(const PauseLog& log, const Analysis& analysis);
std::string shortened(const std::string& text, size_t characters);
// The name of a node, shortened: of a MAC its end is kept, which distinguishes it from others of its vendor.
std::string shortened_name(const std::string& name, size_t characters);

// Draws at `top`, and returns where it ends.
double draw_map(Svg& svg, double top, const PauseLog& log, const Analysis& analysis);
double map_height(const PauseLog& log, const Analysis& analysis);
void draw_timeline(Svg& svg, double top, const PauseLog& log, const Analysis& analysis);
double timeline_height(const Analysis& analysis);

inline constexpr double kPictureWidth = 1280;
inline constexpr double kMargin = 40;

}  // namespace softspine::analysis::storm

// SPDX-License-Identifier: Apache-2.0
#include "analysis/reading/storm_input.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <queue>
#include <set>
#include <tuple>

#include "analysis/reading/capture_file.hpp"
#include "analysis/storm/merged_captures.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::analysis {

using dataplane::Duration;
using dataplane::Instant;

namespace {

constexpr uint64_t kLookEvery = 1 << 16;  // frames between two looks at the clock
constexpr double kPs = 1e-12;

std::string progress_text(const storm::Tally& tally) {
  return fmt::format("{} frames, {} pause frames", control::grouped(tally.frames),
                     control::grouped(tally.pause_frames));
}

std::string note_on(const storm::ClockStep& step) {
  const std::string at = storm::at_text(step.at);
  if (step.is_back()) {
    return fmt::format("at {} the clock was set back by {}: what follows is shown behind that, from {} on", at,
                       storm::time_text(Duration{} - step.by), storm::at_text(step.until));
  }
  return fmt::format(
      "at {} the clock was set ahead by {}, or nothing was captured for so long: this is no part of the capture's "
      "length",
      at, storm::time_text(step.by));
}

// Notes for the reader of the report on its source.
std::vector<std::string> notes_on(const storm::PauseRecorder& recorded) {
  const storm::Tally& tally = recorded.tally();
  std::vector<std::string> notes;
  const auto note = [&notes](uint64_t n, const char* one, const char* many) {
    if (n > 0) notes.push_back(count_text(n, one, many));
  };
  note(tally.missed, "frame is missing: the capture says so", "frames are missing: the capture says so");
  note(tally.cut_pause_frames, "pause frame was captured too short to be read: take at least 34 bytes of each",
       "pause frames were captured too short to be read: take at least 34 bytes of each");
  note(tally.cut_frames, "frame was captured too short to tell whether it pauses",
       "frames were captured too short to tell whether they pause: take at least 34 bytes of each");
  note(tally.strange, "frame to the address of pause frames is of a kind that is not known here",
       "frames to the address of pause frames are of a kind that is not known here");
  note(tally.other_links, "frame that is not Ethernet was passed over",
       "frames that are not Ethernet were passed over");
  note(tally.timeless, "frame without a time that can be was left out",
       "frames without a time that can be were left out");
  note(tally.disordered, "frame is older than the one before it on its port: the capture is out of order",
       "frames are older than the one before them on their port: the capture is out of order");
  note(tally.omitted, "pause frame is beyond what can be analysed, and was left out",
       "pause frames are beyond what can be analysed, and were left out");
  for (const storm::ClockStep& it : recorded.steps()) notes.push_back(note_on(it));
  if (tally.is_filtered) notes.emplace_back("a filter chose what was captured, and may have left out pause frames");
  const auto& senders = recorded.senders();
  if (std::ranges::any_of(senders, [&](const auto& it) { return recorded.ports()[it.port].speed.is_zero(); })) {
    notes.emplace_back(
        "the capture does not say how fast the link is, so nobody can tell when a pause runs out: pauses are counted "
        "from XOFF to XON, or to the last refresh. With --speed (say, 100Gbps) they are exact");
  }
  const bool any_way = std::ranges::any_of(senders, [](const auto& it) { return it.way != storm::Way::kUnknown; });
  if (!any_way && !senders.empty()) {
    notes.emplace_back("the capture does not say which way frames went: who paused whom is taken from their sources");
  }
  return notes;
}

// Adds the facts that are known when all has been recorded. The error is a sentence.
std::expected<void, std::string> add_facts(ReadCapture& out) {
  const auto more = notes_on(out.recorded);
  out.facts.notes.insert(out.facts.notes.end(), more.begin(), more.end());
  out.facts.tally = out.recorded.tally();
  out.facts.ports = out.recorded.ports().size();
  if (out.facts.tally.frames > 0 && out.facts.tally.other_links == out.facts.tally.frames) {
    return std::unexpected(out.facts.file + ": none of its frames is Ethernet: pauses cannot be in it");
  }
  return {};
}

uint64_t timeless(const storm::CaptureReader& reader) {
  return reader.untimed_frames() + reader.mistimed_frames();
}

std::expected<ReadCapture, std::string> read_one(const StormInput& input) {
  const StopReadingOnInterrupt stop;
  const std::string& path = input.captures[0];
  auto file = CaptureFile::open(path, input.follow);
  if (!file) return std::unexpected(file.error());
  ReadCapture out{.facts = {.file = path}, .recorded = storm::PauseRecorder{input.speed, input.storm_after}};
  const storm::CaptureReader& reader = file->reader();
  if (input.look) file->on_idle([&] { input.look(out.recorded, reader.interfaces()); });
  storm::CapturedFrame frame;
  for (;;) {
    const auto got = file->next(frame);
    if (!got) return std::unexpected(got.error());
    if (!*got) break;
    out.recorded.take(frame, reader.interfaces());
    if (file->frames() % kLookEvery != 0) continue;
    file->show(input.progress, progress_text(out.recorded.tally()));
    if (input.look) input.look(out.recorded, reader.interfaces());
  }
  out.recorded.finish(reader.interfaces(), timeless(reader));
  out.facts.notes = file->notes();
  if (reader.origin_seconds() != 0) out.facts.began_unix_seconds = reader.origin_seconds();
  if (const auto added = add_facts(out); !added) return std::unexpected(added.error());
  return out;
}

// A capture of several, as it was read for the first time.
struct FirstReading {
  std::string path;
  storm::CaptureOutline outline;
  storm::SightingLog seen;
  uint64_t frames = 0;
  uint64_t timeless = 0;
  std::vector<storm::ClockStep> steps;
  std::vector<uint64_t> strays;  // numbers of frames whose time is wrong
  int64_t origin_seconds = 0;
  int64_t origin_ps = 0;
  std::vector<std::string> notes;
};

std::expected<void, std::string> read_first(FirstReading& it, const ProgressFunction& progress) {
  auto file = CaptureFile::open(it.path, false);
  if (!file) return std::unexpected(file.error());
  const storm::CaptureReader& reader = file->reader();
  storm::CapturedFrame frame;
  storm::ClockFollower clock;
  bool is_first = true;
  const auto see = [&](const storm::CapturedFrame& seen) {
    Instant& first = it.outline.clock.first;
    Instant& last = it.outline.clock.last;
    first = is_first ? seen.at : std::min(first, seen.at);
    last = is_first ? seen.at : std::max(last, seen.at);
    is_first = false;
    const storm::CapturedInterface& interface = reader.interfaces()[seen.interface];
    it.seen.see(seen, interface.link_type);
    it.outline.hears = it.outline.hears || seen.way != storm::Way::kOut || !interface.is_ethernet();
  };
  for (;;) {
    const auto got = file->next(frame);
    if (!got) return std::unexpected(got.error());
    if (!*got) break;
    clock.take(frame, see);
    if (file->frames() % kLookEvery == 0) {
      file->show(progress, control::grouped(file->frames()) + " frames, to compare clocks");
    }
  }
  clock.finish(see);
  it.steps = clock.steps();
  it.strays = clock.strays();
  it.frames = file->frames();
  it.timeless = timeless(reader) + it.strays.size();
  it.origin_seconds = reader.origin_seconds();
  it.origin_ps = reader.origin_ps();
  it.outline.interfaces = reader.interfaces();
  for (const std::string& note : file->notes()) it.notes.push_back(it.outline.label + ": " + note);
  return {};
}

// PLACE=FILE, or FILE.
std::pair<std::string, std::string> place_and_file(const std::string& text) {
  const size_t equals = text.find('=');
  struct stat about{};
  if (equals == std::string::npos || stat(text.c_str(), &about) == 0) return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::expected<std::vector<FirstReading>, std::string> read_all_first(const StormInput& input) {
  std::vector<FirstReading> out;
  std::set<std::pair<dev_t, ino_t>> known;
  std::vector<std::string> files;
  for (const std::string& text : input.captures) {
    const auto [place, file] = place_and_file(text);
    if (file == "-") return std::unexpected("-: of several captures, each has to be a file: they are read twice");
    struct stat about{};
    const bool is_there = stat(file.c_str(), &about) == 0;
    if (is_there && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)) {
      return std::unexpected(file + ": is no file but a pipe or device: of several captures, each is read twice");
    }
    if (is_there && !known.emplace(about.st_dev, about.st_ino).second) {
      return std::unexpected(file + ": is given twice");
    }
    files.push_back(file);
    out.push_back({.path = file,
                   .outline = {.label = "", .place = place, .interfaces = {}, .clock = {}},
                   .seen = {},
                   .notes = {}});
  }
  const std::vector<std::string> labels = storm::labels_of(files);
  const StopReadingOnInterrupt stop;  // what was read by then is read again
  for (size_t i = 0; i < out.size(); ++i) {
    out[i].outline.label = labels[i];
    if (const auto read = read_first(out[i], input.progress); !read) return std::unexpected(read.error());
  }
  return out;
}

// The captures of one group again, in the order of their times.
class SecondReading {
 public:
  SecondReading(const std::vector<FirstReading>& first, const storm::CaptureGroup& group,
                const storm::MergedCaptures& merged)
      : first_(first), group_(group), merged_(merged) {}

  std::expected<void, std::string> read(storm::PauseRecorder& into, const ProgressFunction& progress) {
    for (const storm::AlignedCapture& it : group_.captures) {
      auto file = CaptureFile::open(first_[it.capture].path, false);
      if (!file) return std::unexpected(file.error());
      files_.push_back(std::move(*file));
      frames_.emplace_back();
    }
    for (size_t n = 0; n < files_.size(); ++n) {
      if (const auto more = advance(n); !more) return std::unexpected(more.error());
    }
    for (uint64_t count = 1; !next_.empty(); ++count) {
      const size_t n = std::get<1>(next_.top());
      next_.pop();
      into.take(frames_[n], merged_.interfaces());
      if (count % kLookEvery == 0) files_[n].show(progress, progress_text(into.tally()));
      if (const auto more = advance(n); !more) return std::unexpected(more.error());
    }
    return {};
  }

 private:
  // Frames that have come since the first reading are left out, and so are frames whose time is wrong.
  std::expected<void, std::string> advance(size_t n) {
    const FirstReading& first = first_[group_.captures[n].capture];
    for (;;) {
      if (files_[n].frames() >= first.frames) return {};
      const auto got = files_[n].next(frames_[n]);
      if (!got) return std::unexpected(got.error());
      if (*got && std::ranges::binary_search(first.strays, files_[n].frames())) continue;
      if (*got && merged_.place(n, frames_[n])) next_.emplace(frames_[n].at, n);
      return {};
    }
  }

  const std::vector<FirstReading>& first_;
  const storm::CaptureGroup& group_;
  const storm::MergedCaptures& merged_;
  std::vector<CaptureFile> files_;
  std::vector<storm::CapturedFrame> frames_;
  std::priority_queue<std::tuple<Instant, size_t>, std::vector<std::tuple<Instant, size_t>>, std::greater<>> next_;
};

// The skew of whole clocks, not of the captures' own zeros.
double skew_seconds(const FirstReading& its, const FirstReading& reference, const storm::ClockMap& map) {
  const Instant begin = its.outline.clock.first;
  const double within = static_cast<double>(begin.count_ps()) - static_cast<double>(map(begin).count_ps());
  return static_cast<double>(its.origin_seconds - reference.origin_seconds) +
         (within + static_cast<double>(its.origin_ps - reference.origin_ps)) * kPs;
}

std::vector<storm::ClockFact> clock_facts(const std::vector<FirstReading>& first, const storm::CaptureGroup& group) {
  std::vector<storm::ClockFact> out;
  const FirstReading& reference = first[group.captures[0].capture];
  for (const storm::AlignedCapture& it : group.captures) {
    const FirstReading& its = first[it.capture];
    const bool is_first = it.capture == group.captures[0].capture;
    out.push_back({.file = its.outline.label,
                   .skew_seconds = skew_seconds(its, reference, it.map),
                   .drift = 1 - it.map.rate,
                   .drift_uncertainty = it.drift_uncertainty,
                   .uncertainty = it.uncertainty,
                   .compared_with = is_first ? "" : first[it.by].outline.label,
                   .packets = it.fit.packets});
  }
  return out;
}

std::string group_name(const std::vector<FirstReading>& first, const storm::CaptureGroup& group) {
  constexpr size_t kNamed = 4;
  std::string out;
  for (size_t i = 0; i < std::min(kNamed, group.captures.size()); ++i) {
    out += (i == 0 ? "" : ", ") + first[group.captures[i].capture].outline.label;
  }
  return group.captures.size() <= kNamed ? out : out + fmt::format(" and {} more", group.captures.size() - kNamed);
}

std::expected<ReadCapture, std::string> read_group(const StormInput& input, const std::vector<FirstReading>& first,
                                                   const std::vector<storm::CaptureOutline>& outlines,
                                                   const storm::CaptureGroup& group, const std::string& why_apart) {
  ReadCapture out{.facts = {.file = group_name(first, group)},
                  .recorded = storm::PauseRecorder{input.speed, input.storm_after}};
  const storm::MergedCaptures merged{outlines, group};
  if (const auto read = SecondReading{first, group, merged}.read(out.recorded, input.progress); !read) {
    return std::unexpected(read.error());
  }
  uint64_t without_time = 0;
  for (const storm::AlignedCapture& it : group.captures) {
    without_time += first[it.capture].timeless;
    // For one alone, the recorder has them; for those that packets have put together, they are silences of all or of
    // one.
    if (input.clocks_within && group.captures.size() > 1) {
      for (const storm::ClockStep& step : first[it.capture].steps) {
        out.facts.notes.push_back(first[it.capture].outline.label + ": " + note_on(step));
      }
    }
    out.facts.notes.insert(out.facts.notes.end(), first[it.capture].notes.begin(), first[it.capture].notes.end());
  }
  out.recorded.finish(merged.interfaces(), without_time);
  out.clocks = merged.uncertainty();
  if (StopReadingOnInterrupt::is_interrupted()) out.facts.notes.emplace_back("interrupted: what was read counts");
  if (!why_apart.empty()) {
    out.facts.notes.push_back(fmt::format(
        "{}: {}. So it has a time line of its own, and nothing in it comes before or after what the others saw",
        outlines[group.captures[0].capture].label, why_apart));
  }
  if (group.captures.size() > 1) out.facts.clocks = clock_facts(first, group);
  const FirstReading& reference = first[group.captures[0].capture];
  if (reference.origin_seconds != 0) out.facts.began_unix_seconds = reference.origin_seconds;
  if (const auto added = add_facts(out); !added) return std::unexpected(added.error());
  return out;
}

std::expected<storm::CaptureGroups, std::string> grouped_by(const StormInput& input,
                                                            const std::vector<FirstReading>& first,
                                                            const std::vector<storm::CaptureClock>& clocks) {
  if (!input.clocks_within) return storm::group_captures(clocks);
  constexpr int64_t kMaxSeconds = 25LL * 24 * 3600;
  storm::CaptureGroups out = storm::one_group(clocks.size(), *input.clocks_within);
  for (storm::AlignedCapture& it : out.groups[0].captures) {
    int64_t seconds = 0;
    if (__builtin_sub_overflow(first[it.capture].origin_seconds, first[0].origin_seconds, &seconds) ||
        std::abs(seconds) > kMaxSeconds) {
      return std::unexpected(first[it.capture].path + ": its times are weeks from those of " + first[0].path +
                             ": --clocks-within cannot be true");
    }
    it.map.begin = Instant{} + Duration::s(seconds) + Duration::ps(first[it.capture].origin_ps - first[0].origin_ps);
  }
  return out;
}

}  // namespace

std::string count_text(uint64_t n, const char* one, const char* many) {
  return control::grouped(n) + " " + (n == 1 ? one : many);
}

std::expected<std::vector<ReadCapture>, std::string> read_captures(const StormInput& input) {
  const bool is_one = input.captures.size() == 1 && place_and_file(input.captures[0]).first.empty();
  if (input.follow && !is_one) {
    return std::unexpected(
        "--follow: one capture alone, by its name: of several, and of NODE=FILE, each is read twice, which what still "
        "grows cannot be. --ports says whose interfaces a capture has");
  }
  std::vector<ReadCapture> out;
  if (is_one) {
    auto one = read_one(input);
    if (!one) return std::unexpected(one.error());
    out.push_back(std::move(*one));
    return out;
  }
  const auto first = read_all_first(input);
  if (!first) return std::unexpected(first.error());
  std::vector<storm::CaptureOutline> outlines;
  std::vector<storm::CaptureClock> clocks;
  for (const FirstReading& it : *first) {
    outlines.push_back(it.outline);
    outlines.back().clock.seen = &it.seen;
    outlines.back().clock.steps = it.steps;
    clocks.push_back(outlines.back().clock);
  }
  const auto groups = grouped_by(input, *first, clocks);
  if (!groups) return std::unexpected(groups.error());
  const StopReadingOnInterrupt stop;
  for (const storm::CaptureGroup& group : groups->groups) {
    auto read = read_group(input, *first, outlines, group, groups->why_apart[group.captures[0].capture]);
    if (!read) return std::unexpected(read.error());
    out.push_back(std::move(*read));
  }
  return out;
}

}  // namespace softspine::analysis

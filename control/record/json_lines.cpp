// SPDX-License-Identifier: Apache-2.0
#include "control/record/json_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string_view>

#include "control/record/event_text.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::control {

namespace {

constexpr std::array<std::string_view, 6> kSectionWords{"port", "priority", "group", "queue", "pool", "host priority"};
constexpr std::array<std::string_view, 4> kNumberWords{"", "priority", "group", "queue"};
// The length of a line beside its cells and its place: time, number, brackets.
constexpr size_t kMaxAround = 2 * LineKey::kPlace + 20;
constexpr size_t kMaxOfCell = LineKey::kPlace + LineText::kMaxDigits;

// ,"queue":3
const LineKey& numbered(SeriesRow row, size_t number) {
  static const std::vector<LineKey> all = [] {
    std::vector<LineKey> out;
    for (const std::string_view word : kNumberWords) {
      for (size_t i = 0; i < kRowNumbers; ++i) out.emplace_back(fmt::format(",\"{}\":{}", word, i));
    }
    return out;
  }();
  return all[static_cast<size_t>(row) * kRowNumbers + number];
}

std::string json_text(std::string_view text) {
  return Json(text).dump();
}

std::string head_of(const SeriesShape& shape) {
  std::string out = "{\"series\":1,\"testbed\":" + json_text(shape.testbed) +
                    ",\"sample_interval_ps\":" + std::to_string(shape.interval.count_ps()) + ",\"counters\":{";
  const auto add = [&out](std::string_view name, Nature nature) {
    fmt::format_to(std::back_inserter(out), "{}\"{}\":\"{}\"", out.back() == '{' ? "" : ",", name, word_for(nature));
  };
  for (size_t section = 0; section < kSectionWords.size(); ++section) {
    out += fmt::format("{}\"{}\":{{", section == 0 ? "" : ",", kSectionWords[section]);
    for (const SeriesColumn& column : shape.columns) {
      if (static_cast<size_t>(column.section) == section) add(column.name, column.nature);
    }
    const bool has_drops = !shape.columns.empty() && shape.columns.back().section == SeriesSection::kDrops;
    if (section == 0 && has_drops) add("drops", Nature::kGrows);
    out += '}';
  }
  return out + "}}\n";
}

std::string error_of(const std::string& path, LineFile& file) {
  const std::string error = file.take_error();
  return error.empty() ? error : path + ": " + error;
}

}  // namespace

SeriesText::SeriesText(const SeriesShape& shape)
    : head_(head_of(shape)), first_drop_(static_cast<uint32_t>(shape.columns.size())) {
  for (const SeriesColumn& column : shape.columns) {
    const bool is_drop = column.section == SeriesSection::kDrops;
    if (is_drop) first_drop_ = std::min(first_drop_, static_cast<uint32_t>(keys_.size()));
    keys_.emplace_back((is_drop ? "\"" : ",\"") + column.name + "\":");
  }
  for (const SeriesPlace& place : shape.places) {
    places_.push_back((place.is_pool ? "pool\":" : "port\":") + json_text(place.name));
  }
}

void SeriesText::add_sample(std::string& out, const SeriesSample& sample) {
  const LineKey before{"{\"t_ps\":" + std::to_string(sample.at.count_ps()) + ",\""};
  const SeriesCell* cell = sample.cells.data();
  for (const ChangedRow& row : sample.rows) {
    const std::string& place = places_[row.place];
    const SeriesCell* const end = cell + row.cells;
    LineText::append(out, place.size() + kMaxAround + row.cells * kMaxOfCell, [&](LineText& line) {
      line.add(before);
      line.add(std::string_view{place});
      if (row.of != SeriesRow::kWhole) line.add(numbered(row.of, row.number));
      for (; cell != end && cell->column < first_drop_; ++cell) {
        line.add(keys_[cell->column]);
        line.add(cell->value);
      }
      if (cell != end) {
        std::string_view opening = ",\"drops\":{";
        for (; cell != end; ++cell) {
          line.add(std::exchange(opening, ","));
          line.add(keys_[cell->column]);
          line.add(cell->value);
        }
        line.add("}");
      }
      line.add("}\n");
    });
  }
  ++samples_;
  lines_ += sample.rows.size();
}

void SeriesText::add_end(std::string& out, dataplane::Instant now) const {
  out += fmt::format("{{\"end_ps\":{},\"samples\":{},\"lines\":{}}}\n", now.count_ps(), samples_, lines_);
}

std::expected<std::unique_ptr<SeriesLines>, std::string> SeriesLines::open(const std::string& path,
                                                                           const std::atomic<bool>* ending) {
  auto file = LineFile::open(path, ending);
  if (!file) return std::unexpected(path + ": " + file.error());
  return std::unique_ptr<SeriesLines>{new SeriesLines{path, std::move(*file)}};
}

void SeriesLines::begin(const SeriesShape& shape) {
  text_ = std::make_unique<SeriesText>(shape);
  text_->add_head(file_.text());
}

void SeriesLines::sample(const SeriesSample& sample) {
  text_->add_sample(file_.text(), sample);
  file_.put();
}

void SeriesLines::end(dataplane::Instant now) {
  text_->add_end(file_.text(), now);
  file_.flush();
}

std::string SeriesLines::take_error() {
  return error_of(path_, file_);
}

std::expected<std::unique_ptr<EventLines>, std::string> EventLines::open(const std::string& path,
                                                                         const std::atomic<bool>* ending) {
  auto file = LineFile::open(path, ending);
  if (!file) return std::unexpected(path + ": " + file.error());
  return std::unique_ptr<EventLines>{new EventLines{path, std::move(*file)}};
}

void EventLines::begin(const std::string& testbed) {
  file_.text() += event_head(testbed) + '\n';
}

void EventLines::event(const dataplane::Event& event, std::string_view port) {
  add_event(file_.text(), event, port);
  end_line();
}

void EventLines::event(const ControlNote& note) {
  add_event(file_.text(), note);
  end_line();
}

void EventLines::end_line() {
  file_.text() += '\n';
  ++lines_;
  file_.put();
}

void EventLines::end(dataplane::Instant now) {
  file_.text() += event_end(now, lines_) + '\n';
  file_.flush();
}

std::string EventLines::take_error() {
  return error_of(path_, file_);
}

}  // namespace softspine::control

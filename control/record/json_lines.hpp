// SPDX-License-Identifier: Apache-2.0
// The first sinks: JSON lines in a file. Counters over time:
//
//   {"series": 1, "testbed": …, "sample_interval_ps": …, "counters": {"port": {"rx_packets": "counter", …}, …}}
//   {"t_ps": 20000000, "port": "tor1:Ethernet0", "rx_packets": 12, …, "drops": {"queue_full": 3}}
//   {"t_ps": 20000000, "port": "tor1:Ethernet0", "priority": 3, "pfc_tx_packets": 1, "pfc_tx_pause_ps": 4096, …}
//   …                                            "group": 3      "queue": 3      "pool": "ingress_lossless_pool"
//   {"end_ps": …, "samples": …, "lines": …}
//
// and events:
//
//   {"events": 1, "testbed": …}
//   {"t_ps": 12000, "event": "xoff_raised", "port": "tor1:Ethernet0", "priorities": [3], "group": 3}
//   {"t_ps": 13000, "event": "pause_received", "port": "tor2:Ethernet8", "priorities": [3]}
//   {"t_ps": 29000, "event": "drops", "port": …, "reason": "queue_full", "packets": 7, "first_ps": …, "last_ps": …}
//   {"t_ps": 40000, "event": "fault", "what": "link tor1:Ethernet16 – core1:Ethernet0 down"}
//   {"end_ps": …, "lines": …}
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "control/record/line_file.hpp"
#include "control/record/line_text.hpp"
#include "control/record/sink.hpp"

namespace softspine::control {

// The text of counters over time, apart from any file.
class SeriesText {
 public:
  explicit SeriesText(const SeriesShape& shape);

  // Each is appended to `out`.
  void add_head(std::string& out) const { out += head_; }
  void add_sample(std::string& out, const SeriesSample& sample);
  void add_end(std::string& out, dataplane::Instant now) const;

 private:
  std::string head_;
  std::vector<LineKey> keys_;        // by column: ,"name": or, of drops, "name":
  std::vector<std::string> places_;  // port":"tor1:Ethernet0"
  uint32_t first_drop_ = 0;          // of the columns
  uint64_t samples_ = 0;
  uint64_t lines_ = 0;
};

// As LineFile::open has it, with the path before an error.
class SeriesLines : public SampleSink {
 public:
  static std::expected<std::unique_ptr<SeriesLines>, std::string> open(const std::string& path,
                                                                       const std::atomic<bool>* ending);
  void begin(const SeriesShape& shape) override;
  void sample(const SeriesSample& sample) override;
  void end(dataplane::Instant now) override;
  std::string take_error() override;

 private:
  SeriesLines(std::string path, LineFile file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  LineFile file_;
  std::unique_ptr<SeriesText> text_;  // from begin() on
};

class EventLines : public EventSink {
 public:
  static std::expected<std::unique_ptr<EventLines>, std::string> open(const std::string& path,
                                                                      const std::atomic<bool>* ending);
  void begin(const std::string& testbed) override;
  void event(const dataplane::Event& event, std::string_view port) override;
  void event(const ControlNote& note) override;
  void end(dataplane::Instant now) override;
  std::string take_error() override;

 private:
  EventLines(std::string path, LineFile file) : path_(std::move(path)), file_(std::move(file)) {}
  void end_line();

  std::string path_;
  LineFile file_;
  uint64_t lines_ = 0;
};

}  // namespace softspine::control

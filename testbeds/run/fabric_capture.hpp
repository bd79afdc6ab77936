// SPDX-License-Identifier: Apache-2.0
// A capture of a running fabric: which ports are watched, and for how long.
//
// Ports of nodes that are elsewhere are not watched here (local_nodes.hpp).
// Without patterns, it takes what every port sends, so that each frame appears once for each link that it crosses. With
// patterns, it takes what the named ports send, and of switches also what they receive. A direction keeps one of both.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "control/capture/capture.hpp"
#include "control/model/testbed.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/tap_board.hpp"

namespace softspine::testbeds {

enum class Watched : uint8_t { kBoth, kSent, kReceived };

struct CaptureRequest {
  std::string path;
  std::vector<std::string> ports;  // patterns of "node:port", or nodes (topology/node_sets.hpp); none: all
  uint32_t snaplen = 256;
  bool full = false;             // frames whole, with their payloads' zeros
  uint64_t max_bytes = 0;        // 0: no limit
  std::string filter;            // libpcap's syntax; empty: every frame
  control::Rotation rotation;    // one file after the other
  dataplane::Duration lasts;     // emulated time; 0: until it is stopped
  bool wait_for_reader = false;  // of a named pipe: else one without a reader is an error
  Watched watched = Watched::kBoth;
  bool for_reader = false;  // of a named pipe, which it must be: the capture ends when the reader leaves (captures.hpp)
};

class FabricCapture {
 public:
  // Creates the file; no port is watched yet. Testbed and nodes must outlive the capture. The error is a sentence
  // for a person. From any thread but a worker's, since opening a file may take long.
  static std::expected<std::unique_ptr<FabricCapture>, std::string> open(const CaptureRequest& request,
                                                                         const control::Testbed& testbed,
                                                                         const LocalNodes& nodes);
  // Before begin(): the same as Capture::on_failure.
  void on_failure(std::function<void(const std::string& why)> call) { capture_->on_failure(std::move(call)); }

  // Called from an action, or before the first window.
  void begin(TapBoard& board, dataplane::Instant now);
  void detach(TapBoard& board);
  bool attached() const { return *watches_; }

  // Called from an action; over ranks by all at once, and rank 0 writes what all have seen.
  void flush(dataplane::Instant now) { capture_->flush(now, frames_elsewhere()); }
  // After the last window, likewise.
  std::expected<control::CaptureTotals, std::string> close() { return capture_->close(frames_elsewhere()); }

  const CaptureRequest& request() const { return request_; }
  dataplane::Instant until() const { return until_; }
  control::Capture& capture() { return *capture_; }
  const control::Capture& capture() const { return *capture_; }

 private:
  FabricCapture(CaptureRequest request, std::unique_ptr<control::Capture> capture, const Ranks& ranks)
      : request_(std::move(request)), capture_(std::move(capture)), ranks_(ranks) {}
  void choose_ports(const control::Testbed& testbed, const LocalNodes& nodes);
  void choose_port(const control::Testbed& testbed, const LocalNodes& nodes, control::LinkEnd end);
  bool watches_received() const;
  void flush_in_time(dataplane::Engine& engine);
  std::vector<control::CaptureBuffer> frames_elsewhere();

  CaptureRequest request_;
  std::unique_ptr<control::Capture> capture_;
  const Ranks& ranks_;
  dataplane::Instant until_ = dataplane::Instant::never();
  std::vector<std::pair<TapBoard::Place, dataplane::Tap*>> taps_;
  // Touched in actions only. Shared with a flush that was requested and may come after the capture's end.
  std::shared_ptr<bool> watches_ = std::make_shared<bool>(false);
};

}  // namespace softspine::testbeds

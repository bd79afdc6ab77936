// SPDX-License-Identifier: Apache-2.0
// What `softspine run` is asked for, and the options that say so.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "control/load/load.hpp"
#include "control/server/web_address.hpp"
#include "testbeds/run/counter_series.hpp"
#include "testbeds/run/fabric_capture.hpp"
#include "tools/softspine/arguments.hpp"
#include "tools/softspine/run_pictures.hpp"

namespace softspine::tools {

struct RunArguments {
  std::string file;
  control::Overrides overrides;
  testbeds::CaptureRequest capture;
  std::string report;
  std::string junit;
  std::string flows;
  std::string fct_file;
  std::string pfc_file;
  std::string qlen_file;
  testbeds::SeriesRequest series;
  std::string flow_series;
  std::optional<dataplane::Duration> sample_interval;
  std::string events;
  std::string record;
  std::string html;
  std::optional<dataplane::Duration> record_interval;
  std::string trace;
  std::optional<dataplane::Duration> trace_interval;
  RunPictures pictures;
  std::string folder;
  bool flat = false;
  bool idle_rows = false;
  bool json = false;
  bool quiet = false;
  bool no_server = false;
  // Of a lab (up_command), no options. `stays`: the ends of its hosts' commands do not end it. `when_up` is called
  // once, when each host is set up or something has failed; false: the run is to end. `lab_files`: the place of hosts'
  // files, without `folder`.
  bool stays = false;
  std::string lab_files;
  std::function<bool(bool is_well)> when_up;
  std::optional<control::WebAddress> http;
  std::string http_token;  // a file
  bool http_control = false;
};

void add_run_arguments(CLI::App& command, RunArguments& out);
// The options for what it writes, and how it runs: those of a lab, too.
void add_run_files(CLI::App& command, RunArguments& out);

}  // namespace softspine::tools

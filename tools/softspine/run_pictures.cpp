// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/run_pictures.hpp"

#include <fmt/format.h>

#include "control/report/busbw_picture.hpp"
#include "control/report/fault_timeline.hpp"
#include "control/report/step_picture.hpp"
#include "control/report/step_text.hpp"
#include "control/telemetry/json.hpp"
#include "tools/command/complain.hpp"
#include "tools/command/picture_file.hpp"
#include "tools/command/whole_file.hpp"

namespace softspine::tools {

namespace {

bool is_json(const std::string& path) {
  return path.ends_with(".json");
}

template <typename Draw>
bool write_drawn(const std::string& path, Draw&& draw) {
  if (path.empty()) return true;
  const auto written = write_picture(path, draw());
  if (!written) complain("softspine: {}\n", written.error());
  return written.has_value();
}

}  // namespace

std::vector<FileUse> RunPictures::outputs() const {
  return {{"the timeline", timeline, true}, {"bus bandwidths", busbw, true}, {"the steps", steps, true}};
}

bool RunPictures::write(const control::FabricSnapshot& snapshot, const std::string& testbed,
                        const std::atomic<bool>& stop) const {
  const bool faults_drawn = write_drawn(timeline, [&] { return control::fault_timeline(snapshot, testbed); });
  const bool busbw_drawn = write_drawn(busbw, [&] { return control::busbw_picture(snapshot, testbed); });
  if (!is_json(steps))
    return write_drawn(steps, [&] { return control::step_picture(*snapshot.steps, testbed); }) && faults_drawn &&
           busbw_drawn;
  const auto written = write_whole(steps, control::steps_json(*snapshot.steps, testbed).dump(2) + "\n", &stop);
  if (!written) complain("softspine: {}: cannot be written: {}\n", steps, written.error());
  return written && faults_drawn && busbw_drawn;
}

std::string RunPictures::list() const {
  std::string out;
  if (!timeline.empty()) out += fmt::format("  {}  faults over time\n", timeline);
  if (!busbw.empty()) out += fmt::format("  {}  bus bandwidth over size\n", busbw);
  if (!steps.empty()) out += fmt::format("  {}  steps of ranks over time\n", steps);
  return out;
}

std::vector<control::RecordedPicture> recorded_pictures(const control::FabricSnapshot& snapshot,
                                                        const std::string& testbed) {
  std::vector<control::RecordedPicture> out;
  if (!snapshot.faults.empty()) out.push_back({"faults", control::fault_timeline(snapshot, testbed)});
  if (!snapshot.collectives.empty()) out.push_back({"busbw", control::busbw_picture(snapshot, testbed)});
  return out;
}

void add_picture_options(CLI::App& command, RunPictures& out) {
  command
      .add_option("--timeline", out.timeline,
                  ".svg or .png: each fault with its losses, detection, convergence and recovery over time")
      ->check([](const std::string& path) { return wrong_picture_name(path); });
  command.add_option("--busbw", out.busbw, ".svg or .png: bus bandwidth of each collective over its sizes")
      ->check([](const std::string& path) { return wrong_picture_name(path); });
  command
      .add_option("--steps", out.steps,
                  ".svg, .png or .json: what each rank of collectives and trainings did over time, and why those that "
                  "waited did so")
      ->check([](const std::string& path) {
        return is_json(path) || wrong_picture_name(path).empty()
                   ? std::string{}
                   : "'" + path + "' ends in none of .svg, .png and .json";
      });
}

}  // namespace softspine::tools

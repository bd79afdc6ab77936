// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "control/telemetry/svg.hpp"
#include "tools/softspine/reproduce/trial_picture.hpp"
#include "tools/softspine/reproduce/trial_report.hpp"

namespace softspine::tools {

namespace {

using control::xml_escaped;

constexpr std::string_view kHead =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>softspine reproduce</title>\n"
    "<style>body{font:15px sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse}td,th{padding:.15em .7em;text-align:right;border-bottom:1px solid #ddd}"
    "td:first-child,td:nth-child(2),th:first-child,th:nth-child(2){text-align:left}"
    ".not{color:#a40000}svg{max-width:100%;height:auto}</style></head><body>\n";

std::string table_html(const Trial& trial) {
  std::string out = "<table><tr><th>what<th>at<th>paper<th>ours<th>deviation<th>least<th>most<th>ratio</tr>\n";
  for (const std::vector<std::string>& line : trial_lines(trial)) {
    out += "<tr>";
    for (const std::string& cell : line) out += "<td>" + xml_escaped(cell);
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

std::string claims_html(const Trial& trial) {
  std::string out = "<ul>\n";
  for (const Judged& it : trial.claims) {
    out += fmt::format("<li{}>{}: {}", it.held ? "" : " class=\"not\"", it.held ? "holds" : "does not hold",
                       xml_escaped(it.claim->text));
    if (!it.held && !it.claim->reason.empty()) out += fmt::format(", since {}", xml_escaped(it.claim->reason));
    out += "</li>\n";
  }
  return out + "</ul>\n";
}

std::string section(const Trial& trial) {
  const Experiment& it = *trial.experiment;
  std::string out = fmt::format("<h2 id=\"{0}\">{0}</h2>\n<p>{1}, {2}: {3}. {4}{5}; {6}; the paper's: {7}.</p>\n",
                                it.name, xml_escaped(it.paper), xml_escaped(it.figure), xml_escaped(it.shows),
                                trial.was_interrupted ? "Interrupted: " : "", effort_text(trial), xml_escaped(it.unit),
                                xml_escaped(it.how_read));
  out += trial_picture(trial) + table_html(trial) + claims_html(trial) + "<p>Assumed:</p><ul>\n";
  for (const std::string_view assumed : it.assumed) out += fmt::format("<li>{}</li>\n", xml_escaped(assumed));
  return out + "</ul>\n";
}

}  // namespace

std::string trials_page(const std::vector<Trial>& trials) {
  std::string out{kHead};
  out += "<h1>softspine reproduce</h1>\n";
  for (const Trial& trial : trials) out += section(trial);
  return out + "</body></html>\n";
}

}  // namespace softspine::tools

// SPDX-License-Identifier: Apache-2.0
#include "analysis/page/report_page.hpp"

#include <fmt/format.h>

#include <string_view>

#include "analysis/page/html_pieces.hpp"
#include "analysis/page/page_sections.hpp"
#include "control/record/recording_file.hpp"

namespace softspine::analysis::page {

using control::Statement;

namespace {

// The scale is cividis, the lines are Okabe and Ito's colours, each with dashes of its own: both read without red and
// green, and in grey.
constexpr std::string_view kStyle = R"(
:root{--ink:#1b1f24;--paper:#fff;--faint:#667;--rule:#d5d9de;--accent:#0072b2;--good:#0a6e55;--bad:#b03a00}
@media (prefers-color-scheme:dark){:root{--ink:#e6e8eb;--paper:#14171a;--faint:#9aa3ad;--rule:#3a4047;--accent:#56b4e9;--good:#4fc7a5;--bad:#ff9a5c}}
*{box-sizing:border-box}
body{font:15px/1.45 system-ui,"DejaVu Sans",sans-serif;color:var(--ink);background:var(--paper);max-width:68em;margin:0 auto;padding:1em;overflow-wrap:anywhere}
h1{font-size:1.5em;margin:.2em 0}h2{font-size:1.2em;border-bottom:2px solid var(--rule);margin:1.6em 0 .5em}h3{font-size:1em;margin:1em 0 .3em}
nav a{display:inline-block;margin-right:1em;color:var(--accent)}
.wide{overflow-x:auto}table{border-collapse:collapse;overflow-wrap:normal}td,th{padding:.2em .7em .2em 0;text-align:right;border-bottom:1px solid var(--rule);vertical-align:top}
td:first-child,th:first-child,td:last-child,th:last-child{text-align:left}#flows td:last-child{min-width:14em}
.good{color:var(--good)}.bad{color:var(--bad)}ul{padding-left:1.2em}ul.verdict,ul.legend{list-style:none;padding:0}
pre{overflow:auto;max-height:40em;border:1px solid var(--rule);padding:.6em;font-size:.85em}
data{white-space:nowrap}.heat{display:flex;flex-wrap:wrap;gap:2px;margin-bottom:.6em}.heat i{display:block;width:12px;height:12px;font-style:normal;border:1px solid var(--rule)}
.heat.named i{width:auto;min-width:6em;height:auto;padding:.2em .4em;font-size:.85em}
.scale i{display:inline-block;width:1.2em;height:.8em;margin:0 1px;border:1px solid var(--rule)}
.row{margin:.5em 0;break-inside:avoid}.row span{font-size:.9em}
svg{display:block;width:100%;background:transparent}.strip{height:14px;border:1px solid var(--rule)}.curve{height:110px;border:1px solid var(--rule)}.cdf{height:220px;border:1px solid var(--rule)}
.curve polyline,.line{fill:none;stroke:var(--accent);stroke-width:1.6;vector-effect:non-scaling-stroke}
.ecnmin,.ecnmax{stroke:var(--bad);stroke-width:1.4;vector-effect:non-scaling-stroke}.ecnmin{stroke-dasharray:7 4}.ecnmax{stroke-dasharray:2 3}
.curve .xoff{stroke:var(--bad);stroke-width:1.4;stroke-dasharray:7 4}
.axis{display:flex;justify-content:space-between;margin:.2em 0;color:var(--faint);font-size:.85em}
.sample{display:inline-block;width:30px;height:6px;vertical-align:middle}
.bar{display:inline-block;height:.7em;background:var(--accent);margin-right:3px;min-width:1px}
img{max-width:100%;height:auto;background:#fff}
.c0{background:#00224e;fill:#00224e;color:#fff}.c1{background:#123570;fill:#123570;color:#fff}.c2{background:#3b496c;fill:#3b496c;color:#fff}.c3{background:#575d6d;fill:#575d6d;color:#fff}.c4{background:#707173;fill:#707173;color:#fff}
.c5{background:#8a8678;fill:#8a8678;color:#000}.c6{background:#a59c74;fill:#a59c74;color:#000}.c7{background:#c3b369;fill:#c3b369;color:#000}.c8{background:#e1cc55;fill:#e1cc55;color:#000}.c9{background:#fee838;fill:#fee838;color:#000}
.k0{stroke:var(--accent)}.k1{stroke:#e69f00;stroke-dasharray:8 3}.k2{stroke:#009e73;stroke-dasharray:3 3}.k3{stroke:#cc79a7;stroke-dasharray:9 3 2 3}.k4{stroke:#d55e00;stroke-dasharray:14 4}.k5{stroke:#56b4e9;stroke-dasharray:2 2}.k6{stroke:#b8a800;stroke-dasharray:6 6}.k7{stroke:#888;stroke-dasharray:1 4}
@media print{body{max-width:none;font-size:10pt}nav,details{display:none}section{break-inside:auto}h2,h3{break-after:avoid}*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
)";

struct Part {
  const char* id;
  const char* words;
  std::string (*make)(Database& recording);
};
constexpr Part kParts[] = {{"run", "Run", overview_section},
                           {"fabric", "Fabric", heat_section},
                           {"pauses", "Pauses", pauses_section},
                           {"queues", "Queues", queues_section},
                           {"groups", "Priority groups", groups_section},
                           {"flows", "Flows", flows_section},
                           {"shares", "Uplinks", shares_section},
                           {"hash", "Hash groups", hash_section},
                           {"drops", "Drops", drops_section},
                           {"faults", "Faults", faults_section},
                           {"collectives", "Collectives", collectives_section},
                           {"trainings", "Trainings", trainings_section},
                           {"waits", "Waits", waits_section}};

std::string head(Database& recording) {
  Statement query{recording, "SELECT value FROM run WHERE key = 'testbed'"};
  const std::string name = query.next() ? escaped(query.text(0)) : "";
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
         "content=\"width=device-width,initial-scale=1\"><meta http-equiv=\"Content-Security-Policy\" "
         "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"><title>" +
         name + "</title><style>" + std::string{kStyle} + "</style></head><body>\n<h1>" + name + "</h1>\n";
}

}  // namespace

std::expected<std::string, std::string> report_page(const std::string& path) {
  auto recording = control::read_recording(path);
  if (!recording) return std::unexpected(path + ": " + recording.error());
  std::string links = "<nav>";
  std::string sections;
  for (const Part& part : kParts) {
    const std::string made = part.make(*recording);
    if (!made.empty()) links += fmt::format("<a href=\"#{}\">{}</a>", part.id, part.words);
    sections += made;
  }
  if (!recording->is_fine()) return std::unexpected(path + ": " + recording->error());
  return head(*recording) + links + "</nav>\n" + sections + "</body></html>\n";
}

}  // namespace softspine::analysis::page

// SPDX-License-Identifier: Apache-2.0
// Pieces of HTML. Text from a recording comes from files, so all of it goes through escaped() or a function that does.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace softspine::analysis::page {

std::string escaped(std::string_view text);

// A number of the report, as people read it; the exact value and its place in the report (a JSON pointer's steps) go
// along as attributes, so that a test reads them back.
using Steps = std::initializer_list<std::string_view>;
std::string value(Steps steps, double exact, const std::string& shown);
std::string count_value(Steps steps, int64_t exact);  // 12,345
std::string time_value(Steps steps, int64_t exact_ps);
std::string rate_value(Steps steps, int64_t exact_bps);
std::string share_value(Steps steps, double exact);

std::string count_words(int64_t count);
std::string size_words(int64_t bytes);  // 1.5 MB
std::string time_words(int64_t ps);     // 1.23 ms
std::string rate_words(int64_t bps);    // 97.9 Gb/s
std::string share_words(double share);  // 45 %

std::string section(std::string_view id, std::string_view title, const std::string& body);
std::string paragraph(const std::string& html);
// Cells are HTML; the first column is text, the others are numbers.
std::string table_row(const std::initializer_list<std::string>& cells);
std::string table(const std::initializer_list<std::string_view>& heads, const std::string& rows);

// What a list that shows `shown` of `all` says below it; nothing if that is all.
std::string left_out(int64_t all, int64_t shown);

// 0 to 9: the step of the colour scale for a share of 1; more than 1 counts as 1.
int colour_step(double share);

}  // namespace softspine::analysis::page

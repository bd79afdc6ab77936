// SPDX-License-Identifier: Apache-2.0
#include "control/report/junit_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softspine::control {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(JunitText, CountsFailuresAndErrorsApart) {
  const std::string text = junit_text(
      "t", {{.name = "a"}, {.name = "b", .failure = "is 2"}, {.name = "c", .failure = "no", .is_error = true}}, 1.5,
      "");
  EXPECT_THAT(text,
              HasSubstr("<testsuite name=\"t\" tests=\"3\" failures=\"1\" errors=\"1\" skipped=\"0\" time=\"1.500\">"));
  EXPECT_THAT(text, HasSubstr("<testcase classname=\"t\" name=\"a\" time=\"0.000\"/>"));
  EXPECT_THAT(text, HasSubstr("<failure message=\"is 2\">is 2</failure>"));
  EXPECT_THAT(text, HasSubstr("<error message=\"no\">no</error>"));
  EXPECT_THAT(text, Not(HasSubstr("system-out")));
}

TEST(JunitText, SaysWhereACaseStands) {
  const std::string text = junit_text("t", {{.name = "a", .file = "t.yaml", .line = 7}}, 0, "");
  EXPECT_THAT(text, HasSubstr(" file=\"t.yaml\" line=\"7\"/>"));
}

TEST(JunitText, CarriesWhatXmlCannotInOtherWords) {
  const std::string text =
      junit_text("a<b", {{.name = "\"q\" & \x1b[1m", .failure = "one\ntwo\x80"}}, 0, "tab\tand\nlines\n");
  EXPECT_THAT(text, HasSubstr("name=\"a&lt;b\""));
  EXPECT_THAT(text, HasSubstr("name=\"&quot;q&quot; &amp; ?[1m\""));
  EXPECT_THAT(text, HasSubstr(">one\ntwo\xEF\xBF\xBD</failure>"));
  EXPECT_THAT(text, HasSubstr("<system-out>tab?and\nlines\n</system-out>"));
}

}  // namespace
}  // namespace softspine::control

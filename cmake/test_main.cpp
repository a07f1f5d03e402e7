// main() of test programs. Exit code 77: every test was skipped. A filter that leaves no test is an error.
#include <gtest/gtest.h>

#include <cstdio>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int code = RUN_ALL_TESTS();
  if (testing::GTEST_FLAG(list_tests)) return code;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  if (all.test_to_run_count() == 0) {
    std::fprintf(stderr, "no test has a name that --gtest_filter allows\n");
    return 1;
  }
  return code == 0 && all.skipped_test_count() == all.test_to_run_count() ? 77 : code;
}

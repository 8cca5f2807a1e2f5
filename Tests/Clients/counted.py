"""Runs the tests of the main module, one line each, and ends with the line that deploy/test counts by."""

import sys
import time
import unittest


class Result(unittest.TextTestResult):
    """Tells how long each test took."""

    def startTest(self, test):
        self.began = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        self.stream.writeln(f"    {time.monotonic() - self.began:.1f} s")
        super().stopTest(test)


def run(name):
    """The exit code: 0 only when at least one test ran, all passed, and none was skipped."""
    program = unittest.main(
        module="__main__", exit=False, verbosity=2,
        testRunner=unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=Result))
    result = program.result
    # A test with several failed parts is one that failed.
    broken = {failure[0].id().split(" ")[0] for failure in result.failures + result.errors + result.skipped}
    broken |= {test.id() for test in result.unexpectedSuccesses}
    failed = len(broken)
    print(f"{name}: {max(result.testsRun - failed, 0)} passed, {failed} failed")
    return 0 if result.testsRun > 0 and failed == 0 else 1

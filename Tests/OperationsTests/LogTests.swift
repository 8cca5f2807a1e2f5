import FoundationEssentials
import Testing

@testable import Operations

@Suite struct LogTests {
    private let time = Date(timeIntervalSince1970: 0)

    @Test func logfmtQuotesWhatNeedsIt() {
        let line = Log(format: .logfmt).line(
            .info, "claimed", [("app", "recipes"), ("why", "a \"b\"\n"), ("empty", "")], time: time)
        #expect(
            line
                == #"time=1970-01-01T00:00:00.000Z level=info msg="claimed" app=recipes why="a \"b\"\n" empty="""#)
    }

    @Test func jsonEscapesControlCharacters() {
        let line = Log(format: .json).line(.error, "lost", [("why", "\u{1}é")], time: time)
        #expect(line == #"{"time":"1970-01-01T00:00:00.000Z","level":"error","msg":"lost","why":"\u0001é"}"#)
    }
}

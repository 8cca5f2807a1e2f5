import Delivery
import Foundation
import Operations
import Testing

@testable import OperatorCore

/// Files and lines for the tests of `todoke explain`.
enum ExplainSupport {
    static let now = 1_790_000_000

    /// The cases with their expected results, which the tests of the verdicts share.
    static var vectors: String {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "DeliveryTests/Vectors/open-error-class.jsonl").path
    }

    static func withFile<Result>(_ bytes: some Sequence<UInt8>, _ body: (String) throws -> Result) throws -> Result {
        let url = FileManager.default.temporaryDirectory.appending(path: "todoke-explain-\(UUID().uuidString)")
        try Data(bytes).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try body(url.path)
    }

    /// What a line of a batch comes to, as an object; throws why it cannot be explained.
    static func json(_ line: String, provider: AnswerCase.Provider = .fcm) throws -> JSONValue {
        let batch = ExplainBatch(defaults: .init(provider: provider, now: now), isJSON: true)
        return try JSONValue.parse(Array(try batch.explain(Array(line.utf8), number: 1).get().utf8).span)
    }

    static func fault(_ line: String) -> LineFault? {
        let batch = ExplainBatch(defaults: .init(now: now), isJSON: true)
        if case .failure(let fault) = batch.explain(Array(line.utf8), number: 1) { return fault }
        return nil
    }

    static func options(_ arguments: [String], _ environment: [String: String] = [:]) throws -> ParsedOptions {
        guard
            case .run(let options) = try Subcommand.explain.options.parse(
                arguments: arguments, environment: environment)
        else { throw Failure(.software, "not a run", remedy: "") }
        return options
    }

    static func explanation(_ arguments: String...) throws -> Explanation {
        guard case .one(let given) = try ExplainRequest(options(arguments), now: now) else {
            throw Failure(.software, "a batch", remedy: "")
        }
        return Explanation(given)
    }
}

@Suite struct ExplainTests {
    private static func run(_ arguments: String...) -> Int32 {
        Operator.run(arguments: ["todoke", "explain"] + arguments, environment: [:])
    }

    @Test func everyVectorThroughTheWholePath() throws {
        let lines = try String(contentsOfFile: ExplainSupport.vectors, encoding: .utf8).split(separator: "\n")
        #expect(lines.count >= 80)
        for line in lines {
            let expected = try JSONValue.parse(Array(line.utf8).span)
            let result = try ExplainSupport.json(String(line))
            for key in ["name", "provider", "status", "class", "retry_after_s"] {
                #expect(result[key] == expected[key], "\(line)")
            }
            #expect(result["hint"]?.stringValue?.isEmpty == false)
            #expect((result["token"]?.stringValue == "invalid") == (result["class"]?.stringValue == "token_invalid"))
        }
        #expect(Self.run("--batch", ExplainSupport.vectors, "--json") == ExitCode.ok.rawValue)
        #expect(Self.run("--batch", ExplainSupport.vectors) == ExitCode.ok.rawValue)
    }

    @Test func aBadLineIsToldInItsPlaceAndTheRestGoesOn() throws {
        let input = "{\"status\":404}\nnonsense\n\n{\"status\":503}\n{\"status\":1}"
        try ExplainSupport.withFile(input.utf8) { path in
            let file = try InputFile(path, option: "batch")
            let batch = ExplainBatch(defaults: .init(now: ExplainSupport.now), isJSON: true)
            let failure = #expect(throws: Failure.self) { try batch.run(file, StandardStream.output) }
            #expect(failure?.exit == .data)
            #expect(failure?.what == "2 of 5 lines cannot be explained, the first is line 2")
            #expect(Self.run("--batch", path) == ExitCode.data.rawValue)
        }
    }

    @Test(arguments: [
        [], ["--status"], ["--status", "99"], ["--status", "600"], ["--status", "x"], ["--status", "404", "operand"],
        ["--status", "404", "--status", "404"], ["--status", "404", "--batch", "-"],
        ["--batch", "-", "--header", "a: b"],
        ["--batch", "-", "--not-issued"], ["--provider", "huawei", "--status", "404"], ["--body", "-"],
        ["--status", "404", "--header", "nocolon"], ["--status", "404", "--header", ": x"],
        ["--header", "a: b", "--transport-error", "7"], ["--transport-error", "0"], ["--transport-error", "256"],
        ["--transport-error", "NOBODY_KNOWS"], ["--issued", "--status", "500"], ["--transport-error"],
        ["--transport-error", "7", "--issued", "--not-issued"], ["--status", "404", "--now", "yesterday"],
        ["--status", "500", "--transport-error", "18", "--not-issued"], ["--status", "404", "--now", "-5"],
        ["--status", "404", "--attempt", "0"], ["--statsu", "404"],
    ])
    func aWrongLineIsAUsageError(_ arguments: [String]) {
        #expect(
            Operator.run(arguments: ["todoke", "explain"] + arguments, environment: [:]) == ExitCode.usage.rawValue)
    }

    @Test(arguments: ["/nowhere/at/all", "/tmp", ""])
    func aFileThatCannotBeReadIsADataError(_ path: String) {
        #expect(Self.run("--status", "404", "--body", path) == ExitCode.data.rawValue)
        #expect(Self.run("--batch", path) == ExitCode.data.rawValue)
    }

    @Test func aBodyIsReadFromAFileAndCutWhereTheSenderCutsIt() throws {
        let body = Data(#"{"reason":"BadDeviceToken"}"#.utf8)
        try ExplainSupport.withFile(body) { path in
            let explanation = try ExplainSupport.explanation("--provider", "apns", "--status", "400", "--body", path)
            #expect(explanation.verdict.kind == .tokenInvalid)
        }
        try ExplainSupport.withFile(Data(repeating: 0x20, count: 1 << 20) + body) { path in
            let explanation = try ExplainSupport.explanation("--provider", "apns", "--status", "400", "--body", path)
            #expect(explanation.verdict.kind == .payload)
            #expect(explanation.given.answer?.body.count == 1 << 20)
        }
    }

    @Test func theClockOfADateIsTheAnswersThenOursThenThePresent() throws {
        let header = "Retry-After: Mon, 30 Nov 2026 08:00:30 GMT"
        let withDate = try ExplainSupport.explanation(
            "--status", "503", "--header", header, "--header", "DATE: Mon, 30 Nov 2026 08:00:00 GMT", "--now", "0")
        #expect(withDate.verdict.retryAfterSeconds == 30)
        for now in ["1796025600", "Mon, 30 Nov 2026 08:00:00 GMT", "Monday, 30-Nov-26 08:00:00 GMT"] {
            let explanation = try ExplainSupport.explanation("--status", "503", "--header", header, "--now", now)
            #expect(explanation.verdict.retryAfterSeconds == 30)
        }
        let present = try ExplainSupport.explanation("--status", "503", "--header", header)
        #expect(present.verdict.retryAfterSeconds == 1_796_025_630 - ExplainSupport.now)
    }

    @Test(arguments: ["6", "7", "35", "60", "COULDNT_RESOLVE_HOST", "curle_couldnt_connect"])
    func aConnectionThatNeverStoodIsProofByItself(_ code: String) throws {
        let said = try ExplainSupport.explanation("--transport-error", code)
        #expect(said.verdict.isUnprocessed && said.consequence.app == .breakerOpens)
        let never = try ExplainSupport.explanation("--transport-error", code, "--not-issued")
        #expect(never.verdict == said.verdict && never.consequence == said.consequence)
        let issued = try ExplainSupport.explanation("--transport-error", code, "--issued")
        #expect(issued.verdict.kind == .unknown && issued.consequence.isDuplicateRisk)
    }

    @Test(arguments: ["16", "18", "28", "52", "55", "56", "92", "HTTP2_STREAM", "200"])
    func otherCodesAreUnknownUnlessTheRequestNeverLeft(_ code: String) throws {
        #expect(try ExplainSupport.explanation("--transport-error", code).verdict.kind == .unknown)
        let never = try ExplainSupport.explanation("--transport-error", code, "--not-issued")
        #expect(never.verdict.kind == .retry && never.verdict.isUnprocessed)
    }

    @Test func aFinalStatusCountsAlsoWhereTheTransferBroke() throws {
        #expect(try ExplainSupport.explanation("--status", "200", "--transport-error", "18").verdict.kind == .sent)
        let early = try ExplainSupport.explanation("--status", "103", "--transport-error", "7")
        #expect(early.verdict.kind == .unknown, "a status of any kind answers a request")
    }

    @Test(
        arguments: [
            (["--status", "200"], ["sent: OK (FCM, HTTP 200)", "message  sent"]),
            (
                ["--status", "429", "--header", "retry-after: 30"],
                [
                    "retry_after 30 s: HTTP_429", "Retry-After is \"30\"", "due in 31 to 32 s",
                    "attempt 1 of 10 is spent",
                    "nothing of it is posted for 30 s", "token    kept",
                ]
            ),
            (["--status", "429"], ["FCM documents 60 s"]),
            (["--status", "503", "--provider", "apns"], ["retry_after 900 s", "Apple documents 15 minutes"]),
            (
                ["--status", "503", "--header", "retry-after: soon\u{1B}[2J"],
                ["Retry-After is \"soon?[2J\", neither seconds nor a date", "due in 10 to 20 s"]
            ),
            (["--status", "503", "--attempt", "9"], ["due in 10 to 3600 s", "attempt 9 of 10"]),
            (["--status", "503", "--attempt", "10"], ["failed: it would be tried again", "attempt 10 of 10"]),
            (
                ["--status", "401"],
                ["posted again with new credentials, once", "no attempt is spent", "its breaker opens"]
            ),
            (["--status", "403"], ["message  pending, due at once; no attempt is spent", "its breaker opens"]),
            (["--status", "302"], ["auth_config", "redirect"]), (["--status", "100"], ["1xx is no final status"]),
            (["--transport-error", "7"], ["(libcurl 7, COULDNT_CONNECT)", "has not seen it", "its breaker opens"]),
            (["--transport-error", "16", "--not-issued"], ["posted again at once, up to 5 times"]),
            (
                ["--transport-error", "92"],
                ["posted again at once, the first time", "it may arrive twice", "at_most_once"]
            ),
            (
                ["--status", "410", "--provider", "apns"],
                ["token_invalid", "failed, never tried again", "proven dead; the row keeps the code"]
            ),
        ])
    func whatPeopleRead(_ arguments: [String], _ parts: [String]) throws {
        guard case .one(let given) = try ExplainRequest(ExplainSupport.options(arguments), now: ExplainSupport.now)
        else {
            Issue.record("not one answer")
            return
        }
        let text = Explanation(given).text
        for part in parts { #expect(text.contains(part), "\(text)") }
        #expect(text.split(separator: "\n").count == 6)
    }
}

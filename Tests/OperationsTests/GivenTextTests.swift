import Testing

@testable import Operations

/// A key that is given where a file's name is expected does not come back in a message.
struct GivenTextTests {
    private static let key = "-----BEGIN PRIVATE KEY-----\nhunter2=\n-----END PRIVATE KEY-----\n"

    private static let table = OptionTable(
        program: "x", summary: "", usage: "",
        options: [
            Option("credentials", "[APP=]FILE", repeatable: true, help: ""), Option("bin", "DIR", help: ""),
            Option("text", "TEXT", help: ""),
        ], example: "")

    @Test(arguments: [
        ["--credentials", #"{"type": "authorized_user", "client_secret": "hunter2"}"#],
        ["--credentials", #"app={"client_secret": "hunter2"}"#],
        ["--credentials=\n{\"private_key\": \"hunter2\"}"],
        ["--credentials", key], ["--credentials=\(key)"], ["--bin=\(key)"],
        ["--credentials", String(repeating: "hunter2", count: 600)],
        [#"{"client_secret": "hunter2"}"#],
    ])
    func isNotQuoted(arguments: [String]) throws {
        let failure = #expect(throws: Failure.self) {
            try Self.table.parse(arguments: arguments, environment: [:])
        }
        let line = try #require(failure?.line)
        #expect(failure?.exit == .usage && !line.contains("hunter2"), "\(line)")
    }

    @Test func aVariableIsNotQuoted() throws {
        let failure = #expect(throws: Failure.self) {
            try Self.table.parse(
                arguments: [], environment: ["TODOKE_CREDENTIALS": #"{"type": "x", "client_secret": "hunter2"}"#])
        }
        #expect(failure?.what == "--credentials holds JSON where a file name is expected")
    }

    @Test func anAddressIsNotQuoted() throws {
        let failure = try #require(throws: Failure.self) { try ListenAddress(Self.key, option: "listen") }
        #expect(!failure.line.contains("hunter2"))
    }

    @Test(arguments: ["key.json", "app=/etc/keys/{1}.json", "a=b=c.json", "-", "./name with spaces", "schlüssel.json"])
    func namesAreTaken(name: String) throws {
        guard case .run(let options) = try Self.table.parse(arguments: ["--credentials=\(name)"], environment: [:])
        else {
            Issue.record("did not run")
            return
        }
        #expect(options.strings("credentials") == [name])
    }

    @Test func otherOptionsTakeAnyText() throws {
        #expect(throws: Never.self) { try Self.table.parse(arguments: ["--text", "{}\n"], environment: [:]) }
    }
}

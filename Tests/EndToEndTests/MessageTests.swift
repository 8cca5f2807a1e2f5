import Foundation
import Postgres
import Testing

extension EndToEnd {
    /// What a person meets when something is set up wrong: one line that says what to do, the right code, and soon.
    @Suite("One clear line")
    struct MessageTests {
        /// Whatever is wrong, `--drain` ends within this many seconds.
        static let soon: TimeInterval = 30

        struct Fault: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let exitCode: Int32
            /// Each must be in the line, in any case of letters; `a|b`: one of them.
            let named: [String]
            let arguments: @Sendable (Pipeline) throws -> [String]

            init(
                _ description: String, _ exitCode: Int32, _ named: [String],
                _ arguments: @escaping @Sendable (Pipeline) throws -> [String]
            ) {
                testDescription = description
                self.exitCode = exitCode
                self.named = named
                self.arguments = arguments
            }
        }

        static let senderFaults: [Fault] = [
            Fault("wrong password", 78, ["password", "--database-url|PGPASSWORD"]) { pipeline in
                let role = "wrong_\(UInt32.random(in: 0 ... .max))"
                try pipeline.database.query("CREATE ROLE \(role) LOGIN PASSWORD 'right'")
                let port = try pipeline.database.query("SHOW port").string(0, 0)
                let name = try pipeline.database.query("SELECT current_database()").string(0, 0)
                return ["--drain", "--database-url", "postgres://\(role):secret-word@127.0.0.1:\(port)/\(name)"]
            },
            Fault("no server there", 69, ["Connection refused", "Postgres runs"]) { _ in
                ["--drain", "--database-url", "postgres://todoke@127.0.0.1:1/todoke"]
            },
            Fault("a way past the pooler that cannot be read", 78, ["check --direct-database-url"]) { _ in
                ["--drain", "--direct-database-url", "nonsense://x"]
            },
            Fault("no such database", 78, ["no_such_database", "--database-url|create|createdb"]) { _ in
                ["--drain", "--database-url", "dbname=no_such_database"]
            },
            Fault("a database without the schema", 78, ["todoke migrate"]) { _ in
                ["--drain", "--database-url", "dbname=postgres"]
            },
            Fault("an app that is not there", 78, ["reciepes", "todoke.apps|app"]) { _ in
                ["--drain", "--app", "reciepes"]
            },
            Fault("the CA of somebody else", 78, ["--ca-file"]) { pipeline in
                let other = try Pipeline()
                let file = try pipeline.write(
                    "other-ca.pem", [UInt8](Data(contentsOf: URL(filePath: other.certificate))))
                return ["--drain", "--ca-file", file]
            },
            Fault("a CA file that is not there", 78, ["--ca-file", "no-such.pem"]) { _ in
                ["--drain", "--ca-file", "/tmp/no-such.pem"]
            },
            Fault("a CA file that holds no certificate", 78, ["--ca-file"]) { pipeline in
                ["--drain", "--ca-file", try pipeline.write("ca.txt", "not a certificate\n")]
            },
            Fault("garbled service account", 78, ["service-account|service account", "--credentials|download"]) {
                pipeline in
                let text = try String(contentsOfFile: pipeline.credentials, encoding: .utf8)
                return ["--drain", "--credentials", try pipeline.write("garbled.json", String(text.dropLast(40)))]
            },
            Fault("a service account whose key is garbled", 78, ["key", "--credentials|download"]) { pipeline in
                let text = try String(contentsOfFile: pipeline.credentials, encoding: .utf8)
                let garbled = text.replacing(
                    "-----BEGIN PRIVATE KEY-----\\n", with: "-----BEGIN PRIVATE KEY-----\\nAAAA")
                return ["--drain", "--credentials", try pipeline.write("garbled.json", garbled)]
            },
            Fault(
                "a service account that the provider does not know", 78, ["invalid_grant", "--credentials|key|clock"]
            ) {
                pipeline in
                // The key of another project, as after a key was revoked; its token_uri is this emulator's.
                let other = try Pipeline()
                let foreign = try String(contentsOfFile: other.credentials, encoding: .utf8)
                    .replacing(other.endpoint, with: pipeline.endpoint)
                return ["--drain", "--credentials", try pipeline.write("expired.json", foreign)]
            },
            Fault("a service account that is not there", 78, ["no-such.json", "--credentials|path"]) { _ in
                ["--drain", "--credentials", "/tmp/no-such.json"]
            },
            Fault("nobody at the endpoint", 69, ["--endpoint"]) { _ in
                ["--drain", "--endpoint", "https://127.0.0.1:1"]
            },
            Fault("an unknown flag", 64, ["--drian", "--drain"]) { _ in ["--drian"] },
        ]

        @Test("todoke-sender", arguments: senderFaults)
        func sender(fault: Fault) throws {
            let pipeline = try Pipeline()
            try pipeline.queue(10, "faulty")
            let ended = try pipeline.sender(fault.arguments(pipeline)).end(within: Self.soon)
            check(ended, fault)
            // A fault of ours is not a fault of the messages.
            #expect(try pipeline.states() == ["pending": 10])
            #expect(try pipeline.number("SELECT max(attempts) FROM todoke.messages") == 0)
        }

        static let producerFaults: [Fault] = [
            Fault("a template that is not JSON", 65, ["template.json", "JSON"]) { pipeline in
                ["--template", try pipeline.write("template.json", "{\"token\": \"{{token}}\",\n  oops }")]
            },
            Fault("a template with an unknown field", 65, ["notificatoin", "template.json|template"]) { pipeline in
                ["--template", try pipeline.write("template.json", #"{"token":"{{token}}","notificatoin":{}}"#)]
            },
            Fault("an audience with a missing column", 65, ["image", "--audience|column"]) { pipeline in
                ["--audience", try pipeline.write("audience.csv", "token,name\nx,y\n")]
            },
            Fault("a template that is not there", 65, ["no-such.json", "--template"]) { _ in
                ["--template", "/tmp/no-such.json"]
            },
            Fault("an audience that is not there", 65, ["no-such.csv", "--audience"]) { _ in
                ["--audience", "/tmp/no-such.csv"]
            },
            Fault("no server there", 69, ["Connection refused", "Postgres runs"]) { _ in
                ["--database-url", "postgres://todoke@127.0.0.1:1/todoke"]
            },
            Fault("an app that is not there", 78, ["reciepes", "todoke.apps|app"]) { _ in ["--app", "reciepes"] },
            Fault("an unknown flag", 64, ["--notification", "--notification-id"]) { _ in ["--notification=x"] },
        ]

        @Test("todoke-producer", arguments: producerFaults)
        func producer(fault: Fault) throws {
            let pipeline = try Pipeline()
            let given = try fault.arguments(pipeline)
            var options = [
                "--app": pipeline.app, "--notification-id": "faulty", "--database-url": pipeline.databaseURL,
                "--template": try pipeline.write("good-template.json", Pipeline.template),
                "--audience": try pipeline.write("good.csv", "token,name,image\nx,y,https://a.example/1.jpg\n"),
            ]
            for argument in given { options[argument] = nil }
            let ended = try RunningProgram("todoke-producer", options.flatMap { [$0.key, $0.value] } + given)
                .end(within: Self.soon)
            check(ended, fault)
            #expect(try pipeline.states().isEmpty)
        }

        private func check(_ ended: EndedProgram, _ fault: Fault) {
            #expect(ended.exitCode == fault.exitCode, "\(ended.story)")
            #expect(ended.messages.count == 1, "\(ended.story)")
            let line = ended.messages.last ?? ""
            #expect(line.hasPrefix("\(ended.name): "))
            for choices in fault.named {
                let found = choices.split(separator: "|").contains { line.localizedCaseInsensitiveContains($0) }
                #expect(found, "no \(choices) in: \(line)")
            }
            for secret in ["secret-word", "PRIVATE KEY-----", "Fatal error", "Swift/", "Stack dump", "Error("] {
                #expect(!ended.errors.contains(secret), "\(secret) in: \(ended.errors)")
            }
        }
    }
}

import Foundation
import Glibc
import Postgres
import Signing
import Testing

extension EndToEnd {
    /// Where the sender's access tokens come from, and how keys change while it runs.
    @Suite("Credentials")
    struct CredentialTests {
        /// Nothing of the machine that runs the tests counts.
        private static let bare = [
            "GOOGLE_APPLICATION_CREDENTIALS": "", "CLOUDSDK_CONFIG": "", "HOME": "/nonexistent", "NO_GCE_CHECK": "true",
        ]

        /// Counts the posts that name the project of `authorized_user.json`.
        private static let countsUsers = """
            [{"name": "user", "match": {"header": {"x-goog-user-project": "demo-project"}}, "effect": {"latency": {"fixed": 1}}}]
            """

        /// A service account's key file of the emulator's own account, with a key that it has never seen.
        private func stranger(_ pipeline: Pipeline, _ name: String) throws -> String {
            var file = try #require(
                JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: pipeline.credentials)))
                    as? [String: String])
            file["private_key"] = String(decoding: try PrivateKey.generateRSA().pkcs8PEM(), as: UTF8.self)
            return try pipeline.write(name, [UInt8](JSONSerialization.data(withJSONObject: file)))
        }

        private func file(_ name: String, _ pipeline: Pipeline) -> String {
            pipeline.directory.appendingPathComponent(name).path
        }

        /// Puts a file in the place of another at once, as one should.
        private func install(_ source: String, as path: String) throws {
            let new = path + ".new"
            try Data(contentsOf: URL(fileURLWithPath: source)).write(to: URL(fileURLWithPath: new))
            guard rename(new, path) == 0 else { throw Late(description: "rename: errno \(errno)") }
        }

        // MARK: Sources

        @Test("A user's refresh token sends, and names the project that pays")
        func authorizedUser() throws {
            let pipeline = try Pipeline()
            _ = try pipeline.control("/rules", method: "PUT", body: Self.countsUsers)
            try pipeline.queue(100, "user")
            let sender = try pipeline.sender([
                "--drain", "--credentials", file("authorized_user.json", pipeline),
            ]).end()
            #expect(sender.exitCode == 0, "\(sender.story)")
            #expect(try pipeline.states() == ["sent": 100])
            let rules = try #require(try pipeline.control("/stats")["rules"] as? [[String: Any]])
            #expect(rules.first?["hits"] as? Int == 100)
        }

        @Test("Without --credentials: Google's variable, then gcloud's file, then the metadata server")
        func defaultOrder() throws {
            let pipeline = try Pipeline()
            let home = pipeline.directory.appendingPathComponent("home/.config/gcloud")
            try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
            try install(
                file("authorized_user.json", pipeline),
                as: home.appendingPathComponent("application_default_credentials.json").path)
            let control = try #require(URL(string: try pipeline.controlURL))
            let metadata = ["GCE_METADATA_HOST": "127.0.0.1:\(control.port ?? 0)", "NO_GCE_CHECK": ""]
            let sources = [
                (
                    ["GOOGLE_APPLICATION_CREDENTIALS": pipeline.credentials, "HOME": file("home", pipeline)],
                    "service account"
                ),
                (["HOME": file("home", pipeline)], "the user of"),
                (["CLOUDSDK_CONFIG": home.path], "the user of"),
                // A proxy would be asked for everything but the metadata server; nobody listens there.
                (metadata.merging(["http_proxy": "http://127.0.0.1:1"]) { $1 }, "the metadata server 127.0.0.1"),
            ]
            for (index, (environment, name)) in sources.enumerated() {
                try pipeline.queue(10, "source-\(index)")
                let sender = try pipeline.senderWithoutCredentials(
                    ["--drain"], environment: Self.bare.merging(environment) { $1 }
                ).end()
                #expect(sender.exitCode == 0, "\(sender.story)")
                #expect(sender.errors.contains(name), "\(sender.story)")
                #expect(try pipeline.states() == ["sent": 10 * (index + 1)])
            }
        }

        @Test("Without any credentials: 78, before anything else, with the remedy")
        func none() throws {
            let pipeline = try Pipeline()
            let attempts = [
                Self.bare, Self.bare.merging(["NO_GCE_CHECK": "", "GCE_METADATA_HOST": "127.0.0.1:1"]) { $1 },
                Self.bare.merging(["GOOGLE_APPLICATION_CREDENTIALS": "/nonexistent"]) { $1 },
            ]
            for environment in attempts {
                let sender = try pipeline.senderWithoutCredentials(["--drain"], environment: environment).end()
                #expect(sender.exitCode == 78, "\(sender.story)")
                #expect(sender.errors.contains("GOOGLE_APPLICATION_CREDENTIALS"), "\(sender.story)")
            }
        }

        @Test(
            "Mistakes in the command line end at once: 64; in a file: 78",
            arguments: [
                (["--app="], 64, "--app is empty"), (["--credentials="], 64, "--credentials is empty"),
                (["--credentials", "other=k.json"], 64, "is no --app"),
                (["--credentials", "/nonexistent"], 78, "No such file"), (["--credentials", "/"], 78, "directory"),
                (["--credentials", "recipes=/etc/passwd"], 78, "not JSON"),
            ])
        func mistakes(arguments: [String], exitCode: Int32, text: String) throws {
            let ended = try RunningProgram(
                "todoke-sender",
                (arguments[0].hasPrefix("--app") ? [] : ["--app", "recipes"]) + arguments, environment: Self.bare
            ).end()
            #expect(ended.exitCode == exitCode, "\(ended.story)")
            #expect(ended.errors.contains(text), "\(ended.story)")
        }

        // MARK: Faults

        @Test("The key of one of two apps is refused: its messages wait with no attempt spent, the other's are sent")
        func oneBrokenKey() throws {
            let pipeline = try Pipeline()
            try pipeline.database.query("INSERT INTO todoke.apps (name, project_id) VALUES ('news', 'demo-project')")
            try pipeline.queue(50, "good")
            try pipeline.queue(50, "bad", for: "news")
            let key = try stranger(pipeline, "news.json")
            let sender = try pipeline.sender(
                [
                    "--app", "recipes", "--app", "news", "--credentials", pipeline.credentials, "--credentials",
                    "news=\(key)",
                ])
            let complaint = try sender.line(with: "Invalid JWT Signature")
            #expect(complaint.contains("news.json") && complaint.contains("send SIGHUP"))
            try wait(for: "the other app's messages are sent") { try pipeline.states()["sent"] == 50 }
            #expect(
                try pipeline.number(
                    "SELECT count(*) FROM todoke.messages m JOIN todoke.apps a ON a.id = m.app WHERE a.name = 'news' "
                        + "AND m.attempts = 0 AND m.state IN ('pending', 'sending')") == 50)
            // The remedy, as the line says.
            try install(pipeline.credentials, as: key)
            sender.send(SIGHUP)
            _ = try sender.line(with: "credentials read again")
            try wait(for: "the app goes on") { try pipeline.states() == ["sent": 100] }
            #expect(try pipeline.number("SELECT count(*) FROM todoke.attempts") == 0)
            sender.send(SIGTERM)
            let ended = try sender.end()
            #expect(ended.exitCode == 0, "\(ended.story)")
            #expect(try pipeline.arrivalsByToken().values.allSatisfy { $0 == 1 })
        }

        @Test("A clock that is off is named, by how much")
        func clockSkew() throws {
            let pipeline = try Pipeline()
            _ = try pipeline.control(
                "/scenario", method: "PUT",
                body: #"{"server": {"date_skew": -412}, "token": {"error": "invalid_grant.times"}}"#)
            try pipeline.queue(1, "skew")
            let sender = try pipeline.sender().end()
            #expect(sender.exitCode == 78, "\(sender.story)")
            #expect(
                sender.errors.range(
                    of: "this machine's clock is 41[123] s ahead of Google's", options: .regularExpression) != nil,
                "\(sender.story)")
        }

        @Test("A token endpoint that fails for a while costs no message its attempt")
        func passingFault() throws {
            let pipeline = try Pipeline()
            _ = try pipeline.control(
                "/scenario", method: "PUT",
                body: #"{"limit": 2, "token": {"error": "temporarily_unavailable"}}"#)
            try pipeline.queue(100, "passing")
            let sender = try pipeline.sender([])
            try wait(for: "everything is sent") { try pipeline.states() == ["sent": 100] }
            #expect(sender.errorText.contains("HTTP 503") || sender.errorText.contains("temporarily_unavailable"))
            #expect(try pipeline.number("SELECT count(*) FROM todoke.attempts") == 0)
        }

        // MARK: SIGHUP

        /// 20,000 messages, posted for 20 s or so at the app's rate, while keys change three times.
        @Test("SIGHUP under load: a good key takes over, a bad one does not, and nothing is lost or sent twice")
        func rotation() throws {
            let count = 20_000
            let pipeline = try Pipeline()
            _ = try pipeline.control("/rules", method: "PUT", body: Self.countsUsers)
            try pipeline.database.query("UPDATE todoke.apps SET messages_per_second = 4000")
            try pipeline.queue(count, "rotation")
            let key = file("rotated.json", pipeline)
            try install(pipeline.credentials, as: key)
            let sender = try pipeline.sender(["--credentials", key])
            let sent = { try pipeline.states()["sent", default: 0] }
            try wait(for: "some are sent") { try sent() > count / 20 }

            let bad = try pipeline.write("bad.json", #"{"type": "service_account"}"#)
            try install(bad, as: key)
            sender.send(SIGHUP)
            let complaint = try sender.line(with: "credentials not replaced")
            #expect(complaint.contains("client_email") && complaint.contains("send SIGHUP"))
            let before = try sent()
            try wait(for: "the old key goes on") { try sent() > before + count / 20 }
            #expect(try pipeline.userPosts() == 0)

            try install(file("authorized_user.json", pipeline), as: key)
            sender.send(SIGHUP)
            _ = try sender.line(with: "credentials read again")
            try wait(for: "posts carry the new key's token") { try pipeline.userPosts() > 0 }
            try wait(for: "everything is sent") { try sent() == count }
            sender.send(SIGTERM)
            let ended = try sender.end()
            #expect(ended.exitCode == 0, "\(ended.story)")
            #expect(try pipeline.states() == ["sent": count])
            let arrivals = try pipeline.arrivalsByToken()
            #expect(arrivals.count == count && arrivals.values.allSatisfy { $0 == 1 })
            #expect(try pipeline.number("SELECT count(*) FROM todoke.attempts") == 0)
        }

        @Test("SIGHUP before the first token, and twice, is no stop")
        func early() throws {
            let pipeline = try Pipeline()
            let sender = try pipeline.sender([])
            _ = try sender.line(with: "credentials")
            sender.send(SIGHUP)
            sender.send(SIGHUP)
            _ = try sender.line(with: "credentials read again")
            try pipeline.queue(10, "early")
            try wait(for: "everything is sent") { try pipeline.states() == ["sent": 10] }
            sender.send(SIGTERM)
            #expect(try sender.end().exitCode == 0)
        }
    }
}

extension Pipeline {
    /// Hits of the first rule of the scenario.
    fileprivate func userPosts() throws -> Int {
        let rules = try control("/stats")["rules"] as? [[String: Any]]
        return rules?.first?["hits"] as? Int ?? -1
    }
}

import Postgres
import Testing

extension EndToEnd {
    /// What FCM is only to check reaches no device, and ends like everything else.
    @Suite("Validate only")
    struct ValidateOnlyTests {
        /// 20 messages of each kind in the queue at once; one of each is to a dead token, and one of each is claimed twice.
        @Test("What is only checked ends as sent or failed, and no device gets it; what is not arrives")
        func checked() throws {
            let pipeline = try Pipeline(
                scenario: """
                    {"targets": [{"pattern": "*-7", "is": "unregistered"}],
                     "rules": [
                        {"match": {"target": "checked-10"}, "limit": 1, "effect": {"error": "UNAVAILABLE"}},
                        {"match": {"target": "real-10"}, "limit": 1, "effect": {"error": "UNAVAILABLE"}}]}
                    """)
            for notification in ["checked", "real"] {
                let audience = (1...20).map {
                    #"{"token":"\#(notification)-\#($0)","name":"n","image":"https://a.example/1.jpg"}"#
                }
                let queued = try pipeline.producer(
                    notification, audience: ["--audience", "-", "--audience-format", "ndjson"],
                    input: audience.joined(separator: "\n"))
                try #require(queued.exitCode == 0, "\(queued.story)")
            }
            try pipeline.database.query(
                "UPDATE todoke.notifications SET validate_only = true WHERE notification_id = 'checked'")
            let sender = try pipeline.sender(["--drain", "--retry-base", "1"]).end()
            #expect(sender.exitCode == 0, "\(sender.story)")

            let expected = (1...20).filter { $0 != 7 }.map { "real-\($0)" }
            #expect(try pipeline.arrivalsByToken() == Dictionary(uniqueKeysWithValues: expected.map { ($0, 1) }))
            #expect(try pipeline.emulatorAPI.number("accepted") == 19)
            #expect(try pipeline.emulatorAPI.number("validated") == 19)
            let ends = try pipeline.database.query(
                """
                SELECT notification_id, state, coalesce(error_code, '-'), attempts,
                    coalesce(provider_message_id = 'fake_message_id', false), count(*)
                FROM todoke.message_status GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 4
                """)
            let found = (0..<ends.rowCount).map { row in
                (0..<6).map { ends.string(row, $0) }.joined(separator: " ")
            }
            #expect(
                found == [
                    "checked sent - 0 t 18", "checked sent - 1 t 1", "checked failed UNREGISTERED 1 f 1",
                    "real sent - 0 f 18", "real sent - 1 f 1", "real failed UNREGISTERED 1 f 1",
                ])
        }
    }
}

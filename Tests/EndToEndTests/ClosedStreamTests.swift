import Testing

extension EndToEnd {
    /// Callers that close the standard descriptors, as some supervisors do.
    @Suite("Closed streams")
    struct ClosedStreamTests {
        @Test(
            "What is said to nobody does not go to the database instead",
            arguments: ["<&- >&- 2>&-", "<&- 2>&-", "2>&-"])
        func producer(_ closed: String) throws {
            let pipeline = try Pipeline()
            let template = try pipeline.write("t.json", #"{"token":"{{token}}"}"#)
            let query = try pipeline.write(
                "q.sql",
                "SELECT CASE WHEN i % 5 = 0 THEN '' ELSE 't' || i END AS token FROM generate_series(1, 3000) AS i")
            let line =
                "exec \(try Programs.path("todoke-producer")) --app \(pipeline.app) --notification-id closed"
                + " --template '\(template)' --audience-sql '\(query)' --database-url '\(pipeline.databaseURL)' \(closed)"
            let ended = try RunningProgram(path: "/bin/sh", "producer", ["-c", line], input: nil, [:]).end()
            #expect(ended.exitCode == 65, "\(ended.story)")
            #expect(
                try pipeline.number("SELECT count(*) FROM todoke.notifications WHERE loaded_at IS NOT NULL") == 1)
            #expect(try pipeline.states() == ["pending": 2_400])
        }
    }
}

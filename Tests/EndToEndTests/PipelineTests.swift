import Foundation
import Postgres
import Testing

extension EndToEnd {
    @Suite("The pipeline")
    struct PipelineTests {
        @Test("A batch goes in, complete messages go out, SQL says so; the same batch again queues nothing")
        func batch() throws {
            let pipeline = try Pipeline()
            try pipeline.queue(100, "daily")
            let sender = try pipeline.sender().end()
            #expect(sender.exitCode == 0, "\(sender.story)")
            #expect(try pipeline.states() == ["sent": 100])
            let arrivals = try pipeline.arrivals()
            #expect(Set(arrivals.compactMap { $0["token"] as? String }).count == 100)
            for message in arrivals {
                let token = try #require(message["token"] as? String)
                let image = "https://images.example.com/\(token.dropFirst("device-".count)).jpg"
                let notification = message["notification"] as? [String: Any]
                let android = (message["android"] as? [String: Any])?["notification"] as? [String: Any]
                let apns = message["apns"] as? [String: Any]
                let options = apns?["fcm_options"] as? [String: Any]
                let aps = (apns?["payload"] as? [String: Any])?["aps"] as? [String: Any]
                let data = message["data"] as? [String: Any]
                #expect(notification?["image"] as? String == image)
                #expect(android?["image"] as? String == image)
                #expect(options?["image"] as? String == image)
                #expect(aps?["mutable-content"] as? Int == 1)
                #expect(data?["notification_id"] as? String == "daily")
                #expect(data?["link"] as? String == "recipes://today")
            }
            let names = try pipeline.database.query(
                "SELECT count(*) FROM todoke.messages WHERE provider_message_id IS NULL OR http_status <> 200")
            #expect(names.int(0, 0) == 0)

            try pipeline.queue(100, "daily")
            #expect(try pipeline.states() == ["sent": 100])
            #expect(try pipeline.number("SELECT already_queued FROM todoke.notifications") == 100)
        }

        @Test("What is posted is what was queued, byte for byte")
        func bytes() throws {
            let pipeline = try Pipeline()
            try pipeline.queue(1, "bytes")
            // Odd spacing, escapes that need none: written by hand, since the producer writes it plainly.
            let odd = #"{"token" : "device\u002D1","data":{ "a\u0062c":"\/1.0e0" ,"z":"\ud83c\udf63"}  }"#
            try pipeline.database.query("UPDATE todoke.payloads SET payload = $1", [.text(odd)])
            let sender = try pipeline.sender().end()
            #expect(sender.exitCode == 0, "\(sender.story)")
            let log = try String(
                contentsOf: pipeline.directory.appendingPathComponent("accepted.ndjson"), encoding: .utf8)
            #expect(log.contains(odd), "queued: \(odd)\naccepted: \(log)")
        }

        /// 20,000 messages; 100,000 with TODOKE_TEST_SCALE=full.
        @Test("Four senders side by side send each message once")
        func fourSenders() throws {
            let count = messages(quick: 20_000, full: 100_000)
            let pipeline = try Pipeline()
            try pipeline.queue(count, "four")
            let senders = try (0..<4).map { _ in try pipeline.sender() }
            for sender in senders {
                let ended = try sender.end()
                #expect(ended.exitCode == 0, "\(ended.story)")
            }
            #expect(try pipeline.states() == ["sent": count])
            let arrivals = try pipeline.arrivalsByToken()
            #expect(arrivals.count == count)
            #expect(arrivals.values.allSatisfy { $0 == 1 })
            #expect(
                try pipeline.number("SELECT count(DISTINCT sender_id) FROM todoke.messages") > 1,
                "one sender did all the work")
        }

        @Test("Producers that run the same notification at once queue each target once")
        func twoProducers() throws {
            let pipeline = try Pipeline()
            let template = try pipeline.write("template.json", Pipeline.template)
            let query = try pipeline.write(
                "audience.sql",
                "SELECT 'device-' || n AS token, 'n' AS name, 'https://a.example/1.jpg' AS image FROM generate_series(1, 5000) n"
            )
            let producers = try (0..<3).map { _ in
                try RunningProgram(
                    "todoke-producer",
                    [
                        "--app", pipeline.app, "--notification-id", "same", "--template", template,
                        "--audience-sql", query, "--database-url", pipeline.databaseURL,
                    ])
            }
            let ended = try producers.map { try $0.end() }
            #expect(ended.contains { $0.exitCode == 0 }, "\(ended.map(\.story))")
            // One that found the others at work says so and is run again by cron.
            #expect(ended.allSatisfy { $0.exitCode == 0 || $0.exitCode == 75 }, "\(ended.map(\.story))")
            #expect(try pipeline.states() == ["pending": 5000])
            #expect(try pipeline.number("SELECT count(DISTINCT target) FROM todoke.payloads") == 5000)
        }
    }
}

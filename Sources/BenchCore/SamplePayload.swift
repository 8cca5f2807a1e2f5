import Operations

/// The message that everything here posts: as long as an ordinary one, with a number in its token that makes each another one.
enum SamplePayload {
    /// Stands for the message's number, in ten digits.
    private static let place = "0000000000"

    /// The FCM message, as `todoke.payloads` holds it.
    static let text = """
        {"token":"bench-\(place):APA91bFh2kq8V0yq3Jt5mXw7sZr1cLd4nGp6uEo9iTyRkHaBvQxWzSfDgJhMlKoPiUyTrEwQaZsXdCfVgBhNjMkLpOiUyTr",\
        "notification":{"title":"Portugal vs. Denmark","body":"Great match! Kick-off is at 20:45, and the line-ups are out: \
        see who plays, and what the others think of it."},"data":{"notification_id":"todoke-bench","room":"PortugalVSDenmark"},\
        "android":{"notification":{"tag":"todoke-bench"}}}
        """

    /// The same for SQL: an expression of `json` with the number taken from the expression `number`.
    static func sql(number: String) -> String {
        let parts = Self.text.split(separator: Self.place)
        return "('" + parts.joined(separator: "' || lpad((\(number))::text, 10, '0') || '") + "')::json"
    }

    /// What the sender posts: `{"message":…}`, always of the same length.
    static let body = Array("{\"message\":\(text)}".utf8)

    /// Where the ten digits are in ``body``.
    static let digits: Range<Int> = {
        let start = Array("{\"message\":{\"token\":\"bench-".utf8).count
        return start..<start + place.utf8.count
    }()
}

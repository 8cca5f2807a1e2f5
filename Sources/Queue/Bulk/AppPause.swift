package import Postgres

/// Pausing and resuming an app, and what waits for it.
package enum AppPause {
    /// Parameters: app, reason or NULL.
    package static let pauseStatement = """
        SELECT was_paused, pause_reason, extract(epoch FROM now() - paused_at)::bigint FROM todoke.pause_app($1, $2)
        """

    /// Parameter: app.
    package static let resumeStatement = """
        SELECT paused_at IS NOT NULL, pause_reason, extract(epoch FROM now() - paused_at)::bigint,
            dead_tokens_held_at IS NOT NULL
        FROM todoke.resume_app($1)
        """

    /// How the app was before.
    package struct Before: Equatable, Sendable {
        package let wasPaused: Bool
        package let reason: String?
        /// For how long it has been paused.
        package let seconds: Int
        /// Tokens that are proven dead are not marked so: many at once look like a mistake.
        package let holdsDeadTokens: Bool
    }

    package static func decode(_ result: QueryResult) -> Before {
        Before(
            wasPaused: result.bool(0, 0) ?? false, reason: result.optionalString(0, 1), seconds: result.int(0, 2) ?? 0,
            holdsDeadTokens: result.bool(0, 3) ?? false)
    }

    /// Parameter: app.
    package static let backlogStatement = """
        SELECT due, scheduled, sending, floor(oldest_due_seconds)::bigint FROM todoke.app_backlog($1)
        """

    package struct Backlog: Equatable, Sendable {
        package let due: Int
        package let scheduled: Int
        package let sending: Int
        /// For how long the oldest due message has been due; `nil` when none is.
        package let oldestSeconds: Int?
    }

    package static func decodeBacklog(_ result: QueryResult) -> Backlog {
        Backlog(
            due: result.int(0, 0) ?? 0, scheduled: result.int(0, 1) ?? 0, sending: result.int(0, 2) ?? 0,
            oldestSeconds: result.int(0, 3))
    }
}

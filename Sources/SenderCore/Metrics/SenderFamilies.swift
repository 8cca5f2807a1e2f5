import Operations

/// The sender's metrics by name; the page *Metrics* of the documentation explains each.
enum SenderFamilies {
    // Messages, as the database has them.
    static let claimed = MetricFamily(
        "todoke_messages_claimed_total", .counter, "Messages taken from the queue to be posted.")
    static let sent = MetricFamily("todoke_messages_sent_total", .counter, "Messages recorded as sent.")
    static let failed = MetricFamily(
        "todoke_messages_failed_total", .counter, "Messages recorded as failed, by error code.")
    static let retried = MetricFamily(
        "todoke_messages_retried_total", .counter, "Messages put back for another attempt, by error code.")
    static let returned = MetricFamily(
        "todoke_messages_returned_total", .counter, "Messages put back with no attempt spent.")
    static let expired = MetricFamily(
        "todoke_messages_expired_total", .counter, "Messages that were too late, at the claim or before the post.")
    static let cancelled = MetricFamily(
        "todoke_messages_cancelled_total", .counter, "Messages of cancelled notifications, ended at the claim.")
    static let housekeeping = MetricFamily(
        "todoke_housekeeping_expired_total", .counter, "Messages that expired while nobody could claim them.")
    static let rescued = MetricFamily(
        "todoke_messages_rescued_total", .counter, "Messages put back because their sender's lease had run out.")
    static let refused = MetricFamily(
        "todoke_results_refused_total", .counter, "Results that found their lease gone and were not recorded.")
    static let duplicateRisk = MetricFamily(
        "todoke_duplicate_risk_total", .counter, "Posts that may have reached a device twice.")

    // Where messages are now.
    static let ready = MetricFamily("todoke_messages_ready", .gauge, "Claimed messages that wait for a free stream.")
    static let inFlight = MetricFamily("todoke_messages_in_flight", .gauge, "Posts that wait for their answer.")
    static let resultsWaiting = MetricFamily(
        "todoke_results_waiting", .gauge, "Results that the database does not have yet.")
    static let oldestDue = MetricFamily(
        "todoke_queue_oldest_due_seconds", .gauge,
        "For how long the oldest message in the queue has been due, when it was last looked at; 0 when none is.")

    // Posts.
    static let posts = MetricFamily("todoke_posts_total", .counter, "Posts begun.")
    static let answers = MetricFamily(
        "todoke_provider_answers_total", .counter,
        "Posts ended, by HTTP status; not_issued never left, unknown left and got no answer.")
    static let latency = MetricFamily(
        "todoke_provider_answer_seconds", .histogram, "Time from a post to its answer.")
    static let connections = MetricFamily(
        "todoke_provider_connections", .gauge, "Connections to the provider, those that only wait for answers included."
    )
    static let connectionsOpened = MetricFamily(
        "todoke_provider_connections_opened_total", .counter, "Connections to the provider begun.")
    static let capacity = MetricFamily(
        "todoke_provider_capacity", .gauge, "Posts that the open connections can carry at a time.")

    // Rate.
    static let rate = MetricFamily(
        "todoke_rate_messages_per_second", .gauge, "The rate at which this sender may post now.")
    static let share = MetricFamily(
        "todoke_rate_share_messages_per_second", .gauge, "This sender's share of the app's rate.")
    static let bucket = MetricFamily("todoke_rate_bucket_messages", .gauge, "Messages that may be posted at once.")
    static let hold = MetricFamily(
        "todoke_hold_seconds", .gauge, "Time until the provider's request to wait is over; 0 when there is none.")
    static let breaker = MetricFamily(
        "todoke_breaker_open", .gauge, "1 while the app's breaker is open, by kind of fault.")
    static let paused = MetricFamily("todoke_app_paused", .gauge, "1 while the app is paused.")

    // Credentials.
    static let tokenSeconds = MetricFamily(
        "todoke_token_seconds_left", .gauge, "For how long the access token is still good; 0 without one.")
    static let tokenRefreshes = MetricFamily("todoke_token_refreshes_total", .counter, "Access tokens received.")
    static let tokenFailures = MetricFamily(
        "todoke_token_refresh_failures_total", .counter, "Requests for an access token that failed.")

    // Database.
    static let databaseUp = MetricFamily("todoke_database_up", .gauge, "1 while the database connections work.")
    static let connects = MetricFamily(
        "todoke_database_connects_total", .counter, "Times that the database connections came up.")
    static let losses = MetricFamily(
        "todoke_database_losses_total", .counter, "Times that they were lost, or could not be made.")
    static let listening = MetricFamily("todoke_listening", .gauge, "1 while wake-ups from the database are heard.")
    static let wakeUps = MetricFamily("todoke_wakeups_total", .counter, "Wake-ups heard.")
    static let statements = MetricFamily("todoke_statements_total", .counter, "Statements sent, by kind.")
    static let statementFailures = MetricFamily(
        "todoke_statement_failures_total", .counter, "Statements that failed on a working connection, by kind.")
    static let claimLatency = MetricFamily("todoke_claim_seconds", .histogram, "Time of a claim statement.")
    static let claimRows = MetricFamily("todoke_claim_rows", .histogram, "Rows that a claim took.")
    static let recordLatency = MetricFamily(
        "todoke_record_seconds", .histogram, "Time from sending results to the database's answer.")

    // The process.
    static let isReady = MetricFamily("todoke_sender_ready", .gauge, "1 while /readyz says 200.")
    static let suppressed = MetricFamily(
        "todoke_log_lines_suppressed_total", .counter, "Repeated log lines that were counted instead of written.")
    static let build = MetricFamily("todoke_build_info", .gauge, "1, with the version as a label.")
}

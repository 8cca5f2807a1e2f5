import Delivery
import Operations
import Postgres
import Queue

extension Subcommand {
    /// `todoke cancel`: what waits of a notification is not sent.
    static let cancel = Subcommand(
        name: "cancel",
        options: OptionTable(
            program: "todoke cancel",
            summary: "Cancels notifications: what waits of them ends now, and nothing follows.",
            usage: "todoke cancel --app NAME (NOTIFICATION... | --campaign NAME) [options]",
            options: [
                .databaseURL,
                Option("app", "NAME", help: "The app, as in todoke.apps."),
                Option("campaign", "NAME", onLineOnly: true, help: "All notifications of this campaign."),
                .json,
            ],
            example: """
                todoke cancel --app recipes daily-2026-11-30
                todoke cancel --app recipes --campaign autumn --json
                """,
            operands: "NOTIFICATION"),
        run: { options, _ in try cancel(options) })

    private static func cancel(_ options: ParsedOptions) throws(Failure) -> ExitCode {
        let app = try options.required("app")
        let campaign = options.given("campaign")
        guard options.operands.isEmpty != (campaign == nil) else {
            throw Failure(
                .usage,
                campaign == nil ? "no notification is given" : "notifications and --campaign exclude each other",
                remedy: "name notifications, or the --campaign they belong to")
        }
        var run = CancelRun(app: app, session: try BulkSession(options), isJSON: options.isSet("json"))
        let ids = try run.find(options.operands, campaign: campaign)
        try StopSignal.heeded { () throws(Failure) in try run.cancel(ids) }
        run.tell(campaign: campaign)
        if run.isStopped { throw BulkReport.stopped }
        return .ok
    }
}

/// One call of `todoke cancel`.
private struct CancelRun {
    let app: String
    let session: BulkSession
    let isJSON: Bool
    var report = BulkReport()
    private(set) var isStopped = false
    private var ended: [One] = []
    private var total = 0
    /// Cancelled, but a signal came before what waits of them was ended.
    private var notWalked = 0

    /// What became of one notification.
    struct One {
        let id: String
        var wasCancelled = false
        var wasLoading = false
        /// Ended by this call.
        var walked = 0
        /// Cancelled since this call began, by whom ever.
        var cancelled = 0
        var counts = Cancellation.Counts()
    }

    /// As often what waits is walked through, where others hold some of it.
    private static let passes = 5

    init(app: String, session: BulkSession, isJSON: Bool) {
        self.app = app
        self.session = session
        self.isJSON = isJSON
    }

    /// The notifications meant, each once; one that is not there ends it before anything is cancelled.
    func find(_ operands: [String], campaign: String?) throws(Failure) -> [String] {
        if let campaign {
            let rows = try session.query(
                Cancellation.campaignStatement, [.text(app), .text(campaign)], while: "looking for the campaign")
            return (0..<rows.rowCount).map { rows.string($0, 0) }
        }
        var ids: [String] = []
        for id in operands where !ids.contains(id) {
            _ = try session.query(Cancellation.lookStatement, [.text(app), .text(id)], while: "looking for it")
            ids.append(id)
        }
        return ids
    }

    mutating func cancel(_ ids: [String]) throws(Failure) {
        // All of them first: from then on nothing of any is queued, and senders post no more.
        var begun: [One] = []
        for id in ids where !StopSignal.isRequested {
            let result = try session.query(
                Cancellation.beginStatement, [.text(app), .text(id)], while: "cancelling \(GivenText.quoted(id))")
            let (wasCancelled, isLoading) = Cancellation.decodeBegin(result)
            begun.append(One(id: id, wasCancelled: wasCancelled, wasLoading: isLoading))
        }
        for one in begun {
            if StopSignal.isRequested { notWalked += 1 } else { ended.append(try end(one)) }
        }
        isStopped = StopSignal.isRequested
    }

    /// Ends what waits, until nothing that can be seen does.
    private mutating func end(_ one: One) throws(Failure) -> One {
        var one = one
        for pass in 1...Self.passes {
            let before = one.walked
            try walk(&one)
            one.cancelled = max(one.cancelled, one.walked)
            let result = try session.query(
                Cancellation.countStatement, [.text(app), .text(one.id)], while: "counting what became of it")
            one.counts = Cancellation.decodeCounts(result)
            // Senders end what they come to themselves.
            if !one.wasCancelled { one.cancelled = max(one.cancelled, one.counts.cancelled) }
            guard one.counts.pending > 0, pass < Self.passes, !StopSignal.isRequested else { break }
            if one.walked == before { try session.pause() }
        }
        return one
    }

    private mutating func walk(_ one: inout One) throws(Failure) {
        var key: String?
        repeat {
            let result = try session.query(
                Cancellation.pendingStatement, [.text(app), .text(one.id), .optional(key)],
                while: "cancelling (\(total) so far)")
            let batch = Cancellation.decodePending(result)
            one.walked += batch.cancelled
            total += batch.cancelled
            key = batch.next
            report.progress("\(total) cancelled, at \(GivenText.quoted(one.id))")
        } while key != nil && !StopSignal.isRequested
    }

    mutating func tell(campaign: String?) {
        report.clear()
        if isJSON { return BulkReport.say(json) }
        if let campaign, ended.isEmpty, !isStopped {
            return BulkReport.say("nothing to cancel: no notification of campaign \"\(campaign)\" has messages")
        }
        for one in ended {
            BulkReport.say(
                "\(one.id): cancelled \(one.cancelled)\(one.wasCancelled ? " more" : ""), being sent \(one.counts.sending), "
                    + "already sent \(one.counts.sent), failed \(one.counts.failed), expired \(one.counts.expired)")
            if one.wasLoading {
                BulkReport.say("\(one.id): a producer was loading it, and ends at its next rows")
            }
            if one.counts.pending > 0 {
                BulkReport.say(
                    "\(one.id): \(one.counts.pending) still wait: senders end them when they come to them"
                )
            }
        }
        if notWalked > 0 {
            BulkReport.say(
                "\(notWalked) more \(notWalked == 1 ? "is" : "are") cancelled: senders end what waits when they come to it"
            )
        }
        if ended.count > 1 {
            BulkReport.say("cancelled \(total) of \(ended.count) notifications in \(report.seconds) s")
        }
    }

    private var json: [JSONValue.Member] {
        func number(_ key: String, _ value: Int) -> JSONValue.Member { .init(key, .number("\(value)")) }
        let list = ended.map { one in
            JSONValue.object([
                .init("notification_id", .string(one.id)), number("cancelled", one.cancelled),
                .init("was_cancelled", .boolean(one.wasCancelled)), .init("was_loading", .boolean(one.wasLoading)),
                number("pending", one.counts.pending), number("sending", one.counts.sending),
                number("sent", one.counts.sent), number("failed", one.counts.failed),
                number("expired", one.counts.expired),
            ])
        }
        return [
            .init("app", .string(app)), number("cancelled", total), .init("notifications", .array(list)),
            number("not_ended", notWalked),
            .init("seconds", .number(report.seconds)),
        ]
    }
}

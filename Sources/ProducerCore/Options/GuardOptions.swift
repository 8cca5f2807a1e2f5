import Operations

/// What keeps a mistake from reaching everyone, as the command line has it.
struct GuardOptions {
    /// Rows that the audience may have; with more nothing is queued.
    let maxAudience: Int?
    /// Rows after which the run ends.
    let limit: Int?
    /// The file with the targets that rows are kept for.
    let onlyTargets: String?
    let maxRejections: RejectionLimit?
    let dryRun: Bool
    /// How many messages to print.
    let preview: Int?
    /// FCM checks the messages and delivers none.
    let validateOnly: Bool

    init(_ options: ParsedOptions) throws(Failure) {
        maxAudience = try options.integer("max-audience", in: 1...Int.max)
        limit = try options.integer("limit", in: 1...Int.max)
        onlyTargets = options.string("only-targets")
        maxRejections = try options.given("max-rejections").map { (text) throws(Failure) in
            try RejectionLimit(text)
        }
        preview = try options.integer("preview", in: 1...1_000_000)
        dryRun = options.isSet("dry-run")
        validateOnly = options.isSet("validate-only")
        guard onlyTargets != "" else {
            // An unset variable here must not mean everyone.
            throw Failure(
                .usage, "--only-targets names no file", remedy: "give it a file with one target a line, or leave it out"
            )
        }
    }
}

/// How many rows may be refused before a run stops.
enum RejectionLimit: Equatable {
    case rows(Int)
    /// Of the rows read, once there are enough of them to tell.
    case percent(Double)

    /// Rows before which a share says nothing.
    private static let leastRows = 1_000

    /// Reads `100` or `2.5%`.
    init(_ text: String) throws(Failure) {
        if text.hasSuffix("%"), let share = Double(text.dropLast()), (0...100).contains(share) {
            self = .percent(share)
        } else if let rows = Int(text), rows >= 0 {
            self = .rows(rows)
        } else {
            throw Failure(
                .usage,
                "--max-rejections must be a number of rows or a percentage of them, not \(GivenText.quoted(text))",
                remedy: "write it as 100 or 2.5%")
        }
    }

    /// Whether so many refused rows of those read are too many.
    func isPassed(rejected: Int, of rows: Int, atEnd: Bool) -> Bool {
        switch self {
        case .rows(let most): rejected > most
        case .percent(let most):
            (atEnd || rows >= Self.leastRows) && Double(rejected) * 100 > most * Double(rows)
        }
    }

    var text: String {
        switch self {
        case .rows(let most): "\(most) rows"
        case .percent(let most): (most == most.rounded() ? "\(Int(most))" : "\(most)") + " % of the rows"
        }
    }
}

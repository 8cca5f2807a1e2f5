import Delivery
import FoundationEssentials
import Operations

/// What the command line asks for, checked.
struct ProducerOptions {
    enum IfRunning: String { case skip, wait }

    let app: String
    let notificationID: String
    /// The id was made up for a single message.
    let isNotificationIDNew: Bool
    let audience: AudienceOptions
    let content: ContentOptions
    let schedule: ScheduleOptions
    let guards: GuardOptions
    let databaseURL: String?
    let priority: Int
    /// Seconds.
    let expiresIn: Int?
    /// The column of which each value gets one message; `nil` is the target.
    let dedupeBy: String?
    let campaign: String?
    /// `at_least_once` or `at_most_once`; `nil` is what the app says.
    let delivery: String?
    let append: Bool
    let ifRunning: IfRunning
    let json: Bool

    private static let usage = "see todoke-producer --help"

    init(_ options: ParsedOptions) throws(Failure) {
        app = try options.required("app")
        audience = try AudienceOptions(options)
        content = try ContentOptions(options, target: audience.target)
        schedule = try ScheduleOptions(options)
        guards = try GuardOptions(options)
        // An empty one is an unset variable, and would be another notification on each run.
        if case .single = audience.source, !options.isSet("notification-id") {
            notificationID = UUID().uuidString.lowercased()
            isNotificationIDNew = true
        } else {
            notificationID = try options.required("notification-id")
            isNotificationIDNew = false
        }
        let files = (content.files + [audience.file, guards.onlyTargets].compactMap(\.self)).filter { $0 == "-" }
        guard files.count < 2 else {
            throw Failure(
                .usage, "template and audience cannot both be standard input", remedy: "put one of them in a file")
        }
        databaseURL = options.string("database-url")
        priority = try options.integer("priority", in: 0...9) ?? 5
        expiresIn = try options.duration("expires-in", in: 1...31_536_000)
        dedupeBy = options.string("dedupe-by")
        guard dedupeBy != "" else {
            throw Failure(.usage, "--dedupe-by names no column", remedy: "give it one, or leave it out")
        }
        campaign = options.given("campaign")
        delivery = options.given("delivery").map { $0.replacing("-", with: "_") }
        guard [nil, "at_least_once", "at_most_once"].contains(delivery) else {
            throw Failure(
                .usage, "--delivery must be at-least-once or at-most-once", remedy: Self.usage)
        }
        append = options.isSet("append")
        guard let ifRunning = IfRunning(rawValue: options.given("if-running") ?? IfRunning.skip.rawValue) else {
            throw Failure(.usage, "--if-running must be skip or wait", remedy: Self.usage)
        }
        self.ifRunning = ifRunning
        json = options.isSet("json")
        // The system's text was repaired on its way here; two ids with different faults would be one.
        guard !notificationID.unicodeScalars.contains("\u{FFFD}") else {
            throw Failure(.usage, "--notification-id is not valid UTF-8", remedy: "write it in UTF-8")
        }
        guard !notificationID.utf8.contains(0), notificationID.utf8.count <= 500 else {
            throw Failure(
                .usage, "--notification-id is longer than 500 bytes", remedy: "choose a short one: devices get it too")
        }
    }
}

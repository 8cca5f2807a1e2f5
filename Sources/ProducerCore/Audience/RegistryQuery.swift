import Postgres

/// The registry's devices that can receive, as SQL without any value in it: those are parameters, or settings of the
/// transaction where a statement takes none.
struct RegistryQuery {
    let app: String
    let options: RegistryOptions
    /// Of several devices with the same value there, the one that was seen last comes first.
    let dedupeBy: String?

    /// What a row brings, beside what a users' file does.
    static let deviceColumns = ["token", "platform", "locale", "time_zone", "app_version", "device_id"]
    static let columns = deviceColumns + ["user_id"]

    /// The query for COPY, which takes no parameters.
    var text: String {
        var text = """
            SELECT \(Self.columns.map(Self.expression).joined(separator: ", "))
            FROM todoke.devices AS d
            WHERE d.app = (SELECT id FROM todoke.apps WHERE name = current_setting('todoke.audience_app'))
                AND \(Self.conditions("current_setting('todoke.audience_platforms')", "current_setting('todoke.audience_locales')", days))
            """
        if case .channels = options.scope {
            text += " AND d.channels && (SELECT current_setting('todoke.audience_channels')::text[])"
        }
        switch dedupeBy {
        case "user_id":
            // Nobody is signed in there.
            text += " AND d.user_id <> '' ORDER BY d.user_id, d.last_seen_at DESC, d.id DESC"
        case .some: text += " ORDER BY d.last_seen_at DESC, d.id DESC"
        case nil: break
        }
        return text
    }

    var settings: [(name: String, value: Value)] {
        var channels: [String] = []
        if case .channels(let names) = options.scope { channels = names }
        var settings: [(name: String, value: Value)] = [
            ("todoke.audience_app", .text(app)), ("todoke.audience_platforms", platforms),
            ("todoke.audience_locales", locales), ("todoke.audience_channels", .array(channels)),
        ]
        // The index has the users in order: the first row comes at once, and not when millions are sorted.
        if dedupeBy == "user_id" && options.scope == .all { settings.append(("enable_sort", .text("off"))) }
        return settings
    }

    /// The devices of some users: $1 is their ids, $2 the app's name, $3 and $4 are the filters.
    ///
    /// The inner SELECT is one look into the index a user, whatever the planner believes about the table.
    var ofUsers: String {
        """
        SELECT u.n - 1, \(Self.deviceColumns.map { "d.\($0)" }.joined(separator: ", "))
        FROM unnest($1::text[]) WITH ORDINALITY AS u (user_id, n)
        CROSS JOIN LATERAL (
            SELECT \(Self.deviceColumns.map(Self.expression).joined(separator: ", ")), d.last_seen_at FROM todoke.devices AS d
            WHERE d.app = (SELECT id FROM todoke.apps WHERE name = $2) AND d.user_id = u.user_id
                AND \(Self.conditions("$3", "$4", days))
            OFFSET 0
        ) AS d
        ORDER BY u.n, d.last_seen_at DESC, d.device_id DESC
        """
    }

    /// Nothing but a number comes into the text.
    private var days: Int { options.seenWithin }

    var platforms: Value { .array(options.platforms) }
    /// Patterns for a locale with a hyphen behind it.
    var locales: Value { .array(options.locales.map { "\($0.text)-%" }) }

    private static func expression(_ column: String) -> String {
        column == "device_id" ? "d.id AS device_id" : "d.\(column)"
    }

    /// What both statements ask of a device; the filters are arrays that may be empty.
    private static func conditions(_ platforms: String, _ locales: String, _ days: Int) -> String {
        // A locale is compared as the template for one is chosen: pt_BR.UTF-8 is pt-br.
        """
        d.invalidated_at IS NULL AND d.last_seen_at >= now() - interval '\(days) days'
            AND (cardinality((SELECT \(platforms)::text[])) = 0 OR d.platform = ANY ((SELECT \(platforms)::text[])::text[]))
            AND (cardinality((SELECT \(locales)::text[])) = 0
                OR lower(replace(split_part(split_part(d.locale, '.', 1), '@', 1), '_', '-')) || '-'
                    LIKE ANY ((SELECT \(locales)::text[])::text[]))
        """
    }
}

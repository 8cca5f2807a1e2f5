import Postgres

/// One day of the queue as `todoke purge` finds it: which of its tables are there, and whether they are partitions.
package struct RetentionDay: Equatable, Sendable {
    /// The tables that are partitioned by day, in the order in which a day is taken apart.
    package static let parents = ["messages", "payloads", "attempts", "rejections"]

    /// How a table stands to its parent.
    package enum Place: String, Sendable {
        /// Its partition.
        case attached
        /// A `DETACH … CONCURRENTLY` began and did not end: new statements do not see it any more.
        case pending
        /// A table of its own.
        case detached
        /// Of that name, but with other columns, or a partition of something else.
        case foreign
    }

    package let day: Day
    /// By parent; what is not in it does not exist.
    package var places: [String: Place] = [:]
    /// What its tables and their indexes take on disk.
    package var bytes = 0

    /// `messages_20261130` with its schema: only digits come from the day.
    package func table(_ parent: String) -> String {
        "todoke.\(parent)_\(day.description.split(separator: "-").joined())"
    }

    /// The days before `$1` that have a table of one of the four names, oldest first.
    static let statement = """
        SELECT to_char(d.day, 'YYYY-MM-DD'), p.name,
            CASE WHEN \(columns("c")) <> \(columns("parent")) THEN 'foreign'
                WHEN i.inhrelid IS NULL THEN 'detached'
                WHEN i.inhparent <> parent.oid THEN 'foreign'
                WHEN i.inhdetachpending THEN 'pending'
                ELSE 'attached' END,
            pg_total_relation_size(c.oid)
        FROM generate_series($1::date - 4000, $1::date - 1, interval '1 day') AS d (day)
        CROSS JOIN unnest(ARRAY['messages', 'payloads', 'attempts', 'rejections']) AS p (name)
        JOIN pg_class AS parent ON parent.oid = ('todoke.' || p.name)::regclass
        JOIN pg_class AS c ON c.relnamespace = parent.relnamespace AND c.relkind = 'r'
            AND c.relname = p.name || to_char(d.day, '_YYYYMMDD')
        LEFT JOIN pg_inherits AS i ON i.inhrelid = c.oid
        ORDER BY d.day
        """

    private static func columns(_ table: String) -> String {
        """
        ARRAY(SELECT a.attname || ' ' || a.atttypid FROM pg_attribute AS a
            WHERE a.attrelid = \(table).oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1)
        """
    }

    static func decode(_ result: QueryResult) -> [RetentionDay] {
        var days: [RetentionDay] = []
        for row in 0..<result.rowCount {
            guard let day = Day(result.string(row, 0)) else { continue }
            if days.last?.day != day { days.append(RetentionDay(day: day)) }
            days[days.count - 1].places[result.string(row, 1)] = Place(rawValue: result.string(row, 2)) ?? .foreign
            days[days.count - 1].bytes += result.int(row, 3) ?? 0
        }
        return days
    }
}

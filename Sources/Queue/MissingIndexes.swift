package import Postgres

/// Day partitions that were too large for a migration to index while everybody waits.
package enum MissingIndexes {
    /// How many there are; asked after a migration, by whoever may migrate.
    package static let countStatement = "SELECT count(DISTINCT partition) FROM todoke.missing_indexes"

    package static func decode(_ result: QueryResult) -> Int { result.int(0, 0) ?? 0 }

    /// What builds their indexes while everything runs, typed into psql.
    package static let remedy = "SELECT command FROM todoke.missing_indexes \\gexec"
}

package import Operations
package import Postgres

extension Failure {
    /// What a person has to know about a database that refuses: 78 when the settings are wrong, 69 when it is out of
    /// reach, 75 when trying again helps.
    ///
    /// `doing` says what for, such as `connecting to the queue's database`.
    package init(_ error: PostgresError, while doing: String) {
        let what = "\(doing) failed: \(error.message)"
        if error.isAuthentication {
            self.init(
                .configuration, what, remedy: "check user and password in --database-url or PGUSER and PGPASSWORD")
        } else if error.isMissingDatabase {
            self.init(
                .configuration, what, remedy: "create the database, or name another one in --database-url or PGDATABASE"
            )
        } else if error.source == .usage {
            self.init(.configuration, what, remedy: "check --database-url or the PG* variables")
        } else if error.sqlState == .readOnlyTransaction {
            self.init(
                .unavailable, what,
                remedy: "connect to the primary: name all servers and target_session_attrs=read-write in --database-url"
            )
        } else if error.isConnectionLost {
            self.init(.unavailable, what, remedy: "check that Postgres runs there and can be reached")
        } else if error.isRetryable {
            self.init(.temporary, what, remedy: "run it again")
        } else if error.isShortage {
            self.init(.temporary, what, remedy: Self.remedy(for: error))
        } else {
            self.init(.configuration, what, remedy: Self.remedy(for: error))
        }
    }

    private static func remedy(for error: PostgresError) -> String {
        switch error.sqlState?.rawValue {
        case "3F000", "42P01", "42703", "42883", "42704": "run todoke migrate on this database"
        case "42501": "grant the role todoke_producer or todoke_sender to this user"
        case "53300": "raise max_connections or use fewer connections"
        case "53100": "free some disk on the database server"
        case "55P03": "run it again, or raise lock_timeout for this user"
        case "57014": "run it again, or raise statement_timeout for this user"
        default: error.hint ?? "see the Postgres log for more"
        }
    }
}

extension PostgresError {
    /// The server, or a timeout set for the user, had not enough of something this time (class 53, 55P03, 57014).
    fileprivate var isShortage: Bool {
        guard let sqlState else { return false }
        // 25P03 is a session that stood in a transaction for too long, as a stopped process does.
        return sqlState.classCode == "53" || [.lockNotAvailable, .queryCanceled].contains(sqlState)
            || sqlState.rawValue == "25P03"
    }
}

import CLibPQ

/// What went wrong with a connection or a statement, in one line that is safe to show.
///
/// `message` never holds a password, and never a value that was passed in: the server quotes bad values in errors of
/// class 22, and they are cut out. `detail` may quote a row, so it is not part of `description` and not for logs.
package struct PostgresError: Error, Sendable {
    /// Who refused.
    package enum Source: Sendable {
        /// The server answered with an error.
        case server
        /// The connection could not be made, or it broke.
        case connection
        /// This program asked for something that cannot be: a text that is no connection string, a NUL in a parameter.
        case usage
    }

    package let source: Source
    package let sqlState: SQLState?
    /// The server's primary message or libpq's first line.
    package let message: String
    package let detail: String?
    package let hint: String?

    init(
        _ source: Source, sqlState: SQLState? = nil, message: String, detail: String? = nil, hint: String? = nil
    ) {
        self.source = source
        self.sqlState = sqlState
        self.message = message
        self.detail = detail
        self.hint = hint
    }

    /// The server is not to be reached through this connection any more: make a new one.
    ///
    /// SQLSTATE class 08, 57P01 to 57P05, 25006 (a server that turned into a standby), or a loss that libpq noticed.
    package var isConnectionLost: Bool {
        guard let sqlState else { return source != .usage }
        // 57P04 is a database that was dropped, 57P05 a session that idled for too long.
        return sqlState == .readOnlyTransaction || sqlState.classCode == "08" || sqlState.rawValue.hasPrefix("57P")
    }

    /// A deadlock or a serialization failure: the same transaction may succeed when it is run again.
    package var isRetryable: Bool { sqlState == .serializationFailure || sqlState == .deadlockDetected }

    /// The server knows no such user, or refuses the password, or has no rule that lets this client in (class 28).
    ///
    /// Also true where libpq had no password to send, which it reports without a SQLSTATE.
    package var isAuthentication: Bool {
        if let sqlState { return sqlState.classCode == "28" }
        return source == .connection && message.utf8.count < 4_096 && message.hasSuffix("no password supplied")
    }

    /// There is no database of that name (3D000).
    package var isMissingDatabase: Bool { sqlState == .invalidCatalogName }

    /// Waiting will not help: the connection string, the user, the password or the database's name is wrong.
    package var isConfiguration: Bool { source == .usage || isAuthentication || isMissingDatabase }
}

extension PostgresError: CustomStringConvertible {
    package var description: String {
        guard let sqlState else { return message }
        return "\(message) (SQLSTATE \(sqlState.rawValue))"
    }
}

extension PostgresError {
    /// The error that a result carries.
    init(result: OpaquePointer?) {
        func field(_ code: Int) -> String? {
            PQresultErrorField(result, Int32(code)).map { String(cString: $0) }
        }
        let state = field(DiagnosticField.sqlState).map { SQLState(rawValue: $0) }
        if let state, let primary = field(DiagnosticField.primaryMessage) {
            self.init(
                .server, sqlState: state, message: ErrorText.redacted(ErrorText.firstLine(primary), for: state),
                detail: field(DiagnosticField.detail), hint: field(DiagnosticField.hint))
        } else {
            // libpq made the error; what the server said before it hung up may be in the text.
            self.init(connectionText: PQresultErrorMessage(result).map { String(cString: $0) } ?? "")
        }
    }

    /// The error of a connection that could not be made, or broke.
    ///
    /// libpq 15 keeps no SQLSTATE for it, but writes the code into the text when it is told to be verbose.
    init(connectionText text: String) {
        if let server = ErrorText.serverError(in: text) {
            self.init(.server, sqlState: server.state, message: server.message)
        } else {
            self.init(.connection, message: ErrorText.firstLine(text, otherwise: "the connection to the server broke"))
        }
    }
}

/// Codes of `PQresultErrorField`, which the C header writes as character literals.
enum DiagnosticField {
    static let severity = Int(UInt8(ascii: "V"))
    static let sqlState = Int(UInt8(ascii: "C"))
    static let primaryMessage = Int(UInt8(ascii: "M"))
    static let detail = Int(UInt8(ascii: "D"))
    static let hint = Int(UInt8(ascii: "H"))
}

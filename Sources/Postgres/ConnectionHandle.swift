import CLibPQ

/// Owns one `PGconn`: starts the connection attempt, and turns libpq's texts into errors.
final class ConnectionHandle {
    let raw: OpaquePointer
    let log = NoticeLog()
    private let password: String?

    init(starting conninfo: Conninfo) throws(PostgresError) {
        let keywords = CStrings(conninfo.parameters.map(\.keyword))
        let values = CStrings(conninfo.parameters.map(\.value))
        guard let raw = PQconnectStartParams(keywords.pointers, values.pointers, 0) else {
            throw PostgresError(.connection, message: "out of memory")
        }
        self.raw = raw
        password = conninfo.password
        // The only way to a SQLSTATE of a refused connection in libpq 15; errors of statements are read by field.
        PQsetErrorVerbosity(raw, PQERRORS_VERBOSE)
        log.attach(to: raw)
        // All fields are set, so `deinit` closes the connection also when this throws.
        if PQstatus(raw) == CONNECTION_BAD { throw connectionError() }
    }

    /// Runs before `log` dies, which libpq may still report to.
    deinit { PQfinish(raw) }

    var isAlive: Bool { PQstatus(raw) == CONNECTION_OK }

    /// Why the connection failed or broke.
    func connectionError() -> PostgresError {
        if let farewell = log.farewell { return farewell }
        return safe(PostgresError(connectionText: PQerrorMessage(raw).map { String(cString: $0) } ?? ""))
    }

    /// Why a statement failed; the reason the server gave for hanging up where libpq saw only the broken connection.
    func statementError(_ result: OpaquePointer?) -> PostgresError {
        let error = result.map { PostgresError(result: $0) }
        guard let error, error.sqlState != nil else { return connectionError() }
        return error
    }

    /// The value of a connection parameter in force, wherever it came from.
    func parameter(_ keyword: String) -> String? {
        guard let options = PQconninfo(raw) else { return nil }
        defer { PQconninfoFree(options) }
        return Conninfo.pairs(options).first { $0.keyword == keyword }?.value
    }

    /// libpq prints no password; this holds also where a text of another library ends up in its message.
    private func safe(_ error: PostgresError) -> PostgresError {
        guard let password, !password.isEmpty, error.message.contains(password) else { return error }
        return PostgresError(error.source, sqlState: error.sqlState, message: "the connection failed (text withheld)")
    }
}

/// A NULL-terminated array of C strings, freed with the object.
final class CStrings {
    private let storage: [UnsafeMutablePointer<CChar>?]
    private let table: UnsafeMutablePointer<UnsafePointer<CChar>?>

    init(_ strings: [String]) {
        storage = strings.map { string in
            let bytes = string.utf8CString
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
            for (index, byte) in bytes.enumerated() { (copy + index).initialize(to: byte) }
            return copy
        }
        table = .allocate(capacity: strings.count + 1)
        for (index, string) in storage.enumerated() { (table + index).initialize(to: string.map { .init($0) }) }
        (table + strings.count).initialize(to: nil)
    }

    deinit {
        for string in storage { string?.deallocate() }
        table.deallocate()
    }

    var pointers: UnsafePointer<UnsafePointer<CChar>?> { .init(table) }
}

import CLibPQ

/// COPY in both directions: a connection does nothing else until it is ended.
extension Connection {
    /// What libpq is given at once: it buffers each piece whole before it sends.
    private static let pieceBytes = 65_536

    /// Starts `COPY … FROM STDIN`, in the format that the statement names.
    package func copyIn(_ sql: String) throws(PostgresError) { try startCopy(sql, PGRES_COPY_IN) }

    /// Sends the next bytes; pieces need not end where rows end.
    ///
    /// An error of the server may show here or at the end.
    package func putCopy(_ bytes: UnsafeRawBufferPointer) throws(PostgresError) {
        var sent = 0
        while sent < bytes.count {
            let count = min(Self.pieceBytes, bytes.count - sent)
            let start = bytes.baseAddress?.advanced(by: sent).assumingMemoryBound(to: CChar.self)
            guard PQputCopyData(handle.raw, start, Int32(count)) == 1 else { throw copyFailure() }
            sent += count
        }
    }

    /// Sends the next bytes; pieces need not end where rows end.
    package func putCopy(_ bytes: Span<UInt8>) throws(PostgresError) {
        // `withUnsafeBytes` rethrows untyped errors; the outcome travels as a value instead.
        let failure = bytes.withUnsafeBytes { buffer -> PostgresError? in
            do throws(PostgresError) {
                try putCopy(buffer)
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }

    /// Ends COPY IN and returns the number of rows that were copied.
    package func endCopy() throws(PostgresError) -> Int {
        guard PQputCopyEnd(handle.raw, nil) == 1 else { throw copyFailure() }
        return try finishCopy().affectedRows
    }

    /// Ends COPY IN so that the server takes nothing of it; the connection is usable afterwards unless it is lost.
    package func abortCopy(reason: String) {
        guard PQputCopyEnd(handle.raw, reason) == 1 else { return }
        discardResults()
    }

    /// Runs `COPY … TO STDOUT`, calling `row` with each row as it arrives: nothing is collected.
    ///
    /// An error of `row` cancels the statement and comes out of here. The bytes are good only during the call.
    package func copyOut(_ sql: String, _ row: (UnsafeRawBufferPointer) throws -> Void) throws {
        try beginCopyOut(sql)
        do {
            while try nextCopyRow({ try row($0) }) != nil {}
        } catch {
            cancelCopyOut()
            throw error
        }
    }

    /// Starts `COPY … TO STDOUT`, to be read with `nextCopyRow` to its end or ended with `cancelCopyOut`.
    package func beginCopyOut(_ sql: String) throws(PostgresError) { try startCopy(sql, PGRES_COPY_OUT) }

    /// Waits for the next row of COPY OUT and lends it to `body`; nil when all rows were read and the statement ended well.
    package func nextCopyRow<R>(_ body: (UnsafeRawBufferPointer) throws -> R) throws -> R? {
        var start: UnsafeMutablePointer<CChar>?
        let count = PQgetCopyData(handle.raw, &start, 0)
        guard count >= 0 else {
            guard count == -1 else { throw handle.connectionError() }
            _ = try finishCopy()
            return nil
        }
        defer { PQfreemem(start) }
        return try body(UnsafeRawBufferPointer(start: start, count: Int(count)))
    }

    /// Stops COPY OUT early; harmless when it has ended already.
    package func cancelCopyOut() {
        guard isAlive, PQtransactionStatus(handle.raw) == PQTRANS_ACTIVE else { return }
        cancelStatement()
        var start: UnsafeMutablePointer<CChar>?
        while PQgetCopyData(handle.raw, &start, 0) >= 0 {
            PQfreemem(start)
            start = nil
        }
        discardResults()
    }

    /// Leaves a COPY that somebody started with `query` or `script`.
    func abandonCopy() {
        cancelCopyOut()
        if PQputCopyEnd(handle.raw, "COPY was not expected") == 1 { discardResults() }
    }

    private func startCopy(_ sql: String, _ expected: ExecStatusType) throws(PostgresError) {
        let result = PQexec(handle.raw, sql)
        guard PQresultStatus(result) == expected else {
            _ = try checked(result)
            throw PostgresError(.usage, message: "the statement is not the COPY that was expected")
        }
        PQclear(result)
    }

    /// Reads the outcome; the first error wins.
    private func finishCopy() throws(PostgresError) -> QueryResult {
        let first = PQgetResult(handle.raw)
        defer { discardResults() }
        return try checked(first)
    }

    /// The server ended the COPY already: its reason is waiting as a result.
    private func copyFailure() -> PostgresError {
        guard let result = PQgetResult(handle.raw) else { return handle.connectionError() }
        defer {
            PQclear(result)
            discardResults()
        }
        return handle.statementError(result)
    }

    private func discardResults() {
        // Ends: a COPY result can come only once here, and only from a server that breaks the protocol.
        while let result = PQgetResult(handle.raw) {
            let status = PQresultStatus(result)
            PQclear(result)
            if status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH { return }
        }
    }

    private func cancelStatement() {
        guard let cancel = PQgetCancel(handle.raw) else { return }
        defer { PQfreeCancel(cancel) }
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
            // Where it cannot be delivered, the rows that are left are read and dropped.
            _ = PQcancel(cancel, text.baseAddress, Int32(text.count))
        }
    }
}

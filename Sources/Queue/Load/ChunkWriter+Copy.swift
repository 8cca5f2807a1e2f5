import Postgres

/// How rows get into both tables: by COPY straight away, and after a look at what is there where that fails.
///
/// Staging with ON CONFLICT would send every row whether it is new or not; the look sends 16 bytes a row.
extension ChunkWriter {
    /// Copies the rows that are not there yet and gives back how many they were.
    func copyNew(_ chunk: inout LoadChunk) throws(PostgresError) -> Int {
        let rows = Array(0..<chunk.count)
        if !looksFirst {
            try connection.script("SAVEPOINT chunk")
            do throws(PostgresError) {
                try copy(rows, of: &chunk)
                return rows.count
            } catch {
                guard error.sqlState == .uniqueViolation else { throw error }
                try connection.script("ROLLBACK TO SAVEPOINT chunk")
                looksFirst = true
            }
        }
        return try copyMissing(rows, of: &chunk)
    }

    /// Copies those of the rows that are not there yet, and gives back how many they were.
    ///
    /// An application may queue for the same notification meanwhile: then what it committed is seen on the next look.
    private func copyMissing(_ candidates: [Int], of chunk: inout LoadChunk) throws(PostgresError) -> Int {
        var rows = candidates
        var looks = 0
        while true {
            let there = try alreadyThere(rows, of: chunk)
            // Once a chunk brought nothing that was there already, the next is tried without looking.
            if there.isEmpty && looks == 0 && rows.count == chunk.count { looksFirst = false }
            rows.removeAll { there.contains($0) }
            guard !rows.isEmpty else { return 0 }
            try connection.script("SAVEPOINT chunk")
            do throws(PostgresError) {
                try copy(rows, of: &chunk)
                return rows.count
            } catch {
                looks += 1
                guard error.sqlState == .uniqueViolation && looks < 20 else { throw error }
                try connection.script("ROLLBACK TO SAVEPOINT chunk")
                looksFirst = true
                // It queues faster than that: of fewer rows, fewer are queued between the look and the copy.
                guard looks >= 3 && rows.count > 1 else { continue }
                let size = max(1, rows.count / 16)
                var copied = 0
                for start in stride(from: 0, to: rows.count, by: size) {
                    copied += try copyMissing(Array(rows[start..<min(start + size, rows.count)]), of: &chunk)
                }
                return copied
            }
        }
    }

    /// Those of the chunk's rows whose key the notification has already.
    private func alreadyThere(_ candidates: [Int], of chunk: LoadChunk) throws(PostgresError) -> Set<Int> {
        var keys: [UInt8] = [UInt8(ascii: "{")]
        keys.reserveCapacity(candidates.count * 33 + 2)
        for row in candidates {
            if keys.count > 1 { keys.append(UInt8(ascii: ",")) }
            chunk.keys[row].appendHex(to: &keys)
        }
        keys.append(UInt8(ascii: "}"))
        // The LIMIT keeps this one index probe a key, whatever the planner believes about the table. Day and
        // notification are literals so that one partition is planned; both come from the database.
        let found = try connection.query(
            """
            SELECT k.n - 1 FROM unnest($1::uuid[]) WITH ORDINALITY AS k (key, n)
            CROSS JOIN LATERAL (
                SELECT 1 FROM todoke.payloads AS p
                WHERE p.notification = \(lease.notification) AND p.dedupe_key = k.key AND p.day = '\(lease.day)' LIMIT 1
            ) AS found
            """, [.utf8(keys)])
        var rows: Set<Int> = []
        for row in 0..<found.rowCount { rows.insert(candidates[found.int(row, 0) ?? 0]) }
        return rows
    }

    /// Copies these rows into both tables under new ids.
    private func copy(_ rows: [Int], of chunk: inout LoadChunk) throws(PostgresError) {
        let ids = try newIDs(rows.count)
        for (index, row) in rows.enumerated() { chunk.setID(ids[index], row: row) }
        try connection.copyIn("COPY todoke.payloads (\(LoadChunk.columns)) FROM STDIN (FORMAT binary)")
        let header = BinaryCopy.header
        let trailer = BinaryCopy.trailer
        let bytes = chunk.rows
        try connection.putCopy(header.span)
        if rows.count == chunk.count {
            try connection.putCopy(bytes.span)
        } else {
            for row in rows { try connection.putCopy(bytes.span.extracting(chunk.range(row))) }
        }
        try connection.putCopy(trailer.span)
        _ = try connection.endCopy()
        try connection.copyIn(
            """
            COPY todoke.messages (id, day, notification, app, priority, due_at, expires_at)
            FROM STDIN (FORMAT binary)
            """)
        let messages = messageRows(ids, due: rows.map { chunk.dues[$0] })
        try connection.putCopy(messages.span)
        _ = try connection.endCopy()
    }

    private func newIDs(_ count: Int) throws(PostgresError) -> [Int] {
        let result = try connection.query(
            "SELECT nextval('todoke.message_id_seq') FROM generate_series(1, $1::int)", [.int(count)])
        return (0..<result.rowCount).map { result.int($0, 0) ?? 0 }
    }

    private func messageRows(_ ids: [Int], due dues: [Int]) -> [UInt8] {
        var bytes = BinaryCopy.header
        bytes.reserveCapacity(ids.count * 80 + 32)
        for (id, due) in zip(ids, dues) {
            let due = Int64(due - BinaryCopy.epochMicroseconds)
            BinaryCopy.append(Int16(7), to: &bytes)
            BinaryCopy.field(8, to: &bytes)
            BinaryCopy.append(Int64(id), to: &bytes)
            BinaryCopy.field(4, to: &bytes)
            BinaryCopy.append(day, to: &bytes)
            BinaryCopy.field(8, to: &bytes)
            BinaryCopy.append(Int64(lease.notification), to: &bytes)
            BinaryCopy.field(4, to: &bytes)
            BinaryCopy.append(Int32(truncatingIfNeeded: lease.app), to: &bytes)
            BinaryCopy.field(2, to: &bytes)
            BinaryCopy.append(Int16(truncatingIfNeeded: request.priority), to: &bytes)
            BinaryCopy.field(8, to: &bytes)
            BinaryCopy.append(due, to: &bytes)
            if let seconds = request.expiresIn {
                BinaryCopy.field(8, to: &bytes)
                BinaryCopy.append(due + Int64(seconds) * 1_000_000, to: &bytes)
            } else {
                BinaryCopy.null(to: &bytes)
            }
        }
        bytes.append(contentsOf: BinaryCopy.trailer)
        return bytes
    }
}

import Postgres

/// The identity of a producer run, which says at which server process the run is connected.
///
/// A run that died without releasing its lease is known to be dead as soon as that server process is gone, without
/// waiting for the lease to run out. Its 16 bytes: process id (4), start of that process in microseconds (8), random (4).
/// Behind a pooling proxy, where a run is at home in no server process, the process id is 0 and only the lease counts.
struct RunIdentity: Equatable {
    let processID: Int
    let startMicroseconds: Int
    let text: String

    /// Asks the server who serves this connection.
    init(_ connection: Connection) throws(PostgresError) {
        let row = try connection.query(
            """
            SELECT pid, (extract(epoch FROM backend_start) * 1000000)::bigint
            FROM pg_stat_activity WHERE pid = pg_backend_pid()
            """)
        // A proxy invents the process id that it tells its clients.
        let isDirect = row.rowCount == 1 && row.int(0, 0) == connection.backendProcessID
        self.init(
            processID: isDirect ? row.int(0, 0) ?? 0 : 0, startMicroseconds: isDirect ? row.int(0, 1) ?? 0 : 0,
            random: UInt32.random(in: .min ... .max))
    }

    init(processID: Int, startMicroseconds: Int, random: UInt32) {
        self.processID = processID
        self.startMicroseconds = startMicroseconds
        let hex =
            Self.hex(UInt64(UInt32(truncatingIfNeeded: processID)), 8)
            + Self.hex(UInt64(truncatingIfNeeded: startMicroseconds), 16) + Self.hex(UInt64(random), 8)
        text = Self.dashed(hex)
    }

    /// Reads the identity back from its text.
    init?(_ text: String) {
        let hex = text.filter { $0 != "-" }
        guard hex.count == 32, let process = Int(hex.prefix(8), radix: 16),
            let start = Int(hex.dropFirst(8).prefix(16), radix: 16), let random = UInt32(hex.suffix(8), radix: 16)
        else { return nil }
        self.init(processID: process, startMicroseconds: start, random: random)
    }

    /// Seconds that the lease lasts without being renewed.
    ///
    /// Short where death shows only by the lease running out; long where it shows at once, since a run may have to wait
    /// long for the first row of its audience.
    var leaseSeconds: Int { processID == 0 ? 60 : 600 }

    /// Whether the server process is known to be gone; `false` when that cannot be known.
    func isKnownDead(_ connection: Connection) throws(PostgresError) -> Bool {
        guard processID != 0 else { return false }
        // Who may not see another user's session sees its process id, and no start.
        let found = try connection.query(
            """
            SELECT 1 FROM pg_stat_activity WHERE pid = $1::int
            AND coalesce((extract(epoch FROM backend_start) * 1000000)::bigint, $2::bigint) = $2::bigint
            """, [.int(processID), .int(startMicroseconds)])
        return found.rowCount == 0
    }

    private static func hex(_ value: UInt64, _ digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    private static func dashed(_ hex: String) -> String {
        var text = ""
        for (index, digit) in hex.enumerated() {
            if [8, 12, 16, 20].contains(index) { text += "-" }
            text.append(digit)
        }
        return text
    }
}

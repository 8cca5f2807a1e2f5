import Delivery
import Operations
import Postgres
import Queue
import Rows

/// The devices of the users that a file names: a row for each, with the file's fields and the device's.
struct UsersReader: RowReader {
    let columns: [String]
    private var users: any RowReader
    private let connection: Connection
    private let query: RegistryQuery
    private let userField: Int
    /// The device's columns that the file does not have itself, by their place in the query's result.
    private let deviceFields: [Int]
    private var batch: [(line: Int, row: TemplateRow)] = []
    private var found: QueryResult?
    /// The next row of `found`, and the user of `batch` that is being served.
    private var position = 0
    private var user = 0
    private var hasDevice = false
    /// What the file brought after the users of `batch`.
    private var pending: ReadRow?

    /// Users whose devices are asked for at once.
    private static let batchSize = 500
    /// Bytes of their rows.
    private static let batchBytes = 2 << 20

    /// Serves the users in the order of the file.
    init(_ users: any RowReader, _ connection: Connection, _ query: RegistryQuery) throws(Failure) {
        guard let field = users.columns.firstIndex(of: "user_id") else {
            throw Failure(
                .data, "the users' file has no column \"user_id\"",
                remedy: "write user_id into its first line; it has \(users.columns.shown)")
        }
        for name in ["token", "device_id"] where users.columns.contains(name) {
            throw Failure(
                .data, "the users' file has a column \"\(name)\", which the registry brings",
                remedy: "leave it out, or give the file to --audience")
        }
        userField = field
        self.users = users
        self.connection = connection
        self.query = query
        deviceFields = RegistryQuery.deviceColumns.indices.filter {
            !users.columns.contains(RegistryQuery.deviceColumns[$0])
        }
        columns = users.columns + deviceFields.map { RegistryQuery.deviceColumns[$0] }
    }

    var bytesTaken: Int { users.bytesTaken }

    mutating func next(into row: inout TemplateRow) throws(Failure) -> ReadRow {
        while true {
            while user < batch.count, let found {
                if position < found.rowCount, found.int(position, 0) == user {
                    row = batch[user].row
                    for field in deviceFields { row.append(found.bytes(position, field + 1)) }
                    position += 1
                    hasDevice = true
                    return .row(line: batch[user].line)
                }
                let line = batch[user].line
                user += 1
                let isSkipped = !hasDevice
                hasDevice = false
                if isSkipped { return .skipped(line: line) }
            }
            if let last = pending.take() { return last }
            try fill(&row)
        }
    }

    private mutating func fill(_ row: inout TemplateRow) throws(Failure) {
        batch.removeAll(keepingCapacity: true)
        (position, user) = (0, 0)
        var ids: [String?] = []
        var bytes = 0
        while batch.count < Self.batchSize && bytes < Self.batchBytes {
            let next = try users.next(into: &row)
            guard case .row(let line) = next else {
                pending = next
                break
            }
            guard row.has(userField), row.starts[userField] < row.ends[userField] else {
                pending = .refused(line: line, reason: "there is no \"user_id\"", input: storable(row.bytes[...]))
                break
            }
            bytes += row.bytes.count
            batch.append((line, row))
            ids.append(row.text(userField))
        }
        guard !batch.isEmpty else { return found = nil }
        do {
            found = try connection.query(
                query.ofUsers, [.array(ids), .text(query.app), query.platforms, query.locales])
        } catch { throw Failure(LoadError(error)) }
    }
}

extension TemplateRow {
    /// Adds a field behind the others.
    fileprivate mutating func append(_ value: [UInt8]) {
        // Keeps halves of a character in two fields from looking like one.
        bytes.append(0x20)
        starts.append(bytes.count)
        bytes.append(contentsOf: value)
        ends.append(bytes.count)
    }
}

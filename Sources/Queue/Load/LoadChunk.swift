import Delivery

/// Rows on their way to the queue: payload rows as binary COPY, except for their ids, and rejections.
struct LoadChunk {
    private(set) var rows: [UInt8] = []
    /// For each row: where it starts.
    private(set) var starts: [Int] = []
    private(set) var keys: [DedupeKey] = []
    /// For each row: when it is due, in microseconds since 1970.
    private(set) var dues: [Int] = []
    private var seen: Set<DedupeKey> = []
    /// Rows that are in this chunk already.
    private(set) var duplicates = 0
    /// Rows that were left out.
    private(set) var skipped = 0
    private(set) var rejectionLines: [Int] = []
    private(set) var rejectionReasons: [String?] = []
    private(set) var rejectionInputs: [String?] = []
    private var rejectionBytes = 0

    var count: Int { starts.count }
    var isEmpty: Bool { starts.isEmpty && duplicates == 0 && skipped == 0 && rejectionLines.isEmpty }
    /// Rows read for it, whatever became of them.
    var rowsRead: Int { starts.count + duplicates + skipped + rejectionLines.count }
    var byteCount: Int { rows.count + rejectionBytes }

    private static let idOffset = 2 + 4

    mutating func reset() {
        rows.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        keys.removeAll(keepingCapacity: true)
        dues.removeAll(keepingCapacity: true)
        seen.removeAll(keepingCapacity: true)
        duplicates = 0
        skipped = 0
        rejectionLines.removeAll(keepingCapacity: true)
        rejectionReasons.removeAll(keepingCapacity: true)
        rejectionInputs.removeAll(keepingCapacity: true)
        rejectionBytes = 0
    }

    /// The columns, in the order of `append`.
    static let columns =
        "id, day, notification, target_kind, target, user_id, device, dedupe_key, ttl_at, ttl_len, payload"

    mutating func append(
        _ payload: Span<UInt8>, day: Int32, notification: Int, target: MessageTarget, userID: Span<UInt8>,
        device: Int?, key: DedupeKey, due: Int, ttl: (start: Int, length: Int)?
    ) {
        guard seen.insert(key).inserted else {
            duplicates += 1
            return
        }
        starts.append(rows.count)
        keys.append(key)
        dues.append(due)
        BinaryCopy.append(Int16(11), to: &rows)
        BinaryCopy.field(8, to: &rows)
        BinaryCopy.append(Int64(0), to: &rows)
        BinaryCopy.field(4, to: &rows)
        BinaryCopy.append(day, to: &rows)
        BinaryCopy.field(8, to: &rows)
        BinaryCopy.append(Int64(notification), to: &rows)
        let kind = target.kind.rawValue.utf8
        BinaryCopy.field(kind.count, to: &rows)
        rows.append(contentsOf: kind)
        BinaryCopy.field(target.value.utf8.count, to: &rows)
        rows.append(contentsOf: target.value.utf8)
        if userID.isEmpty {
            BinaryCopy.null(to: &rows)
        } else {
            BinaryCopy.field(userID.count, to: &rows)
            userID.withUnsafeBufferPointer { rows.append(contentsOf: $0) }
        }
        if let device {
            BinaryCopy.field(8, to: &rows)
            BinaryCopy.append(Int64(device), to: &rows)
        } else {
            BinaryCopy.null(to: &rows)
        }
        BinaryCopy.field(16, to: &rows)
        BinaryCopy.append(key.high, to: &rows)
        BinaryCopy.append(key.low, to: &rows)
        if let ttl {
            BinaryCopy.field(4, to: &rows)
            BinaryCopy.append(Int32(truncatingIfNeeded: ttl.start), to: &rows)
            BinaryCopy.field(2, to: &rows)
            BinaryCopy.append(Int16(truncatingIfNeeded: ttl.length), to: &rows)
        } else {
            BinaryCopy.null(to: &rows)
            BinaryCopy.null(to: &rows)
        }
        BinaryCopy.field(payload.count, to: &rows)
        payload.withUnsafeBufferPointer { rows.append(contentsOf: $0) }
    }

    mutating func skip() { skipped += 1 }

    mutating func reject(line: Int, reason: String, input: String) {
        rejectionLines.append(line)
        rejectionReasons.append(reason)
        rejectionInputs.append(input)
        rejectionBytes += reason.utf8.count + input.utf8.count + 64
    }

    mutating func setID(_ id: Int, row: Int) {
        BinaryCopy.set(Int64(id), at: starts[row] + Self.idOffset, in: &rows)
    }

    func range(_ row: Int) -> Range<Int> {
        starts[row]..<(row + 1 < starts.count ? starts[row + 1] : rows.count)
    }
}

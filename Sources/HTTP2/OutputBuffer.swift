import CNGHTTP2

/// Frames on their way out: gathered until they fill a TLS record.
final class OutputBuffer {
    /// The most a TLS record holds.
    private static let recordBytes = 16_384

    private let storage: UnsafeMutableBufferPointer<UInt8>
    private var head = 0
    private var tail = 0

    init() {
        // A record, and the largest frame behind it: libnghttp2 hands out whole frames.
        storage = .allocate(capacity: 4 * Self.recordBytes)
    }

    deinit { storage.deallocate() }

    var isEmpty: Bool { head == tail }
    var start: UnsafeMutableRawPointer? { storage.baseAddress.map { UnsafeMutableRawPointer($0 + head) } }
    /// Bytes for the next record.
    var recordCount: Int { min(tail - head, Self.recordBytes) }

    func consume(_ count: Int) {
        head += count
        if head == tail {
            head = 0
            tail = 0
        }
    }

    /// Takes frames from the session until a record is full or there is none left.
    func fill(from session: OpaquePointer) {
        guard tail - head < Self.recordBytes, let base = storage.baseAddress else { return }
        if head > 0 {
            base.update(from: base + head, count: tail - head)
            tail -= head
            head = 0
        }
        while tail < Self.recordBytes {
            var frame: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &frame)
            guard count > 0, let frame else { return }
            // Our peer's SETTINGS may allow larger frames than the default, but libnghttp2 sends at most 16 KiB.
            guard tail + count <= storage.count else { return }
            (base + tail).update(from: frame, count: count)
            tail += count
        }
    }
}

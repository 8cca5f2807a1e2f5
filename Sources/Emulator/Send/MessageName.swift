/// Makes the names of accepted messages, `projects/p/messages/0:1500415314455276%31bd1c9631bd1c96`, each only once.
struct MessageName {
    private let prefix: [UInt8]
    private let suffix: [UInt8]
    private let fakeName: [UInt8]
    private var next: Int

    /// Numbers go up from the microseconds of `time`, so that names stay different over restarts.
    init(project: String, time: WallTime) {
        prefix = [UInt8]("{\n  \"name\": \"projects/\(project)/messages/0:".utf8)
        suffix = [UInt8]("%\(Randomness.hex(bytes: 8))\"\n}\n".utf8)
        fakeName = [UInt8]("{\n  \"name\": \"projects/\(project)/messages/fake_message_id\"\n}\n".utf8)
        next = Int(time.seconds) * 1_000_000 + time.microseconds
    }

    /// Appends the answer to an accepted message.
    mutating func writeAccepted(to output: inout [UInt8]) {
        output.append(contentsOf: prefix)
        next += 1
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var position = digits.count
            var rest = next
            repeat {
                position -= 1
                digits[position] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            output.append(contentsOf: UnsafeBufferPointer(rebasing: digits[position...]))
        }
        output.append(contentsOf: suffix)
    }

    /// Appends the answer to a message that was only validated.
    func writeValidated(to output: inout [UInt8]) { output.append(contentsOf: fakeName) }
}

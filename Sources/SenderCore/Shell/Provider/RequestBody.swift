import Curl
import Queue

/// The body of `messages:send`: the queued message, byte for byte, inside its envelope.
enum RequestBody {
    /// Puts the envelope and the payload into the transfer's body; when the message expires, the android ttl's digits become
    /// the seconds that are left, and never more than were queued.
    static func write(to transfer: Transfer, _ message: ClaimedMessage, secondsLeft: Int?) {
        transfer.removeBody()
        make(message, secondsLeft: secondsLeft) { transfer.appendBody($0) }
    }

    /// Calls `append` with the body's pieces in order.
    static func make(_ message: ClaimedMessage, secondsLeft: Int?, append: (UnsafeRawBufferPointer) -> Void) {
        append((message.isValidateOnly ? validatePrefix : prefix).bytes)
        message.payload.withUnsafeBytes { bytes in
            guard let digits = message.ttlDigits, let secondsLeft, digits.upperBound <= bytes.count,
                digits.lowerBound >= 0
            else {
                append(bytes)
                return
            }
            append(UnsafeRawBufferPointer(rebasing: bytes[..<digits.lowerBound]))
            let queued = Int(String(decoding: bytes[digits], as: UTF8.self)) ?? .max
            var left = String(max(0, min(queued, secondsLeft)))
            left.withUTF8 { append(UnsafeRawBufferPointer($0)) }
            append(UnsafeRawBufferPointer(rebasing: bytes[digits.upperBound...]))
        }
        append(suffix.bytes)
    }

    private static let prefix: StaticString = #"{"message":"#
    private static let validatePrefix: StaticString = #"{"validate_only":true,"message":"#
    private static let suffix: StaticString = "}"
}

extension StaticString {
    /// Its bytes, which stay where they are for the life of the process.
    fileprivate var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: utf8Start, count: utf8CodeUnitCount) }
}

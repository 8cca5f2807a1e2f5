/// Why a row has no message: a value that a filter cannot take.
package struct TemplateFault: Equatable, Sendable {
    package let column: String
    package let reason: String
}

/// Where values go through their filters: one buffer that is reused from row to row, and the zones' clocks.
package struct RenderingDesk: Sendable {
    private var value: [UInt8] = []
    /// Where the digits of the moment the message expires begin in the latest message, if it has them.
    var expirationAt: Int?
    /// What stands there until the moment is known: ``expire(at:_:)``.
    static let someExpiration = Array("9999999999".utf8)
    private var zones: TimeZones

    package init(_ zones: TimeZones) { self.zones = zones }

    /// Writes when the message expires, in seconds since 1970, where the template says so; gives back by how many bytes
    /// what stands behind that place has moved, and the place.
    package func expire(at seconds: Int, _ message: inout [UInt8]) -> (place: Int, moved: Int)? {
        guard let place = expirationAt else { return nil }
        let digits = String(seconds).utf8
        let length = Self.someExpiration.count
        message.replaceSubrange(place..<(place + length), with: digits)
        return (place, digits.count - length)
    }

    mutating func begin(_ bytes: Span<UInt8>) {
        value.removeAll(keepingCapacity: true)
        bytes.withUnsafeBufferPointer { value.append(contentsOf: $0) }
    }

    /// Appends the value, as JSON's number or for the inside of a JSON string.
    func end(isNumber: Bool, into output: inout [UInt8]) {
        if isNumber { output.append(contentsOf: value) } else { appendJSONEscaped(value.span, into: &output) }
    }

    /// Changes the value, and gives back why it cannot.
    ///
    /// Dates need more: ``writeDate(_:zone:)``.
    mutating func apply(_ step: TemplateProgram.Step) -> String? {
        switch step {
        case .fallback(let text): if value.isEmpty { value.append(contentsOf: text) }
        case .upper: value = Array(String(decoding: value, as: UTF8.self).uppercased().utf8)
        case .lower: value = Array(String(decoding: value, as: UTF8.self).lowercased().utf8)
        case .truncate(let count): truncate(to: count)
        case .number: return number()
        case .urlEncode: urlEncode()
        case .date: break
        }
        return nil
    }

    /// Characters as a reader counts them (Unicode Standard Annex 29); never half of one.
    private mutating func truncate(to count: Int) {
        // No text has more characters than bytes.
        guard value.count > count else { return }
        let text = String(decoding: value, as: UTF8.self)
        guard let last = text.index(text.startIndex, offsetBy: count, limitedBy: text.endIndex), last < text.endIndex
        else { return }
        var kept = text.prefix(count - 1)
        while kept.last?.isWhitespace == true { kept.removeLast() }
        value = Array(kept.utf8) + Array("…".utf8)
    }

    private mutating func number() -> String? {
        var scanner = JSONScanner()
        do throws(JSONError) {
            guard try scanner.nextKind(value.span) == .number else { return "number needs a number" }
            let range = try scanner.number(value.span)
            try scanner.finish(value.span)
            // JSON lets white space stand around it.
            value = Array(value[range])
            return nil
        } catch { return value.isEmpty ? "number needs a number, and this is empty" : "number needs a number" }
    }

    private mutating func urlEncode() {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        for byte in value {
            let isUnreserved =
                ASCII.isLetter(byte) || ASCII.isDigit(byte) || [0x2D, 0x2E, 0x5F, 0x7E].contains(byte)
            if isUnreserved {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        value = encoded
    }

    /// Writes the moment as the zone's clocks show it; an empty value stays empty.
    mutating func writeDate(_ pattern: DatePattern, zone: String) -> String? {
        guard !value.isEmpty else { return nil }
        guard let moment = Moment.seconds(value.span) else {
            return "date needs a date and time, such as 2026-11-30T09:00:00Z"
        }
        guard let offset = zones.offset(zone, at: moment) else {
            return zone.isEmpty ? "date: the time zone is empty" : "date: there is no time zone of that name"
        }
        value.removeAll(keepingCapacity: true)
        pattern.write(moment + offset, into: &value)
        return nil
    }
}

/// Absolute `http` and `https` addresses, as far as a device needs them to be right.
enum WebAddress {
    /// What a look at the address gives.
    struct Finding {
        var fault: String?
        var isSecure = false
        var isASCII = true
    }

    static func inspect(_ text: Span<UInt8>) -> Finding {
        var finding = Finding()
        let host: Int
        if let end = endOfScheme(text, "https://") {
            finding.isSecure = true
            host = end
        } else if let end = endOfScheme(text, "http://") {
            host = end
        } else {
            finding.fault = "must be an absolute URL that starts with https:// or http://"
            return finding
        }
        for index in 0..<text.count {
            let byte = text[index]
            if byte >= 0x80 { finding.isASCII = false }
            if byte <= 0x20 || byte == 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
                || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">")
            {
                finding.fault =
                    "must have spaces, quotes, backslashes, angle brackets and control characters percent-encoded"
                return finding
            }
        }
        if !hasHost(text, from: host) { finding.fault = "must have a host name and, if any, a port from 1 to 65535" }
        return finding
    }

    private static func endOfScheme(_ text: Span<UInt8>, _ scheme: StaticString) -> Int? {
        let length = scheme.utf8CodeUnitCount
        guard text.count >= length, ASCII.equalIgnoringCase(text.extracting(0..<length), scheme) else { return nil }
        return length
    }

    /// Checks `[user@]host[:port]` up to the path, the query or the fragment.
    private static func hasHost(_ text: Span<UInt8>, from start: Int) -> Bool {
        var end = start
        var hostStart = start
        while end < text.count {
            let byte = text[end]
            if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { break }
            if byte == UInt8(ascii: "@") { hostStart = end + 1 }
            end += 1
        }
        var hostEnd = hostStart
        if hostStart < end && text[hostStart] == UInt8(ascii: "[") {
            while hostEnd < end && text[hostEnd] != UInt8(ascii: "]") { hostEnd += 1 }
            guard hostEnd < end, hostEnd > hostStart + 2 else { return false }
            hostEnd += 1
        } else {
            while hostEnd < end && text[hostEnd] != UInt8(ascii: ":") {
                let byte = text[hostEnd]
                let isAllowed =
                    ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte >= 0x80 || byte == UInt8(ascii: "-")
                    || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
                guard isAllowed else { return false }
                hostEnd += 1
            }
            guard hostEnd > hostStart, text[hostStart] != UInt8(ascii: ".") else { return false }
        }
        if hostEnd == end { return true }
        guard text[hostEnd] == UInt8(ascii: ":"),
            let port = ASCII.saturatingInteger(text.extracting(hostEnd + 1..<end))
        else { return false }
        return (1...65_535).contains(port)
    }
}

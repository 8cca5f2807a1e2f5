/// Text in which `*` stands for any characters, also none; everything else stands for itself.
struct Pattern: Hashable, Sendable {
    let text: String
    /// What is between the stars.
    private let parts: [[UInt8]]

    init(_ text: String) {
        self.text = text
        parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map { Array($0) }
    }

    /// Whether the whole of `value` fits.
    func matches(_ value: some Collection<UInt8>) -> Bool {
        guard let first = parts.first, let last = parts.last else { return false }
        guard parts.count > 1 else { return value.elementsEqual(first) }
        guard value.count >= first.count + last.count, value.starts(with: first),
            value.suffix(last.count).elementsEqual(last)
        else { return false }
        // Between both ends the leftmost place of each part is as good as any other.
        var rest = value.dropFirst(first.count).dropLast(last.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            var start = rest.startIndex
            while true {
                let candidate = rest[start...]
                guard candidate.count >= part.count else { return false }
                if candidate.starts(with: part) { break }
                start = rest.index(after: start)
            }
            rest = rest[rest.index(start, offsetBy: part.count)...]
        }
        return true
    }
}

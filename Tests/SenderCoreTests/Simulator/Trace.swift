/// What happened in a run, as one number to compare runs by and, where asked for, as lines to read.
struct Trace {
    /// The first letter of each kind of line; part of what is hashed.
    enum Kind: Int {
        case event, action, statement, provider, fault, world
    }

    private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    private(set) var lines: [String] = []
    let isKept: Bool

    init(isKept: Bool) { self.isKept = isKept }

    /// Notes one step: its numbers make up the hash, its text is for people only.
    mutating func note(
        _ kind: Kind, _ numbers: (Int, Int, Int), at time: Int64, _ text: @autoclosure () -> String
    ) {
        mix(UInt64(bitPattern: time) &* 8 &+ UInt64(kind.rawValue))
        mix(UInt64(truncatingIfNeeded: numbers.0))
        mix(UInt64(truncatingIfNeeded: numbers.1))
        mix(UInt64(truncatingIfNeeded: numbers.2))
        guard isKept else { return }
        let microseconds = time / 1_000
        let fraction = String(1_000_000 + microseconds % 1_000_000).dropFirst()
        lines.append("\(microseconds / 1_000_000).\(fraction) \(kind): \(text())")
    }

    /// FNV-1a, a word at a time.
    private mutating func mix(_ word: UInt64) { hash = (hash ^ word) &* 0x0000_0100_0000_01B3 }
}

import Testing

@testable import Emulator

/// The table of fingerprints is exact until it is full, and says when it is.
@Suite struct SeenTableTests {
    private func fingerprints(_ range: Range<Int>) -> [Fingerprint] {
        range.map { number in withUnsafeBytes(of: number) { Fingerprint($0) } }
    }

    @Test func itCountsExactly() {
        var table = SeenTable(capacity: 200_000)
        func known(_ range: Range<Int>) -> Int {
            var count = 0
            for print in fingerprints(range) where table.insert(print) { count += 1 }
            return count
        }
        #expect(known(0..<200_000) == 0)
        #expect(known(50_000..<100_000) == 50_000)
        #expect(known(50_000..<60_000) == 10_000)
        #expect(table.distinct == 200_000 && table.repeated == 50_000 && table.isExact)
    }

    @Test func aFullTableSaysThatItIsABound() {
        var table = SeenTable(capacity: 1000)
        for print in fingerprints(0..<100_000) { table.insert(print) }
        #expect(!table.isExact && table.distinct == 256 * 48)
        var known = 0
        for print in fingerprints(0..<100_000) where table.insert(print) { known += 1 }
        #expect(known == table.distinct && table.repeated == table.distinct)
    }

    @Test func zeroIsAFingerprintToo() {
        var table = SeenTable(capacity: 200_000)
        let first = table.insert(Fingerprint(value: 0))
        let second = table.insert(Fingerprint(value: 0))
        #expect(!first && second)
    }
}

/// Random numbers that depend on nothing but what they are made from.
struct Chance: Sendable {
    private var state: UInt64

    /// Every part counts, and so does their order.
    init(_ parts: UInt64...) {
        state = 0
        for part in parts { state = Self.mix(state ^ part &+ 0x9E37_79B9_7F4A_7C15) }
    }

    /// From 0 to below 1, with 53 random bits.
    mutating func next() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Double(Self.mix(state) >> 11) * 0x1p-53
    }

    /// FNV-1a: the same on every machine and in every run, unlike `Hasher`.
    static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return hash
    }

    /// The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
    private static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

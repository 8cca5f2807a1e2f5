/// Random names from the system's generator.
enum Randomness {
    static func bytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    static func hex(bytes count: Int) -> String {
        bytes(count).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

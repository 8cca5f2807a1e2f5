import Foundation

/// Something that reads bytes from outside, and what has to hold whatever they are.
struct FuzzTarget: Sendable {
    /// What the command line, the corpus directory and the dictionary call it.
    let name: String
    /// Bytes that an input may have; longer ones find no more and are slower.
    let longest: Int
    /// Runs one input; a trap or a broken ``expect(_:_:)`` is a finding.
    let run: @Sendable (Span<UInt8>) -> Void

    init(_ name: String, longest: Int = 4096, _ run: @escaping @Sendable (Span<UInt8>) -> Void) {
        self.name = name
        self.longest = longest
        self.run = run
    }
}

/// What has to hold: where it does not, the process ends and libFuzzer keeps the input.
func expect(_ holds: Bool, _ rule: @autoclosure () -> String) {
    if !holds { fail(rule()) }
}

/// Says what is broken and ends the process, without the reports that Swift's own traps come with.
func fail(_ rule: String) -> Never {
    FileHandle.standardError.write(Data("BROKEN: \(rule)\n".utf8))
    abort()
}

import Testing

/// The emulator's faults by the flags that ask for them.
enum Faults {
    struct Named: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let flags: [String]
    }

    static let afterAcceptance = [
        Named(testDescription: "RST", flags: ["--reset-after-accept", "500", "--reset-by", "rst"]),
        Named(testDescription: "FIN", flags: ["--reset-after-accept", "500", "--reset-by", "fin"]),
    ]

    static let beforeAcceptance = [
        Named(testDescription: "reset before acceptance", flags: ["--reset-before-accept", "500"]),
        Named(testDescription: "REFUSED_STREAM", flags: ["--refuse-stream", "50"]),
        Named(testDescription: "GOAWAY", flags: ["--goaway", "1000"]),
    ]
}

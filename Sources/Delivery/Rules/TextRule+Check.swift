extension TextRule {
    /// The longest life of a message: four weeks.
    static let longestLife = 2_419_200
    static let longestLabel = 50

    /// What is wrong with the contents of a string under this rule; nil if nothing is.
    ///
    /// Numbers, durations and web addresses are checked where they are read.
    func fault(_ text: Span<UInt8>) -> String? {
        switch self {
        case .none, .outputOnly, .timeToLive, .notNegative, .fraction, .webURL, .secureURL: nil
        case .notEmpty: text.count == 0 ? "must not be empty" : nil
        case .target(.topic): Topic.fault(text)
        case .target(.condition): Topic.conditionFault(text)
        case .target: text.count == 0 ? "must not be empty" : nil
        case .analyticsLabel: Self.labelFault(text)
        case .colour: Self.isColour(text) ? nil : "must be a colour written #rrggbb"
        }
    }

    private static func labelFault(_ text: Span<UInt8>) -> String? {
        guard (1...longestLabel).contains(text.count) else {
            return "must have 1 to \(longestLabel) characters, has \(text.count) bytes"
        }
        for index in 0..<text.count where !Topic.isNameByte(text[index]) {
            return "may only hold letters and digits of ASCII and - _ . ~ %"
        }
        return nil
    }

    private static func isColour(_ text: Span<UInt8>) -> Bool {
        guard text.count == 7, text[0] == UInt8(ascii: "#") else { return false }
        for index in 1..<7 where ASCII.hexValue(text[index]) == nil { return false }
        return true
    }
}

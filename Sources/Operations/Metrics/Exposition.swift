/// Writes metrics as Prometheus reads them: the text format, version 0.0.4.
///
/// Families one after the other, each begun once and followed by its samples.
package struct Exposition: Sendable {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    package private(set) var text = ""
    private var name = ""

    package init() {}

    /// Starts a family; the samples that follow are its.
    package mutating func begin(_ family: MetricFamily) {
        name = family.name
        text += "# HELP \(family.name) \(Self.escaped(family.help, quotes: false))\n"
        text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
    }

    package mutating func sample(_ value: Int, _ labels: KeyValuePairs<String, String> = [:]) {
        write("", labels, nil, "\(value)")
    }

    package mutating func sample(_ value: Double, _ labels: KeyValuePairs<String, String> = [:]) {
        write("", labels, nil, Self.number(value))
    }

    package mutating func sample(_ value: Bool, _ labels: KeyValuePairs<String, String> = [:]) {
        write("", labels, nil, value ? "1" : "0")
    }

    /// All samples of a histogram: the buckets added up, the sum and the count.
    package mutating func sample(_ histogram: Histogram, _ labels: KeyValuePairs<String, String> = [:]) {
        var total = 0
        for (bound, count) in zip(histogram.bounds, histogram.counts) {
            total += count
            write("_bucket", labels, Self.number(histogram.unit.shown(Double(bound))), "\(total)")
        }
        total = histogram.count
        write("_bucket", labels, "+Inf", "\(total)")
        write("_sum", labels, nil, Self.number(histogram.unit.shown(histogram.sum)))
        write("_count", labels, nil, "\(total)")
    }

    /// A family with one sample and no labels.
    package mutating func single(_ family: MetricFamily, _ value: Int) {
        begin(family)
        sample(value)
    }

    /// A family with one sample and no labels.
    package mutating func single(_ family: MetricFamily, _ value: Double) {
        begin(family)
        sample(value)
    }

    private mutating func write(
        _ suffix: String, _ labels: KeyValuePairs<String, String>, _ bound: String?, _ value: String
    ) {
        text += name
        text += suffix
        var separator = "{"
        for (label, value) in labels {
            text += "\(separator)\(label)=\"\(Self.escaped(value, quotes: true))\""
            separator = ","
        }
        if let bound {
            text += "\(separator)le=\"\(bound)\""
            separator = ","
        }
        if separator == "," { text += "}" }
        text += " \(value)\n"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        guard text.utf8.contains(where: { $0 == 0x5C || $0 == 0x0A || ($0 == 0x22 && quotes) }) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let whole = Int(exactly: value) { return "\(whole)" }
        return "\(value)"
    }
}

extension Histogram.Unit {
    fileprivate func shown(_ value: Double) -> Double {
        switch self {
        case .nanosecondsAsSeconds: value / 1_000_000_000
        case .items: value
        }
    }
}

/// A metric as its readers know it: name, kind, and one sentence of help.
///
/// Names carry the base unit, `_seconds` or `_bytes`, and counters end in `_total`, as Prometheus asks.
package struct MetricFamily: Hashable, Sendable {
    package enum Kind: String, Sendable { case counter, gauge, histogram }

    package let name: String
    package let kind: Kind
    package let help: String

    package init(_ name: String, _ kind: Kind, _ help: String) {
        self.name = name
        self.kind = kind
        self.help = help
    }
}

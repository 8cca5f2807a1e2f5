/// Medians and percentiles of what was measured.
enum Statistics {
    /// The middle one, the upper of two; 0 of nothing.
    static func median(_ values: [Double]) -> Double { percentile(values, 0.5) }

    /// The smallest value that at least this fraction of all does not exceed; 0 of nothing.
    static func percentile(_ values: [Double], _ fraction: Double) -> Double {
        guard !values.isEmpty else { return 0 }
        let rank = Int((fraction * Double(values.count)).rounded(.up))
        return values.sorted()[min(values.count, max(1, rank)) - 1]
    }
}

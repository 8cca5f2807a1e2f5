extension ClockSkew {
    /// For messages: `this machine's clock is 412 s ahead of Google's`.
    static func words(_ skew: Int) -> String {
        "this machine's clock is \(skew.magnitude) s \(skew > 0 ? "ahead of" : "behind") Google's"
    }
}

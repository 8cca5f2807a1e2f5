import HTTP1

/// Keeps web pages out: a browser on this machine reaches the control port for any page that asks it to.
///
/// A page's own name that resolves to a loopback address shows in `Host`, a request from another site in `Origin`.
enum ControlOrigin {
    static func check(_ request: HTTP1Request) throws(ControlError) {
        if let host = request.header("host"), !isLocal(host[...]) {
            throw ControlError(
                403, "the control API is not called by the name in \"Host\"", remedy: "use the URL in DIR/control")
        }
        guard let origin = request.header("origin") else { return }
        let scheme = [UInt8]("://".utf8)
        let start = origin.indices.first { origin[$0...].starts(with: scheme) }.map { $0 + scheme.count }
        guard let start, isLocal(origin[start...]) else {
            throw ControlError(
                403, "the control API is not for web pages of other machines",
                remedy: "ask it from a program, or from a page of localhost")
        }
    }

    /// An address or `localhost`, with or without a port: no name that somebody else can give to this machine.
    private static func isLocal(_ authority: ArraySlice<UInt8>) -> Bool {
        if authority.first == UInt8(ascii: "[") { return true }
        let name = authority.prefix { $0 != UInt8(ascii: ":") }
        let lower = String(decoding: name, as: UTF8.self).lowercased()
        if lower == "localhost" || lower.hasSuffix(".localhost") { return true }
        let parts = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }
    }
}

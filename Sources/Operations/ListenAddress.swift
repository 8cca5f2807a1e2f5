/// Where a server listens: `HOST:PORT`, `[IPv6]:PORT`, or where it is allowed a bare port.
package struct ListenAddress: Hashable, Sendable {
    package let host: String
    /// 0 takes a free one.
    package let port: Int

    /// Reads the option's text.
    ///
    /// - Parameter barePortHost: the host of a bare port; nil refuses one.
    /// - Throws: a ``Failure`` with ``ExitCode/usage`` that names the option.
    package init(_ text: String, option: String, barePortHost: String? = nil) throws(Failure) {
        if let barePortHost, let port = UInt16(text) {
            host = barePortHost
            self.port = Int(port)
            return
        }
        let form = barePortHost == nil ? "HOST:PORT" : "PORT or HOST:PORT"
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw Failure(
                .usage,
                "--\(option) must be \(form), for example 127.0.0.1:9464 or [::1]:9464, "
                    + "not \(GivenText.quoted(text))",
                remedy: "give an address of this machine and a port from 0 to 65535")
        }
        var host = text[..<colon]
        if host.hasPrefix("[") && host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw Failure(
                .usage, "--\(option) has an IPv6 address without brackets: \(GivenText.quoted(text))",
                remedy: "write [\(host)]:\(port)")
        }
        guard !host.isEmpty else {
            throw Failure(
                .usage, "--\(option) has no host: \(GivenText.quoted(text))",
                remedy: "for this machine only write 127.0.0.1:\(port), for every network 0.0.0.0:\(port)")
        }
        self.host = String(host)
        self.port = Int(port)
    }
}

import Glibc

/// Ports of 127.0.0.1.
enum LoopbackPort {
    /// One that nobody listens on now; whoever takes it between here and its use makes that fail.
    static func free() -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withAddress(&address) {
            bind(descriptor, $0, length)
            return getsockname(descriptor, $0, &length)
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Whether somebody accepts connections there.
    static func isOpen(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = loopback(port: port)
        return withAddress(&address) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) } == 0
    }

    private static func loopback(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    @discardableResult
    private static func withAddress(_ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Int32)
        -> Int32
    {
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
        }
    }
}

import Glibc
import Postgres
import Testing

/// A TCP port of the test's own on 127.0.0.1.
final class LoopbackListener {
    let descriptor: Int32
    let port: Int

    /// - Parameter wanted: 0 for any free one.
    init(port wanted: Int = 0) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = UInt16(wanted).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        guard bound, port > 0 else { throw NoPort() }
    }

    deinit { close(descriptor) }

    /// Whether somebody accepts connections on the port.
    static func isListening(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    /// Waits for a connection, letting the client go on meanwhile.
    func accept(_ turn: () throws -> Void) throws -> LoopbackPeer {
        for _ in 0..<1_000 {
            let peer = Glibc.accept(descriptor, nil, nil)
            if peer >= 0 { return LoopbackPeer(descriptor: peer) }
            try turn()
        }
        throw NobodyCame()
    }

    func conninfo(password: String = "x", more: String = "") throws -> Conninfo {
        try Conninfo(
            "host=127.0.0.1 port=\(port) user=u dbname=d password=\(password) sslmode=disable gssencmode=disable \(more)",
            applicationName: "test")
    }

    struct NobodyCame: Error {}
    struct NoPort: Error {}
}

/// The accepted side of a connection.
final class LoopbackPeer {
    let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    /// Takes what has come, without waiting; true if there was anything.
    func hasReceived() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        return recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0
    }

    /// Collects what comes until it contains the text, letting the client go on meanwhile.
    func receive(until text: String, _ turn: () throws -> Void) throws -> String {
        var received: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 4_096)
        for _ in 0..<1_000 {
            let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            if count > 0 { received += bytes[..<count] }
            let all = String(decoding: received, as: UTF8.self)
            if all.contains(text) { return all }
            try turn()
        }
        throw LoopbackListener.NobodyCame()
    }

    /// Waits until the other side closes.
    func readsToEnd() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = recv(descriptor, &bytes, bytes.count, 0)
            if count <= 0 { return count == 0 || errno == ECONNRESET }
        }
    }
}

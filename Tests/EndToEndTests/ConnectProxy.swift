import Foundation
import Glibc

/// The smallest HTTP proxy: takes `CONNECT host:port` on loopback, and passes bytes both ways.
final class ConnectProxy: Sendable {
    let port: Int
    private let listener: Int32
    private let tunnels = Counter()

    /// How many tunnels were opened.
    var count: Int { tunnels.value }

    /// - Parameter admitted: so many tunnels are opened, all others refused.
    init(admitted: Int = .max) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = Self.loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard bound else { throw Late(description: "no port for a proxy: errno \(errno)") }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        let tunnels = tunnels
        Thread.detachNewThread {
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                Thread.detachNewThread { Self.serve(client, tunnels, admitted) }
            }
        }
    }

    deinit {
        // Ends the thread that accepts.
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private static func serve(_ client: Int32, _ tunnels: Counter, _ admitted: Int) {
        defer { close(client) }
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard recv(client, &byte, 1, 0) == 1, head.count < 8_192 else { return }
            head.append(byte)
        }
        let words = String(decoding: head, as: UTF8.self).split(separator: " ")
        guard words.count > 1, words[0] == "CONNECT",
            let port = words[1].split(separator: ":").last.flatMap({ UInt16($0) })
        else { return }
        guard tunnels.value < admitted else {
            let answer = Array("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n".utf8)
            _ = send(client, answer, answer.count, Int32(MSG_NOSIGNAL))
            return
        }
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(server) }
        var address = loopback(port: port)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return }
        let answer = Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)
        guard send(client, answer, answer.count, Int32(MSG_NOSIGNAL)) == answer.count else { return }
        tunnels.add()
        relay(client, server)
    }

    private static func relay(_ one: Int32, _ other: Int32) {
        var waits = [
            pollfd(fd: one, events: Int16(POLLIN), revents: 0), pollfd(fd: other, events: Int16(POLLIN), revents: 0),
        ]
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while poll(&waits, 2, -1) > 0 {
            for (index, to) in [(0, other), (1, one)] where waits[index].revents != 0 {
                let count = recv(waits[index].fd, &bytes, bytes.count, 0)
                guard count > 0 else { return }
                var sent = 0
                while sent < count {
                    let more = bytes.withUnsafeBytes { buffer in
                        send(to, buffer.baseAddress.map { $0 + sent }, count - sent, Int32(MSG_NOSIGNAL))
                    }
                    guard more > 0 else { return }
                    sent += more
                }
            }
        }
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = port.bigEndian
        return address
    }

    /// Counted by the tunnels' threads.
    private final class Counter: @unchecked Sendable {
        // The lock guards the number, which nothing else touches.
        private let lock = NSLock()
        private var number = 0

        var value: Int { lock.withLock { number } }
        func add() { lock.withLock { number += 1 } }
    }
}

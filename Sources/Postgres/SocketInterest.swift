/// What a connection waits for on its socket.
package struct SocketInterest: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let read = SocketInterest(rawValue: 1)
    package static let write = SocketInterest(rawValue: 2)

    package var wantsRead: Bool { contains(.read) }
    package var wantsWrite: Bool { contains(.write) }
}

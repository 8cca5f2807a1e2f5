import CLibPQ

/// One NOTIFY that reached a connection which listens.
package struct Notification: Sendable, Equatable {
    package let channel: String
    package let payload: String
    /// Process id of the server process that sent it.
    package let senderProcessID: Int

    /// Everything that has been read from the socket so far.
    static func drain(_ raw: OpaquePointer) -> [Notification] {
        var notifications: [Notification] = []
        while let notify = PQnotifies(raw) {
            defer { PQfreemem(notify) }
            notifications.append(
                Notification(
                    channel: notify.pointee.relname.map { String(cString: $0) } ?? "",
                    payload: notify.pointee.extra.map { String(cString: $0) } ?? "",
                    senderProcessID: Int(notify.pointee.be_pid)))
        }
        return notifications
    }
}

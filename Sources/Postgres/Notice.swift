import CLibPQ

/// A NOTICE or WARNING of the server, kept for whoever wants to show it.
package struct Notice: Sendable {
    /// `NOTICE`, `WARNING`, `INFO`, `FATAL`…, never translated.
    package let severity: String
    package let message: String
}

/// Collects the notices of one connection; libpq would print them to the standard error otherwise.
final class NoticeLog {
    private static let capacity = 100

    private(set) var notices: [Notice] = []
    /// Why the server said it would hang up, when nothing was in flight that could have failed.
    private(set) var farewell: PostgresError?

    func take() -> [Notice] {
        defer { notices = [] }
        return notices
    }

    /// Lets libpq report to this object, which has to outlive the connection.
    func attach(to raw: OpaquePointer) {
        // A C function pointer captures nothing: the object travels as the context.
        _ = PQsetNoticeReceiver(
            raw,
            { context, result in
                guard let context else { return }
                Unmanaged<NoticeLog>.fromOpaque(context).takeUnretainedValue().append(result)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func append(_ result: OpaquePointer?) {
        func field(_ code: Int) -> String? { PQresultErrorField(result, Int32(code)).map { String(cString: $0) } }
        let severity = field(DiagnosticField.severity) ?? "NOTICE"
        if severity == "FATAL" || severity == "PANIC" { farewell = PostgresError(result: result) }
        if notices.count == Self.capacity { notices.removeFirst() }
        let message = field(DiagnosticField.primaryMessage) ?? ""
        notices.append(Notice(severity: severity, message: ErrorText.firstLine(message, otherwise: severity)))
    }
}

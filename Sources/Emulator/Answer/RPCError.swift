import Delivery

/// An error in the form of `google.rpc.Status`, as FCM answers it.
struct RPCError {
    enum Detail {
        case fcmError(String)
        case badRequest([(field: String, description: String)])
        case apnsError(status: Int, reason: String)
        case quotaFailure(subject: String, description: String)
        case errorInfo(reason: String, domain: String, metadata: [(String, String)])
    }

    let code: Int
    let status: String
    let message: String
    var details: [Detail] = []

    /// Appends the body of the answer.
    func write(to output: inout [UInt8]) {
        var members: [(String, JSONValue)] = [
            ("code", .int(code)), ("message", .string(message)), ("status", .string(status)),
        ]
        if !details.isEmpty { members.append(("details", .array(details.map(\.tree)))) }
        JSONValue.members([("error", .members(members))]).writeIndented(to: &output)
    }
}

extension RPCError.Detail {
    fileprivate var tree: JSONValue {
        switch self {
        case .fcmError(let code):
            .members([
                ("@type", .string("type.googleapis.com/google.firebase.fcm.v1.FcmError")),
                ("errorCode", .string(code)),
            ])
        case .badRequest(let violations):
            .members([
                ("@type", .string("type.googleapis.com/google.rpc.BadRequest")),
                (
                    "fieldViolations",
                    .array(
                        violations.map {
                            // A violation by the text as a whole names no field.
                            .members(
                                ($0.field.isEmpty ? [] : [("field", .string($0.field))])
                                    + [("description", .string($0.description))])
                        })
                ),
            ])
        case .apnsError(let status, let reason):
            .members([
                ("@type", .string("type.googleapis.com/google.firebase.fcm.v1.ApnsError")),
                ("statusCode", .int(status)), ("reason", .string(reason)),
            ])
        case .quotaFailure(let subject, let description):
            .members([
                ("@type", .string("type.googleapis.com/google.rpc.QuotaFailure")),
                (
                    "violations",
                    .array([.members([("subject", .string(subject)), ("description", .string(description))])])
                ),
            ])
        case .errorInfo(let reason, let domain, let metadata):
            .members([
                ("@type", .string("type.googleapis.com/google.rpc.ErrorInfo")),
                ("reason", .string(reason)), ("domain", .string(domain)),
                ("metadata", .members(metadata.map { ($0.0, .string($0.1)) })),
            ])
        }
    }
}

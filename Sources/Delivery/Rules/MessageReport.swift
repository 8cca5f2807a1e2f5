/// The four ways to say where a message goes; exactly one of them is set in a message.
package enum TargetKind: String, Sendable, CaseIterable { case token, fid, topic, condition }

/// Where one message goes.
package struct MessageTarget: Equatable, Sendable {
    package let kind: TargetKind
    package let value: String

    package init(kind: TargetKind, value: String) {
        self.kind = kind
        self.value = value
    }
}

/// One thing that is wrong, or worth a look, in a message.
package struct PayloadIssue: Equatable, Sendable {
    /// The path of the field, such as `message.android.ttl`, with the names of the published schema.
    package let field: String
    /// What is allowed and what was found, never a whole token.
    package let reason: String

    package init(field: String, reason: String) {
        self.field = field
        self.reason = reason
    }
}

extension PayloadIssue: CustomStringConvertible {
    package var description: String { "\(field): \(reason)" }
}

/// What `MessageRules.check` found in a message.
package struct MessageReport: Sendable {
    /// Reasons for which the message must not be sent, in the order they were met; at most 32.
    package var errors: [PayloadIssue] = []
    /// Things that are allowed and probably not meant.
    package var warnings: [PayloadIssue] = []
    /// The one target, when there is exactly one.
    package var target: MessageTarget?
    /// Where the digits of the Android TTL are in the checked bytes: whole seconds, without fraction and "s".
    package var androidTTL: (start: Int, length: Int)?

    package init() {}

    /// Whether the message may be queued.
    package var isValid: Bool { errors.isEmpty }
}

/// What `MessageRules.checkRequest` found in a request's body.
package struct RequestReport: Sendable {
    package var report: MessageReport
    /// Where the message is in the body; nil when there is none or it could not be read to its end.
    package var message: Range<Int>?
    /// Whether the request asks only whether it would be accepted.
    package var isValidateOnly: Bool
}

/// The rules for the object that goes under `message` in a request to FCM's v1 API.
package enum MessageRules {
    /// Checks JSON text, the types and names of the published schema, and the rules beyond it.
    ///
    /// One pass over the bytes; nothing is allocated per field. Where sources differ, the stricter reading holds, so
    /// that what is accepted here is accepted by the provider.
    ///
    /// - Parameter expiresIn: seconds until the message is of no more use, for a warning about a longer time to live.
    package static func check(_ message: Span<UInt8>, expiresIn: Int? = nil) -> MessageReport {
        var checker = MessageChecker(expiresIn: expiresIn)
        checker.run(.message, message)
        return checker.report
    }

    /// Whether the object is the body of a request and not a message: the first key that one of the two knows decides.
    package static func isRequest(_ body: Span<UInt8>) -> Bool {
        var scanner = JSONScanner()
        do throws(JSONError) {
            guard try scanner.nextKind(body) == .object else { return false }
            var members = try scanner.openObject(body)
            while let key = try scanner.nextKey(body, &members) {
                if Schema.all[SchemaID.request.rawValue].index(of: key, in: body) != nil { return true }
                if Schema.all[SchemaID.message.rawValue].index(of: key, in: body) != nil { return false }
                try scanner.skipValue(body)
            }
        } catch {
            // What it is has not been seen before the broken place.
        }
        return false
    }

    /// Checks the whole body of a request: `{"message": …, "validate_only": …}`.
    ///
    /// Offsets in the result count from the start of the body.
    package static func checkRequest(_ body: Span<UInt8>, expiresIn: Int? = nil) -> RequestReport {
        var checker = MessageChecker(expiresIn: expiresIn)
        checker.run(.request, body)
        return RequestReport(
            report: checker.report, message: checker.seen.message, isValidateOnly: checker.seen.isValidateOnly)
    }
}

/// What FCM's error body says, as far as it can be read.
struct FCMError {
    /// `error.status`, such as `INVALID_ARGUMENT`.
    var status: String?
    var message = ""
    /// The first `errorCode` among the FcmErrors in the details that is one of `codes`.
    var code: String?
    /// Whether an FcmError says UNSPECIFIED_ERROR and none says anything else that is known.
    var isUnspecified: Bool { saysUnspecified && code == nil }
    private var saysUnspecified = false
    /// The `reason` of the ApnsError among the details.
    var apnsReason: String?
    /// The `reason` of the ErrorInfo among the details.
    var reason: String?
    /// The fields of the BadRequest among the details, with what is wrong with each.
    var violations: [(field: String, description: String)] = []

    /// The codes of an FcmError that mean something.
    static let codes: Set<String> = [
        "UNREGISTERED", "SENDER_ID_MISMATCH", "QUOTA_EXCEEDED", "UNAVAILABLE", "INTERNAL", "THIRD_PARTY_AUTH_ERROR",
        "APNS_AUTH_ERROR", "INVALID_ARGUMENT",
    ]

    /// Reads any body: HTML, nothing at all, or JSON of any shape leave the fields empty.
    init(_ body: Span<UInt8>) {
        guard let answer = AnswerBody.value(body) else { return }
        // Google's streaming front ends wrap the same object in an array.
        guard let error = answer["error"] ?? answer.arrayValue?.first?["error"] else { return }
        status = error["status"]?.word
        message = error["message"]?.stringValue ?? error.stringValue ?? ""
        // The order of the details varies, and so does their number.
        for detail in error["details"]?.arrayValue ?? [] {
            let type = detail["@type"]?.stringValue ?? ""
            if type.hasSuffix("google.firebase.fcm.v1.FcmError") {
                guard let found = detail["errorCode"]?.word else { continue }
                if found == "UNSPECIFIED_ERROR" { saysUnspecified = true }
                if code == nil, Self.codes.contains(found) { code = found }
            } else if type.hasSuffix("google.firebase.fcm.v1.ApnsError") {
                apnsReason = apnsReason ?? detail["reason"]?.word.map { APNsReason.normalized($0) }
            } else if type.hasSuffix("google.rpc.ErrorInfo") {
                reason = reason ?? detail["reason"]?.word
            } else if type.hasSuffix("google.rpc.BadRequest") {
                for violation in detail["fieldViolations"]?.arrayValue ?? [] {
                    // What is wrong with the text as a whole comes without a field, or with an empty one.
                    guard let field = violation["field"]?.stringValue, !field.isEmpty else { continue }
                    violations.append((field, violation["description"]?.stringValue ?? ""))
                }
            }
        }
    }

    /// What in the answer proves that the token is dead: never a bare INVALID_ARGUMENT.
    var proofOfDeadToken: Evidence? {
        if let apnsReason, APNsReason.deadTokens.contains(apnsReason) { return .apnsError }
        if message.hasPrefix("The registration token is not a valid FCM registration token") { return .tokenMessage }
        return violations.contains { Self.isAboutToken($0.field, $0.description) } ? .fieldViolation : nil
    }

    private static func isAboutToken(_ field: String, _ description: String) -> Bool {
        guard field == "message.token" || field == "message.fid" else { return false }
        // "Invalid value at 'message.token' (TYPE_STRING), 12": we sent something that is no token at all.
        let isShape = description.contains("(TYPE_") || description.contains("(oneof)")
        return !isShape && !description.hasPrefix("Invalid JSON payload received.")
    }
}

extension JSONValue {
    /// The text of a string that can serve as a code: up to 64 letters, digits, `_`, `-`, `.` or spaces.
    ///
    /// Codes end up in tables, logs and metrics, so nothing else that a stranger answers is taken for one.
    var word: String? {
        guard let text = stringValue, (1...64).contains(text.utf8.count) else { return nil }
        let isWord = text.utf8.allSatisfy { byte in
            ASCII.isLetter(byte) || ASCII.isDigit(byte) || "_-. ".utf8.contains(byte)
        }
        return isWord ? text : nil
    }
}

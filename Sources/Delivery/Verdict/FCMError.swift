/// What FCM's error body says, as far as it can be read.
struct FCMError {
    /// `error.status`, such as `INVALID_ARGUMENT`.
    var status: String?
    var message = ""
    /// The `errorCode` of the FcmError among the details, unless it says nothing.
    var code: String?
    /// The `reason` of the ApnsError among the details.
    var apnsReason: String?
    /// The `reason` of the ErrorInfo among the details.
    var reason: String?
    /// The fields of the BadRequest among the details, with what is wrong with each.
    var violations: [(field: String, description: String)] = []

    /// Reads any body: HTML, nothing at all, or JSON of any shape leave the fields empty.
    init(_ body: Span<UInt8>) {
        guard let answer = try? JSONValue.parse(body), let error = answer["error"] else { return }
        status = error["status"]?.word
        message = error["message"]?.stringValue ?? error.stringValue ?? ""
        // The order of the details varies, and so does their number.
        for detail in error["details"]?.arrayValue ?? [] {
            let type = detail["@type"]?.stringValue ?? ""
            if type.hasSuffix("google.firebase.fcm.v1.FcmError") {
                let code = detail["errorCode"]?.word
                if self.code == nil, code != "UNSPECIFIED_ERROR" { self.code = code }
            } else if type.hasSuffix("google.firebase.fcm.v1.ApnsError") {
                apnsReason = apnsReason ?? detail["reason"]?.word
            } else if type.hasSuffix("google.rpc.ErrorInfo") {
                reason = reason ?? detail["reason"]?.word
            } else if type.hasSuffix("google.rpc.BadRequest") {
                for violation in detail["fieldViolations"]?.arrayValue ?? [] {
                    guard let field = violation["field"]?.stringValue else { continue }
                    violations.append((field, violation["description"]?.stringValue ?? ""))
                }
            }
        }
    }

    /// Whether the answer proves that the token is dead: never a bare INVALID_ARGUMENT.
    var provesDeadToken: Bool {
        if let apnsReason, APNsReason.deadTokens.contains(apnsReason) { return true }
        if message.hasPrefix("The registration token is not a valid FCM registration token") { return true }
        return violations.contains { violation in
            guard violation.field == "message.token" || violation.field == "message.fid" else { return false }
            // "Invalid value at 'message.token' (TYPE_STRING), 12": we sent something that is no token at all.
            return !violation.description.contains("(TYPE_")
        }
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

import Delivery
import HTTP1

/// What is wrong with a control request, and what to do about it.
struct ControlError: Error {
    let status: Int
    let what: String
    let remedy: String
    /// Methods that the path knows, for 405.
    var allow: String?

    init(_ status: Int, _ what: String, remedy: String, allow: String? = nil) {
        self.status = status
        self.what = what
        self.remedy = remedy
        self.allow = allow
    }

    var response: HTTP1Response {
        var response = HTTP1Response(
            json: .members([("error", .string(what)), ("remedy", .string(remedy))]), status: status)
        if let allow { response.headers.append(("Allow", allow)) }
        return response
    }
}

extension HTTP1Response {
    init(json: JSONValue, status: Int = 200) {
        var body: [UInt8] = []
        json.writeIndented(to: &body)
        self.init(
            status: status, headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")], body: body)
    }
}

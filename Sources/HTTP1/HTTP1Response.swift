/// An answer: status, headers and body.
package struct HTTP1Response: Sendable {
    package var status: Int
    /// Without `content-length`, which is added; a header with a line break in it is left out.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// How many bytes of the body may go out at once; `HTTP1Request.release` lets the others follow.
    package var releasedBytes = Int.max
    /// The connection ends after this answer.
    package var closesConnection = false

    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

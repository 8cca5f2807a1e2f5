/// An answer: status, headers and body.
package struct HTTP1Response: Sendable {
    /// A body that drips: so many bytes at a time, so many nanoseconds apart.
    package struct Pace: Sendable, Equatable {
        package var bytes: Int
        package var nanoseconds: Int64

        package init(bytes: Int, nanoseconds: Int64) {
            self.bytes = max(1, bytes)
            self.nanoseconds = max(0, nanoseconds)
        }
    }

    package var status: Int
    /// Without `content-length`, which is added; a header with a line break in it is left out.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    package var pace: Pace?
    /// The connection ends after this answer.
    package var closesConnection = false

    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

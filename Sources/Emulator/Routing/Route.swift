/// What a request's method and path ask for.
enum Route: Equatable {
    case token
    /// The range of the project's name within the path.
    case send(project: Range<Int>)
    case methodNotAllowed
    case notFound

    private static let tokenPath = [UInt8]("/token".utf8)
    private static let sendPrefix = [UInt8]("/v1/projects/".utf8)
    private static let sendSuffix = [UInt8]("/messages:send".utf8)
    private static let post = [UInt8]("POST".utf8)

    init(method: [UInt8], path: [UInt8]) {
        let end = path.firstIndex(of: UInt8(ascii: "?")) ?? path.count
        let route: Route
        if end > Self.sendPrefix.count + Self.sendSuffix.count,
            path.starts(with: Self.sendPrefix),
            path[..<end].suffix(Self.sendSuffix.count).elementsEqual(Self.sendSuffix),
            !path[Self.sendPrefix.count..<end - Self.sendSuffix.count].contains(UInt8(ascii: "/"))
        {
            route = .send(project: Self.sendPrefix.count..<end - Self.sendSuffix.count)
        } else if path[..<end].elementsEqual(Self.tokenPath) {
            route = .token
        } else {
            self = .notFound
            return
        }
        self = method == Self.post ? route : .methodNotAllowed
    }
}

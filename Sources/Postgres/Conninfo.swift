import CLibPQ
import Glibc

/// Where the database is and how to get in: a URL or `key=value` text, completed by the `PG*` variables.
///
/// Prints without the password. Unless the text or a `PG*` variable says otherwise: `connect_timeout` 10 s, keepalives
/// after 30 s of silence, `tcp_user_timeout` 10 s. The encoding is always UTF-8. The timeouts of a `service` named in
/// the text (not by `PGSERVICE`) lose to these defaults.
package struct Conninfo: Sendable {
    /// What libpq is told, in this order; a later keyword wins.
    let parameters: [(keyword: String, value: String)]
    let password: String?

    /// - Parameters:
    ///   - text: nil or empty for the `PG*` variables alone.
    ///   - applicationName: used where the text and `PGAPPNAME` name none.
    ///   - writes: of several hosts, the one that takes writes is meant (`target_session_attrs=read-write`), unless the
    ///     text or `PGTARGETSESSIONATTRS` says otherwise. With one host the server is taken as it is: a pooler may
    ///     remember for an hour that the server behind it was a standby, and refuse.
    package init(_ text: String?, applicationName: String, writes: Bool = false) throws(PostgresError) {
        let given = try Self.parse(text ?? "")
        let environment = Self.setByEnvironment()
        let known = Set((given + environment).map(\.keyword))
        var parameters = given
        for (keyword, value) in Self.defaults where !known.contains(keyword) { parameters.append((keyword, value)) }
        let hosts = (given + environment).first { $0.keyword == "host" } ?? given.first { $0.keyword == "hostaddr" }
        if writes, hosts?.value.contains(",") == true, !given.contains(where: { $0.keyword == "target_session_attrs" }),
            // Among the defaults it always has a value.
            getenv("PGTARGETSESSIONATTRS") == nil
        {
            parameters.append(("target_session_attrs", "read-write"))
        }
        parameters.append(("fallback_application_name", applicationName))
        parameters.append(("client_encoding", "UTF8"))
        self.parameters = parameters
        password = given.last { $0.keyword == "password" }?.value
    }

    /// The same with another database, as migrations and tests need it.
    package func with(database: String) -> Conninfo { Conninfo(self, adding: ("dbname", database)) }

    private init(_ other: Conninfo, adding pair: (keyword: String, value: String)) {
        parameters = other.parameters + [pair]
        password = other.password
    }

    private static let defaults = [
        ("connect_timeout", "10"), ("tcp_user_timeout", "10000"), ("keepalives_idle", "30"),
        ("keepalives_interval", "10"), ("keepalives_count", "3"),
    ]

    private static func parse(_ text: String) throws(PostgresError) -> [(keyword: String, value: String)] {
        try refuseUnescaped(text)
        var fault: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(text, &fault) else {
            defer { PQfreemem(fault) }
            let reason = ErrorText.connectionStringFault(fault.map { String(cString: $0) } ?? "")
            throw PostgresError(.usage, message: "the connection string cannot be used: \(reason)")
        }
        defer { PQconninfoFree(options) }
        let pairs = Self.pairs(options)
        for (keyword, value) in pairs where keyword == "port" {
            // libpq would quote it in its own error, and it is a piece of the password when a "/" was not escaped.
            guard value.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ",") }) else {
                throw PostgresError(.usage, message: "the connection string cannot be used: the port is not a number")
            }
        }
        return pairs
    }

    /// A password with a raw `@` or `/` moves the host's name, and libpq would then print pieces of it as the host.
    private static func refuseUnescaped(_ text: String) throws(PostgresError) {
        let schemes = ["postgresql://", "postgres://"]
        guard let scheme = schemes.first(where: text.hasPrefix) else { return }
        let rest = text.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" }
        let path = rest.dropFirst(authority.count).prefix { $0 != "?" }
        guard authority.filter({ $0 == "@" }).count <= 1, !path.contains("@") else {
            throw PostgresError(
                .usage,
                message: "the connection string cannot be used: \"@\" is %40 and \"/\" is %2F inside a password")
        }
    }

    /// What the `PG*` variables (or the service file of `PGSERVICE`) say, and libpq's own defaults.
    private static func setByEnvironment() -> [(keyword: String, value: String)] {
        guard let options = PQconndefaults() else { return [] }
        defer { PQconninfoFree(options) }
        return pairs(options)
    }

    static func pairs(_ options: UnsafeMutablePointer<PQconninfoOption>) -> [(keyword: String, value: String)] {
        var pairs: [(keyword: String, value: String)] = []
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { pairs.append((String(cString: keyword), String(cString: value))) }
            option += 1
        }
        return pairs
    }
}

extension Conninfo: CustomStringConvertible, CustomReflectable {
    package var description: String {
        let shown = parameters.filter { ["host", "hostaddr", "port", "dbname", "user"].contains($0.keyword) }
        return shown.isEmpty ? "PG* variables" : shown.map { "\($0.keyword)=\($0.value)" }.joined(separator: " ")
    }

    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

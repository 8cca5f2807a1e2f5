import Postgres
import Testing

struct ConninfoTests {
    @Test(arguments: [
        "postgres://user:hunter2@x@host/db", "postgres://user:hunter/2@host/db", "postgres://user:hunter2%zz@host/db",
        "host=x password=hun ter2", "password='hunter2", "postgresql://user:hunter2@[::1/db", "port=hunter2",
        "postgres://u:hunter2@host/db?hunter2", "postgres://u:hunter2@host:port/db", "nonsense hunter2",
    ])
    func whatCannotBeReadIsNotPrintedEither(text: String) throws {
        let error = try #require(throws: PostgresError.self) { try Conninfo(text, applicationName: "test") }
        #expect(error.source == .usage && error.isConfiguration && !error.isConnectionLost)
        for secret in ["hunter", "ter2"] { #expect(!error.description.contains(secret)) }
        #expect(error.description.hasPrefix("the connection string cannot be used: "))
    }

    @Test func printsWithoutThePassword() throws {
        let conninfo = try Conninfo(
            "postgres://user:hunter2@db.example:5433/push?sslmode=require", applicationName: "x")
        #expect("\(conninfo)" == "user=user host=db.example port=5433 dbname=push".order(like: "\(conninfo)"))
        var dumped = ""
        dump(conninfo, to: &dumped)
        #expect(!(dumped + String(reflecting: conninfo)).contains("hunter2"))
        #expect("\(conninfo.with(database: "other"))".hasSuffix("dbname=other"))
    }
}

extension String {
    /// The same words in the other text's order, which is libpq's affair.
    fileprivate func order(like other: String) -> String {
        Set(split(separator: " ")) == Set(other.split(separator: " ")) ? other : self
    }
}

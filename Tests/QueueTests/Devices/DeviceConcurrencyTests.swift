import Dispatch
import Postgres
import Synchronization
import TestSupport
import Testing

/// Many applications at once.
@Suite(.migratedDatabase) struct DeviceConcurrencyTests {
    @Test(arguments: [(8, 8), (60, 40), (6, 4)])
    func `many clients with the same tokens and installations`(_ tokens: Int, _ installations: Int) throws {
        let fixture = try DeviceFixture()
        let app = fixture.app
        let database = try ScratchDatabase.shared()
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 12) { client in
            var random = SplitMix(state: UInt64(client + tokens))
            do {
                let connection = try database.connect()
                try connection.script("SET SESSION AUTHORIZATION todoke_app")
                for _ in 0..<300 {
                    let token = Int.random(in: 0..<tokens, using: &random)
                    let installation = Int.random(in: 0..<installations, using: &random)
                    let user = Int.random(in: 0..<5, using: &random)
                    let call =
                        switch Int.random(in: 0..<10, using: &random) {
                        case 0: "unregister_device($1, 't\(token)')"
                        case 1: "subscribe_user($1, 'u\(user)', 'c\(token)')"
                        case 2: "bind_user($1, 't\(token)', 'u\(user)')"
                        case 3: "register_device($1, 't\(token)')"
                        default: "register_device($1, 't\(token)', 'u\(user)', installation_id => 'i\(installation)')"
                        }
                    try connection.query("SELECT todoke.\(call)", [.text(app)])
                }
            } catch { failures.withLock { $0.append("\(error)") } }
        }
        #expect(failures.withLock { $0.prefix(3) } == [])
        let counts = try fixture.admin.query(
            """
            SELECT count(*) - count(DISTINCT token), count(*) FILTER (WHERE invalidated_at IS NULL AND installation_id IS NOT NULL)
                - count(DISTINCT installation_id) FILTER (WHERE invalidated_at IS NULL), count(*)
            FROM todoke.devices AS d JOIN todoke.apps AS a ON a.id = d.app WHERE a.name = $1
            """, [.text(app)])
        #expect(counts.int(0, 0) == 0 && counts.int(0, 1) == 0 && counts.int(0, 2) ?? 0 > 0)
    }

    private struct SplitMix: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }

    @Test func `a snapshot that is older than another's registration is told to try again`() throws {
        let fixture = try DeviceFixture()
        try fixture.session.script("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
        let other = try DeviceFixture.session()
        try other.query("SELECT todoke.register_device($1, 't', installation_id => 'i')", [.text(fixture.app)])
        for arguments in ["'t'", "'t2', installation_id => 'i'"] {
            try fixture.session.script("SAVEPOINT s")
            #expect(try fixture.refusal("register_device", arguments).sqlState == .serializationFailure)
            try fixture.session.script("ROLLBACK TO s")
        }
    }
}

import Glibc
import Postgres
import Reactor
import TestSupport
import Testing

@Suite(.scratchDatabase) struct AsyncConnectionTests {
    @Test func connectsAndRunsStatementsOneAfterAnother() throws {
        let loop = try DatabaseLoop(ScratchDatabase.shared().conninfo)
        #expect(loop.connection.isConnecting)
        try loop.untilConnected()
        for number in 1...100 {
            let result = try loop.result("SELECT $1::bigint, $2::text", [.int(number), .text("ü")])
            #expect(result.int(0, 0) == number)
            #expect(result.string(0, 1) == "ü")
        }
        #expect(loop.connection.isReady)
    }

    @Test func bigStatementsAndResultsGoThroughInPieces() throws {
        let loop = try DatabaseLoop(ScratchDatabase.shared().conninfo)
        try loop.untilConnected()
        let text = String(repeating: "0123456789", count: 2_000_000)
        try loop.connection.send("SELECT length($1::text), $1::text", [.text(text)])
        #expect(loop.connection.interest.wantsWrite)
        let result = try loop.untilResult()
        #expect(result.int(0, 0) == 20_000_000)
        #expect(result.withBytes(0, 1) { $0.count } == 20_000_000)
        #expect(!loop.connection.interest.wantsWrite)
    }

    @Test func aFailedStatementLeavesTheConnectionReady() throws {
        let loop = try DatabaseLoop(ScratchDatabase.shared().conninfo)
        try loop.untilConnected()
        try loop.connection.send("SELECT 1/0")
        #expect(throws: PostgresError.self) { try loop.connection.send("SELECT 1") }
        guard case .failed(let error) = try loop.nextEvent() else {
            Issue.record("the statement should fail")
            return
        }
        #expect(error.sqlState?.rawValue == "22012")
        #expect(loop.connection.isReady)
        #expect(try loop.result("SELECT 1").int(0, 0) == 1)
        #expect(throws: PostgresError.self) { try loop.connection.send("SELECT $1", [.text("\0")]) }
        #expect(loop.connection.isReady)
    }

    @Test func hearsNotifications() throws {
        let loop = try DatabaseLoop(ScratchDatabase.shared().conninfo)
        try loop.untilConnected()
        _ = try loop.result("LISTEN async_heard")
        try ScratchDatabase.shared().connect().query("SELECT pg_notify('async_heard', 'x')")
        guard case .notification(let notification) = try loop.nextEvent() else {
            Issue.record("a notification should come")
            return
        }
        #expect(notification.channel == "async_heard")
        #expect(notification.payload == "x")
    }

    @Test(arguments: [true, false]) func aTerminatedBackendIsOneLoss(busy: Bool) throws {
        let loop = try DatabaseLoop(ScratchDatabase.shared().conninfo)
        try loop.untilConnected()
        if busy { try loop.connection.send("SELECT pg_sleep(600)") }
        let other = try ScratchDatabase.shared().connect()
        try other.query("SELECT pg_terminate_backend($1)", [.int(loop.connection.backendProcessID)])
        let error = try loop.untilLost()
        #expect(error.sqlState == .adminShutdown)
        #expect(error.isConnectionLost)
        #expect(loop.connection.isLost && !loop.connection.isReady)
        #expect(loop.connection.descriptor == -1 && loop.connection.interest == [])
        #expect(loop.connection.advance(readable: true, writable: true).isEmpty)
        #expect(throws: PostgresError.self) { try loop.connection.send("SELECT 1") }
    }

    @Test(arguments: [true, false]) func aCutConnectionIsOneLoss(busy: Bool) throws {
        let loop = try DatabaseLoop(ScratchDatabase.shared().conninfo)
        try loop.untilConnected()
        if busy { try loop.connection.send("SELECT pg_sleep(600)") }
        shutdown(loop.connection.descriptor, Int32(SHUT_RDWR))
        let error = try loop.untilLost()
        #expect(error.sqlState == nil)
        #expect(error.isConnectionLost)
        #expect(!error.description.contains("\n"))
    }

    @Test func copyEndsTheConnectionInsteadOfHangingIt() throws {
        let loop = try DatabaseLoop(ScratchDatabase.shared().conninfo)
        try loop.untilConnected()
        try loop.connection.send("COPY (SELECT 1) TO STDOUT")
        #expect(try loop.untilLost().source == .usage)
    }

    @Test func aMissingDatabaseIsALossWithItsCode() throws {
        let loop = try DatabaseLoop(ScratchDatabase.shared().conninfo.with(database: "no_such_database"))
        let error = try loop.untilLost()
        #expect(error.isMissingDatabase && !error.isConnectionLost)
    }
}

/// A server of the test's own: libpq's attempts are made up of what it answers.
struct RefusedConnectionTests {
    @Test func aRefusedPasswordIsRecognisedAndNotRepeated() throws {
        let server = try LoopbackListener()
        let loop = try DatabaseLoop(server.conninfo(password: "hunter2"))
        // AuthenticationCleartextPassword, then what libpq sends back is echoed in the error.
        let peer = try server.accept { try loop.turn(milliseconds: 10) }
        try loop.send(peer, [UInt8(ascii: "R"), 0, 0, 0, 8, 0, 0, 0, 3], afterReceiving: true)
        let fields = "SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed for user \"hunter2\"\0\0"
        let length = UInt8(fields.utf8.count + 4)
        try loop.send(peer, [UInt8(ascii: "E"), 0, 0, 0, length] + Array(fields.utf8), afterReceiving: true)
        let error = try loop.untilLost()
        #expect(error.sqlState == .invalidPassword)
        #expect(error.isAuthentication && error.isConfiguration && !error.isConnectionLost)
        #expect(!error.description.contains("hunter2"))
    }

    @Test func aSilentServerLeavesTheDecisionToTheLoop() throws {
        let server = try LoopbackListener()
        var loop: DatabaseLoop? = try DatabaseLoop(server.conninfo())
        let peer = try server.accept { try loop?.turn(milliseconds: 10) }
        #expect(loop?.connection.isConnecting == true)
        loop = nil
        #expect(peer.readsToEnd())
    }

    @Test func aBlockingConnectionGivesUpAfterItsTimeout() throws {
        let server = try LoopbackListener()
        let conninfo = try server.conninfo(more: "connect_timeout=1")
        let error = try #require(throws: PostgresError.self) { try Connection(conninfo) }
        #expect(error.isConnectionLost)
        #expect(error.description.contains("timeout"))
    }

    @Test func aRefusedConnectionIsALoss() throws {
        var server: LoopbackListener? = try LoopbackListener()
        let conninfo = try #require(try server?.conninfo())
        server = nil
        #expect(throws: PostgresError.self) { try Connection(conninfo) }
        let loop = try DatabaseLoop(conninfo)
        #expect(try loop.untilLost().isConnectionLost)
    }
}

import HTTP1
import Reactor
import Testing

/// The HTTP/1.1 server against clients that are exact to the byte.
@Suite struct HTTP1ServerTests {
    private static func echo(_ request: HTTP1Request) {
        request.respond(
            HTTP1Response(
                status: 200, headers: [("x-method", String(decoding: request.method, as: UTF8.self))],
                body: request.target + [UInt8(ascii: " ")] + request.body))
    }

    @Test func aRequestComesWithAllThatWasSent() throws {
        let loop = try HTTP1Loop()
        let client = loop.connect()
        client.send("POST /a%20b?c=%2F&d HTTP/1.1\r\nHost: x\r\nX-Name:  Value \r\nContent-Length: 4\r\n\r\nbo")
        try loop.turn()
        #expect(loop.requests.isEmpty)
        client.send("dy")
        #expect(try loop.turn { !loop.requests.isEmpty })
        let request = try #require(loop.requests.first)
        #expect(request.method == Array("POST".utf8) && request.target == Array("/a%20b?c=%2F&d".utf8))
        #expect(request.header("x-name") == Array("Value".utf8) && request.header("x-other") == nil)
        #expect(request.body == Array("body".utf8) && !request.isBodyCut && !request.isGone)
        request.respond(HTTP1Response(status: 201, headers: [("x-a", "b")], body: [UInt8]("done".utf8)))
        #expect(try loop.turn { client.text().hasSuffix("done") })
        #expect(client.text().hasPrefix("HTTP/1.1 201 Created\r\n"))
        #expect(client.text().contains("x-a: b\r\n") && client.text().contains("Content-Length: 4\r\n"))
        #expect(try loop.turn { request.isGone })
        loop.close()
    }

    @Test func aConnectionIsKeptAndPipelinedRequestsAreAnsweredInOrder() throws {
        let loop = try HTTP1Loop()
        loop.answer = Self.echo
        let client = loop.connect()
        client.send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(try loop.turn { client.hasEnded })
        let text = client.text()
        let first = try #require(text.firstRange(of: "/1 "))
        let second = try #require(text.firstRange(of: "/2 "))
        #expect(first.lowerBound < second.lowerBound)
        #expect(try loop.turn { loop.server?.connectionCount == 0 })
        loop.close()
    }

    @Test func chunkedBodiesAndExpectAreUnderstood() throws {
        let loop = try HTTP1Loop()
        loop.answer = Self.echo
        let chunked = loop.connect()
        chunked.send(
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
        #expect(try loop.turn { chunked.text().hasSuffix("/ abcde") })
        let expecting = loop.connect()
        expecting.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        #expect(try loop.turn { expecting.text().hasPrefix("HTTP/1.1 100 Continue\r\n\r\n") })
        expecting.send("ok")
        #expect(try loop.turn { expecting.text().hasSuffix("/ ok") })
        loop.close()
    }

    @Test func aLateAnswerComesAndOthersGoOnMeanwhile() throws {
        let loop = try HTTP1Loop()
        let waiting = loop.connect()
        waiting.send("GET /late HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try loop.turn { loop.requests.count == 1 })
        let late = loop.requests[0]
        loop.answer = Self.echo
        let other = loop.connect()
        other.send("GET /now HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try loop.turn { other.text().hasSuffix("/now ") })
        #expect(waiting.text().isEmpty && !late.isGone)
        Self.echo(late)
        #expect(try loop.turn { waiting.text().hasSuffix("/late ") })
        Self.echo(late)
        loop.close()
    }

    @Test func aClientThatLeavesWhileItWaitsIsNoticed() throws {
        let loop = try HTTP1Loop()
        let client = loop.connect()
        client.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try loop.turn { loop.requests.count == 1 })
        var left = 0
        loop.requests[0].whenGone = { left += 1 }
        try loop.turn()
        client.close()
        #expect(try loop.turn { left == 1 })
        #expect(loop.requests[0].isGone)
        Self.echo(loop.requests[0])
        #expect(try loop.turn { loop.server?.connectionCount == 0 })
        #expect(left == 1)
        loop.close()
    }

    @Test func whatIsTooLongIsCutOrRefused() throws {
        var settings = HTTP1Settings()
        settings.maxBodyBytes = 1000
        settings.maxHeadBytes = 4096
        settings.bodyPatience = 4
        let loop = try HTTP1Loop(settings)
        let long = loop.connect()
        long.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3000\r\n\r\n" + String(repeating: "b", count: 3000))
        #expect(try loop.turn { loop.requests.count == 1 })
        #expect(loop.requests[0].isBodyCut && loop.requests[0].body.count == 1000)
        loop.answer = Self.echo
        let head = loop.connect()
        head.send("GET / HTTP/1.1\r\nHost: x\r\nX: " + String(repeating: "h", count: 8000) + "\r\n\r\n")
        #expect(try loop.turn { head.text().hasPrefix("HTTP/1.1 431") })
        let line = loop.connect()
        line.send("GET /" + String(repeating: "u", count: 8000) + " HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try loop.turn { line.text().hasPrefix("HTTP/1.1 414") })
        let endless = loop.connect()
        endless.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = [UInt8]("400\r\n".utf8) + [UInt8](repeating: 0x61, count: 1024) + [UInt8]("\r\n".utf8)
        #expect(
            try loop.turn {
                endless.send(chunk)
                return endless.hasEnded
            })
        loop.close()
    }

    @Test func moreConnectionsThanAllowedAreTurnedAway() throws {
        var settings = HTTP1Settings()
        settings.maxConnections = 2
        let loop = try HTTP1Loop(settings)
        loop.answer = Self.echo
        let clients = [loop.connect(), loop.connect(), loop.connect()]
        #expect(clients.map(\.isTaken) == [true, true, false])
        #expect(try loop.turn { clients[2].hasEnded })
        clients[0].close()
        #expect(try loop.turn { loop.server?.connectionCount == 1 })
        let next = loop.connect()
        next.send("GET /next HTTP/1.0\r\n\r\n")
        #expect(try loop.turn { next.text().hasSuffix("/next ") })
        loop.close()
    }

    @Test func anIdleConnectionAndATrickleEnd() throws {
        var settings = HTTP1Settings()
        settings.idleSeconds = 1
        settings.requestSeconds = 1
        let loop = try HTTP1Loop(settings)
        let idle = loop.connect()
        let trickle = loop.connect()
        trickle.send("GET / HTTP/1.1\r\nX: ")
        #expect(
            try loop.turn {
                trickle.send("y")
                return idle.hasEnded && trickle.hasEnded
            })
        loop.close()
    }

    @Test func aBodyCanDrip() throws {
        let loop = try HTTP1Loop()
        let client = loop.connect()
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try loop.turn { loop.requests.count == 1 })
        var response = HTTP1Response(status: 200, body: [UInt8]("drop".utf8))
        response.releasedBytes = 1
        let request = loop.requests[0]
        request.respond(response)
        for part in ["d", "dr", "dro"] {
            #expect(try loop.turn { client.text().hasSuffix("\r\n\r\n" + part) })
            try loop.turn()
            #expect(client.text().hasSuffix("\r\n\r\n" + part) && !request.isGone)
            #expect(request.release(1) == (part != "dro"))
        }
        #expect(try loop.turn { client.text().hasSuffix("\r\n\r\ndrop") })
        #expect(try loop.turn { request.isGone })
        #expect(!request.release(1))
        loop.close()
    }

    @Test func aConnectionIsCutInsteadOfAnswered() throws {
        let loop = try HTTP1Loop()
        loop.answer = { $0.cut() }
        let client = loop.connect()
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try loop.turn { client.hasEnded })
        #expect(client.received.isEmpty)
        loop.close()
    }

    @Test func closingLetsWaitersAndDripsGo() throws {
        let loop = try HTTP1Loop()
        let clients = [loop.connect(), loop.connect(), loop.connect()]
        clients[0].send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        clients[1].send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        clients[2].send("GET / HT")
        #expect(try loop.turn { loop.requests.count == 2 })
        var response = HTTP1Response(status: 200, body: [UInt8]("slow".utf8))
        response.releasedBytes = 1
        loop.requests[0].respond(response)
        try loop.turn()
        let waiting = loop.requests[1]
        loop.close()
        waiting.respond(response)
        #expect(clients.allSatisfy { $0.hasEnded })
    }

    @Test func nonsenseIsAnsweredOrCut() throws {
        let loop = try HTTP1Loop()
        loop.answer = Self.echo
        var seed: UInt64 = 42
        var clients: [(client: HTTP1Client, sent: String)] = []
        for round in 0..<300 {
            let client = loop.connect()
            var bytes = [UInt8]("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nX: y\r\n\r\nhello".utf8)
            for _ in 0..<(1 + round % 7) {
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let place = Int(seed >> 33) % bytes.count
                switch seed % 4 {
                case 0: bytes.remove(at: place)
                case 1: bytes[place] = 0
                case 2: bytes[place] = UInt8(truncatingIfNeeded: seed >> 40)
                default: bytes.insert(UInt8(ascii: "\r"), at: place)
                }
            }
            client.send(bytes)
            client.endOutput()
            clients.append((client, String(decoding: bytes, as: UTF8.self).debugDescription))
        }
        let haveEnded = try loop.turn { clients.allSatisfy { $0.client.hasEnded } }
        #expect(haveEnded, "\(clients.filter { !$0.client.hasEnded }.map(\.sent))")
        loop.close()
    }
}

import Glibc
import Reactor
import Testing

struct ReactorTests {
    let reactor: Reactor

    init() throws { reactor = try Reactor() }

    @Test func reportsEveryReadyDescriptorOnceATurn() throws {
        let pipes = try (0..<50).map { _ in try Pipe() }
        let sources = pipes.map { _ in Recorder() }
        for (pipe, source) in zip(pipes, sources) { try reactor.watch(pipe.reader, .read, source) }
        #expect(try reactor.wait(atMostNanoseconds: 0) == 0)
        for pipe in pipes[10..<40] { pipe.write("x") }
        #expect(try reactor.wait(atMostNanoseconds: 1_000_000_000) == 30)
        #expect(
            sources.map(\.calls) == Array(repeating: [], count: 10) + Array(repeating: [.read], count: 30)
                + Array(repeating: [], count: 10))
        // Level-triggered: nobody has read anything.
        #expect(try reactor.wait(atMostNanoseconds: 1_000_000_000) == 30)
    }

    @Test func interestCanChange() throws {
        let pipe = try Pipe()
        let source = Recorder()
        try reactor.watch(pipe.writer, [], source)
        #expect(try reactor.wait(atMostNanoseconds: 0) == 0)
        try reactor.watch(pipe.writer, .write, source)
        #expect(try reactor.wait(atMostNanoseconds: 1_000_000_000) == 1)
        try reactor.watch(pipe.writer, .read, source)
        #expect(try reactor.wait(atMostNanoseconds: 0) == 0)
        #expect(source.calls == [.write])
    }

    @Test func aHangUpCountsAsBoth() throws {
        let pipe = try Pipe()
        let source = Recorder()
        try reactor.watch(pipe.reader, [], source)
        pipe.closeWriter()
        #expect(try reactor.wait(atMostNanoseconds: 1_000_000_000) == 1)
        #expect(source.calls == [[.read, .write]])
    }

    @Test func eventsOfADescriptorThatWasUnwatchedInTheSameTurnAreDropped() throws {
        let pipes = try [Pipe(), Pipe()]
        let sources = [Recorder(), Recorder()]
        for index in 0..<2 {
            try reactor.watch(pipes[index].reader, .read, sources[index])
            pipes[index].write("x")
            let reactor = reactor
            let others = pipes.map(\.reader)
            // Whichever comes first takes both out.
            sources[index].action = { for descriptor in others { reactor.unwatch(descriptor) } }
        }
        #expect(try reactor.wait(atMostNanoseconds: 1_000_000_000) == 1)
        #expect(sources[0].calls.count + sources[1].calls.count == 1)
        #expect(try reactor.wait(atMostNanoseconds: 0) == 0)
    }

    @Test func eventsOfADescriptorThatGotANewOwnerInTheSameTurnAreDropped() throws {
        let pipes = try [Pipe(), Pipe()]
        let sources = [Recorder(), Recorder()]
        let heir = Recorder()
        for index in 0..<2 {
            try reactor.watch(pipes[index].reader, .read, sources[index])
            pipes[index].write("x")
            let reactor = reactor
            let other = pipes[1 - index].reader
            sources[index].action = { try? reactor.watch(other, .read, heir) }
        }
        #expect(try reactor.wait(atMostNanoseconds: 1_000_000_000) == 1)
        #expect(heir.calls.isEmpty)
        #expect(try reactor.wait(atMostNanoseconds: 1_000_000_000) == 2)
        #expect(heir.calls == [.read])
        // The actions hold the reactor, which holds the sources.
        for pipe in pipes { reactor.unwatch(pipe.reader) }
    }

    @Test func aNumberThatComesBackIsWatchedAnew() throws {
        let source = Recorder()
        let first = try Pipe()
        let number = first.reader
        try reactor.watch(number, .read, source)
        // Closed behind the reactor's back, as libpq does while it connects.
        let second = try Pipe()
        #expect(dup2(second.reader, number) == number)
        try reactor.watch(number, .read, source)
        second.write("x")
        #expect(try reactor.wait(atMostNanoseconds: 1_000_000_000) == 1)
        reactor.unwatch(number)
        #expect(try reactor.wait(atMostNanoseconds: 0) == 0)
    }

    @Test func keepsASourceUntilItIsUnwatched() throws {
        let pipe = try Pipe()
        var source: Recorder? = Recorder()
        weak let seen = source
        if let source { try reactor.watch(pipe.reader, .read, source) }
        source = nil
        #expect(seen != nil)
        reactor.unwatch(pipe.reader)
        #expect(seen == nil)
    }

    @Test func whatIsNoDescriptorIsAnError() throws {
        #expect(throws: ReactorError.self) { try reactor.watch(-1, .read, Recorder()) }
        let error = try #require(throws: ReactorError.self) { try reactor.watch(1_000_000, .read, Recorder()) }
        #expect(error.code == EBADF)
        #expect("\(error)" == "epoll_ctl: Bad file descriptor")
        reactor.unwatch(-1)
        reactor.unwatch(5_000_000)
    }

    @Test func theTimeIsWaitedForWhole() throws {
        let start = Reactor.now
        #expect(try reactor.wait(atMostNanoseconds: 3_000_001) == 0)
        #expect(Reactor.now - start >= 3_000_001)
    }
}

private final class Recorder: PollSource {
    var calls: [Interest] = []
    var action: () -> Void = {}

    func ready(_ readiness: Interest) {
        calls.append(readiness)
        action()
    }
}

private final class Pipe {
    let reader: Int32
    private(set) var writer: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        close(reader)
        closeWriter()
    }

    func write(_ text: String) { _ = Glibc.write(writer, text, text.utf8.count) }

    func closeWriter() {
        if writer >= 0 { close(writer) }
        writer = -1
    }
}

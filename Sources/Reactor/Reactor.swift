import CLinux
import Glibc

/// The only place that waits: one epoll instance, level-triggered, for one thread.
///
/// Keeps each source alive until it is unwatched. Not `Sendable`.
package final class Reactor {
    private struct Slot {
        var source: (any PollSource)?
        /// Grows whenever the descriptor gets another meaning, so that events collected before can be told apart.
        var generation: UInt32 = 0
    }

    /// Events taken from the kernel in one turn; the rest comes with the next one.
    private static let eventsPerTurn = 256

    private let epoll: Int32
    private let events: UnsafeMutablePointer<epoll_event>
    /// Indexed by descriptor: the kernel hands out the lowest free number, so this stays short.
    private var slots: [Slot] = []

    package init() throws(ReactorError) {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        events = .allocate(capacity: Self.eventsPerTurn)
        // All fields are set: a throw runs `deinit`.
        if epoll < 0 { throw ReactorError("epoll_create1") }
    }

    deinit {
        events.deallocate()
        if epoll >= 0 { close(epoll) }
    }

    /// Watches a descriptor, or changes what is waited for; with an empty interest only errors are reported.
    ///
    /// Always tells the kernel, so calling it again also helps where a descriptor was closed and its number came back.
    package func watch(_ descriptor: Int32, _ interest: Interest, _ source: any PollSource) throws(ReactorError) {
        guard descriptor >= 0 else {
            errno = EBADF
            throw ReactorError("watch")
        }
        let index = Int(descriptor)
        while slots.count <= index { slots.append(Slot()) }
        let isKnown = slots[index].source != nil
        if slots[index].source !== source { slots[index].generation &+= 1 }
        var mask: UInt32 = 0
        if interest.contains(.read) { mask |= EPOLLIN.rawValue }
        if interest.contains(.write) { mask |= EPOLLOUT.rawValue }
        if interest.contains(.end) { mask |= EPOLLRDHUP.rawValue }
        let data = UInt(slots[index].generation) << 32 | UInt(index)
        let first = isKnown ? EPOLL_CTL_MOD : EPOLL_CTL_ADD
        if linux_shim_epoll_ctl(epoll, first, descriptor, mask, data) != 0 {
            // The kernel forgets a descriptor when it is closed, and keeps one that is open elsewhere.
            let other = errno == ENOENT ? EPOLL_CTL_ADD : errno == EEXIST ? EPOLL_CTL_MOD : nil
            guard let other, linux_shim_epoll_ctl(epoll, other, descriptor, mask, data) == 0 else {
                let error = ReactorError("epoll_ctl")
                slots[index].source = nil
                throw error
            }
        }
        slots[index].source = source
    }

    /// Forgets a descriptor, open or closed; what was collected for it in this turn is not delivered any more.
    package func unwatch(_ descriptor: Int32) {
        let index = Int(descriptor)
        guard slots.indices.contains(index), slots[index].source != nil else { return }
        slots[index].source = nil
        slots[index].generation &+= 1
        // Fails where the descriptor is closed already, which has removed it.
        _ = linux_shim_epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, 0, 0)
    }

    /// One turn: waits until something is ready or the time is over, and calls `ready` of each source that is.
    ///
    /// - Parameter nanoseconds: 0 only looks, nil waits for ever; rounded up to a millisecond.
    /// - Returns: how many sources were called; 0 also when a signal interrupted the wait.
    @discardableResult
    package func wait(atMostNanoseconds nanoseconds: Int64?) throws(ReactorError) -> Int {
        var milliseconds: Int32 = -1
        if let nanoseconds {
            let (whole, rest) = max(0, nanoseconds).quotientAndRemainder(dividingBy: 1_000_000)
            milliseconds = Int32(clamping: whole + (rest > 0 ? 1 : 0))
        }
        let count = epoll_wait(epoll, events, Int32(Self.eventsPerTurn), milliseconds)
        guard count >= 0 else {
            if errno == EINTR { return 0 }
            throw ReactorError("epoll_wait")
        }
        var called = 0
        for position in 0..<Int(count) {
            let data = linux_shim_event_data(events + position)
            let index = Int(data & 0xffff_ffff)
            // A source called earlier in this turn may have unwatched this one, or given its number to another.
            guard slots.indices.contains(index), slots[index].generation == UInt32(truncatingIfNeeded: data >> 32),
                let source = slots[index].source
            else { continue }
            source.ready(Self.readiness(events[position].events))
            called += 1
        }
        return called
    }

    /// Monotonic time in nanoseconds since some fixed moment.
    package static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private static func readiness(_ mask: UInt32) -> Interest {
        if mask & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { return [.read, .write] }
        var readiness: Interest = []
        if mask & EPOLLIN.rawValue != 0 { readiness.insert(.read) }
        if mask & EPOLLOUT.rawValue != 0 { readiness.insert(.write) }
        if mask & EPOLLRDHUP.rawValue != 0 { readiness.insert(.end) }
        return readiness
    }
}

import CCurl
import Glibc
import Operations

/// What libcurl can do here at its best: one thread that posts, throws the answers away, and does nothing else.
///
/// On purpose no line of the sender is in it: a change for the worse in the wrappers must not lower what they are compared
/// with. Its levers: handles made once, one multi handle a connection, `curl_multi_socket_action` for the sockets that are
/// ready, `TCP_CORK` around each call so that headers and bodies leave together, a URL parsed once, no look for a proxy, no
/// `Accept`.
final class BareLoop {
    private let headers: UnsafeMutablePointer<curl_slist>?
    private let url: OpaquePointer?
    private let lanes: [BareLane]
    private let streams: Int

    init(_ sink: Sink, connections: Int, streams: Int) throws(Failure) {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in [
            "Authorization: Bearer \(sink.accessToken)", "Content-Type: application/json", "Accept:", "Expect:",
        ] { list = curl_slist_append(list, line) }
        headers = list
        url = curl_url()
        self.streams = streams
        let text = "\(sink.endpoint)/v1/projects/\(Sink.project)/messages:send"
        guard let url, curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK else {
            throw Failure(.software, "libcurl does not take \(text)", remedy: "please report this")
        }
        var lanes: [BareLane] = []
        for _ in 0..<connections {
            lanes.append(BareLane(streams: streams, url: url, headers: list, caFile: sink.caFile))
        }
        self.lanes = lanes
    }

    deinit {
        for lane in lanes { lane.close() }
        curl_slist_free_all(headers)
        if let url { curl_url_cleanup(url) }
    }

    /// Posts so many messages, and says what that took; connections that are open already are used.
    func post(_ count: Int, _ interruption: Interruption) throws(Failure) -> Sample {
        let began = Stopwatch()
        var started = 0
        var done = 0
        var turns = 0
        while done < count {
            // What has ended, by a timer too, makes room before the wait, which nothing else might end.
            var isIdle = false
            while !isIdle {
                isIdle = true
                for lane in lanes {
                    done += try lane.takeCompletions()
                    while started < count, lane.start(number: started) {
                        started += 1
                        isIdle = false
                    }
                    lane.serveTimer()
                    let ended = try lane.takeCompletions()
                    done += ended
                    if ended > 0 { isIdle = false }
                }
            }
            if done < count { wait() }
            turns += 1
            if turns % 256 == 0 { try interruption.check() }
        }
        return began.sample(messages: count)
    }

    private func wait() {
        var polls: [pollfd] = []
        var timeout: Int32 = 1_000
        for lane in lanes {
            timeout = min(timeout, lane.waitMilliseconds)
            for socket in lane.sockets {
                polls.append(pollfd(fd: socket.descriptor, events: socket.events, revents: 0))
            }
        }
        guard poll(&polls, nfds_t(polls.count), timeout) > 0 else { return }
        var index = 0
        for lane in lanes {
            let count = lane.sockets.count
            for ready in polls[index..<index + count] where ready.revents != 0 {
                lane.serve(ready.fd, ready.revents)
            }
            index += count
        }
    }
}

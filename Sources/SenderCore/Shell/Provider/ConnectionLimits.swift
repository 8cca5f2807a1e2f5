/// How many connections there are and how long each is used; times in nanoseconds.
struct ConnectionLimits {
    /// Connections at a time; while one is replaced, there is one more.
    var connections = 5
    /// Requests at a time on one that has shown HTTP/2.
    var streams = 100
    /// The age at which a connection is replaced; each has up to a tenth more or less, so that they do not go together.
    var age: Int64 = 3_600_000_000_000
    /// Requests after which a connection is replaced; 0 for any number.
    var requests = 1_000_000
    /// A connection idle for so long may have been dropped by something on the way: it carries one request until that is
    /// answered.
    var idle: Int64 = 5_000_000_000
    /// A connection that owes answers and has given none for so long gets no more requests: others go over a new one.
    var silence: Int64 = 5_000_000_000
}

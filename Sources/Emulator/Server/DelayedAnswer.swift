/// An answer that waits for its time; the client may be gone by then, which the ticket tells.
struct DelayedAnswer {
    let exchange: any Exchange
    let ticket: Int
    let head: AnswerHead
    let body: [UInt8]
}

/// Something with a descriptor that the reactor watches.
package protocol PollSource: AnyObject {
    /// The descriptor is ready; it may watch and unwatch anything from here, but not wait.
    ///
    /// An error or a hang-up counts as both read and write, whatever was waited for. The reactor is level-triggered: what
    /// is not dealt with is reported again by the next turn.
    func ready(_ readiness: Interest)
}

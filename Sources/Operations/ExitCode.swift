/// How a program ends: the codes of sysexits.h that Todoke uses, so that cron and systemd can tell the cases apart.
package enum ExitCode: Int32, Sendable {
    case ok = 0
    /// The command line is wrong.
    case usage = 64
    /// The input is wrong: a template, an audience, or rows of it; good rows were queued.
    case data = 65
    /// The database or the provider cannot be reached.
    case unavailable = 69
    /// A fault of the program itself.
    case software = 70
    /// Nothing is wrong for good: run it again.
    case temporary = 75
    /// Credentials, keys, files or the schema do not fit.
    case configuration = 78
}

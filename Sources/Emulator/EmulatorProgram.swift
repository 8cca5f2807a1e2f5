import HTTP2
import Operations
import Reactor
import Signing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The program behind the executable: takes its arguments and environment, gives back its exit code.
package enum EmulatorProgram {
    package static func run(arguments: [String], environment: [String: String]) -> Int32 {
        Program.run(EmulatorOptions.table, arguments: arguments, environment: environment) { options in
            let settings = try EmulatorOptions.settings(options)
            // A client that is gone shows as an error of the write, not as a signal.
            signal(SIGPIPE, SIG_IGN)
            SignalSource.block([SIGTERM, SIGINT])
            return try serve(settings)
        }
    }

    private static func serve(_ settings: EmulatorSettings) throws(Failure) -> ExitCode {
        do {
            let directory = try EmulatorDirectory(settings.directory)
            let serviceAccount = try ServiceAccount(project: settings.projects[0])
            let user = AuthorizedUser(project: settings.projects[0])
            let server = try EmulatorServer(
                settings: settings, directory: directory, serviceAccount: serviceAccount, user: user)
            try directory.write(
                "service-account.json", serviceAccount.json(endpoint: server.endpoint), isSecret: true)
            try directory.write("authorized_user.json", user.json(endpoint: server.endpoint), isSecret: true)
            try directory.write("endpoint", [UInt8]("\(server.endpoint)\n".utf8))
            if !settings.isQuiet {
                StandardStream.output.writeLine(
                    "fcm-emulator: serving \(settings.projects.joined(separator: ", ")) at \(server.endpoint)")
            }
            try server.run()
            if !settings.isQuiet { StandardStream.output.writeLine("fcm-emulator: \(server.summary)") }
            return .ok
        } catch let failure as Failure {
            throw failure
        } catch let error as HTTP2Error {
            throw error.failure
        } catch let error as ListenError {
            throw error.failure
        } catch {
            throw Failure(.software, "the emulator ended: \(error)", remedy: "report this")
        }
    }
}

extension HTTP2Error {
    /// The failure a person sees.
    fileprivate var failure: Failure {
        switch kind {
        case .system, .memory: Failure(.unavailable, message, remedy: "look at the limits of the process")
        case .tls: Failure(.software, message, remedy: "report this")
        }
    }
}

extension ListenError {
    /// The failure a person sees.
    fileprivate var failure: Failure {
        Failure(
            .unavailable, message,
            remedy: isAddressFault
                ? "choose another --listen, or port 0 for a free one" : "look at the limits of the process")
    }
}

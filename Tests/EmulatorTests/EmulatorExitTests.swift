import Foundation
import Testing

/// How the program ends when it cannot start: one line that names the remedy, and the right code.
@Suite struct EmulatorExitTests {
    @Test(arguments: [
        (["--directory", "/proc/nowhere/x"], 78, "--directory"),
        (["--directory", "/dev/null"], 78, "--directory"),
        (["--reset-by", "fire", "--directory", "/tmp"], 64, "fin, rst or silent"),
        (["--nonsense"], 64, "--help"),
        (["--listen", "127.0.0.1", "--directory", "/tmp"], 64, "HOST:PORT"),
        (["--goaway", "0", "--directory", "/tmp"], 64, "--goaway"),
        ([], 64, "--directory"),
    ])
    func aBadStartIsOneLine(arguments: [String], code: Int32, text: String) throws {
        let run = try Command.run(EmulatorProcess.executable.path, arguments)
        #expect(run.exitCode == code)
        #expect(run.errors.split(separator: "\n").count == 1 && run.errors.contains(text), "\(run.errors)")
    }

    @Test func aPortInUseIsUnavailable() throws {
        let emulator = try EmulatorProcess()
        let address = String(emulator.endpoint.dropFirst("https://".count))
        let directory = emulator.directory.appending(path: "other").path
        let run = try Command.run(
            EmulatorProcess.executable.path, ["--directory", directory, "--listen", address])
        #expect(run.exitCode == 69)
        #expect(run.errors.contains("Address already in use") && run.errors.contains("--listen"))
        #expect(!FileManager.default.fileExists(atPath: directory + "/endpoint"))
    }

    @Test func helpSaysWhatItIsAndWhichTokensAreGone() throws {
        let run = try Command.run(EmulatorProcess.executable.path, ["--help"])
        #expect(run.exitCode == 0 && run.output.contains("unregistered-") && run.output.contains("--goaway"))
    }
}

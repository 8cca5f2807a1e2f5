import CLibFuzzer

/// One program for all targets, so that everything is compiled once.
///
/// `todoke-fuzz --target=NAME` and libFuzzer's own arguments; `--list` prints the names. libFuzzer leaves what begins with
/// two dashes alone.
@main
struct Main {
    static func main() {
        if CommandLine.arguments.contains("--list") {
            for target in FuzzTarget.all { print(target.name, target.longest) }
            return
        }
        guard FuzzTarget.chosen != nil else {
            fail("name a target: --target=\(FuzzTarget.all.map { $0.name }.joined(separator: "|"))")
        }
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        // A pointer to `char **` that is never written; Swift's has optional elements.
        let code = withUnsafeMutablePointer(to: &arguments) { pointer in
            pointer.withMemoryRebound(to: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?.self, capacity: 1) {
                LLVMFuzzerRunDriver(&count, $0) { bytes, size in
                    FuzzTarget.chosen?.run(UnsafeBufferPointer(start: bytes, count: size).span)
                    return 0
                }
            }
        }
        if code != 0 { fail("libFuzzer ended with \(code)") }
    }
}

extension FuzzTarget {
    /// The one that the arguments name.
    static let chosen: FuzzTarget? = {
        let prefix = "--target="
        let name = CommandLine.arguments.first { $0.hasPrefix(prefix) }?.dropFirst(prefix.count)
        return all.first { $0.name == name ?? "" }
    }()
}

/// What the leak sanitizer must not report, asked for before `main`.
///
/// Constants are made once and kept, and Swift packs a tag into the pointers of some enums, by which the sanitizer does not
/// know them.
@_cdecl("__lsan_default_suppressions")
func leakSuppressions() -> UnsafePointer<CChar> {
    let text: StaticString = "leak:swift::threading_impl::once_slow\n"
    return UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}

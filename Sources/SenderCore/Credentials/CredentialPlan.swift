import Operations

/// Which app uses which credentials: one list of sources, and for each app an index into it.
struct CredentialPlan: Equatable {
    private(set) var sources: [CredentialSource] = []
    /// Parallel to the apps.
    private(set) var credentialOfApp: [Int] = []

    /// Reads the values of `--credentials`, `FILE` or `APP=FILE`.
    ///
    /// A value is a file as a whole where there is a file of that name, though it may hold a `=`; else what stands
    /// before the first `=` that gives an app's name is the app. Apps without a file of their own take the `FILE`
    /// without an app, and without one what ``DefaultCredentials`` finds, which is looked for only then.
    init(
        options: [String], apps: [String], environment: [String: String], isFile: (String) -> Bool
    ) throws(Failure) {
        var general: String?
        var own: [String: String] = [:]
        for value in options {
            guard !isFile(value), let (app, path) = Self.split(value, apps) else {
                if !isFile(value), let equals = value.firstIndex(of: "="), !value[..<equals].contains("/") {
                    throw Failure(
                        .usage,
                        "--credentials \(value): there is no such file, and \"\(value[..<equals])\" is no --app",
                        remedy: "give --credentials FILE, or --credentials APP=FILE for an app that --app names")
                }
                if value.isEmpty { throw Self.usage("--credentials is empty") }
                if general != nil { throw Self.usage("--credentials gives two files for all apps") }
                general = value
                continue
            }
            if path.isEmpty { throw Self.usage("--credentials \(value) names no file") }
            if own[app] != nil { throw Self.usage("--credentials gives two files for the app \"\(app)\"") }
            own[app] = path
        }
        for app in apps {
            let source: CredentialSource =
                if let path = own[app] ?? general {
                    .file(path, namedBy: "--credentials")
                } else {
                    try DefaultCredentials.find(environment)
                }
            if let known = sources.firstIndex(of: source) {
                credentialOfApp.append(known)
            } else {
                credentialOfApp.append(sources.count)
                sources.append(source)
            }
        }
    }

    /// At the first `=` whose left side is an app: names of apps may hold one too.
    private static func split(_ value: String, _ apps: [String]) -> (app: String, path: String)? {
        for index in value.indices where value[index] == "=" {
            let app = String(value[..<index])
            if apps.contains(app) { return (app, String(value[value.index(after: index)...])) }
        }
        return nil
    }

    private static func usage(_ what: String) -> Failure {
        Failure(.usage, what, remedy: "give one --credentials FILE for all apps, and --credentials APP=FILE for others")
    }
}

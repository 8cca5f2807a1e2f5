// swift-tools-version: 6.2
import PackageDescription

/// Swift 6 mode, upcoming features that make imports and existentials explicit, and no warning left standing.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// A module of the product: arrows point downwards only, see the architecture page in the documentation.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// An executable: twenty lines that call into its core module.
func tool(_ name: String, _ core: String) -> Target {
    .executableTarget(name: name, dependencies: [.init(stringLiteral: core), "Operations"], swiftSettings: strict)
}

/// A C library from the system's packages, found through pkg-config.
func system(_ name: String, _ pkgConfig: String?, apt: String? = nil, brew: String? = nil) -> Target {
    .systemLibrary(
        name: name, pkgConfig: pkgConfig,
        providers: (apt.map { [.apt([$0])] } ?? []) + (brew.map { [.brew([$0])] } ?? []))
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["TestSupport"], path: "Tests/\(name)", resources: resources,
        swiftSettings: strict)
}

/// The fuzz targets are built only where they are asked for, with flags of their own: see `deploy/lib/fuzz.sh`.
let fuzzing: [Target] =
    Context.environment["TODOKE_FUZZ"] == nil
    ? []
    : [
        .systemLibrary(name: "CLibFuzzer", path: "Tests/Fuzz/CLibFuzzer"),
        .executableTarget(
            name: "todoke-fuzz",
            dependencies: [
                "Delivery", "Operations", "Postgres", "Queue", "Rows", "Curl", "Signing", "ProducerCore", "SenderCore",
                "OperatorCore", "Emulator", "CCurl", "CLibFuzzer",
            ],
            path: "Tests/Fuzz", exclude: ["CLibFuzzer", "Corpus", "Dictionaries"], swiftSettings: strict),
    ]

let package = Package(
    name: "todoke",
    products: [
        .executable(name: "todoke-producer", targets: ["todoke-producer"]),
        .executable(name: "todoke-sender", targets: ["todoke-sender"]),
        .executable(name: "todoke", targets: ["todoke"]),
        .executable(name: "fcm-emulator", targets: ["fcm-emulator"]),
        .executable(name: "todoke-bench", targets: ["todoke-bench"]),
    ],
    targets: [
        // The pure core: no C, no I/O, no clock.
        module("Delivery"),

        // How a process is run: options, log, exit codes.
        module("Operations"),

        // C libraries.
        system("CLibPQ", "libpq", apt: "libpq-dev", brew: "libpq"),
        system("CCurl", "libcurl", apt: "libcurl4-openssl-dev", brew: "curl"),
        system("CCrypto", "libcrypto", apt: "libssl-dev", brew: "openssl"),
        system("CTLS", "libssl", apt: "libssl-dev", brew: "openssl"),
        system("CNGHTTP2", "libnghttp2", apt: "libnghttp2-dev", brew: "libnghttp2"),
        system("CMicroHTTPD", "libmicrohttpd", apt: "libmicrohttpd-dev", brew: "libmicrohttpd"),
        system("CLinux", nil),

        // One Swift module for each C library; nobody else sees the C.
        module("Postgres", ["CLibPQ"]),
        module("Curl", ["CCurl"]),
        module("Reactor", ["CLinux"]),
        module("Signing", ["CCrypto", "Delivery"]),
        module("HTTP2", ["CNGHTTP2", "CTLS", "CCrypto"]),
        module("HTTP1", ["CMicroHTTPD", "Reactor"]),

        // Files of rows: CSV and NDJSON, one row at a time.
        module("Rows", ["Delivery", "Operations"]),

        // Rows and their states.
        module("Queue", ["Postgres", "Delivery", "Operations"]),

        // What each program does.
        module("ProducerCore", ["Queue", "Postgres", "Rows", "Signing", "Delivery", "Operations"]),
        module("SenderCore", ["Queue", "Postgres", "Curl", "HTTP1", "Reactor", "Signing", "Delivery", "Operations"]),
        module("OperatorCore", ["Queue", "Postgres", "Rows", "Delivery", "Operations"]),
        module("Emulator", ["HTTP2", "HTTP1", "Reactor", "Signing", "Delivery", "Operations"]),

        tool("todoke-producer", "ProducerCore"),
        tool("todoke-sender", "SenderCore"),
        tool("todoke", "OperatorCore"),
        tool("fcm-emulator", "Emulator"),

        // For developers: what the sender does, next to what libcurl can do.
        module("BenchCore", ["Queue", "Postgres", "Curl", "CCurl", "Signing", "Delivery", "Operations"]),
        tool("todoke-bench", "BenchCore"),

        // Tests mirror the modules.
        .target(
            name: "TestSupport", dependencies: ["Postgres", "Queue"], path: "Tests/TestSupport",
            swiftSettings: strict),
        tests("DeliveryTests", ["Delivery"], resources: [.copy("Vectors")]),
        tests("OperationsTests", ["Operations"]),
        tests("WrapperTests", ["Postgres", "Curl", "Reactor", "Signing", "HTTP2", "HTTP1"]),
        tests(
            "QueueTests", ["Queue", "Postgres", "Delivery", "Operations"],
            resources: [.copy("Schema/schema.sql"), .copy("Upgrades/sender-of-6.sql")]),
        tests(
            "SenderCoreTests",
            ["SenderCore", "Queue", "Curl", "HTTP1", "Reactor", "Signing", "Delivery", "Operations", "Postgres"]),
        tests("ProducerCoreTests", ["ProducerCore", "Rows", "Queue", "Delivery"]),
        tests("OperatorCoreTests", ["OperatorCore", "Operations", "Postgres", "Delivery"]),
        tests("EmulatorTests", ["Emulator", "Signing"]),
        tests("BenchCoreTests", ["BenchCore", "Delivery", "Operations"]),
        tests("EndToEndTests", ["Postgres", "Signing"]),
    ] + fuzzing,
    swiftLanguageModes: [.v6]
)

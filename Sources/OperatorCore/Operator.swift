/// The program behind the executable: takes its arguments and environment, gives back its exit code.
package enum Operator {
    package static func run(arguments: [String], environment: [String: String]) -> Int32 { 70 }
}

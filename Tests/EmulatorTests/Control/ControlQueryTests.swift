import Testing

@testable import Emulator

@Suite struct ControlQueryTests {
    @Test(arguments: [
        ("a=%41+b", "A b"), ("a=%zz", "%zz"), ("a=%4", "%4"), ("a=%", "%"), ("a=%+1", "% 1"), ("a=%-0", "%-0"),
        ("a=%c3%A9", "é"),
    ])
    func whatIsNoEscapeStaysAsItIs(query: String, value: String) {
        #expect(ControlQuery(Array("/messages?\(query)".utf8)).value("a") == value)
    }
}

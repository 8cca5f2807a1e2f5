/// The version all programs of this package share.
package enum Version {
    package static let current = "0.1.0"
}

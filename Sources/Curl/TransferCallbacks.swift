import CCurl
import Glibc

// C function pointers capture nothing; the context is the transfer, which its multi handle keeps alive meanwhile.

func receiveBody(
    _ data: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let kept = min(size * count, max(0, transfer.maximumResponseBytes - transfer.response.count))
    transfer.response.append(contentsOf: UnsafeRawBufferPointer(start: data, count: kept))
    return size * count
}

func countIssue(
    _ context: UnsafeMutableRawPointer?, _ remote: UnsafeMutablePointer<CChar>?, _ local: UnsafeMutablePointer<CChar>?,
    _ remotePort: Int32, _ localPort: Int32
) -> Int32 {
    guard let context else { return CURL_PREREQFUNC_ABORT }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    guard transfer.issues < transfer.maximumIssues else {
        transfer.wasReissueRefused = true
        return CURL_PREREQFUNC_ABORT
    }
    transfer.issues += 1
    if let log = transfer.owner?.log {
        log.hasIssued = true
        if transfer.issues == 1 { log.issued += 1 }
    }
    return CURL_PREREQFUNC_OK
}

/// Opens a socket, or tells a transfer whose multi handle connects once that there is no other connection.
func openSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context, let address = address?.pointee else { return CURL_SOCKET_BAD }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    guard let log = transfer.owner?.log else { return CURL_SOCKET_BAD }
    guard !log.connectsOnce || !log.hasIssued else {
        if transfer.needsConnection == nil {
            // The buffer has libcurl's words on what went wrong with the old connection, if anything did; but where
            // another transfer came upon it, or a stream was reset at the same moment, only the kernel knows.
            transfer.needsConnection =
                transfer.issues == 0
                ? .beforeIssue : transfer.errorBuffer[0] == 0 && log.isSound ? .refused : .connectionDied
        }
        return CURL_SOCKET_BAD
    }
    let descriptor = socket(address.family, address.socktype | Int32(SOCK_CLOEXEC.rawValue), address.protocol)
    guard descriptor >= 0 else { return CURL_SOCKET_BAD }
    var limit = Int32(clamping: transfer.unacknowledgedLimit)
    // Where the system does not know the option, its own limit holds.
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &limit, socklen_t(MemoryLayout<Int32>.size))
    log.opened(descriptor)
    return descriptor
}

/// Closes a socket of the connection whose multi handle reports to this log.
func closeSocket(_ context: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t) -> Int32 {
    if let context { Unmanaged<SocketLog>.fromOpaque(context).takeUnretainedValue().willClose(descriptor) }
    return close(descriptor)
}

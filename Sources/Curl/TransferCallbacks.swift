import CCurl

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

func receiveHeader(
    _ data: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    transfer.head.append(UnsafeRawBufferPointer(start: data, count: size * count))
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
    return CURL_PREREQFUNC_OK
}

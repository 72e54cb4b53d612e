import HTTPTypes
import Inflation

/// Bodies that a server compressed although it was asked not to (RFC 9110 §8.4).
enum ContentCoding {
    /// The limit for text that only an operator reads, which may exceed the limit of a reply.
    private static let mostSalvaged = 1 << 20

    /// The decompressed body. A body counts as compressed if the header says so, or if it begins like gzip, because no
    /// JSON does.
    ///
    /// - Throws: the error of the request: the body exceeds the limit, or does not match its header.
    static func decoded(_ reply: HTTPReply, limit: Int) throws(HTTPTransportError) -> HTTPReply {
        var codings = reply.response.headerFields[values: .contentEncoding]
            .flatMap { $0.split(separator: ",") }.map { $0.filter { !$0.isWhitespace }.lowercased() }
            .filter { $0 != "identity" && !$0.isEmpty }
        let isPackedUnsaid = codings.isEmpty && beginsAsGzip(reply.body)
        if isPackedUnsaid { codings = ["gzip"] }
        guard !codings.isEmpty, !reply.body.isEmpty else { return reply }
        guard codings.count == 1 else { return try unpacked(reply) }
        guard ["gzip", "x-gzip", "deflate"].contains(codings[0]) else { return try unpacked(reply) }
        var decoded = reply
        do throws(Inflater.Failure) {
            switch codings[0] {
            case "gzip", "x-gzip":
                // Some servers keep the header of a body that a proxy decompressed.
                guard beginsAsGzip(reply.body) else { return reply }
                decoded.body = try Inflater.inflate(reply.body, .gzip, limit: limit)
            default: decoded.body = try inflated(reply.body, limit: limit)
            }
        } catch {
            throw HTTPTransportError(.maybeSent, error == .tooLarge ? .tooLarge : .undecodable, received: reply)
        }
        return decoded
    }

    /// The reply of a server that names an unknown coding, or several, but compressed nothing: JSON begins with a
    /// brace.
    private static func unpacked(_ reply: HTTPReply) throws(HTTPTransportError) -> HTTPReply {
        let space: Set<UInt8> = [0x09, 0x0A, 0x0D, 0x20]
        guard reply.body.first(where: { !space.contains($0) }) == UInt8(ascii: "{") else {
            throw HTTPTransportError(.maybeSent, .undecodable, received: reply)
        }
        return reply
    }

    /// The readable part of a stored body, complete or not, whatever its header said. An uncompressed body is returned
    /// unchanged.
    static func salvaged(_ body: [UInt8]) -> [UInt8] {
        guard beginsAsGzip(body) || beginsAsZlib(body) else { return body }
        do throws(Inflater.Failure) {
            return try Inflater.inflate(body, beginsAsGzip(body) ? .gzip : .zlib, limit: mostSalvaged)
        } catch {
            guard case .damaged(let part) = error, !part.isEmpty else { return body }
            return part
        }
    }

    private static func inflated(_ body: [UInt8], limit: Int) throws(Inflater.Failure) -> [UInt8] {
        guard beginsAsZlib(body) else { return try Inflater.inflate(body, .bare, limit: limit) }
        do throws(Inflater.Failure) { return try Inflater.inflate(body, .zlib, limit: limit) } catch {
            guard error != .tooLarge else { throw error }
            return try Inflater.inflate(body, .bare, limit: limit)
        }
    }

    private static func beginsAsGzip(_ body: [UInt8]) -> Bool { body.starts(with: [0x1F, 0x8B]) }

    /// RFC 1950 §2.2: deflate with a window of up to 32 KiB, and a check value for the two bytes.
    private static func beginsAsZlib(_ body: [UInt8]) -> Bool {
        guard body.count >= 2, body[0] & 0x0F == 8, body[0] >> 4 <= 7 else { return false }
        return (Int(body[0]) << 8 | Int(body[1])) % 31 == 0
    }
}

extension HTTPTransport {
    /// Sends every request of this module: asks for an uncompressed body, and decompresses one that is compressed.
    func exchange(
        _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits, showing certificate: ClientCertificate? = nil
    ) async throws(HTTPTransportError) -> HTTPReply {
        var request = request
        // Without this field any coding is acceptable (RFC 9110 §12.5.3).
        request.headerFields[.acceptEncoding] = "identity"
        let reply = try await send(request, body: body, limits: limits, showing: certificate)
        do throws(HTTPTransportError) {
            return try ContentCoding.decoded(reply, limit: limits.bodyBytes)
        } catch {
            // Any other status is meaningful without a body.
            guard (200...299).contains(reply.response.status.code) else { return reply }
            throw error
        }
    }
}

// What stands before a Temporal that asks for API keys, as Temporal Cloud does: it passes calls on that have a key, and
// refuses others.
import { type ClientHttp2Session, connect, constants, createServer, type ServerHttp2Session } from 'node:http2';
import { listen } from './listen.ts';

const { HTTP2_HEADER_PATH, HTTP2_HEADER_STATUS, HTTP2_HEADER_CONTENT_TYPE } = constants;
// The gRPC status UNAUTHENTICATED.
const UNAUTHENTICATED = '16';

/** @param temporalAddress a Temporal without keys of its own */
export async function startTemporalGateway(temporalAddress: string, firstKey: string) {
  let taken = firstKey;
  const refused: string[] = [];
  const sessions = new Set<ServerHttp2Session | ClientHttp2Session>();
  const upstream = connect(`http://${temporalAddress}`);
  sessions.add(upstream);
  const server = createServer();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => undefined).on('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    if (headers.authorization !== `Bearer ${taken}`) {
      refused.push(String(headers[HTTP2_HEADER_PATH]));
      const refusal = { 'grpc-status': UNAUTHENTICATED, 'grpc-message': 'the key is not taken' };
      stream.respond(
        { [HTTP2_HEADER_STATUS]: 200, [HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc', ...refusal },
        { endStream: true },
      );
      stream.resume();
      return;
    }
    const { authorization: _, ...others } = headers;
    const call = upstream.request(others);
    call.on('error', () => stream.close());
    stream.on('close', () => call.close(constants.NGHTTP2_CANCEL));
    stream.pipe(call);
    let trailers = {};
    call.on('trailers', (those) => {
      trailers = those;
    });
    call.on('response', (answer, flags) => {
      if (stream.destroyed) return;
      if (flags & constants.NGHTTP2_FLAG_END_STREAM) return stream.respond(answer, { endStream: true });
      stream.on('wantTrailers', () => stream.sendTrailers(trailers));
      stream.respond(answer, { waitForTrailers: true });
      call.pipe(stream);
    });
  });
  const { port, close } = await listen(server);
  return {
    /** For TEMPORAL_ADDRESS, with TEMPORAL_TLS=false. */
    address: `127.0.0.1:${port}`,
    /** The only key that is taken from now on. */
    takeOnly(key: string) {
      taken = key;
    },
    /** Calls that had another key, by their paths. */
    refused,
    async close() {
      for (const session of sessions) session.destroy();
      await close();
    },
  };
}

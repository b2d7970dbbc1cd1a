// A way to an object store that can be shut and opened again, at an address that stays.
import { connect, createServer, type Socket } from 'node:net';
import { listen } from '../servers/listen.ts';

/** `down`: connections are refused service at once; `mute`: what is sent arrives, and no answer comes back. */
export type GateMode = 'open' | 'down' | 'mute';

export type StoreGate = Awaited<ReturnType<typeof startStoreGate>>;

/** @param target `host:port` of the store */
export async function startStoreGate(target: string) {
  const [host = '', port = ''] = target.split(':');
  const sockets = new Set<Socket>();
  const endAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    if (mode === 'down') {
      client.destroy();
      return;
    }
    const store = connect(Number(port), host);
    for (const socket of [client, store]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        // The store may close a connection with its answer, and the client is not to hear of that either.
        if (mode === 'mute' && socket === store) return;
        client.destroy();
        store.destroy();
      });
    }
    client.on('data', (bytes: Buffer) => {
      if (left > 0) store.write(bytes);
      left -= bytes.length;
    });
    store.on('data', (bytes: Buffer) => {
      if (mode !== 'mute' && left > 0) client.write(bytes);
    });
  });
  let mode: GateMode = 'open';
  let left = Number.POSITIVE_INFINITY;
  const { url, close } = await listen(server);
  return {
    /** `http://host:port`, instead of the store's own. */
    url,
    get mode(): GateMode {
      return mode;
    },
    set mode(next: GateMode) {
      mode = next;
      left = Number.POSITIVE_INFINITY;
      if (next === 'down') endAll();
    },
    /** Lets so many bytes more through to the store, then nothing either way, until the mode is set. */
    stopAfter(bytes: number) {
      left = bytes;
    },
    get isStopped() {
      return left <= 0;
    },
    close,
  };
}

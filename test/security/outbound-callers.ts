// Everything that connects to an address somebody else chose, as tests call it: one row a caller. All of them go
// through the address guard (docs/operate/security.md, "Network out").
import { createSender } from '../../outbound/http/sender.ts';
import { type Resolve, systemResolve } from '../../outbound/http/guarded-connect.ts';
import { createWarehouses } from '../../outbound/warehouses/index.ts';
import { request } from '../http/senders.ts';
import { caseOf, targetOf } from '../support/warehouse/warehouse-targets.ts';

export interface CallOptions {
  allow?: string[];
  resolve?: Resolve;
  timeoutMs?: number;
}

export interface Outcome {
  /** An answer came that counts as a success. */
  ok: boolean;
  /** The guard said no. */
  refused: boolean;
  message: string;
}

export interface Caller {
  name: string;
  /** Makes a client, which is used for every call until it is closed. */
  open(options?: CallOptions): { call(url: string): Promise<Outcome>; close(): Promise<void> };
}

const DEADLINE_MS = 10_000;

/** Deliveries, probes and test sends: all by one sender. */
const sender: Caller = {
  name: 'deliveries and test sends',
  open({ allow = ['127.0.0.1'], resolve = systemResolve, timeoutMs = DEADLINE_MS } = {}) {
    const client = createSender({ allow, resolve });
    return {
      async call(url) {
        const result = await client.send(request(url, { timeoutMs }));
        if (result.kind === 'response')
          return { ok: result.statusCode === 200, refused: false, message: result.bodyText };
        return { ok: false, refused: result.code === 'ADDRESS_REFUSED', message: result.detail };
      },
      close: () => client.close(),
    };
  },
};

/** Uploads and test uploads. */
const warehouses: Caller[] = (['s3', 'r2', 'gcs', 'azure_blob'] as const).map((type) => {
  const provider = caseOf(type);
  return {
    name: `uploads to ${type}`,
    open({ allow = ['127.0.0.1'], resolve = systemResolve, timeoutMs = DEADLINE_MS } = {}) {
      const client = createWarehouses({ allow, resolve });
      const object = { key: 'a.jsonl', body: Buffer.from('{}\n'), contentType: 'application/x-ndjson', metadata: {} };
      return {
        async call(url) {
          const result = await client.put(targetOf(provider, url), object, timeoutMs);
          if (result.ok) return { ok: true, refused: false, message: '' };
          return { ok: false, refused: result.kind === 'refused', message: result.detail };
        },
        close: () => client.close(),
      };
    },
  };
});

export const callers: Caller[] = [sender, ...warehouses];

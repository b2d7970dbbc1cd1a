// What requests to destinations are built of.
import type { OutboundInput } from '../../outbound/http/outbound-request.ts';

/** A first attempt without credentials; its event has no headers of a sender but the content type. */
export const outboundInput = (
  destination: Partial<OutboundInput['destination']> = {},
  rest: Partial<OutboundInput> = {},
): OutboundInput => ({
  destination: {
    ...{ method: 'POST', url: 'https://crm.example/hook', headers: {}, timeoutMs: 30_000 },
    ...{ authType: 'none', authConfig: null, forwardHeaders: null, forwardQuery: false, forwardPath: false },
    ...{ signingSecret: null, previousSigningSecret: null, previousSigningSecretUntil: null },
    ...destination,
  },
  event: {
    ...{ id: 'evt_1', headers: { 'content-type': 'application/json' }, address: { path: '', query: '' } },
    body: Buffer.from('{}'),
  },
  ...{ delivery: { id: 'dlv_1' }, attempt: 1, source: { slug: 'orders' } },
  ...{ headerPrefix: 'X-Hookyard-', version: '0.1.0', nowMs: 0 },
  ...rest,
});

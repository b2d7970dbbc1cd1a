// What a provider is: data. A new one is a file beside this one, a line in all.ts, and a signer in
// test/support/providers/provider-signers.ts. Facts, and the form of the samples, come from the provider's own
// documentation, which `docs` names.
import type { SourceAnswer } from '../core/ingest/source-answer.ts';
import type { Handshake } from '../core/verification/handshakes.ts';
import type { Scheme } from '../core/verification/index.ts';

export { hmacOf } from '../core/verification/header-signature.ts';

/** Where something stands in a webhook: in a header, or at a path of the payload. */
export type Place = { header: string } | { payload: string };

export type DuplicateKey = { header: string } | { jsonPath: string } | { signature: true };

export interface Sample {
  event: string;
  /**
   * Beside those of the signature; without a Content-Type it is JSON. What stands for an id or a time is replaced
   * (sample.ts).
   */
  headers?: Record<string, string>;
  /** An object is sent as JSON, text as it is. The same is replaced. */
  body: object | string;
  /** It asks whether the address is the owner's, and is no event. */
  isHandshake?: true;
}

export interface Provider {
  name: string;
  title: string;
  docs: string;
  verification: Scheme;
  secret: {
    /** What the owner enters as `verificationConfig.secret`; null: the provider sends it in its handshake. */
    is: string | null;
    /**
     * Below so many characters there is a warning: where the provider makes shorter ones than others; 1 where it is
     * none to guess.
     */
    shortest?: number;
  };
  /** What the owner enters as `verificationConfig.verifyToken`, where the handshake asks for it. */
  verifyToken?: string;
  eventType?: Place;
  eventId?: Place;
  /** What identifies duplicates, to be set as the `idempotencyKey` of a source: by default the `eventId`; null: nothing. */
  dedup?: DuplicateKey | null;
  handshakes?: readonly Handshake[];
  /** What the provider wants as the answer to a webhook, where the default of Hookyard is not it. */
  answer?: SourceAnswer;
  /** Whether the provider wants no body with the answer to a wrong signature either. */
  refusal?: 'empty';
  /** How the owner connects it, in a few sentences. */
  instructions: string;
  samples: readonly [Sample, ...Sample[]];
}

/** Who sends to a source: how its webhooks are verified, and what it wants to have answered. */
export type Sender = Pick<Provider, 'verification' | 'handshakes' | 'answer' | 'refusal'>;

// Answers that several providers want.
/** 200 without a body. */
export const EMPTY: SourceAnswer = { status: 200, body: '', contentType: 'text/plain' };

/** 204, which has no body. */
export const NO_CONTENT: SourceAnswer = { status: 204, body: '', contentType: 'text/plain' };

// Management requests with an Idempotency-Key. The row is claimed before the request runs and holds its answer
// afterwards, so that any API process recognizes a repeat, and only one of several concurrent requests runs.
import { randomUUID } from 'node:crypto';
import type { Pool, Queryable } from '../connections/pool.ts';
import { forgetStep, Stride } from '../sql/ranges.ts';
import { fragment, raw, sql } from '../connections/statements.ts';

const KEPT_HOURS = 24;
/** How long a claim is valid without a renewal, in seconds: a repeat waits this long after a crash. */
const LEASE_SECONDS = 30;
const leaseEnd = fragment`now() + make_interval(secs => ${raw(LEASE_SECONDS)})`;
/** How often the claim of a running request is renewed, ms. */
export const RENEW_MS = 10_000;
const FORGETTING = new Stride(5000);
const REQUESTS = { table: 'idempotent_requests', key: 'organization_id, id' };
const MAX_TRIES = 5;

export interface IdempotentRequest {
  organizationId: string;
  /** SHA-256 of the operation, its parameters and the key. */
  id: Buffer;
  /** SHA-256 of the body. */
  bodyHash: Buffer;
  scopes: string[];
}

/** The right to run a request; it is lost when it is not renewed. */
export interface Claim extends IdempotentRequest {
  lease: string;
}

export type Claimed =
  /** The caller must run it. */
  | { kind: 'claimed'; claim: Claim }
  /** It was answered; `answer` is still encrypted, `scopes` are those of the API key that got it. */
  | { kind: 'answered'; answer: string; scopes: string[] }
  /** Another one runs it, or was running it less than the lease ago. */
  | { kind: 'running' }
  | { kind: 'reused' };

/**
 * Claims a request, or returns its state.
 * @throws a database error
 */
export async function claimRequest(pool: Pool, request: IdempotentRequest): Promise<Claimed> {
  const { organizationId, id, bodyHash, scopes } = request;
  const lease = randomUUID();
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    // Takes over expired rows, and rows of crashed processes. The row lock of the conflicting insert serializes
    // concurrent requests; only the first of them finds an expired lease.
    const isClaimed = await sql(pool).any`
      insert into idempotent_requests as r (organization_id, id, body_hash, scopes, lease, leased_until, expires_at)
      values (${organizationId}, ${id}, ${bodyHash}, ${scopes}, ${lease}, ${leaseEnd},
        now() + make_interval(hours => ${raw(KEPT_HOURS)}))
      on conflict (organization_id, id) do update
      set body_hash = excluded.body_hash, scopes = excluded.scopes, lease = excluded.lease,
          leased_until = excluded.leased_until, answer = null, expires_at = excluded.expires_at
      where r.expires_at <= now()
        or (r.answer is null and r.leased_until <= now() and r.body_hash = excluded.body_hash)
      returning r.lease`;
    if (isClaimed) return { kind: 'claimed', claim: { ...request, lease } };
    const found = await sql(pool).first<{ bodyHash: Buffer; scopes: string[]; answer: string | null }>`
      select body_hash, scopes, answer from idempotent_requests
      where organization_id = ${organizationId} and id = ${id}`;
    // It ended between the two statements without a stored answer: the next try claims it.
    if (!found) continue;
    if (!found.bodyHash.equals(bodyHash)) return { kind: 'reused' };
    return found.answer === null
      ? { kind: 'running' }
      : { kind: 'answered', answer: found.answer, scopes: found.scopes };
  }
  return { kind: 'running' };
}

const ownedBy = ({ organizationId, id, lease }: Claim) =>
  fragment`organization_id = ${organizationId} and id = ${id} and lease = ${lease} and answer is null`;

export async function renewClaim(db: Queryable, claim: Claim): Promise<void> {
  await sql(db).run`update idempotent_requests set leased_until = ${leaseEnd} where ${ownedBy(claim)}`;
}

/** Stores the answer of a request, unless the claim was lost meanwhile. @param answer encrypted */
export async function keepAnswer(db: Queryable, claim: Claim, answer: string): Promise<void> {
  await sql(db).run`update idempotent_requests set answer = ${answer} where ${ownedBy(claim)}`;
}

/** Releases a request whose answer is not stored: a repeat runs it again at once. */
export async function releaseClaim(db: Queryable, claim: Claim): Promise<void> {
  await sql(db).run`delete from idempotent_requests where ${ownedBy(claim)}`;
}

/** Deletes expired rows, in bounded steps. @returns true when there may be more */
export function forgetIdempotentRequests(db: Queryable): Promise<boolean> {
  // Locked rows are skipped: one that a claim takes over at this moment must not be deleted afterwards. What else is
  // locked waits for the next round.
  return forgetStep(db, FORGETTING, REQUESTS, fragment`expires_at <= now() order by expires_at`);
}

// When a route sends a mail, and about which deliveries. Outcomes collect in drafts, one for each kind of mail and
// destination; a mail takes all drafts of its kind that are ready.
import { z } from 'zod';
import type { ErrorSummary } from '../text/error-summary.ts';

export type MailKind = 'failure' | 'recovery' | 'success';

const MINUTE_MS = 60_000;
/** How long outcomes collect before their mail, and the shortest time between two mails of a kind, ms. */
const COLLECTS_MS: Record<MailKind, number> = { failure: 0, recovery: 0, success: MINUTE_MS };
const SPACING_MS: Record<MailKind, number> = { failure: 5 * MINUTE_MS, recovery: 5 * MINUTE_MS, success: MINUTE_MS };
// A mail that is under way says nothing when it ends.
const LOOK_AGAIN_MS = MINUTE_MS;

export interface OutcomeFacts {
  source_id: string;
  destination_id: string;
  event_id: string;
  delivery_id: string;
  attempts: number;
  status_code: number | null;
  /** What the mail and the log may contain of its error. */
  error_summary: ErrorSummary | null;
  /** When the delivery ended, ISO 8601. */
  at: string;
  circuit_open?: boolean;
}

export interface Draft {
  id: string;
  /** Deliveries; of a recovery those that have failed, 0 if only the circuit was open. */
  count: number;
  since: Date;
  lastAt: Date;
  /** Of the latest; of a recovery the latest that succeeded. Null: none has. */
  facts: OutcomeFacts | null;
}

export interface RouteMail {
  count: number;
  /** When the first of them ended, ISO 8601. */
  since: string;
  facts: OutcomeFacts;
  /** Of a recovery: the deliveries that had failed before it, and when the first of them did, ISO 8601. */
  failedBefore: { count: number; since: string } | null;
}

/** The mail of these drafts; or when to look again, null: with the next delivery. */
export type MailDecision = { send: RouteMail; of: Draft[] } | { at: Date | null };

/** @param last when the last mail of the kind was sent; `under way` while one is; null: none lately */
export function decideMail(kind: MailKind, drafts: Draft[], last: Date | 'under way' | null, now: Date): MailDecision {
  const ready = drafts.filter((draft) => isReady(kind, draft));
  const latest = ready.toSorted((one, other) => Date.parse(timeOf(one)) - Date.parse(timeOf(other))).at(-1);
  if (!latest?.facts) return { at: null };
  if (last === 'under way') return { at: new Date(now.getTime() + LOOK_AGAIN_MS) };
  const since = Math.min(...ready.map((draft) => draft.since.getTime()));
  const at = Math.max(since + COLLECTS_MS[kind], last === null ? 0 : last.getTime() + SPACING_MS[kind]);
  if (at > now.getTime()) return { at: new Date(at) };
  const isRecovery = kind === 'recovery';
  const send = {
    count: isRecovery ? ready.length : ready.reduce((sum, { count }) => sum + count, 0),
    since: new Date(since).toISOString(),
    facts: latest.facts,
    failedBefore: isRecovery ? { count: latest.count, since: latest.since.toISOString() } : null,
  };
  return { send, of: ready };
}

/** Until when a mail that was sent keeps the next one of its kind waiting. */
export const quietUntil = (kind: MailKind, sentAt: Date): Date => new Date(sentAt.getTime() + SPACING_MS[kind]);

const timeOf = ({ facts }: Draft): string => facts?.at ?? '';

/**
 * A destination has not recovered when it has failed again, nor while the circuit of the route is open: a single probe
 * that succeeds is no recovery.
 */
export function isReady(kind: MailKind, { facts, lastAt }: Draft): boolean {
  if (facts === null) return false;
  return kind !== 'recovery' || (facts.circuit_open !== true && Date.parse(facts.at) >= lastAt.getTime());
}

// The addresses that routes and mail channels name, and who of them may be sent mails: an address is the choice of a
// tenant, not of the one who reads the mail.

const MAX_EMAILS = 50;
const email = z.email();

function problemOf(given: string): string | null {
  const addresses = given.split(',').map((address) => address.trim());
  const wrong = addresses.find((address) => !email.safeParse(address).success);
  if (wrong !== undefined) return `must be comma-separated email addresses; "${wrong}" is not valid`;
  return addresses.length > MAX_EMAILS ? `must contain at most ${MAX_EMAILS} email addresses` : null;
}

export const emailList = z
  .string()
  .max(5000)
  .superRefine((given, context) => {
    const problem = given.trim() === '' ? null : problemOf(given);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  });

export function recipients(notifyEmails: string): string[] {
  const addresses = notifyEmails.split(',').map((address) => address.trim());
  return [...new Set(addresses.filter((address) => address !== ''))];
}

/** Everybody, those who have agreed, or the addresses of some domains. */
export type RecipientRule = 'any' | 'confirmed' | readonly string[];

const DOMAIN = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/** @param setting HOOKYARD_NOTIFY_RECIPIENTS @param several whether there is more than one organization */
export function recipientRule(setting: readonly string[] | undefined, several: boolean): RecipientRule {
  const [first] = setting ?? [];
  if (setting === undefined || first === undefined) return several ? 'confirmed' : 'any';
  return first === 'any' || first === 'confirmed' ? first : setting;
}

export function isRecipientRule(setting: readonly string[]): boolean {
  const [first] = setting;
  if (first === 'any' || first === 'confirmed') return setting.length === 1;
  return setting.every((domain) => DOMAIN.test(domain));
}

/** @param confirmed addresses in lower case whose owners have agreed */
export function mayReceive(rule: RecipientRule, address: string, confirmed: ReadonlySet<string>): boolean {
  if (rule === 'any') return true;
  const known = address.toLowerCase();
  return rule === 'confirmed' ? confirmed.has(known) : isOfDomain(known, rule);
}

export function isOfDomain(address: string, domains: readonly string[]): boolean {
  return domains.includes(address.slice(address.lastIndexOf('@') + 1).toLowerCase());
}

/**
 * The page on which the owner of an address ends the mails of an organization; null where nobody had to agree to them.
 */
export type StopLink = (organization: { id: string; slug: string }, address: string) => string | null;

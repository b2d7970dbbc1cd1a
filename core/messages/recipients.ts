// The addresses that routes and mail channels name, and who of them may be sent mails: an address is the choice of a
// tenant, not of the one who reads the mail.
import { z } from 'zod';

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

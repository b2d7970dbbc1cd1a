// Comma-separated e-mail addresses, as routes and channels have them.
import { z } from 'zod';

const MAX_EMAILS = 50;
const email = z.email();

/** What is wrong with a list that names somebody, or null. */
function problemOf(given: string): string | null {
  const addresses = given.split(',').map((address) => address.trim());
  const wrong = addresses.find((address) => !email.safeParse(address).success);
  if (wrong !== undefined) return `must be comma-separated e-mail addresses; "${wrong}" is none`;
  return addresses.length > MAX_EMAILS ? `must be at most ${MAX_EMAILS} e-mail addresses` : null;
}

/** The schema of a list, which may be blank. */
export const emailList = z
  .string()
  .max(5000)
  .superRefine((given, context) => {
    const problem = given.trim() === '' ? null : problemOf(given);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  });

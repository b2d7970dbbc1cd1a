// The error of a delivery as logs, mails and Temporal may have it. PostgreSQL has it in full.

import { errorText } from './clean-text.ts';

// What a transform throws is written by the tenant's own code and may hold the event, which leaves PostgreSQL for its destination only.
// Of the name, as little as can be: it may itself have the words in it.
const OF_A_TRANSFORM = /^(The transform .*? failed): .*/s;

/** The text without what may be content of a webhook, and as Temporal can hold it. */
export function toldError(error: string): string {
  return errorText(error.replace(OF_A_TRANSFORM, '$1; the API tells why'));
}

// What an error says to a person.
import { HookyardError } from '@hookyard/client';

interface Told {
  title: string;
  message: string;
  /** Under which the service's log has the request. */
  requestId: string | null;
}

const TITLES: Record<number, string> = {
  403: 'Permission denied',
  404: 'Not found',
  410: 'No longer available',
  412: 'Changed by someone else',
  429: 'Limit reached',
};

export function told(error: unknown): Told {
  if (!(error instanceof HookyardError)) {
    const message = error instanceof Error ? error.message : String(error);
    return { title: 'Something went wrong', message, requestId: null };
  }
  const { code, requestId } = error;
  const status = error.status ?? 0;
  const isSilent = code === 'UNREACHABLE' || code === 'TIMEOUT';
  const byStatus = TITLES[status] ?? (status >= 500 ? 'Server error' : 'Request refused');
  return {
    title: isSilent ? 'The API is not responding' : byStatus,
    message: status === 412 ? 'Your change was not made. Review the current values, then try again.' : error.message,
    requestId,
  };
}

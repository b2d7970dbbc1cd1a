// What an error says to a person.
import { HookyardError } from '@hookyard/client';

interface Told {
  title: string;
  message: string;
  /** Under which the service's log has the request. */
  requestId: string | null;
}

export function told(error: unknown): Told {
  if (!(error instanceof HookyardError)) {
    return {
      title: 'Something went wrong',
      message: error instanceof Error ? error.message : String(error),
      requestId: null,
    };
  }
  const { message, requestId } = error;
  if (error.code === 'UNREACHABLE' || error.code === 'TIMEOUT')
    return { title: 'The API is not responding', message, requestId };
  if (error.status === 403) return { title: 'Permission denied', message, requestId };
  if (error.status === 404) return { title: 'Not found', message, requestId };
  if (error.status === 410) return { title: 'No longer available', message, requestId };
  if (error.status === 412)
    return {
      title: 'Changed by someone else',
      message: 'Your change was not made. Review the current values, then try again.',
      requestId,
    };
  if (error.status === 429) return { title: 'Limit reached', message, requestId };
  if (error.status !== null && error.status >= 500) return { title: 'Server error', message, requestId };
  return { title: 'Request refused', message, requestId };
}

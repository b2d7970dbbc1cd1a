// What an error says to a person.
import { HookyardError } from 'hookyard/client';

export interface Told {
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
    return { title: 'The API does not answer', message, requestId };
  if (error.status === 403) return { title: 'This key may not do that', message, requestId };
  if (error.status === 404) return { title: 'There is no such record', message, requestId };
  if (error.status === 410) return { title: 'It is gone', message, requestId };
  if (error.status === 412)
    return {
      title: 'Somebody else has changed it meanwhile',
      message: 'Nothing was changed now. Close this, look at what it is, and decide again.',
      requestId,
    };
  if (error.status === 429) return { title: 'Too many requests', message, requestId };
  if (error.status !== null && error.status >= 500)
    return { title: 'The service could not answer', message, requestId };
  return { title: 'The request was refused', message, requestId };
}

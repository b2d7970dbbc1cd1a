// The addresses that users give for what Hookyard sends.

export const MAX_URL_LENGTH = 2048;
export const URL_HAS_CREDENTIALS = 'must not contain credentials';

/** Why a text is no address that requests can be sent to, or null. */
export function urlProblem(text: string): string | null {
  const example = 'for example https://example.com/hooks';
  if (text.length > MAX_URL_LENGTH) return `must be at most ${MAX_URL_LENGTH} characters long`;
  // The URL parser would drop spaces and line breaks silently.
  if (/[\s\p{Cc}]/u.test(text)) return 'must not contain spaces or control characters';
  const url = URL.parse(text);
  if (!url || !/^https?:\/\//i.test(text)) return `must be an absolute http:// or https:// URL, ${example}`;
  if (url.username !== '' || url.password !== '') return URL_HAS_CREDENTIALS;
  return null;
}

export const originOf = (text: string): string | null => URL.parse(text)?.origin ?? null;

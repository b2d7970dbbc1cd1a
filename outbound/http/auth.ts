// The headers by which a request proves itself to a destination.
import type { AuthType } from '../../core/delivery/auth-config.ts';
import { type ErrorSummary, named, ownWords } from '../../core/text/error-summary.ts';

/** A destination lacks the credentials that its `authType` needs, for example after an import without them. */
export class MissingCredentialsError extends Error {
  readonly code = 'MISSING_CREDENTIALS';
  readonly summary: ErrorSummary;
  constructor(authType: AuthType, field: string) {
    const summary = ownWords`The destination's authType is ${named(authType)}, but its authConfig has no ${named(field)}; set it with an update`;
    super(summary);
    this.name = 'MissingCredentialsError';
    this.summary = summary;
  }
}

/**
 * The authentication headers of a destination.
 * @param authConfig credentials in clear, of the shape that belongs to `authType`
 * @throws MissingCredentialsError when a field is missing
 */
export function authHeaders(
  authType: AuthType,
  authConfig: Readonly<Record<string, string>> | null,
): Record<string, string> {
  const field = (name: string): string => {
    const value = authConfig?.[name];
    if (value === undefined) throw new MissingCredentialsError(authType, name);
    return value;
  };
  switch (authType) {
    case 'none':
      return {};
    case 'basic': {
      // RFC 7617, section 2.1: UTF-8 is what servers that name a charset can name.
      const pair = Buffer.from(`${field('username')}:${field('password')}`, 'utf8');
      return { Authorization: `Basic ${pair.toString('base64')}` };
    }
    case 'bearer':
      return { Authorization: `Bearer ${field('token')}` };
    case 'api_key':
      return { [field('headerName')]: field('key') };
    case 'custom_header':
      return { [field('headerName')]: field('headerValue') };
  }
}

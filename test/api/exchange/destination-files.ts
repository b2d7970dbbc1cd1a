// Files of destinations, as tests export and import them.
import type { Answer, Json } from '../../support/api-client.ts';
import type { TestOrganization } from '../../support/service.ts';

export const url = 'https://receiver.example/hooks';
export const REDACTED = '***REDACTED***';
export const signingSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export interface Envelope {
  version: string;
  exportedAt: string;
  organizationSlug: string;
  destinations: Json[];
}
export interface ImportResult {
  success: boolean;
  summary: { imported: number; skipped: number; overwritten: number; failed: number };
  details: { imported: string[]; skipped: string[]; overwritten: string[]; failed: string[] };
  errors: string[];
  warnings: string[];
  destinations: { id: string | null; name: string; slug: string | null; status: string }[];
}

/** An item with every member. */
export const everything = {
  name: 'Everything',
  slug: 'all-of-it',
  description: 'Has every member',
  type: 'http',
  url: 'http://other.example:8080/x?y=1',
  method: 'PUT',
  headers: { 'X-Team': 'a', Accept: 'text/plain' },
  forwardHeaders: ['X-Shop', 'X-Real-IP'],
  forwardQuery: true,
  forwardPath: true,
  authType: 'basic',
  authConfig: { username: 'u', password: 'a long password' },
  signingSecret,
  timeoutMs: 1234,
  rateLimitPerMinute: 120,
  maxConcurrency: 12,
  retryPolicy: { maxRetries: 3, initialDelay: 7, maxDelay: 70, backoffMultiplier: 1.5 },
  isActive: false,
};

export const exported = (of: TestOrganization, query = ''): Promise<Envelope> =>
  of.api.get(`/api/destinations/export${query}`);

export const request = (to: TestOrganization, body: unknown): Promise<Answer> =>
  to.api.request('POST', '/api/destinations/import', body);

export const importInto = (
  to: TestOrganization,
  destinations: unknown[],
  conflictStrategy = 'skip',
  options: object = {},
): Promise<ImportResult> => to.api.post('/api/destinations/import', { destinations, conflictStrategy, ...options });

/** The destination with a slug, whole. */
export async function bySlug(of: TestOrganization, slug: string): Promise<Json & { id: string }> {
  const { data } = await of.api.list<{ id: string }>('/api/destinations?pageSize=100');
  const all = await Promise.all(data.map(({ id }) => of.api.get<Json & { id: string }>(`/api/destinations/${id}`)));
  const found = all.find((destination) => destination.slug === slug);
  if (!found) throw new Error(`there is no destination ${slug}`);
  return found;
}

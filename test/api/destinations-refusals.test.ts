// What is refused when a destination is created.
import { type Answer, expectInvalid } from '../support/api-client.ts';
import { useOrganization } from '../support/use-hookyard.ts';

const url = 'https://receiver.example/hooks';

describe('Refused destinations', () => {
  const organization = useOrganization();
  const post = (body: object): Promise<Answer> => organization.api.request('POST', '/api/destinations', body);

  const badUrls = [
    '',
    'receiver.example',
    'ftp://receiver.example',
    'http:receiver',
    'https://',
    'https://u:p@receiver.example',
    'https://a b.example',
    'https://receiver.example/\n',
    'javascript:alert(1)',
    `https://receiver.example/${'x'.repeat(2048)}`,
  ];
  for (const bad of badUrls) {
    it(`answers 400 INVALID_URL to ${JSON.stringify(bad).slice(0, 40)} in both families`, async () => {
      expectInvalid(await post({ name: 'x', url: bad }), 'url', 'INVALID_URL');
      const scoped = await organization.api.request('POST', `${organization.base}/destinations`, {
        name: 'x',
        url: bad,
      });
      expectInvalid(scoped, 'url', 'INVALID_URL');
    });
  }

  const wrong: [string, object, string][] = [
    ['no name', { url }, 'name'],
    ['no url', { name: 'x' }, 'url'],
    ['an unknown type', { name: 'x', url, type: 'ftp' }, 'type'],
    ['method GET', { name: 'x', url, method: 'GET' }, 'method'],
    ['a timeout of 0', { name: 'x', url, timeoutMs: 0 }, 'timeoutMs'],
    ['a timeout above 60000', { name: 'x', url, timeoutMs: 60_001 }, 'timeoutMs'],
    ['a timeout with a fraction', { name: 'x', url, timeoutMs: 1.5 }, 'timeoutMs'],
    ['a rate of 0', { name: 'x', url, rateLimitPerMinute: 0 }, 'rateLimitPerMinute'],
    ['a concurrency of 0', { name: 'x', url, maxConcurrency: 0 }, 'maxConcurrency'],
    ['a concurrency above 1000', { name: 'x', url, maxConcurrency: 1001 }, 'maxConcurrency'],
    ['more than 50 retries', { name: 'x', url, retryPolicy: { maxRetries: 51 } }, 'retryPolicy.maxRetries'],
    ['a delay above a day', { name: 'x', url, retryPolicy: { maxDelay: 86_400_001 } }, 'retryPolicy.maxDelay'],
    ['a negative delay', { name: 'x', url, retryPolicy: { initialDelay: -1 } }, 'retryPolicy.initialDelay'],
    [
      'a multiplier below 1',
      { name: 'x', url, retryPolicy: { backoffMultiplier: 0.5 } },
      'retryPolicy.backoffMultiplier',
    ],
    ['a Host header', { name: 'x', url, headers: { Host: 'evil' } }, 'headers.Host'],
    [
      'a Transfer-Encoding header',
      { name: 'x', url, headers: { 'transfer-encoding': 'x' } },
      'headers.transfer-encoding',
    ],
    ['a header value with a line break', { name: 'x', url, headers: { 'X-A': 'a\r\nX-B: c' } }, 'headers.X-A'],
    ['a header value that is no text', { name: 'x', url, headers: { 'X-A': 5 } }, 'headers.X-A'],
    ['headers as an array', { name: 'x', url, headers: ['X-A'] }, 'headers'],
  ];
  for (const [what, body, path] of wrong) {
    it(`answers 400 to ${what}`, async () => {
      expectInvalid(await post(body), path);
    });
  }
});
